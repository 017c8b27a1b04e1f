//! The examples at the end of each command's help. A test parses all of them.

use std::fmt::Write;

/// By the words of a command, its examples: a command line, and what it does.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "",
        &[
            ("ctxgauge", "watch all sessions of this machine"),
            ("ctxgauge ~/.claude/projects", "watch the logs of a folder"),
            (
                "ctxgauge ssh://build-1",
                "add the sessions of another machine",
            ),
            (
                "ctxgauge --demo",
                "see it on logs that are part of the program",
            ),
        ],
    ),
    (
        "report",
        &[
            ("ctxgauge report", "the newest session of this folder"),
            (
                "ctxgauge report --session 'mend the cart'",
                "a session by its title",
            ),
            (
                "ctxgauge report --session 5e55 -o session.html",
                "as a page to hand on",
            ),
        ],
    ),
    (
        "ls",
        &[
            ("ctxgauge ls --sort trigger --limit 5", "what compacts next"),
            (
                "ctxgauge ls --totals --by day --since 7d",
                "what a week cost",
            ),
            (
                "claude --resume $(ctxgauge ls --format '{id}' --agent claude-code --limit 1)",
                "the newest session",
            ),
        ],
    ),
    (
        "why",
        &[
            ("ctxgauge why --since 7d", "what took most in a week"),
            ("ctxgauge why --project shop", "in one project"),
        ],
    ),
    (
        "search",
        &[
            (
                "ctxgauge search 'connection (refused|reset)' --since 7d",
                "in the logs of a week",
            ),
            (
                "ctxgauge search -F 'a[0]' --role tool --limit 8",
                "plain text, in eight results",
            ),
        ],
    ),
    (
        "check",
        &[
            (
                "ctxgauge check --max-percent 80",
                "the newest session of this folder",
            ),
            (
                "ctxgauge check --max-item 20k ~/.claude/projects --since 1d",
                "all of a day",
            ),
        ],
    ),
    (
        "diff",
        &[
            (
                "ctxgauge diff 5e55",
                "what a session has become since its first request",
            ),
            (
                "ctxgauge diff 5e55 --from 10 --to 20",
                "what grew between two requests",
            ),
            ("ctxgauge diff before.jsonl after.jsonl", "two logs"),
        ],
    ),
    (
        "export",
        &[
            (
                "ctxgauge export --what requests -o requests.csv",
                "all requests, for a spreadsheet",
            ),
            (
                "ctxgauge export --session 5e55 --what items",
                "the items of one session",
            ),
        ],
    ),
    (
        "follow",
        &[
            (
                "ctxgauge follow --every 5s",
                "all sessions, a line of JSON for each change",
            ),
            (
                "ctxgauge follow --session 5e55 --texts",
                "one session, with its title",
            ),
        ],
    ),
    (
        "metrics",
        &[
            ("ctxgauge metrics", "what there is, on standard output"),
            (
                "ctxgauge metrics --every 15s -o /var/lib/node_exporter/ctxgauge.prom",
                "for node_exporter's collector of text files",
            ),
        ],
    ),
    (
        "serve",
        &[
            ("ctxgauge serve", "for a Prometheus on this machine"),
            (
                "ctxgauge serve --listen 10.0.0.7:9799 --labels project",
                "for one on another machine, by project",
            ),
        ],
    ),
    (
        "statusline",
        &[
            (
                "ctxgauge statusline",
                "what an agent runs: `ctxgauge setup` enters it",
            ),
            (
                "ctxgauge statusline --format '{share}[ · {until:short}]'",
                "values of your choice",
            ),
        ],
    ),
    (
        "status",
        &[
            ("ctxgauge status", "the session of this terminal or folder"),
            (
                "ctxgauge status --pid 4711 --color tmux",
                "in tmux, with #{pane_pid}",
            ),
            (
                "ctxgauge status --session 'mend the cart' --format two-lines",
                "a session by its title",
            ),
        ],
    ),
    (
        "hook",
        &[
            (
                "ctxgauge hook",
                "what an agent runs: `ctxgauge setup --hooks AGENT` enters it",
            ),
            (
                "ctxgauge hook --block-at 95%",
                "no prompt is sent from this size on",
            ),
        ],
    ),
    (
        "audit",
        &[
            (
                "ctxgauge audit",
                "how good the numbers are on your own logs",
            ),
            (
                "ctxgauge audit --session 5e55 --worst 5",
                "the worst predictions of a session",
            ),
        ],
    ),
    (
        "models",
        &[(
            "ctxgauge models 'claude-opus*'",
            "windows and prices of some models",
        )],
    ),
    (
        "models import",
        &[(
            "ctxgauge models import api.json",
            "take them from a list of models.dev that you have downloaded",
        )],
    ),
    (
        "agents",
        &[("ctxgauge agents codex", "all that is known of an agent")],
    ),
    (
        "agents check",
        &[(
            "ctxgauge agents check log.jsonl --records 5",
            "how a log is decoded",
        )],
    ),
    (
        "mcp",
        &[(
            "ctxgauge mcp",
            "what an agent runs: `ctxgauge setup --mcp AGENT` enters it",
        )],
    ),
    (
        "setup",
        &[
            ("ctxgauge setup", "what each agent can have"),
            ("ctxgauge setup claude-code", "see the change"),
            ("ctxgauge setup claude-code --write", "make it"),
        ],
    ),
    (
        "config",
        &[("ctxgauge config init", "write a file with all keys")],
    ),
    (
        "config show",
        &[("ctxgauge config show", "what is set, and where")],
    ),
    (
        "config check",
        &[("ctxgauge config check", "what is wrong in the file")],
    ),
    (
        "config path",
        &[("vi $(ctxgauge config path)", "edit the file")],
    ),
    (
        "config init",
        &[("ctxgauge config init -", "see a file with all keys")],
    ),
    (
        "config schema",
        &[(
            "ctxgauge config schema",
            "for an editor that completes keys",
        )],
    ),
    (
        "completions",
        &[(
            "ctxgauge completions bash > ctxgauge.bash",
            "a file for your shell to read",
        )],
    ),
    (
        "help",
        &[("ctxgauge help status-lines", "a page of the documentation")],
    ),
];

/// Returns the examples of a command as the end of its help.
pub(super) fn of(command: &str) -> String {
    let found = EXAMPLES.iter().find(|(words, _)| *words == command);
    let examples = found.map_or(&[][..], |(_, examples)| examples);
    let mut text = String::from("Examples:");
    for (line, what) in examples {
        let _ = write!(text, "\n  {line}\n      {what}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use clap::{Command, CommandFactory, Parser};

    /// Returns the words of our command in a line of a shell.
    fn words(line: &str) -> Vec<String> {
        let from = line.find("ctxgauge").unwrap_or(0);
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for c in line[from..].trim().chars() {
            match c {
                '\'' => is_quoted = !is_quoted,
                // The rest is the shell's.
                '>' | '|' | ')' if !is_quoted => break,
                ' ' if !is_quoted => words.push(String::new()),
                c => words.last_mut().unwrap().push(c),
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }

    fn check(command: &mut Command, name: &str) {
        let help = command.render_long_help().to_string();
        let examples = help.split_once("Examples:\n").map(|(_, examples)| examples);
        let examples = examples.unwrap_or_else(|| panic!("{name} has no example: {help}"));
        let lines: Vec<&str> = examples
            .lines()
            .filter(|line| !line.starts_with("      ") && !line.is_empty())
            .collect();
        assert!(!lines.is_empty(), "{name}");
        for line in lines {
            assert!(line.chars().count() <= 100, "{line}");
            let words = words(line);
            assert!(words.join(" ").starts_with(name), "{name}: {line}");
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{line}: {error}");
            }
        }
        let below: Vec<String> = command
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .collect();
        for below in below {
            let found = command.find_subcommand_mut(&below).unwrap();
            check(found, &format!("{name} {below}"));
        }
    }

    #[test]
    fn every_command_has_examples_that_are_command_lines() {
        check(&mut Cli::command(), "ctxgauge");
    }
}
