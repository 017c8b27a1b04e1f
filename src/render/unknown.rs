//! A warning of records whose type their decoder does not know.

use super::number::counted;
use super::text::inert;
use model::session::Session;

/// Names the types, and the agent's version, so that they can be reported; `None` if all are known.
pub fn warning(session: &Session) -> Option<String> {
    if session.unknown.is_empty() {
        return None;
    }
    let sum = session
        .unknown
        .values()
        .copied()
        .fold(0, u64::saturating_add);
    let records = counted(sum, "record");
    let names = session.unknown.iter().map(|(kind, n)| match n {
        1 => inert(kind).into_owned(),
        n => format!("{} {n}", inert(kind)),
    });
    let names: Vec<String> = names.collect();
    let names = names.join(", ");
    let version = session
        .meta
        .version
        .as_deref()
        .map(|version| format!(" {}", inert(version)))
        .unwrap_or_default();
    let agent = session.agent;
    Some(format!(
        "{records} of unknown type ({agent}{version}): {names}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn types_and_version_are_named() {
        let mut session = Session::new("codex", Arc::default());
        assert_eq!(warning(&session), None);
        session.unknown.insert("new\u{1b}[2J".into(), 2);
        session.unknown.insert("other".into(), 1);
        session.meta.version = Some("0.170.0".into());
        let text = warning(&session).unwrap_or_default();
        assert!(text.starts_with("3 records of unknown type (codex 0.170.0): new"));
        assert!(
            text.ends_with(" 2, other") && !text.contains('\u{1b}'),
            "{text}"
        );
    }
}
