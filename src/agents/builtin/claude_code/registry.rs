//! Claude Code's registry of running sessions: `sessions/<pid>.json`, written when the process starts and
//! when its status changes, removed when it ends. Files beside it hold secrets and have other names.

use formats::{Registry, RegistryEntry};
use model::values::process_activity::ProcessActivity;
use serde_json::Value;

pub(super) const REGISTRY: Registry = Registry {
    folder: "sessions",
    read,
};

fn read(file: &[u8]) -> Option<RegistryEntry> {
    let entry: Value = serde_json::from_slice(file).ok()?;
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    Some(RegistryEntry {
        session: text("sessionId")?.to_owned(),
        started: text("procStart").map(str::to_owned),
        running: match text("status") {
            Some("busy") => ProcessActivity::Busy,
            // The turn has ended; a command runs in the background.
            Some("idle" | "shell") => ProcessActivity::Idle,
            Some("waiting") => ProcessActivity::Waiting,
            _ => ProcessActivity::Unspecified,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_session_and_perhaps_a_status() {
        let of = |text: &str| read(text.as_bytes());
        let entry = of(
            r#"{"pid":4711,"sessionId":"3f2a","cwd":"/shop","startedAt":1795334737648,"procStart":"1863031",
            "version":"2.1.330","kind":"interactive","entrypoint":"cli","status":"busy",
            "updatedAt":1795334737610,"statusUpdatedAt":1795334737610}"#,
        );
        let entry = entry.expect("an entry");
        assert_eq!(entry.session, "3f2a");
        assert_eq!(entry.started.as_deref(), Some("1863031"));
        assert_eq!(entry.running, ProcessActivity::Busy);
        let status = |status: &str| {
            let entry = of(&format!(r#"{{"sessionId":"s","status":{status}}}"#));
            entry.map(|entry| entry.running)
        };
        assert_eq!(status(r#""idle""#), Some(ProcessActivity::Idle));
        assert_eq!(status(r#""shell""#), Some(ProcessActivity::Idle));
        assert_eq!(status(r#""waiting""#), Some(ProcessActivity::Waiting));
        // Older versions write none, later ones perhaps others.
        assert_eq!(status(r#""dreaming""#), Some(ProcessActivity::Unspecified));
        assert_eq!(status("7"), Some(ProcessActivity::Unspecified));
        // Of an older kind, cut, or not an object.
        for other in [r#"{"session_id":"s"}"#, r#"{"sessionId":"s""#, "[]", ""] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
