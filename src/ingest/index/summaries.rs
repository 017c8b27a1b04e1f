//! The summaries of a log's sessions as the index keeps them.

use crate::log::conversations::LogSummaries;
use model::event::Conversation;
use model::lists::summary::Summary;

/// Returns the value that the index keeps of these summaries.
pub fn value(summaries: &[(Conversation, Summary)]) -> Vec<u8> {
    // No type in it can fail to be written.
    let mut value = postcard::to_stdvec(summaries).unwrap_or_default();
    value.shrink_to_fit();
    value
}

/// Returns the summaries of the sessions of an agent's log from what [`value`] returned. `None`: it is not that of any.
pub fn restore(kept: &[u8], agent: &'static str) -> Option<LogSummaries> {
    let mut summaries: LogSummaries = postcard::from_bytes(kept).ok()?;
    for (_, summary) in &mut summaries {
        summary.agent = agent;
    }
    Some(summaries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::Scanner;
    use crate::discover::roots::SearchRoot;
    use crate::log::conversations::summaries_of;
    use crate::log::reader::read_whole;
    use model::event::ByLength;
    use model::window::Rules;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    /// Puts a mark into every string of a JSON value that is long enough to be a text.
    fn mark(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) if text.contains(' ') => text.push_str(" zebra_marker"),
            serde_json::Value::Array(all) => all.iter_mut().for_each(mark),
            serde_json::Value::Object(all) => all.values_mut().for_each(mark),
            _ => {}
        }
    }

    #[test]
    fn no_text_of_a_log_is_in_it_but_what_its_sessions_are_called() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let look = |root: PathBuf| {
            let roots = vec![SearchRoot::Given(root)];
            Scanner::new(roots, agents::ALL.to_vec(), |_| None)
                .look()
                .files
        };
        let rules = Arc::<Rules>::default();
        let (mut marked, mut seen, mut names) = (0, 0, 0);
        for log in look(fixtures) {
            let Ok(text) = fs::read_to_string(&*log.facts.path) else {
                continue;
            };
            let lines = text.lines().map(|line| match serde_json::from_str(line) {
                Ok(mut value) => {
                    mark(&mut value);
                    value.to_string()
                }
                Err(_) => line.to_owned(),
            });
            let text = lines.collect::<Vec<_>>().join("\n");
            if !text.contains("zebra_marker") {
                continue;
            }
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(log.facts.path.file_name().unwrap());
            fs::write(&path, text + "\n{\"broken zebra_marker\n").unwrap();
            let root = SearchRoot::Forced(log.format, path);
            let found = Scanner::new(vec![root], vec![log.format], |_| None).look();
            let Some(log) = found.files.into_iter().next() else {
                continue;
            };
            let Ok(sessions) = read_whole(&log, &ByLength, &rules) else {
                continue;
            };
            let texts = sessions.iter().flat_map(|(_, session)| session.items());
            seen += texts
                .filter(|item| item.preview.contains("zebra_marker"))
                .count();
            let mut summaries = summaries_of(&sessions);
            for (_, summary) in &mut summaries {
                let meta = &mut summary.meta;
                let called = [meta.title.take(), meta.prompt.take(), summary.said.take()];
                names += called.iter().flatten().count();
            }
            let stored = value(&summaries);
            let place = memchr::memmem::find(&stored, b"zebra_marker");
            assert_eq!(place, None, "{:?}", log.facts.path);
            marked += 1;
        }
        assert!(
            marked > 50 && seen > 100 && names > 50,
            "{marked} logs, {seen} texts, {names} names"
        );
    }
}
