//! Rebuilt caches in words.

use super::number::{counted, short, tokens, usd};
use super::text::inert;
use model::cost::rebuilds::Rebuild;
use std::borrow::Cow;

/// Returns the cause: `tools changed`.
pub fn cause(rebuild: &Rebuild) -> Cow<'_, str> {
    named_cause(rebuild.cause_name())
}

/// Returns the words for the name of a cause. A name that is not known is shown as the log has it.
pub fn named_cause(name: &str) -> Cow<'_, str> {
    let words = match name {
        "previous_message_not_found" => "previous message not found",
        "expired" => "expired",
        "tools_changed" => "tools changed",
        "system_changed" => "system prompt changed",
        "messages_changed" => "messages changed",
        "model_switched" => "model switched",
        "unavailable" => "cause unavailable",
        "not_stated" => "cause not stated",
        other => return inert(other),
    };
    words.into()
}

/// Describes one: `cache rebuilt: tools changed, 211k, $4.02`.
pub fn one(rebuild: &Rebuild) -> String {
    one_of(rebuild, &cause(rebuild))
}

/// Describes one whose cause has these words.
pub fn one_of(rebuild: &Rebuild, cause: &str) -> String {
    let cost = rebuild.usd.map(|cost| format!(", {}", usd(cost)));
    let size = short(rebuild.tokens);
    let changed = match rebuild.tools {
        [0, 0] => String::new(),
        [added, removed] => format!(" (+{added} -{removed})"),
    };
    format!(
        "cache rebuilt: {cause}{changed}, {size}{}",
        cost.unwrap_or_default()
    )
}

/// Describes those of a session, with how often each cause was; `None`: there are none.
pub fn all(rebuilds: &[Rebuild]) -> Option<String> {
    if rebuilds.is_empty() {
        return None;
    }
    let mut causes: Vec<(Cow<'_, str>, u64)> = Vec::new();
    for cause in rebuilds.iter().map(cause) {
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, times)) => *times += 1,
            None => causes.push((cause, 1)),
        }
    }
    causes.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let others = causes.len().saturating_sub(MOST_CAUSES);
    let listed = causes.iter().take(MOST_CAUSES);
    let mut causes: Vec<String> = listed.map(|(cause, n)| format!("{cause} {n}")).collect();
    if others > 0 {
        causes.push(counted(others as u64, "other cause"));
    }
    let sum = rebuilds.iter().map(|it| it.tokens);
    let cost: Option<f64> = rebuilds.iter().map(|it| it.usd).sum();
    let cost = cost.map(|cost| format!(", {} more than from the cache", usd(cost)));
    Some(format!(
        "rebuilt its prompt cache {}: {} tokens{} ({})",
        counted(rebuilds.len() as u64, "time"),
        tokens(sum.fold(0, u64::saturating_add)),
        cost.unwrap_or_default(),
        causes.join(", ")
    ))
}

/// The most causes that are listed: a log may name any number.
const MOST_CAUSES: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding;
    use model::cost::rebuilds::RebuildCause;
    use model::event::MissCause;
    use model::why::{Finding, FindingDetail, FindingKind};

    #[test]
    fn a_cause_has_the_same_words_everywhere() {
        let logged = [
            "tools_changed",
            "system_changed",
            "messages_changed",
            "model_changed",
            "previous_message_not_found",
            "unavailable",
            "brand_new\u{1b}[2J",
        ];
        let logged = logged.map(|name| RebuildCause::Logged(MissCause::named(name)));
        let others = [
            RebuildCause::Expired,
            RebuildCause::ModelSwitched,
            RebuildCause::NotStated,
        ];
        for cause in logged.into_iter().chain(others) {
            let is_unknown = matches!(cause, RebuildCause::Logged(MissCause::Other(_)));
            let rebuild = Rebuild {
                request: 1,
                pause: None,
                is_expired: false,
                tokens: 211_000,
                cause,
                usd: Some(4.02),
                tools: [0; 2],
            };
            let finding = Finding {
                kind: FindingKind::Rebuild,
                about: rebuild.cause_name().into(),
                count: 1,
                tokens: 211_000,
                usd: Some(4.02),
                range: None,
                detail: FindingDetail::None,
                places: Vec::new(),
            };
            let words = super::cause(&rebuild);
            assert_eq!(words.contains('_'), is_unknown, "{words}");
            assert!(!words.contains('\u{1b}'), "{words:?}");
            assert!(finding::what(&finding).ends_with(&*words), "{words}");
        }
    }
}
