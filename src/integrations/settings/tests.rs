//! Changes are made and taken back in files of a home of their own.

mod files;

use super::*;
use ::files::paths::{Env, Folders};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn user(home: &Path) -> User {
    User {
        folders: Folders {
            home: Some(home.to_path_buf()),
            xdg_config: Some(home.join(".config")),
            ..Folders::default()
        },
        env: Env::default(),
    }
}

/// A home with a file of settings.
struct Home {
    dir: tempfile::TempDir,
    agent: Agent,
}

impl Home {
    fn new(agent: Agent) -> Home {
        let dir = tempfile::tempdir().unwrap();
        Home { dir, agent }
    }

    fn with(agent: Agent, below: &str, text: &str) -> Home {
        let home = Home::new(agent);
        let path = home.dir.path().join(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        home
    }

    fn enter(&self, parts: &[Part], other: OtherCommand) -> Result<Vec<Change>, Refusal> {
        let user = user(self.dir.path());
        enter(self.agent, parts, &user, &Program::by_name(), other)
    }

    fn write(&self, parts: &[Part]) {
        self.write_by(&Program::by_name(), parts);
    }

    fn write_by(&self, program: &Program, parts: &[Part]) {
        let user = user(self.dir.path());
        for change in enter(self.agent, parts, &user, program, OtherCommand::Chain).unwrap() {
            write(&change).unwrap();
        }
    }

    fn undo(&self, parts: &[Part]) {
        let user = user(self.dir.path());
        for change in take_out(self.agent, parts, &user, &Program::by_name()).unwrap() {
            if change.is_some() {
                write(&change).unwrap();
            }
        }
    }

    /// All files, by their paths in the home.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.dir.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path
                        .strip_prefix(self.dir.path())
                        .unwrap()
                        .to_string_lossy();
                    found.push((name.into_owned(), fs::read(&path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    fn text(&self, below: &str) -> String {
        fs::read_to_string(self.dir.path().join(below)).unwrap()
    }
}

const SETTINGS: &str = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"PreCompact\": [ { \"hooks\": \
    [ { \"type\": \"command\", \"command\": \"say bye\" } ] } ],\n    \"Stop\": []\n  },\n  \"zebra\": [1,2 , 3]\n}\n";

#[test]
fn other_keys_and_their_order_stay() {
    let home = Home::with(Agent::ClaudeCode, ".claude/settings.json", SETTINGS);
    home.write(&[Part::StatusLine, Part::Hooks]);
    let text = home.text(".claude/settings.json");
    let at = |what: &str| {
        text.find(what)
            .unwrap_or_else(|| panic!("{what} in {text}"))
    };
    let order = [
        "\"model\"",
        "\"say bye\"",
        "\"zebra\": [1,2 , 3]",
        "\"statusLine\"",
    ];
    let places = order.map(at);
    assert!(places.is_sorted(), "{text}");
    assert_eq!(
        text.matches("\"command\": \"ctxgauge hook\"").count(),
        3,
        "{text}"
    );
    assert!(
        text.contains("\"command\": \"ctxgauge statusline\""),
        "{text}"
    );
}

#[test]
fn every_agent_gets_its_parts_and_they_come_out_byte_for_byte() {
    let all = <Agent as strum::VariantArray>::VARIANTS;
    for agent in all {
        let (home, parts) = (Home::new(*agent), parts(*agent));
        assert!(!parts.is_empty(), "{agent:?}");
        home.write(&parts);
        let written = home.files();
        assert!(!written.is_empty());
        home.write(&parts);
        assert_eq!(home.files(), written, "{agent:?}: it is there already");
        home.undo(&parts);
        assert_eq!(home.files(), [], "{agent:?}");
    }
}

#[test]
fn what_was_there_comes_back_byte_for_byte() {
    let toml = "# mine\nmodel = \"gpt-5.5\"   # new\n\n[mcp_servers.docs]\ncommand = \"docs\"\n\n[tui]\nnotifications = false\n";
    let crlf = format!("\u{feff}{}# the end", toml.replace('\n', "\r\n"));
    let cases = [
        (Agent::ClaudeCode, ".claude/settings.json", SETTINGS),
        (
            Agent::ClaudeCode,
            ".claude/settings.json",
            "\u{feff}{\r\n\t\"a\":1\r\n}",
        ),
        (Agent::ClaudeCode, ".claude/settings.json", ""),
        (Agent::ClaudeCode, ".claude/settings.json", "{}"),
        (
            Agent::QwenCode,
            ".qwen/settings.json",
            "{\"ui\":{\"theme\":\"x\"},\"$version\":3}",
        ),
        (Agent::QwenCode, ".qwen/settings.json", "{ \"ui\": {} }"),
        (
            Agent::GeminiCli,
            ".gemini/settings.json",
            "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}",
        ),
        (Agent::Codex, ".codex/hooks.json", "{\"hooks\":{}}"),
        (
            Agent::GeminiCli,
            ".gemini/settings.json",
            "{ // mine\n  \"hooks\": {} /* none */\n}\n",
        ),
        (
            Agent::OpenCode,
            ".config/opencode/opencode.json",
            "{ // mine\n  \"plugin\": [\"a\",],\n}\n",
        ),
        (Agent::Codex, ".codex/config.toml", toml),
        (Agent::Codex, ".codex/config.toml", &crlf),
        (
            Agent::Codex,
            ".codex/config.toml",
            "mcp_servers = {}\r\nmodel = \"x\"\r\n# the end",
        ),
        (
            Agent::Codex,
            ".codex/config.toml",
            "mcp_servers = { a = { command = \"a\" } }\n",
        ),
        (
            Agent::Cursor,
            ".cursor/hooks.json",
            "{\"version\": 1, \"hooks\": {\"stop\": [{\"command\": \"x\"}]}}",
        ),
        (
            Agent::OpenCode,
            ".config/opencode/opencode.json",
            "{\"$schema\": \"https://opencode.ai/config.json\"}",
        ),
    ];
    for (agent, below, text) in cases {
        let home = Home::with(agent, below, text);
        let (before, parts) = (home.files(), parts(agent));
        home.write(&parts);
        assert_ne!(home.text(below), text, "{agent:?} {text}");
        home.undo(&parts);
        assert_eq!(home.files(), before, "{agent:?} {text}");
        // One part after the other, and in another order.
        for part in &parts {
            home.write(&[*part]);
        }
        assert_eq!(
            home.text(below).matches("ctxgauge hook").count() > 0,
            parts.contains(&Part::Hooks) && !below.ends_with("toml")
        );
        home.undo(&parts);
        assert_eq!(home.files(), before, "{agent:?} {text}");
    }
}

#[test]
fn one_part_is_taken_out_and_the_other_stays() {
    let home = Home::with(Agent::ClaudeCode, ".claude/settings.json", SETTINGS);
    let before = home.files();
    home.write(&[Part::StatusLine, Part::Hooks]);
    home.undo(&[Part::Hooks]);
    let text = home.text(".claude/settings.json");
    assert!(
        text.contains("ctxgauge statusline") && !text.contains("ctxgauge hook"),
        "{text}"
    );
    assert!(
        text.contains("say bye") && text.contains("\"Stop\": []"),
        "{text}"
    );
    home.undo(&[Part::StatusLine, Part::Hooks]);
    assert_eq!(home.files(), before);
}

#[test]
fn after_another_change_only_our_entries_go() {
    let home = Home::with(Agent::ClaudeCode, ".claude/settings.json", SETTINGS);
    home.write(&[Part::StatusLine, Part::Hooks]);
    let path = home.dir.path().join(".claude/settings.json");
    let changed = home
        .text(".claude/settings.json")
        .replace("\"opus\"", "\"haiku\"");
    fs::write(&path, changed).unwrap();
    home.undo(&[Part::StatusLine, Part::Hooks]);
    // White space inside of an array may be other than it was.
    let words = |text: &str| text.split_whitespace().collect::<String>();
    let text = home.text(".claude/settings.json");
    assert_eq!(
        words(&text),
        words(&SETTINGS.replace("\"opus\"", "\"haiku\""))
    );
    assert!(!Backup::exists(&path), "nothing is left of it");
}

/// Of whatever name the program was, and whoever has changed the files since.
#[test]
fn what_a_program_of_another_name_entered_is_taken_out() {
    for agent in <Agent as strum::VariantArray>::VARIANTS {
        let (home, parts) = (Home::new(*agent), parts(*agent));
        home.write_by(&Program::at(Path::new("/opt/it's/gauge 2")), &parts);
        let written = home.files();
        home.write(&parts);
        let parts: Vec<Part> = parts.into_iter().filter(|it| *it != Part::Plugin).collect();
        if parts.len() == self::parts(*agent).len() {
            assert_eq!(home.files(), written, "{agent:?}: it is there already");
        }
        for (below, _) in &written {
            if !below.contains("skills") {
                let changed = home.text(below) + "\n";
                fs::write(home.dir.path().join(below), changed).unwrap();
            }
        }
        home.undo(&self::parts(*agent));
        assert_eq!(home.files(), [], "{agent:?}");
    }
    let theirs = "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"echo 'a b'\"},\n  \"a\": 1\n}\n";
    let home = Home::with(Agent::ClaudeCode, ".claude/settings.json", theirs);
    let parts = [Part::StatusLine, Part::Hooks];
    home.write_by(&Program::at(Path::new("/opt/gauge")), &parts);
    let path = home.dir.path().join(".claude/settings.json");
    let changed = home.text(".claude/settings.json").replace(": 1", ": 2");
    fs::write(&path, changed).unwrap();
    home.undo(&parts);
    let text = home.text(".claude/settings.json");
    assert_eq!(text, theirs.replace(": 1", ": 2"));
}

#[test]
fn entries_of_others_stay() {
    let hooks = |command: &str| {
        let hook =
            format!(r#"[{{"hooks":[{{"type":"command","command":{command:?},"timeout":5}}]}}]"#);
        format!(
            r#"{{"hooks":{{"UserPromptSubmit":{hook},"PreCompact":{hook},"PostCompact":{hook}}}}}"#
        )
    };
    let line =
        |command: &str| format!(r#"{{"statusLine":{{"type":"command","command":{command:?}}}}}"#);
    let server = |entry: &str| format!(r#"{{"mcpServers":{{"ctxgauge":{entry}}}}}"#);
    for (agent, below, text) in [
        (
            Agent::ClaudeCode,
            ".claude/settings.json",
            hooks("/opt/gauge hook"),
        ),
        (
            Agent::ClaudeCode,
            ".claude/settings.json",
            hooks("ctxgauge hook; notify-send done"),
        ),
        (
            Agent::Codex,
            ".codex/hooks.json",
            hooks("theirs hook --within 80"),
        ),
        (
            Agent::ClaudeCode,
            ".claude/settings.json",
            line("ccusage statusline"),
        ),
        (
            Agent::ClaudeCode,
            ".claude/settings.json",
            line("theirs --chain 'ctxgauge statusline'"),
        ),
        (
            Agent::ClaudeCode,
            ".claude/settings.json",
            line("ctxgauge statusline; date"),
        ),
        (
            Agent::GeminiCli,
            ".gemini/settings.json",
            server(r#"{"url":"https://localhost/mcp"}"#),
        ),
        (
            Agent::Cursor,
            ".cursor/mcp.json",
            server(r#"{"command":"docker","args":["run","mcp"]}"#),
        ),
        (
            Agent::Codex,
            ".codex/config.toml",
            "[mcp_servers.ctxgauge]\nurl = \"https://localhost/mcp\"\n".to_owned(),
        ),
        // Entered by hand, by another program or with more than setup writes.
        (
            Agent::Codex,
            ".codex/config.toml",
            "[mcp_servers.ctxgauge]\ncommand = \"/opt/wrapper\"\nargs = [\"mcp\"]\n".to_owned(),
        ),
        (
            Agent::Codex,
            ".codex/config.toml",
            "[mcp_servers.ctxgauge]\ncommand = \"ctxgauge\"\nargs = [\"mcp\"]\nenabled = false\n"
                .to_owned(),
        ),
        (
            Agent::GeminiCli,
            ".gemini/settings.json",
            server(r#"{"command":"ctxgauge","args":["mcp"],"env":{"A":"b"}}"#),
        ),
    ] {
        let home = Home::with(agent, below, &text);
        let before = home.files();
        home.undo(&parts(agent));
        assert_eq!(home.files(), before);
    }
}

#[test]
fn a_server_of_our_name_that_is_another_one_is_left_alone() {
    for (agent, below, text) in [
        (
            Agent::GeminiCli,
            ".gemini/settings.json",
            r#"{"mcpServers":{"ctxgauge":{"url":"https://localhost/mcp"}}}"#,
        ),
        (
            Agent::Codex,
            ".codex/config.toml",
            "[mcp_servers.ctxgauge]\nurl = \"https://localhost/mcp\"\n",
        ),
    ] {
        let home = Home::with(agent, below, text);
        let refused = home
            .enter(&[Part::Server], OtherCommand::Refuse)
            .unwrap_err();
        assert!(refused.to_string().contains("another server"), "{refused}");
        assert_eq!(home.text(below), text);
    }
}

#[test]
fn another_status_line_is_chained_or_replaced_only_when_asked() {
    let theirs = "{\"statusLine\": {\"type\": \"command\", \"command\": \"npx -y ccstatusline 'a b'\", \"padding\": 0}}";
    let home = Home::with(Agent::ClaudeCode, ".claude/settings.json", theirs);
    let before = home.files();
    let refused = home
        .enter(&[Part::StatusLine], OtherCommand::Refuse)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("npx -y ccstatusline") && refused.contains("--chain"),
        "{refused}"
    );
    home.write(&[Part::StatusLine]);
    let text = home.text(".claude/settings.json");
    assert!(
        text.contains(r#""ctxgauge statusline --chain 'npx -y ccstatusline '\\''a b'\\'''""#),
        "{text}"
    );
    assert!(text.contains("\"padding\": 0"), "{text}");
    home.undo(&[Part::StatusLine, Part::Hooks]);
    assert_eq!(home.files(), before);
    // Without the original, from what we wrote.
    home.write(&[Part::StatusLine]);
    let path = home.dir.path().join(".claude/settings.json");
    fs::write(&path, home.text(".claude/settings.json") + "\n").unwrap();
    home.undo(&[Part::StatusLine]);
    assert_eq!(home.text(".claude/settings.json"), format!("{theirs}\n"));
    let replaced = home
        .enter(&[Part::StatusLine], OtherCommand::Replace)
        .unwrap();
    assert!(
        replaced[0]
            .after
            .as_deref()
            .unwrap()
            .contains("\"command\": \"ctxgauge statusline\"")
    );
}

#[test]
fn what_is_not_understood_is_left_alone() {
    for (text, why) in [
        ("{\"a\": ", "not valid JSON"),
        ("[1]", "not a JSON object"),
        ("null", "not a JSON object"),
        ("{\"hooks\": []}", "`hooks` is not"),
        (
            "{\"hooks\": {\"PreCompact\": {}}}",
            "`hooks.PreCompact` is not",
        ),
        ("\u{0}", "not valid JSON"),
    ] {
        let home = Home::with(Agent::ClaudeCode, ".claude/settings.json", text);
        let refused = home
            .enter(&[Part::Hooks], OtherCommand::Refuse)
            .unwrap_err()
            .to_string();
        assert!(refused.contains(why), "{text}: {refused}");
        assert_eq!(home.text(".claude/settings.json"), text);
    }
    let home = Home::with(Agent::Codex, ".codex/config.toml", "mcp_servers = 3\n");
    assert!(
        home.enter(&[Part::Server], OtherCommand::Refuse)
            .unwrap_err()
            .to_string()
            .contains("no table")
    );
    let deep = "[".repeat(100_000);
    let home = Home::with(Agent::ClaudeCode, ".claude/settings.json", &deep);
    assert!(home.enter(&[Part::Hooks], OtherCommand::Refuse).is_err());
    let home = Home::new(Agent::Codex);
    let refused = home
        .enter(&[Part::StatusLine], OtherCommand::Refuse)
        .unwrap_err()
        .to_string();
    assert_eq!(
        refused,
        "codex has no status line that can be set in a file"
    );
}

fn any_settings() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z '\"\\\\/\u{e4}]{0,12}".prop_map(Value::from),
        Just(Value::from("ctxgauge hook")),
    ];
    let name = prop::sample::select(vec![
        "hooks",
        "statusLine",
        "ui",
        "mcpServers",
        "PreCompact",
        "UserPromptSubmit",
        "command",
        "type",
        "version",
        "a",
        "",
    ]);
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_settings_come_back_byte_for_byte(
        value in any_settings(), pretty in any::<bool>(), agent in prop::sample::select(vec![
            (Agent::ClaudeCode, ".claude/settings.json"), (Agent::QwenCode, ".qwen/settings.json"),
            (Agent::GeminiCli, ".gemini/settings.json"), (Agent::Cursor, ".cursor/hooks.json"),
        ]),
    ) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let home = Home::with(agent.0, agent.1, &text);
        let (before, parts) = (home.files(), parts(agent.0));
        let Ok(changes) = home.enter(&parts, OtherCommand::Replace) else {
            prop_assert_eq!(home.files(), before);
            return Ok(());
        };
        for change in changes.iter().filter(|change| change.is_some()) {
            write(change).unwrap();
            // It is still what the agent can read.
            let is_json = change.path.extension().is_some_and(|ending| ending == "json");
            prop_assert!(!is_json || Json::read(&change.after.clone().unwrap_or_default(), Syntax::Plain).is_ok());
        }
        home.undo(&parts);
        let ours = serde_json::to_string(&value).unwrap().contains("ctxgauge");
        prop_assert!(ours || home.files() == before, "{:?}", home.files());
    }
}
