//! The transcripts in the documents are what a shell shows, in a home with the logs of the demo.

use crate::support::{documentation, manifest_folder, process};
use ctxgauge::agents;
use ctxgauge::ingest::demo;
use std::env::{self, consts};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

const FENCE: &str = "```console\n";

/// A home with the logs of the demo where the agents write them, and a log of an unknown agent with its mapping.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let paths = [
        ".claude/projects/-home-ada-teashop/7c41d0aa.jsonl",
        ".codex/sessions/2026/03/02/rollout-2026-03-02T09-12-04-0199a3c2-5e0e-7d41-9a57-3f60c1b2aa01.jsonl",
    ];
    for (log, path) in demo::logs(agents::by_id).iter().zip(paths) {
        write(path, &log.expanded());
    }
    for (name, file) in [("mapping", "my.toml"), ("mapped", "run-1.jsonl")] {
        let block = documentation("assets/docs/custom-formats.md", name);
        let lines: Vec<&str> = block.lines().collect();
        write(file, &(lines[1..lines.len() - 1].join("\n") + "\n"));
    }
    home
}

/// The output of a line in a shell, as a terminal shows it.
pub fn run(line: &str, home: &Path) -> String {
    let program = process(home);
    let folder = Path::new(program.get_program()).parent().unwrap();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::split_paths(&path).collect::<Vec<_>>();
    let path = env::join_paths([folder.to_owned()].into_iter().chain(path)).unwrap();
    let variables = program.get_envs();
    let variables = variables.filter_map(|(name, value)| Some((name, value?)));
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {line}\n}} 2>&1")])
        .env_clear()
        .envs(variables)
        .env("PATH", path)
        .current_dir(home)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.replace(home.to_str().unwrap(), "/home/ada")
}

/// A transcript with what its commands print now.
fn now(transcript: &str, home: &Path) -> String {
    let commands = transcript.lines().filter(|line| line.starts_with("$ "));
    let runs = commands.map(|line| format!("{line}\n{}", run(&line[2..], home)));
    runs.collect()
}

#[test]
fn transcripts_are_what_a_shell_shows() {
    assert_eq!(consts::EXE_SUFFIX, "");
    let update = env::var_os("INSTA_UPDATE") == Some(OsString::from("always"));
    let folder = manifest_folder().join("assets/docs");
    let mut seen = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let before = fs::read_to_string(&path).unwrap();
        let mut parts = before.split(FENCE);
        let mut after = parts.next().unwrap().to_owned();
        let home = home();
        for part in parts {
            let (transcript, rest) = part.split_once("```").unwrap();
            after.extend([FENCE, &now(transcript, home.path()), "```", rest]);
            seen += 1;
        }
        if update && after != before {
            fs::write(&path, after).unwrap();
        } else {
            assert!(
                after == before,
                "{}: INSTA_UPDATE=always writes what the commands print now:\n{after}",
                path.display()
            );
        }
    }
    assert!(seen >= 10, "{seen} transcripts");
}
