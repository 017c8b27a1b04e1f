//! Patterns of ids, and the names that providers give to models of others.

/// Whether a model's id matches a pattern, with or without the prefix of a provider: `openai/gpt-4o` and
/// `us.anthropic.claude-opus-4-8` are no other models than `gpt-4o` and `claude-opus-4-8`.
pub(super) fn matches_model(pattern: &str, id: &str) -> bool {
    matches(pattern, id) || matches(pattern, bare(id))
}

/// Makers as Bedrock writes them before a model, perhaps with a region before that.
const MAKERS: [&str; 10] = [
    "ai21.",
    "amazon.",
    "anthropic.",
    "cohere.",
    "deepseek.",
    "meta.",
    "mistral.",
    "moonshotai.",
    "openai.",
    "qwen.",
];

/// The id without the prefix of a provider.
fn bare(id: &str) -> &str {
    let id = id.rsplit_once('/').map_or(id, |(_, id)| id);
    let maker = MAKERS.iter().find_map(|maker| {
        let (region, id) = id.split_once(maker)?;
        (region.is_empty() || region.ends_with('.')).then_some(id)
    });
    maker.unwrap_or(id)
}

/// Whether an id matches a pattern in which `*` matches any text. Case does not matter.
pub(crate) fn matches(pattern: &str, id: &str) -> bool {
    let (pattern, id) = (pattern.to_ascii_lowercase(), id.to_ascii_lowercase());
    let Some((first, last)) = pattern.split_once('*') else {
        return pattern == id;
    };
    let Some(mut rest) = id.strip_prefix(first) else {
        return false;
    };
    let (middle, last) = last.rsplit_once('*').unwrap_or(("", last));
    for part in middle.split('*') {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
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
}
