//! The examples at the end of each command's help. A test parses all of them.

/// Returns the examples of a command as the end of its help.
pub(super) fn of(command: &str) -> String {
    let heading = format!("# {}", format!("ctxgauge {command}").trim_end());
    let mut sections = assets::EXAMPLES.split("\n\n");
    let of_section = |section: &'static str| section.strip_prefix(&*heading)?.strip_prefix('\n');
    let found = sections.find_map(of_section).unwrap_or_default();
    format!("Examples:\n{}", found.trim_end())
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
