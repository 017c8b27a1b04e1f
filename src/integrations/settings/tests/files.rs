//! What becomes of the files themselves: links, permissions, what is written around our entries.

use super::*;

#[test]
fn a_file_that_somebody_else_has_just_changed_is_not_overwritten() {
    let home = Home::with(Agent::ClaudeCode, ".claude/settings.json", "{}");
    let change = home
        .enter(&[Part::Hooks], OtherCommand::Refuse)
        .unwrap()
        .remove(0);
    fs::write(home.dir.path().join(".claude/settings.json"), "{\"a\": 1}").unwrap();
    let refused = write(&change).unwrap_err().to_string();
    assert!(refused.contains("try again"), "{refused}");
    assert_eq!(home.text(".claude/settings.json"), "{\"a\": 1}");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Home::with(Agent::ClaudeCode, "dotfiles/claude.json", "{}\n");
    let (folder, real) = (
        home.dir.path().join(".claude"),
        home.dir.path().join("dotfiles/claude.json"),
    );
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(&folder).unwrap();
    symlink(&real, folder.join("settings.json")).unwrap();
    let before = home.files();
    home.write(&[Part::Hooks]);
    assert!(
        fs::symlink_metadata(folder.join("settings.json"))
            .unwrap()
            .is_symlink()
    );
    assert!(home.text("dotfiles/claude.json").contains("ctxgauge hook"));
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o640
    );
    home.undo(&[Part::StatusLine, Part::Hooks]);
    assert_eq!(home.files(), before);
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let home = Home::with(Agent::Codex, ".codex/config.toml", "model = \"x\"\n");
    let path = home.dir.path().join(".codex/config.toml");
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let before = home.files();
    let change = home
        .enter(&[Part::Server], OtherCommand::Refuse)
        .unwrap()
        .remove(0);
    let refused = write(&change).unwrap_err().to_string();
    assert!(refused.contains("read-only"), "{refused}");
    assert_eq!(home.files(), before);
}

/// Someone may keep the file elsewhere and not have it yet.
#[cfg(unix)]
#[test]
fn a_link_to_nothing_stays_a_link() {
    let home = Home::with(Agent::ClaudeCode, ".claude/mine", "");
    let link = home.dir.path().join(".claude/settings.json");
    std::os::unix::fs::symlink("../dotfiles/claude.json", &link).unwrap();
    home.write(&[Part::Hooks]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(home.text("dotfiles/claude.json").contains("ctxgauge hook"));
    home.undo(&[Part::StatusLine, Part::Hooks]);
    assert!(!home.dir.path().join("dotfiles/claude.json").exists());
}

/// Line ends, a byte order mark, and comments at the end.
#[test]
fn codex_keeps_the_rest_of_its_file_as_it_is_written() {
    for body in [
        "\u{feff}model = \"x\"\r\n\r\n[tui]\r\na = 1 # one\r\n# the end\r\n",
        "model = \"x\"\n# the end",
        "mixed = 1\r\nends = 2\n",
        "# a comment alone\n",
    ] {
        let home = Home::with(Agent::Codex, ".codex/config.toml", body);
        home.write(&[Part::Server]);
        let text = home.text(".codex/config.toml");
        assert!(text.starts_with(body), "{text:?}");
        let added = &text[body.len()..];
        assert_eq!(added.contains("\r\n"), body.contains("\r\n"), "{added:?}");
        assert_eq!(added.trim().lines().next(), Some("[mcp_servers.ctxgauge]"));
        // Somebody else adds a table, so that only what was entered goes.
        let path = home.dir.path().join(".codex/config.toml");
        fs::write(&path, format!("{text}[other]\nb = 2\n")).unwrap();
        home.undo(&[Part::Server]);
        let left = home.text(".codex/config.toml");
        assert!(left.starts_with(body), "{left:?}");
        assert_eq!(left[body.len()..].trim_start(), "[other]\nb = 2\n");
    }
}

#[test]
fn a_file_that_the_agent_does_not_read_is_not_changed() {
    for (agent, below, text, is_read) in [
        (
            Agent::ClaudeCode,
            ".claude/settings.json",
            "{\"a\": 1,}",
            false,
        ),
        (
            Agent::ClaudeCode,
            ".claude/settings.json",
            "{} // mine",
            false,
        ),
        (Agent::Codex, ".codex/hooks.json", "{ /* mine */ }", false),
        (
            Agent::QwenCode,
            ".qwen/settings.json",
            "{ /* mine */ }",
            true,
        ),
        (
            Agent::QwenCode,
            ".qwen/settings.json",
            "{\"a\": [1,]}",
            false,
        ),
        (Agent::QwenCode, ".qwen/settings.json", "\u{feff}{}", true),
        (
            Agent::GeminiCli,
            ".gemini/settings.json",
            "\u{feff}{}",
            false,
        ),
        (Agent::Codex, ".codex/hooks.json", "\u{feff}{}", false),
        (Agent::Pi, ".pi/agent/mcp.json", "{ /* mine */ }", false),
        (Agent::Pi, ".pi/agent/mcp.json", "{\"a\": 1,}", false),
        (Agent::Pi, ".pi/agent/mcp.json", "\u{feff}{}", true),
    ] {
        let home = Home::with(agent, below, text);
        let part = match agent {
            Agent::Pi => Part::Server,
            _ => Part::Hooks,
        };
        let entered = home.enter(&[part], OtherCommand::Refuse);
        assert_eq!(entered.is_ok(), is_read, "{agent:?} {text}");
        let why = entered.err().map(|refusal| refusal.to_string());
        let is_said = why.is_none_or(|why| why.contains("does not read it"));
        assert!(is_said, "{agent:?} {text}");
    }
    let home = Home::with(Agent::Pi, ".pi/agent/mcp.json", "{\"mcpServers\": {},}");
    assert!(home.enter(&[Part::Server], OtherCommand::Refuse).is_err());
}

#[test]
fn the_plugin_names_the_program_and_goes_with_its_folders() {
    let home = Home::with(Agent::ClaudeCode, ".claude/skills/mine/SKILL.md", "mine");
    let before = home.files();
    let user = user(home.dir.path());
    let program = Program::at(Path::new("/opt/it's/ctxgauge"));
    for change in enter(
        home.agent,
        &[Part::Plugin],
        &user,
        &program,
        OtherCommand::Refuse,
    )
    .unwrap()
    {
        write(&change).unwrap();
    }
    let module = home.text(".claude/skills/ctxgauge/hooks/register.js");
    assert!(
        module.contains("const PROGRAM = \"/opt/it's/ctxgauge\"\n"),
        "{module}"
    );
    assert!(module.lines().count() <= 60);
    home.undo(&[Part::Plugin]);
    assert_eq!(home.files(), before);
    assert!(!home.dir.path().join(".claude/skills/ctxgauge").exists());
}

/// All folders in a home but itself.
fn folders(home: &Home) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![home.dir.path().to_path_buf()];
    while let Some(folder) = todo.pop() {
        let below = fs::read_dir(folder).unwrap().flatten();
        todo.extend(below.map(|entry| entry.path()).filter(|path| path.is_dir()));
        found.extend(todo.last().cloned());
    }
    found
}

#[test]
fn nothing_is_left_where_nothing_was_in_whatever_order_it_was_entered() {
    for agent in <Agent as strum::VariantArray>::VARIANTS {
        let (home, parts) = (Home::new(*agent), parts(*agent));
        for part in &parts {
            home.write(&[*part]);
        }
        for part in &parts {
            home.undo(&[*part]);
        }
        assert_eq!(
            (home.files(), folders(&home)),
            (vec![], vec![]),
            "{agent:?}"
        );
        for part in parts.iter().rev() {
            home.write(&[*part]);
        }
        home.undo(&parts);
        assert_eq!(
            (home.files(), folders(&home)),
            (vec![], vec![]),
            "{agent:?}"
        );
    }
}

#[test]
fn a_file_of_the_user_with_a_name_like_that_of_an_original_stays() {
    let home = Home::with(Agent::ClaudeCode, ".claude/settings.json", "{}");
    for name in ["before", "0123456789abcdefg", "0123456789ABCDEF", ""] {
        let path = home
            .dir
            .path()
            .join(format!(".claude/settings.json.ctxgauge-{name}.bak"));
        fs::write(path, "mine").unwrap();
    }
    let before = home.files();
    home.write(&[Part::StatusLine]);
    home.write(&[Part::Hooks]);
    assert_eq!(home.files().len(), before.len() + 1);
    home.undo(&[Part::StatusLine, Part::Hooks]);
    assert_eq!(home.files(), before);
}

#[test]
fn a_plugin_of_somebody_else_is_neither_replaced_nor_removed() {
    let hooks = ".claude/skills/ctxgauge/hooks/hooks.json";
    let home = Home::with(
        Agent::ClaudeCode,
        hooks,
        "{ \"modules\": [\"./mine.js\"] }\n",
    );
    let before = home.files();
    home.undo(&[Part::Plugin]);
    assert_eq!(home.files(), before);
    let refused = home
        .enter(&[Part::Plugin], OtherCommand::Refuse)
        .unwrap_err();
    assert!(refused.to_string().contains("move it away"), "{refused}");
    // Nor a file of ours that somebody has changed.
    let home = Home::new(Agent::ClaudeCode);
    home.write(&[Part::Plugin]);
    let module = ".claude/skills/ctxgauge/hooks/register.js";
    let changed = home.text(module) + "// mine\n";
    fs::write(home.dir.path().join(module), &changed).unwrap();
    home.undo(&[Part::Plugin]);
    assert_eq!(home.files(), [(module.to_owned(), changed.into_bytes())]);
}

#[test]
fn what_a_killed_program_left_beside_settings_is_removed() {
    let home = Home::with(Agent::ClaudeCode, ".claude/settings.json", "{}");
    let before = home.files();
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let put = |of: &str, process: u32| {
        let name = format!(".claude/.{of}.unfinished-{process}");
        fs::write(home.dir.path().join(&name), "half").unwrap();
        name
    };
    let settings = home.dir.path().join(".claude/settings.json");
    put("settings.json", ended.id());
    put("settings.json.ctxgauge-0123456789abcdef.bak", ended.id());
    let others = [
        put("settings.json", std::process::id()),
        put("other.json", ended.id()),
        put("settings.json.before.bak", ended.id()),
    ];
    sweep(&settings);
    let left = home
        .files()
        .into_iter()
        .filter(|file| !before.contains(file));
    let mut left: Vec<String> = left.map(|(name, _)| name).collect();
    left.sort();
    let mut expected = others.to_vec();
    expected.sort();
    assert_eq!(left, expected);
}

/// The parser for changes accepts more than agents read.
#[test]
fn settings_that_are_not_json_are_not_changed() {
    for (text, is_read) in [
        ("{\"a\": \"\u{1}\"}", false),
        ("{\"a\": \"x\ny\"}", false),
        ("{\"a\tb\": 1}", false),
        ("{\"a\": 'x'}", false),
        ("{\"a\": 0xf}", false),
        ("{\"a\": +1}", false),
        ("{\"a\": NaN}", false),
        ("{\"a\": 1 \"b\": 2}", false),
        ("{\u{a0}\"a\": 1}", false),
        (
            "{\"a\": \"\\u0001 // no comment,}\"} // a comment \u{1}",
            true,
        ),
        ("{\"a\": [1, /* one, */ ], \"b\": {}, }", true),
    ] {
        for (agent, below) in [
            (Agent::OpenCode, ".config/opencode/opencode.json"),
            (Agent::CopilotCli, ".copilot/mcp-config.json"),
        ] {
            let home = Home::with(agent, below, text);
            let entered = home.enter(&[Part::Server], OtherCommand::Refuse);
            assert_eq!(entered.is_ok(), is_read, "{text:?}");
        }
    }
}
