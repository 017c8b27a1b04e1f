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
