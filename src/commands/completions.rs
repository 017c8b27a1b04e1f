//! `ctxgauge completions`.

use super::{Call, Cli, Run};
use anyhow::{Context, Result};
use clap::{Args, Command, CommandFactory, ValueEnum};
use clap_complete::{Generator, Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use files::output::{Existing, NewFolder};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const NAME: &str = "ctxgauge";

/// `ctxgauge completions`. The configuration is not read: completions are needed even if it is wrong.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    #[arg(required_unless_present = "folder")]
    pub shell: Option<Shell>,
    /// Write the scripts of all shells and the manual pages into this folder, for a package.
    #[arg(long, value_name = "DIR", conflicts_with = "shell")]
    pub folder: Option<PathBuf>,
}

impl Run for Completions {
    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        if let Some(folder) = &self.folder {
            return write_all(folder).with_context(|| folder.display().to_string());
        }
        let scripts = self.shell.map(script);
        Ok(call.out.write_all(&scripts.unwrap_or_default())?)
    }
}

/// Options whose values the list of sessions has, by its format for them.
const LISTED: [(&str, &str); 3] = [
    ("session", "{id}"),
    ("agent", "{agent}"),
    ("model", "{model}"),
];

/// The function that lists values for Bash. Values are of logs: nothing in them is run, and they are quoted.
const BASH_VALUES: &str = r#"
_ctxgauge_values() {
    local value
    COMPREPLY=()
    while IFS= read -r value; do
        [[ $value == "${cur}"* ]] && COMPREPLY+=("$(printf %q "$value")")
    done < <(ctxgauge ls --format "$1" 2>/dev/null | sort -u)
}
"#;

/// Returns the script of a shell. It is written to memory: the generator panics where it cannot write.
fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), NAME, &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    for (option, format) in LISTED {
        let list = format!("ctxgauge ls --format \"{format}\" 2>/dev/null");
        script = match shell {
            Shell::Bash => in_bash(&script, option, format),
            Shell::Zsh => {
                let values = format!(":{{compadd -- ${{(fu)\"$({list})\"}}}}'");
                in_lines(&script, &format!("--{option}=["), ":_default'", &values)
            }
            Shell::Fish => {
                let values = format!(" -r -f -a '({list})'\n");
                in_lines(&script, &format!(" -l {option} "), " -r\n", &values)
            }
            _ => script,
        };
    }
    if shell == Shell::Bash {
        script.push_str(BASH_VALUES);
    }
    script.into_bytes()
}

/// Lists the values of an option instead of files.
fn in_bash(script: &str, option: &str, format: &str) -> String {
    let case = format!("--{option})\n{:20}", "");
    let files = format!("{case}COMPREPLY=($(compgen -f \"${{cur}}\"))");
    script.replace(&files, &format!("{case}_ctxgauge_values '{format}'"))
}

/// Replaces a part of the lines that contain a mark.
fn in_lines(script: &str, mark: &str, part: &str, by: &str) -> String {
    let lines = script.split_inclusive('\n').map(|line| {
        if line.contains(mark) {
            line.replace(part, by)
        } else {
            line.to_owned()
        }
    });
    lines.collect()
}

/// Replaces the folder by one with the scripts and the pages.
fn write_all(folder: &Path) -> Result<()> {
    let is_ours = |name: &str| name.trim_start_matches('_').starts_with(NAME);
    let folder = NewFolder::create(folder, Existing::Replace, is_ours)?;
    for shell in Shell::value_variants() {
        let mut file = folder.file(Path::new(&shell.file_name(NAME)))?;
        file.write_all(&script(*shell))?;
    }
    let mut program = Cli::command();
    program.build();
    write_pages(program, &folder)?;
    Ok(folder.finish()?)
}

/// Writes the manual page of a command, and those of its subcommands.
fn write_pages(command: Command, folder: &NewFolder) -> Result<()> {
    for below in command.get_subcommands() {
        write_pages(below.clone(), folder)?;
    }
    let more = command.get_after_help().map(ToString::to_string);
    let mut more = more.unwrap_or_default();
    if command.get_name() == NAME {
        more = format!("{}\n{more}", assets::MANUAL);
    }
    let page = Man::new(command.after_help(None::<&str>));
    let page = page.source(concat!("ctxgauge ", env!("CARGO_PKG_VERSION")));
    let mut file = folder.file(Path::new(&page.get_filename()))?;
    page.render(&mut file)?;
    Ok(write_sections(&more, &mut file)?)
}

/// Writes the end of a command's help: sections with a heading each, in their own lines.
fn write_sections(text: &str, out: &mut impl Write) -> io::Result<()> {
    let mut roff = Roff::new();
    let sections = text.split("\n\n");
    for (heading, lines) in sections.filter_map(|section| section.split_once(":\n")) {
        roff.control("SH", [&*heading.to_uppercase()])
            .control("nf", []);
        roff.text([roman(lines)]).control("fi", []);
    }
    roff.to_writer(out)
}
