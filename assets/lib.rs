//! What the program contains as data.

/// The table of models, windows, prices and policies.
pub const MODELS: &str = include_str!("models.toml");

/// The generated table of models by provider.
pub const CATALOGUE: &str = include_str!("catalogue/models.tsv");

/// The versions of agents that were run against a provider whose counts are known.
pub const PROVEN: &str = include_str!("proven.toml");

/// The names of tools that agents bring with them.
pub fn tools() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("tools.txt").lines();
    lines.filter(|line| !line.starts_with('#'))
}

/// The examples of commands: each has a heading, then command lines with what they do below.
pub const EXAMPLES: &str = include_str!("examples.txt");

/// The sections of the program's manual page that its help does not have.
pub const MANUAL: &str = include_str!("manual.txt");

/// The built-in themes by name, in the order of the theme key.
pub const THEMES: [(&str, &str); 5] = [
    ("terminal", include_str!("themes/terminal.toml")),
    ("dark", include_str!("themes/dark.toml")),
    ("light", include_str!("themes/light.toml")),
    ("colour-blind", include_str!("themes/colour-blind.toml")),
    ("monochrome", include_str!("themes/monochrome.toml")),
];

/// The labels of agents that have a decoder, and what is known of their logs.
pub const AGENTS: &str = include_str!("agents.toml");

/// The names of attributes of spans.
pub const SPANS: &str = include_str!("spans.toml");

/// Names that the fields of logs often have.
pub const FIELDS: &str = include_str!("fields.toml");

/// The mappings of agents that need no code, by their ids.
pub const MAPPINGS: [(&str, &str); 5] = [
    ("aider", include_str!("mappings/aider.toml")),
    ("amp", include_str!("mappings/amp.toml")),
    ("iflow", include_str!("mappings/iflow.toml")),
    (
        "mini-swe-agent",
        include_str!("mappings/mini-swe-agent.toml"),
    ),
    ("swe-agent", include_str!("mappings/swe-agent.toml")),
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

/// A page of the documentation.
pub struct Page {
    /// Its name: that of its file.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// Its text, in Markdown.
    pub text: &'static str,
}

/// All pages of the documentation, in the order in which they are listed.
pub const PAGES: [Page; 30] = [
    Page {
        name: "install",
        about: "how to install ctxgauge: npm, packages, a static program; manual pages and completions",
        text: include_str!("docs/install.md"),
    },
    Page {
        name: "how-full",
        about: "how full is it?",
        text: include_str!("docs/how-full.md"),
    },
    Page {
        name: "context-command",
        about: "why does it differ from /context?",
        text: include_str!("docs/context-command.md"),
    },
    Page {
        name: "compaction",
        about: "what will compaction drop?",
        text: include_str!("docs/compaction.md"),
    },
    Page {
        name: "too-big",
        about: "which result was too big?",
        text: include_str!("docs/too-big.md"),
    },
    Page {
        name: "limit",
        about: "where did my limit go?",
        text: include_str!("docs/limit.md"),
    },
    Page {
        name: "wrong-window",
        about: "my model's window is wrong",
        text: include_str!("docs/wrong-window.md"),
    },
    Page {
        name: "unknown-agent",
        about: "my agent is not listed",
        text: include_str!("docs/unknown-agent.md"),
    },
    Page {
        name: "screens",
        about: "the screens, with pictures",
        text: include_str!("docs/screens.md"),
    },
    Page {
        name: "keys",
        about: "all keys, and their names in the configuration",
        text: include_str!("docs/keys.md"),
    },
    Page {
        name: "numbers",
        about: "what the numbers mean: known and estimated, roles, sources, windows, triggers",
        text: include_str!("docs/numbers.md"),
    },
    Page {
        name: "commands",
        about: "all commands and exit codes",
        text: include_str!("docs/commands.md"),
    },
    Page {
        name: "configuration",
        about: "the configuration file: windows, policies, keys, themes, alerts",
        text: include_str!("docs/configuration.md"),
    },
    Page {
        name: "agents",
        about: "the supported agents, their logs, and what is known about each",
        text: include_str!("docs/agents.md"),
    },
    Page {
        name: "custom-formats",
        about: "how to read the logs of another program, without code",
        text: include_str!("docs/custom-formats.md"),
    },
    Page {
        name: "status-lines",
        about: "a session on one line, for agents, tmux and prompts",
        text: include_str!("docs/status-lines.md"),
    },
    Page {
        name: "hooks",
        about: "warnings before a compaction, and records of what it did",
        text: include_str!("docs/hooks.md"),
    },
    Page {
        name: "scripts",
        about: "checks for scripts, hooks and CI",
        text: include_str!("docs/scripts.md"),
    },
    Page {
        name: "hosts",
        about: "the sessions of other machines in the list, by ssh",
        text: include_str!("docs/hosts.md"),
    },
    Page {
        name: "reports",
        about: "a session as HTML or Markdown, to share",
        text: include_str!("docs/reports.md"),
    },
    Page {
        name: "export",
        about: "tables for DuckDB, Polars or a spreadsheet; redaction",
        text: include_str!("docs/export.md"),
    },
    Page {
        name: "why",
        about: "what took the tokens and the money, and what to change",
        text: include_str!("docs/why.md"),
    },
    Page {
        name: "metrics",
        about: "metrics for Prometheus and OpenTelemetry: a server, a file, rules and a dashboard",
        text: include_str!("docs/metrics.md"),
    },
    Page {
        name: "fleets",
        about: "10, 1,000 and 100,000 machines, and what that costs",
        text: include_str!("docs/fleets.md"),
    },
    Page {
        name: "mcp",
        about: "an MCP server: agents ask it what fills their context",
        text: include_str!("docs/mcp.md"),
    },
    Page {
        name: "json",
        about: "the JSON that commands print",
        text: include_str!("docs/json.md"),
    },
    Page {
        name: "privacy",
        about: "what is read, kept and written",
        text: include_str!("docs/privacy.md"),
    },
    Page {
        name: "speed",
        about: "measurements of speed and memory",
        text: include_str!("docs/speed.md"),
    },
    Page {
        name: "comparison",
        about: "other programs on the same logs, and what they do better",
        text: include_str!("docs/comparison.md"),
    },
    Page {
        name: "development",
        about: "how to build and test ctxgauge",
        text: include_str!("docs/development.md"),
    },
];
