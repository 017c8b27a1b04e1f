//! Patterns of ids, and the names that providers give to models of others.

/// Returns true if a model's id matches a pattern, with or without the prefix of a provider: `openai/gpt-4o` and
/// `us.anthropic.claude-opus-4-8` are the same models as `gpt-4o` and `claude-opus-4-8`.
pub fn matches_model(pattern: &str, id: &str) -> bool {
    ModelId::new(id).matches(pattern)
}

/// A model's id, for many patterns.
#[derive(Clone, Copy)]
pub(super) struct ModelId<'i> {
    id: &'i str,
    /// Without the prefix of a provider, if it has one.
    bare: Option<&'i str>,
}

impl<'i> ModelId<'i> {
    pub(super) fn new(id: &'i str) -> ModelId<'i> {
        let bare = Some(bare(id)).filter(|bare| bare.len() < id.len());
        ModelId { id, bare }
    }

    /// Like [`matches_model`], but for an id that was parsed before.
    pub(super) fn matches(self, pattern: &str) -> bool {
        matches(pattern, self.id) || self.bare.is_some_and(|bare| matches(pattern, bare))
    }
}

/// The makers that Bedrock writes before a model, perhaps after a region.
const MAKERS: [&str; 14] = [
    "ai21.",
    "amazon.",
    "anthropic.",
    "cohere.",
    "deepseek.",
    "google.",
    "meta.",
    "minimax.",
    "mistral.",
    "moonshotai.",
    "openai.",
    "qwen.",
    "xai.",
    "zai.",
];

/// Returns the id without the prefix of a provider.
pub(super) fn bare(id: &str) -> &str {
    let id = id.rsplit_once('/').map_or(id, |(_, id)| id);
    let starts = std::iter::once(0).chain(id.match_indices('.').map(|(dot, _)| dot + 1));
    let mut parts = starts.map(|start| &id[start..]);
    let model = parts.find_map(|part| MAKERS.iter().find_map(|maker| part.strip_prefix(maker)));
    model.unwrap_or(id)
}

/// Returns true if the id begins with a region of Bedrock's: `eu.anthropic.…`.
pub(super) fn has_region(id: &str) -> bool {
    !id.contains('/') && bare(id) != id && !MAKERS.iter().any(|maker| id.starts_with(maker))
}

/// Returns true if an id matches a pattern in which `*` matches any text. Case does not matter. Every model of a table
/// is tried for every session, so nothing is allocated.
pub fn matches(pattern: &str, id: &str) -> bool {
    let (pattern, id) = (pattern.as_bytes(), id.as_bytes());
    let is_star = |byte: &u8| *byte == b'*';
    let Some(star) = pattern.iter().position(is_star) else {
        return pattern.eq_ignore_ascii_case(id);
    };
    let (first, others) = (&pattern[..star], &pattern[star + 1..]);
    let Some((start, mut rest)) = id.split_at_checked(first.len()) else {
        return false;
    };
    if !start.eq_ignore_ascii_case(first) {
        return false;
    }
    let mut parts = others.split(is_star);
    let last = parts.next_back().unwrap_or_default();
    for part in parts.filter(|part| !part.is_empty()) {
        let mut windows = rest.windows(part.len());
        match windows.position(|window| window.eq_ignore_ascii_case(part)) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    let end = rest.len().checked_sub(last.len());
    end.is_some_and(|end| rest[end..].eq_ignore_ascii_case(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_providers_prefix_is_no_other_model() {
        for id in [
            "gpt-4o",
            "openai/gpt-4o",
            "openrouter/openai/GPT-4o-2024-08-06",
        ] {
            assert!(matches_model("gpt-4o*", id), "{id}");
        }
        for id in [
            "us.anthropic.claude-opus-4-8-v1:0",
            "anthropic.claude-opus-4-8",
            "bedrock/eu.anthropic.claude-opus-4-8",
            "claude-opus-4-8@20260101",
        ] {
            assert!(matches_model("claude-opus-4-8*", id), "{id}");
        }
        assert!(matches_model("anthropic/*", "anthropic/claude-opus-4-8"));
        assert!(!matches_model("claude-*", "my-anthropic.claude-x"));
        assert!(!matches_model("gpt-4o", "gpt-4o/x"));
        assert_eq!(bare("/"), "");
    }

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, id, expected) in [
            ("*", "", true),
            ("a*", "a", true),
            ("a*b", "ab", true),
            ("a*b", "aXXb", true),
            ("a*b*", "AxBx", true),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c", false),
            ("a**c", "abc", true),
            ("é*", "été", true),
            ("*[1m]", "x[1M]", true),
        ] {
            assert_eq!(matches(pattern, id), expected, "{pattern} {id}");
        }
    }
}
