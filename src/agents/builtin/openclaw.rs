//! OpenClaw: pi's format, in folders of its own.
//!
//! After its documentation (docs.openclaw.ai, "Session management deep dive"; openclaw/openclaw,
//! `src/shared/transcript-only-openclaw-assistant.ts`):
//!
//! * `agents/<agent>/sessions/<session>.jsonl`, or `<session>-topic-<thread>.jsonl`. Beside them are
//!   `sessions.json`, which names the sessions, and files that are no sessions: archives (`….jsonl.reset.<time>`,
//!   `….jsonl.deleted.<time>`), which are the only record of what was spent until then, copies of a transcript as it was
//!   before a compaction (`<session>.checkpoint.<id>.jsonl`), and trajectories.
//! * Since 2026.7.2 transcripts are kept in SQLite, `agents/<agent>/agent/openclaw-agent.sqlite`; checked on runs of
//!   2026.9.6 (schema 23). A row of `transcript_events` is such a line, as text or, where it is long, as a zstd
//!   frame. Rows are only added, or all are written again (`transcript_rewrite_watermarks`). A row of
//!   `session_windows` is a session, one of `session_nodes` what a person sees as one; its `entry_json` has the
//!   window, the size above which it compacts, and the lengths of the parts of the system prompt and of the
//!   tools, whose texts are not kept.
//! * It compacts above window − `reserveTokens`, which is never below `reserveTokensFloor`, and on an
//!   overflow. The parent of a sub-agent is in `sessions.json` alone.
//!
//! For the lines see [`super::pi`].

use super::pi::{PI, PiDecoder, begins_with_a_header};
use decode::lenient::{self, Count, Text, Window, record};
use formats::database::{DatabaseSpec, Schema};
use formats::{Claim, Decoder, Format, Recognition, Root, Standing, StoreKind, decoder, head};
use model::event::{Event, EventSink, Key, Meta, Node, Part};
use model::{Kind, Role};
use std::collections::HashMap;
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
    roots: &[
        Root::home(".openclaw", "agents").env("OPENCLAW_STATE_DIR"),
        Root::home(".openclaw", "openclaw.json")
            .env("OPENCLAW_STATE_DIR")
            .listing("session.store", settings::session_folder),
        Root::named("OPENCLAW_HOME", ".openclaw/agents"),
        Root::home(".openclaw-dev", "agents"),
        // Its folders when it had other names.
        Root::home(".moltbot", "agents").env("MOLTBOT_STATE_DIR"),
        Root::home(".clawdbot", "agents").env("CLAWDBOT_STATE_DIR"),
    ],
    claims: &claims,
    recognition: Recognition {
        recognise: &recognise,
        store: &|head| StoreKind::database(&STORE, head).or_else(|| Format::DEFAULT.store(head)),
        ..Recognition::DEFAULT
    },
    decoder: &decoder::<OpenClawDecoder>,
    settings: Some(&settings::SETTINGS),
    ..PI
};

/// `e` is what is known of a session beside its transcript.
static STORE: DatabaseSpec = DatabaseSpec {
    schemas: &[
        Schema {
            sessions: "SELECT w.session_id,
                (SELECT current_session_id FROM session_nodes WHERE session_key = n.spawned_by),
                coalesce(w.transcript_updated_at, w.updated_at), n.updated_at,
                (SELECT max(seq) FROM transcript_events WHERE session_id = w.session_id),
                (SELECT generation FROM transcript_rewrite_watermarks WHERE session_id = w.session_id)
                FROM session_windows AS w LEFT JOIN session_nodes AS n ON n.session_key = w.session_key
                WHERE EXISTS (SELECT 1 FROM transcript_events WHERE session_id = w.session_id)",
            header: "SELECT json_object('title', CAST(title AS TEXT), 'parent', CAST(parent AS TEXT),
                'window', CAST(json_extract(e, '$.contextTokens') AS INTEGER),
                'trigger', CAST(json_extract(e, '$.contextBudgetStatus.promptBudgetBeforeReserve') AS INTEGER),
                'report', CASE json_type(e, '$.systemPromptReport') WHEN 'object'
                    THEN json(json_extract(e, '$.systemPromptReport')) END)
                FROM (SELECT coalesce(n.label, n.display_name, w.display_name) AS title,
                    (SELECT current_session_id FROM session_nodes WHERE session_key = n.spawned_by) AS parent,
                    CASE json_valid(n.entry_json) WHEN 1 THEN n.entry_json END AS e
                    FROM session_windows AS w LEFT JOIN session_nodes AS n ON n.session_key = w.session_key
                    WHERE w.session_id = ?1)",
            from: "transcript_events WHERE session_id = ?1",
            order: "seq",
            line: "coalesce(r.event_json, unzstd(r.event_zstd))",
            changed: "r.created_at",
            ..Schema::DEFAULT
        },
        // Before long rows were compressed.
        Schema {
            sessions: "SELECT session_id, NULL, coalesce(transcript_updated_at, updated_at),
                (SELECT max(seq) FROM transcript_events WHERE session_id = w.session_id) FROM session_windows AS w
                WHERE EXISTS (SELECT 1 FROM transcript_events WHERE session_id = w.session_id)",
            header: "SELECT json_object('title', CAST(display_name AS TEXT)) FROM session_windows WHERE session_id = ?1",
            from: "transcript_events WHERE session_id = ?1",
            order: "seq",
            line: "r.event_json",
            changed: "r.created_at",
            ..Schema::DEFAULT
        },
    ],
};

record! {
    struct Header<'a> {
        title: Text<'a>,
        parent: Text<'a>,
        window: Window,
        trigger: Window,
        report: Option<Report<'a>>,
    }

    /// Lengths in characters.
    struct Report<'a> {
        prompt: Count = "systemPrompt" / "nonProjectContextChars",
        files: Vec<Length<'a>> = "injectedWorkspaceFiles",
        skills: Count = "skills" / "promptChars",
        tools: Vec<Length<'a>> = "tools" / "entries",
    }

    /// A file or a tool.
    struct Length<'a> {
        name: Text<'a>,
        injected: Count = "injectedChars",
        summary: Count = "summaryChars",
        schema: Count = "schemaChars",
    }
}

/// Decodes one session.
#[derive(Default)]
struct OpenClawDecoder {
    lines: PiDecoder,
    /// The parts of the system prompt and their lengths.
    parts: HashMap<Key, u64>,
    /// The newest facts.
    meta: Meta,
}

impl Decoder for OpenClawDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let place = out.place();
        if (place.line(), place.length()) != (0, 0) {
            return self.lines.read_line(line, out);
        }
        let Some(header) = lenient::object::<Header<'_>>(line, out) else {
            return;
        };
        let meta = Meta {
            title: header.title.boxed(),
            parent: header.parent.boxed(),
            trigger: header.trigger.0,
            ..Meta::of_window(header.window.0)
        };
        out.meta(meta.changes(&mut self.meta));
        if let Some(report) = &header.report {
            self.report(report, out);
        }
    }
}

impl OpenClawDecoder {
    /// Takes the lengths of what each prompt begins with.
    fn report(&mut self, report: &Report<'_>, out: &mut EventSink<'_>) {
        let skills = report.skills.or_zero();
        let prompt = report.prompt.or_zero().saturating_sub(skills);
        let mut parts = vec![
            (Kind::Prompt, "system prompt", prompt),
            (Kind::Skill, "skills", skills),
        ];
        let files = report.files.iter();
        parts.extend(
            files.map(|file| (Kind::Memory, file.name.or_empty(), file.injected.or_zero())),
        );
        let tools = report.tools.iter();
        parts.extend(tools.map(|tool| {
            let chars = tool.summary.or_zero() + tool.schema.or_zero();
            (Kind::ToolList, tool.name.or_empty(), chars)
        }));
        let mut old = std::mem::take(&mut self.parts);
        for (kind, name, chars) in parts.into_iter().filter(|(_, _, chars)| *chars > 0) {
            let key = Key::of_parts(&["openclaw prompt", kind.name(), name]);
            self.parts.insert(key, chars);
            if old.remove(&key) != Some(chars) {
                let item = out
                    .item(Role::Container, kind)
                    .unseen(chars, name)
                    .label(name);
                let item = match kind {
                    Kind::ToolList => item.tool(Some(name)).tools(1).done(),
                    _ => item.done(),
                };
                out.node(Node::new(Some(key), Part::Front, vec![item]));
            }
        }
        let mut gone: Vec<Key> = old.into_keys().collect();
        gone.sort_unstable();
        for key in gone {
            out.emit(Event::cleared_node(key));
        }
    }
}

fn claims(path: &Path) -> Option<Claim> {
    if path.ends_with("agent/openclaw-agent.sqlite") {
        return Some(Claim::database(&STORE));
    }
    let file = path.file_name()?.to_str()?;
    let (session, rest) = file.split_once('.')?;
    if path.parent()?.file_name()? != "sessions" || session.is_empty() {
        return None;
    }
    let mut archives = ARCHIVES.iter();
    let is_archive = archives.any(|beginning| rest.starts_with(beginning));
    let standing = match rest {
        "jsonl" => Standing::Log,
        _ if is_archive => Standing::Archive,
        copy if copy.starts_with("checkpoint.") && copy.ends_with(".jsonl") => Standing::Copy,
        _ => return None,
    };
    Some(Claim::session(session).standing(standing))
}

/// The text after the session's id in the names of archives.
const ARCHIVES: [&str; 3] = ["jsonl.reset.", "jsonl.deleted.", "jsonl.bak."];

fn recognise(head: &[u8]) -> bool {
    begins_with_a_header(head)
        && (head::has(head::first_line(head), FOLDER)
            || MARKS.iter().any(|mark| head::has(head, mark)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate as agents;
    use crate::testing::fixture;

    #[test]
    fn logs_are_claimed_by_path_and_recognised_by_content() {
        let claim = |path: &str| OPENCLAW.claims(Path::new(path)).and_then(|claim| claim.id);
        let folder = "/home/dev/.openclaw/agents/main/sessions";
        let id = "019e0000-0000-7000-8000-000000000001";
        assert_eq!(claim(&format!("{folder}/{id}.jsonl")).as_deref(), Some(id));
        let topic = format!("{id}-topic-12");
        assert_eq!(claim(&format!("{folder}/{topic}.jsonl")), Some(topic));
        let standing = |name: &str| {
            let claim = OPENCLAW.claims(Path::new(&format!("{folder}/{name}")));
            claim.map(|claim| claim.standing)
        };
        for archive in ["reset", "deleted", "bak"] {
            let name = format!("{id}.jsonl.{archive}.2026-05-12T01-02-27.657Z");
            assert_eq!(standing(&name), Some(Standing::Archive), "{name}");
        }
        assert_eq!(standing("a.checkpoint.1.jsonl"), Some(Standing::Copy));
        for other in ["sessions.json", "a.trajectory.jsonl", ".jsonl"] {
            assert_eq!(claim(&format!("{folder}/{other}")), None, "{other}");
        }
        assert_eq!(claim("/home/dev/.openclaw/agents/main/agent/a.jsonl"), None);
    }

    #[test]
    fn its_transcripts_and_pis_are_told_apart() {
        let whose = |log: &str| agents::recognise(log.as_bytes()).map(|format| format.id);
        let own = fixture!("openclaw/shown_answers_are_not_sent/log.jsonl");
        assert_eq!(whose(own), Some("openclaw"));
        let pis = fixture!("pi/custom/log.jsonl");
        assert_eq!(whose(pis), Some("pi"));
        let quoted = pis.replace("strict", "\\\"customType\\\":\\\"openclaw.x\\\"");
        assert_ne!(quoted, pis);
        assert_eq!(whose(&quoted), Some("pi"));
    }
}
