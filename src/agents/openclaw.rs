//! OpenClaw: pi's format, in folders of its own.
//!
//! After its documentation (docs.openclaw.ai, "Session management deep dive"; openclaw/openclaw,
//! `src/shared/transcript-only-openclaw-assistant.ts`):
//!
//! * `agents/<agent>/sessions/<session>.jsonl`, or `<session>-topic-<thread>.jsonl`. Beside them are
//!   `sessions.json`, which names the sessions, and files that are not transcripts: archives
//!   (`….jsonl.reset.<time>`), checkpoints and trajectories, whose names contain another dot.
//! * Since 2026.7.2 transcripts are kept in SQLite (`agents/<agent>/agent/openclaw-agent.sqlite`), which
//!   is not read here: only sessions of older versions are found.
//! * It compacts above window − `reserveTokens`, which is never below `reserveTokensFloor`, and on an
//!   overflow. The parent of a sub-agent is in `sessions.json` alone.
//!
//! For the lines see [`super::pi`].

use super::pi::{PI, begins_with_a_header};
use super::{Claim, Facts, Format, Root, facts, head};
use std::path::Path;

mod settings;

/// Texts that are in a transcript of OpenClaw's, and unescaped in no other: an entry of its own, an
/// answer that it shows itself.
const MARKS: [&str; 2] = [r#""customType":"openclaw"#, r#""provider":"openclaw""#];
/// A text that is in its header if it works in its usual folder.
const FOLDER: &str = "/.openclaw/";

/// The format.
pub static OPENCLAW: Format = Format {
    id: "openclaw",
    label: "openclaw",
    roots: &[
        Root::home(".openclaw", "agents").env("OPENCLAW_STATE_DIR"),
        // Its folder when it had another name.
        Root::home(".clawdbot", "agents").env("OPENCLAW_STATE_DIR"),
    ],
    facts: Facts {
        mark: "header of pi's in OpenClaw's folder or with an entry of its own",
        live: facts::EACH_LINE,
        known: "prompts, outputs",
        estimated: "",
        sub_agents: "each a session of its own",
        compactions: "yes",
        tried: "invented logs as of 2026.7.1; newer versions write SQLite, which is not read",
    },
    proven: "",
    claims: &claims,
    recognise: &recognise,
    settings: Some(&settings::SETTINGS),
    ..PI
};

fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let folder = path.parent()?.file_name()?;
    (folder == "sessions" && !name.is_empty() && !name.contains('.')).then(|| Claim::session(name))
}

fn recognise(head: &[u8]) -> bool {
    begins_with_a_header(head)
        && (head::has(head::first_line(head), FOLDER)
            || MARKS.iter().any(|mark| head::has(head, mark)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents;

    #[test]
    fn names() {
        let claim = |path: &str| OPENCLAW.claims(Path::new(path)).and_then(|claim| claim.id);
        let folder = "/home/dev/.openclaw/agents/main/sessions";
        let id = "019e0000-0000-7000-8000-000000000001";
        assert_eq!(claim(&format!("{folder}/{id}.jsonl")).as_deref(), Some(id));
        let topic = format!("{id}-topic-12");
        assert_eq!(claim(&format!("{folder}/{topic}.jsonl")), Some(topic));
        for other in [
            "sessions.json",
            "a.jsonl.reset.2026-05-12T01-02-27.657Z",
            "a.checkpoint.1.jsonl",
            "a.trajectory.jsonl",
            ".jsonl",
        ] {
            assert_eq!(claim(&format!("{folder}/{other}")), None, "{other}");
        }
        assert_eq!(claim("/home/dev/.openclaw/agents/main/agent/a.jsonl"), None);
    }

    #[test]
    fn its_transcripts_and_pis_are_told_apart() {
        let whose = |log: &str| agents::recognise(log.as_bytes()).map(|format| format.id);
        let own =
            include_str!("../../tests/fixtures/openclaw/shown_answers_are_not_sent/log.jsonl");
        assert_eq!(whose(own), Some("openclaw"));
        let pis = include_str!("../../tests/fixtures/pi/custom/log.jsonl");
        assert_eq!(whose(pis), Some("pi"));
        let quoted = pis.replace("strict", "\\\"customType\\\":\\\"openclaw.x\\\"");
        assert_ne!(quoted, pis);
        assert_eq!(whose(&quoted), Some("pi"));
    }
}
