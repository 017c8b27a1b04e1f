//! The formats that are built in: a file or a folder for each agent, and nothing else.

pub mod antigravity;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod copilot_cli;
pub mod crush;
pub mod cursor;
pub mod droid;
pub mod electron_ai_starter;
pub mod gemini_cli;
pub mod goose;
pub mod grok;
pub mod hermes;
pub mod hpd_agent;
pub mod kimi;
pub mod kiro;
pub mod mew;
pub mod mistral_vibe;
pub mod mistral_vibe_2;
pub mod openclaw;
pub mod opencode;
pub mod openhands;
pub mod otel_genai;
pub mod ouro;
pub mod pi;
pub mod qwen_code;
pub mod request_log;
pub mod tasks;
pub mod vscode_gateway;
pub mod zed;

use super::custom::Mapping;
use format::Format;
use std::sync::LazyLock;

/// All built-in formats, in the order in which they are tried on a file: mappings first, whose logs some decoders would
/// take for theirs.
pub static ALL: LazyLock<Vec<&'static Format>> = LazyLock::new(|| {
    let mapped = assets::MAPPINGS.iter();
    let mapped = mapped.filter_map(|(id, text)| Mapping::read(id, text).ok());
    let mapped = mapped.map(Mapping::into_built_in);
    mapped.chain(DECODERS.iter().copied()).collect()
});

/// The formats that need code.
static DECODERS: &[&Format] = &[
    &qwen_code::QWEN_CODE, // before Claude Code, whose records look like its own
    &claude_code::CLAUDE_CODE,
    &codex::CODEX,
    &gemini_cli::GEMINI_CLI,
    &antigravity::ANTIGRAVITY,
    &openclaw::OPENCLAW, // before pi, whose format it writes
    &pi::PI,
    &copilot_cli::COPILOT_CLI,
    &droid::DROID,
    &grok::GROK,
    &crush::CRUSH,
    &goose::GOOSE,
    &hermes::HERMES,
    &zed::ZED,
    &cursor::CURSOR,
    &cline::CLINE,
    &tasks::ROO_CODE,
    &tasks::KILO_CODE,
    &tasks::CLINE_TASKS,
    &otel_genai::OTEL_GENAI,
    &mew::MEW,
    &hpd_agent::HPD_AGENT,
    &openhands::OPENHANDS,
    &mistral_vibe::MISTRAL_VIBE,
    &mistral_vibe_2::MISTRAL_VIBE_2,
    &opencode::KILO, // before OpenCode, whose tables it has
    &opencode::OPENCODE,
    &vscode_gateway::VSCODE_GATEWAY, // before raw requests, which it may contain
    &request_log::REQUEST_LOG,
    &ouro::OURO,
    &electron_ai_starter::ELECTRON_AI_STARTER,
    &kiro::KIRO,
    &kimi::KIMI,
];

#[cfg(test)]
mod tests {
    use super::*;
    use format::facts::{moved_by, places, refusal};
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
        let why = refusal(&[&pi::PI, &gemini_cli::GEMINI_CLI], head);
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
    fn every_mapping_is_read() {
        for (id, text) in assets::MAPPINGS {
            assert_eq!(Mapping::read(id, text).err(), None, "{id}");
            assert!(crate::by_id(id).is_some(), "{id}");
        }
    }

    #[test]
    fn logs_of_mapped_agents_are_told_by_name_and_by_content() {
        let id = |agent: &str, path: &str| {
            let format = crate::by_id(agent).unwrap();
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
        let told = |head: &str| crate::recognise(head.as_bytes()).map(|format| format.id);
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
        let told = |id| places(crate::by_id(id).unwrap()).join(" ");
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
        let moved = |id| moved_by(crate::by_id(id).unwrap()).join(", ");
        assert_eq!(moved("opencode"), "$XDG_DATA_HOME, $OPENCODE_DB");
        assert_eq!(moved("codex"), "$CODEX_HOME");
        assert!(moved("pi").contains("sessionDir in settings.json"));
        assert_eq!(moved("mew"), "");
    }
}
