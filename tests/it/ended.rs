//! A signal ends long work at once: nothing half written is left, and it is said what was done.

use crate::support::{manifest_folder, process};
use ctxgauge::files::waiting::wait_for;
use rustix::process::{Pid, Signal, kill_process, test_kill_process_group};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

const LOGS: usize = 30;
/// The size of a log that no machine reads before a signal comes. Nothing of it is on the disk.
const ENDLESS: u64 = 1 << 40;

/// Makes copies of a log, each with a session of its own.
fn make_logs(folder: &Path, logs: usize) {
    let log = "tests/fixtures/claude-code/response_in_several_lines/log.jsonl";
    let log = fs::read(manifest_folder().join(log)).unwrap();
    fs::create_dir(folder).unwrap();
    for ix in 0..logs {
        fs::write(folder.join(format!("{ix}.jsonl")), &log).unwrap();
    }
}

fn start(mut command: Command) -> Child {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn send(signal: Signal, program: &Child) {
    kill_process(Pid::from_child(program), signal).unwrap();
}

/// Waits until something in a folder is being written.
fn wait_until_writing(folder: &Path) {
    wait_for("an unfinished file", || {
        let names = names(folder);
        if names.iter().any(|name| name.contains(".unfinished-")) {
            Ok(())
        } else {
            Err(format!("{names:?}"))
        }
    });
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_signal_leaves_nothing_of_an_export_and_says_what_was_done() {
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("logs");
    make_logs(&logs, LOGS);
    let endless = File::options().append(true).open(logs.join("0.jsonl"));
    endless.unwrap().set_len(ENDLESS).unwrap();
    for (name, signal, arguments) in [
        ("Ctrl-C", Signal::INT, &["--what", "items"][..]),
        ("SIGTERM", Signal::TERM, &["--what", "items,requests"]),
        (
            "SIGHUP",
            Signal::HUP,
            &["--what", "sessions", "--partition", "agent,date"],
        ),
    ] {
        let out = dir.path().join("out");
        // Of several tables, the folder is made by the export.
        if name == "Ctrl-C" {
            fs::create_dir(&out).unwrap();
        }
        let file = if arguments.len() > 2 || arguments[1].contains(',') {
            out.clone()
        } else {
            out.join("items.csv")
        };
        let mut export = process(dir.path());
        export
            .arg("export")
            .args(arguments)
            .arg("-o")
            .arg(file)
            .arg(&logs);
        let export = start(export);
        wait_until_writing(&out);
        send(signal, &export);
        let output = export.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(signal.as_raw()), "{name}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.starts_with(&format!("ctxgauge: ended by {name}: ")),
            "{said}"
        );
        let done = format!(" of {LOGS} logs read, nothing was written\n");
        assert!(said.ends_with(&done) && said.lines().count() == 1, "{said}");
        assert_eq!(names(&out), Vec::<String>::new(), "{name}");
        assert_eq!(out.exists(), name == "Ctrl-C");
        if out.exists() {
            fs::remove_dir(&out).unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_ends_nothing() {
    use crate::support::in_a_shell;
    let dir = tempfile::tempdir().unwrap();
    let (logs, out) = (dir.path().join("logs"), dir.path().join("out"));
    make_logs(&logs, 300);
    fs::create_dir(&out).unwrap();
    let mut export = process(dir.path());
    export
        .args(["export", "--what", "items", "-o"])
        .arg(out.join("items.csv"))
        .arg(&logs);
    let shell = in_a_shell("trap '' HUP; echo; exec \"$0\" \"$@\"", &export);
    let mut export = start(shell);
    let mut is_ready = [0];
    let stdout = export.stdout.as_mut().unwrap();
    stdout.read_exact(&mut is_ready).unwrap();
    // At every moment until its end.
    let status = loop {
        if let Some(status) = export.try_wait().unwrap() {
            break status;
        }
        send(Signal::HUP, &export);
        thread::yield_now();
    };
    assert!(status.success(), "{status:?}");
    assert_eq!(names(&out), ["items.csv"]);
}

/// An agent that ends takes its status line with it, by the signals of its terminal.
#[test]
fn a_signal_leaves_nothing_of_a_chained_status_line() {
    let dir = tempfile::tempdir().unwrap();
    let (began, input) = (dir.path().join("began"), dir.path().join("input"));
    fs::write(&input, "{}").unwrap();
    let mut command = process(dir.path());
    let chained = format!("echo $$ > '{}'; sleep 1000; true", began.display());
    command.args(["statusline", "--chain", &chained]);
    command.stdin(File::open(&input).unwrap());
    let mut program = start(command);
    let leader = wait_for("the chained command", || {
        let text = fs::read_to_string(&began).unwrap_or_default();
        text.trim().parse::<i32>().map_err(|_| text)
    });
    send(Signal::HUP, &program);
    assert_eq!(program.wait().unwrap().signal(), Some(Signal::HUP.as_raw()));
    let group = Pid::from_raw(leader).unwrap();
    wait_for("the end of its group", || {
        match test_kill_process_group(group) {
            Ok(()) => Err(String::from("it runs")),
            Err(_) => Ok(()),
        }
    });
}
