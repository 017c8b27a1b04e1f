//! Decoders: one module per log format, each of which turns bytes into [`model::event`]s. They do no
//! I/O.
//!
//! [`formats`] is what a format is, [`decode`] what decoders share, [`builtin`] holds one module for each agent,
//! [`custom`] is the language in which a user describes a format without code. None of them refers to the list of all
//! formats: it is handed in from the top.
//!
//! # How to add an agent
//!
//! If the mapping language can describe its log, put a mapping into `assets/mappings/` and list it in
//! [`assets::MAPPINGS`]; `mini-swe-agent.toml` is a small example. Its label and its facts are in the mapping itself. It
//! needs a policy, logs and the tables too: see the steps 3 to 6. Otherwise:
//!
//! 1. Write `src/agents/builtin/<agent>.rs` with a [`Format`], which is plain data, and a type that implements
//!    [`Decoder`]. [`mistral_vibe_2`] is the smallest example. [`keys_marks_sums`] says which [`Key`] to choose, which
//!    lines need a mark, and what the numbers of a report include: mistakes in these count something twice.
//! 2. Declare the module in `src/agents/builtin/mod.rs`, and add the format to [`DECODERS`] there. The first format that
//!    recognises a file reads it.
//! 3. Add the agent's policy, and models that only it uses, to `assets/models.toml`. If its own settings
//!    files can change when it compacts, describe them in [`Format::settings`]. The words of a policy are explained at
//!    [`Policy`](model::window::Policy), and in `count_rule.rs` and `overrides.rs` beside it.
//! 4. Put hand-written logs into `tests/fixtures/<agent>/<case>/`, one trap per case and at least two cases, each with its
//!    `meant.toml`. `INSTA_UPDATE=always cargo test --all-features --test it fixtures::` writes the snapshots beside them; compare them
//!    with what you expect.
//!    An answer that is on several lines is one node with one item, emitted when the answer is complete: a second node of
//!    the same id replaces the items of the first, and they stay in the report as replaced. Its [`Place`] covers all of its
//!    lines, since the texts of items are read again from there.
//! 5. Write its label and its facts into `assets/agents.toml`. The README's list of agents and the table in `assets/docs/agents.md` are made from
//!    it; tests print both when they have changed.
//! 6. List the keys that decide how a line is read in `DECIDING` (`tests/it/hostile/plant.rs`), and the agent in `LINKED`
//!    (`tests/it/damaged/types.rs`) if its records name their parents. A new policy changes the snapshot of the list of
//!    agents, too. The tests of the crates are run with `-p ctxgauge-agents` and `-p ctxgauge-ingest`, which has the tests of
//!    logs that are followed (`log::fixtures`).
//!
//! Most logs are files of lines. What else a log can be kept in is listed in [`StoreKind`]; several sessions in
//! one log, files beside the log and the like are optional groups of [`Format`]'s fields.
//!
//! A decoder never fails: what it cannot read becomes an [`Event::Unreadable`], [`Event::Skipped`] or
//! [`Event::Unknown`]; see [`Format::harmless`]. It can be given any line of a log at any time. It keeps what it
//! needs from one line to the next, such as the names of tools by call id.
//!
//! [`Event::Unreadable`]: model::event::Event::Unreadable
//! [`Key`]: model::event::Key
//! [`Place`]: model::event::Place
//! [`Decoder`]: formats::Decoder
//! [`StoreKind`]: formats::StoreKind
//! [`DECODERS`]: builtin::DECODERS
//! [`mistral_vibe_2`]: builtin::mistral_vibe_2
//! [`Event::Skipped`]: model::event::Event::Skipped
//! [`Event::Unknown`]: model::event::Event::Unknown

pub mod builtin;
pub mod custom;
#[cfg(test)]
mod testing;

#[doc = include_str!("keys_marks_sums.md")]
pub mod keys_marks_sums {}

use custom::{About, Mapping};
use formats::Format;
use std::collections::HashMap;
use std::sync::LazyLock;

/// All built-in formats, in the order in which they are tried on a file: mappings first, whose logs some decoders would
/// take for theirs.
pub static ALL: LazyLock<Vec<&'static Format>> = LazyLock::new(|| {
    let mapped = assets::MAPPINGS.iter();
    let mapped = mapped.filter_map(|(id, text)| Mapping::read(id, text).ok());
    let mapped = mapped.map(Mapping::into_built_in);
    let about: HashMap<String, About> = toml::from_str(assets::AGENTS).unwrap_or_default();
    let about: &HashMap<String, About> = Box::leak(Box::new(about));
    let decoders = builtin::DECODERS
        .iter()
        .filter_map(|format| Some(about.get(format.id)?.of(format)));
    let decoders = decoders.map(|format| &*Box::leak(Box::new(format)));
    mapped.chain(decoders).collect()
});

/// Returns the format of this id.
pub fn by_id(id: &str) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| format.id == id)
}

/// Returns the format whose log begins with these bytes.
pub fn recognise(head: &[u8]) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| format.recognise(head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use builtin::DECODERS;
    use formats::facts::{moved_by, places, refusal};
    use model::event::ELIDED;
    use serde_json::Value;
    use std::fs;
    use std::path::Path;

    #[test]
    fn what_is_refused_says_how_it_looks_and_what_to_do() {
        let looks = [
            (
                &b"{\"a\":1,\"\\u001b[2J\":2}\n"[..],
                "a JSON object with `a`,",
            ),
            (b"[1]\n", "not an object"),
            (b"{\n \"a\": 1}", "a JSON document"),
            (b"hello\n", "not JSON"),
            (b"\x7fELF\0\0", "binary"),
            (b" \n", "empty"),
        ];
        for (head, look) in looks {
            let why = refusal(&ALL, head);
            assert!(why.contains(look), "{why}");
            assert!(why.contains("--agent"), "{why}");
            assert!(why.len() < 200, "{why}");
        }
    }

    #[test]
    fn utf_16_is_refused_with_what_to_do() {
        for head in [&b"\xff\xfe{\0\"\0"[..], b"\xfe\xff\0{", b"{\0\"\0"] {
            assert!(refusal(&ALL, head).contains("iconv"));
        }
    }

    #[test]
    fn a_refusal_names_the_nearest_formats() {
        let head = b"{\"sessionId\":1,\"projectHash\":2,\"leafUuid\":3}\n";
        let why = refusal(&["pi", "gemini-cli"].map(|id| by_id(id).unwrap()), head);
        assert!(
            why.contains("the nearest: gemini-cli (no `sessionId` beside `projectHash`);"),
            "{why}"
        );
        let why = refusal(&ALL, head);
        assert_eq!(why.matches(" (no ").count(), 2, "{why}");
        assert!(why.len() < 400, "{why}");
        for format in ALL.iter().copied() {
            let all: Vec<String> = format
                .facts
                .mark
                .split('`')
                .map(|n| format!("\"{n}\""))
                .collect();
            let why = refusal(&[format], all.concat().as_bytes());
            let has_names = format.facts.mark.contains('`');
            assert_eq!(why.contains("the nearest"), has_names, "{}", format.id);
        }
    }

    /// The sizes that an agent counts itself, of all items of a log.
    fn own_sizes(format: &Format, lines: &[String]) -> Vec<Option<u32>> {
        let sessions = testing::sessions(format, lines);
        let items = sessions.values().flat_map(|session| session.items());
        items.map(|item| item.size.own_bytes).collect()
    }

    /// True for a text, not a name, an id or a time. What was cut counts without its escapes.
    fn is_long(text: &str) -> bool {
        text.len() >= 24
            && text.is_ascii()
            && text.contains(' ')
            && !text.contains(['\n', '\t', '"', '\\'])
    }

    /// Pointers to the long texts of a JSON value.
    fn texts(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::String(text) if is_long(text) => {
                found.push(at.to_owned());
            }
            Value::Array(list) => {
                let list = list.iter().enumerate();
                list.for_each(|(n, value)| texts(value, &format!("{at}/{n}"), found));
            }
            Value::Object(map) => {
                let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
                map.iter().for_each(|(key, value)| {
                    texts(value, &format!("{at}/{}", escaped(key)), found)
                });
            }
            _ => {}
        }
    }

    #[test]
    fn what_the_reader_cut_counts_in_an_agents_own_sizes() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let mut seen = 0;
        for format in ALL.iter() {
            let cases = fs::read_dir(fixtures.join(format.id)).into_iter().flatten();
            for case in cases.flatten() {
                let Ok(log) = fs::read_to_string(case.path().join("log.jsonl")) else {
                    continue;
                };
                let lines: Vec<String> = log.lines().map(str::to_owned).collect();
                let whole = own_sizes(format, &lines);
                for (at, line) in lines.iter().enumerate() {
                    let Ok(value) = serde_json::from_str::<Value>(line) else {
                        continue;
                    };
                    let mut found = Vec::new();
                    texts(&value, "", &mut found);
                    for pointer in found {
                        let mut value = value.clone();
                        let text = value.pointer_mut(&pointer).unwrap();
                        let said = text.as_str().unwrap();
                        let cut = format!("{}{ELIDED}{}{ELIDED}", &said[..16], said.len() - 16);
                        *text = cut.into();
                        let mut lines = lines.clone();
                        lines[at] = value.to_string();
                        let sizes = own_sizes(format, &lines);
                        if sizes.len() == whole.len() {
                            seen += sizes.iter().flatten().count();
                            let case = case.path();
                            assert_eq!(sizes, whole, "{}:{} {pointer}", case.display(), at + 1);
                        }
                    }
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn every_command_that_compacts_is_typed_at_a_prompt() {
        let formats = ALL.iter().copied();
        let commands: Vec<&str> = formats
            .filter_map(|format| format.facts.commands.compact)
            .collect();
        assert!(commands.len() >= 8, "{commands:?}");
        assert!(
            commands.iter().all(|command| command.starts_with('/')),
            "{commands:?}"
        );
    }

    #[test]
    fn every_command_that_resumes_a_session_names_its_id() {
        let formats = ALL.iter().copied();
        let commands: Vec<&str> = formats
            .filter_map(|format| format.facts.commands.resume)
            .collect();
        assert!(commands.len() >= 8, "{commands:?}");
        for command in commands {
            assert_eq!(command.matches("{id}").count(), 1, "{command}");
        }
    }

    #[test]
    fn every_format_says_what_its_logs_tell() {
        for format in ALL.iter().copied() {
            let facts = format.facts;
            let said = [
                facts.mark,
                facts.live,
                facts.sub_agents,
                facts.compactions,
                facts.tried,
            ];
            assert!(said.iter().all(|text| !text.is_empty()), "{}", format.id);
            let all = said.into_iter().chain([facts.known, facts.estimated]);
            let cells = all.filter(|text| text.contains(['|', '\n']));
            assert_eq!(cells.count(), 0, "{}: no cell of a table", format.id);
        }
    }

    #[test]
    fn every_decoder_has_its_texts() {
        let about: HashMap<String, About> = toml::from_str(assets::AGENTS).unwrap();
        for format in DECODERS {
            let id = format.id;
            assert!(
                about.contains_key(id),
                "{id}: no [{id}] in assets/agents.toml: see step 5 in src/agents/lib.rs"
            );
        }
        assert_eq!(about.len(), DECODERS.len(), "an entry without a decoder");
        assert_eq!(ALL.len(), DECODERS.len() + assets::MAPPINGS.len());
    }

    #[test]
    fn every_mapping_is_read() {
        for (id, text) in assets::MAPPINGS {
            assert_eq!(Mapping::read(id, text).err(), None, "{id}");
            assert!(by_id(id).is_some(), "{id}");
        }
    }

    #[test]
    fn logs_of_mapped_agents_are_told_by_name_and_by_content() {
        let id = |agent: &str, path: &str| {
            let format = by_id(agent).unwrap();
            format.claims(Path::new(path)).map(|claim| claim.id)
        };
        let named = |id: &str| Some(Some(id.to_owned()));
        assert_eq!(
            id("aider", "/home/dev/.aider/analytics-1.jsonl"),
            Some(None)
        );
        assert_eq!(id("aider", "/home/dev/.aider/analytics.json"), None);
        assert_eq!(
            id("mini-swe-agent", "out/pydicom-1458.traj.json"),
            named("pydicom-1458")
        );
        assert_eq!(id("mini-swe-agent", "last_mini_run.traj.json"), Some(None));
        assert_eq!(
            id("swe-agent", "out/pydicom-1458.traj"),
            named("pydicom-1458")
        );
        assert_eq!(id("swe-agent", "out/pydicom-1458.json"), None);
        assert_eq!(id("amp", "threads/T-5e55.json"), named("T-5e55"));
        assert_eq!(id("amp", "threads/history.json"), None);
        assert_eq!(id("iflow", "p/session-5e55.jsonl"), named("session-5e55"));
        let told = |head: &str| recognise(head.as_bytes()).map(|format| format.id);
        let mini =
            "{\n  \"info\": {\n    \"model_stats\": {\n      \"instance_cost\": 0.0,\"config\":";
        assert_eq!(told(mini), Some("mini-swe-agent"));
        let swe = "{\n  \"environment\": \"main\",\n  \"trajectory\": [\n    {";
        assert_eq!(told(swe), Some("swe-agent"));
        let amp = "{\n  \"v\": 12,\n  \"id\": \"T-5e55\",\n  \"messages\": [\n";
        assert_eq!(told(amp), Some("amp"));
        assert_eq!(told(&amp.replace("T-", "")), None);
        let aider = r#"{"event": "launched", "properties": {}, "user_id": "u", "time": 1}"#;
        assert_eq!(told(aider), Some("aider"));
        let iflow =
            r#"{"parentUuid":null,"sessionId":"session-5e","userType":"external","message":{"#;
        assert_eq!(told(iflow), Some("iflow"));
        assert_ne!(told(&iflow.replace("session-", "")), Some("iflow"));
    }

    #[test]
    fn places_are_told_once_each() {
        let told = |id| places(by_id(id).unwrap()).join(" ");
        assert_eq!(
            told("crush"),
            "~/.local/share/crush/projects.json ~/AppData/Local/crush/projects.json ./.crush \
             $CRUSH_GLOBAL_DATA/projects.json"
        );
        assert_eq!(
            told("claude-code"),
            "~/.claude/projects ~/.config/claude/projects $CLAUDE_CONFIG_DIR/projects"
        );
        assert_eq!(
            told("gemini-cli"),
            "~/.gemini/tmp $GEMINI_CLI_HOME/.gemini/tmp"
        );
        let qwen = told("qwen-code");
        let setting = "advanced.runtimeOutputDir in ~/.qwen/settings.json";
        assert!(qwen.contains(setting), "{qwen}");
    }

    #[test]
    fn what_moves_logs_is_told_once_each() {
        let moved = |id| moved_by(by_id(id).unwrap()).join(", ");
        assert_eq!(moved("opencode"), "$XDG_DATA_HOME, $OPENCODE_DB");
        assert_eq!(moved("codex"), "$CODEX_HOME");
        assert!(moved("pi").contains("sessionDir in settings.json"));
        assert_eq!(moved("mew"), "");
    }
}
