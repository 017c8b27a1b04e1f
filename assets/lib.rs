//! What the program contains as data.

/// The table of models, windows, prices and policies.
pub const MODELS: &str = include_str!("models.toml");

/// The names of tools that agents bring with them.
pub fn tools() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("tools.txt").lines();
    lines.filter(|line| !line.starts_with('#'))
}

/// The built-in themes by name, in the order of the theme key.
pub const THEMES: [(&str, &str); 5] = [
    ("terminal", include_str!("themes/terminal.toml")),
    ("dark", include_str!("themes/dark.toml")),
    ("light", include_str!("themes/light.toml")),
    ("colour-blind", include_str!("themes/colour-blind.toml")),
    ("monochrome", include_str!("themes/monochrome.toml")),
];

/// The plugin for Claude Code: its files, by their paths in its folder.
pub const PLUGIN: [(&str, &str); 3] = [
    (
        ".claude-plugin/plugin.json",
        include_str!("plugin/.claude-plugin/plugin.json"),
    ),
    ("hooks/hooks.json", include_str!("plugin/hooks/hooks.json")),
    (
        "hooks/register.js",
        include_str!("plugin/hooks/register.js"),
    ),
];

/// A log of the demo.
pub struct DemoLog {
    /// The id of its format.
    pub format: &'static str,
    /// The path that is shown.
    pub path: &'static str,
    /// Its lines, with marks in place of long texts.
    pub text: &'static str,
}

/// The demo's logs.
pub const DEMO: [DemoLog; 2] = [
    DemoLog {
        format: "claude-code",
        path: "demo/claude-code.jsonl",
        text: include_str!("demo/claude-code.jsonl"),
    },
    DemoLog {
        format: "codex",
        path: "demo/codex.jsonl",
        text: include_str!("demo/codex.jsonl"),
    },
];
