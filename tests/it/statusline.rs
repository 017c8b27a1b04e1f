//! `ctxgauge statusline` and `ctxgauge status`, as agents, tmux and prompts run them.

use crate::support::claude::{Home, ID, log};
use crate::support::{ctxgauge, manifest_folder};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Output, Stdio};

impl Home {
    /// The status line for this input. It always ends with 0, and has a line.
    fn line(&self, input: &[u8]) -> (String, String) {
        shown(self.program(&["statusline"]).input(input).output())
    }
}

fn shown(output: Output) -> (String, String) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let line = String::from_utf8(output.stdout).unwrap();
    assert!(
        !line.trim().is_empty() && !line.starts_with(' '),
        "{line:?}"
    );
    (
        line.trim_end().to_owned(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn the_line_has_the_numbers_of_the_report() {
    let home = Home::with_log(83_460);
    let (line, problems) = home.line(home.input(json!(83_460)).to_string().as_bytes());
    assert_eq!(problems, "");
    let report = home
        .program(&["report", "--json", "--session", ID])
        .output();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["context"]["used"], 83_500);
    assert_eq!(report["context"]["window"], 200_000);
    assert_eq!(report["context"]["window_source"], "client");
    let percent = (83_500 * 100 + 83_500) / report["compaction"]["trigger"].as_u64().unwrap();
    assert!(line.contains(&format!(" {percent}% of ")), "{line}");
    let requests = report["compaction"]["requests_left"]["p50"]
        .as_f64()
        .unwrap()
        .round();
    assert!(line.contains(&format!(" {requests} requests (")), "{line}");
    assert!(line.contains("83.5k known"), "{line}");
}

#[test]
fn limits_of_the_plan_are_kept_with_what_the_session_used() {
    let home = Home::with_log(90_000);
    let mut input = home.input(json!(90_000));
    let end = 4_102_444_800_u64;
    for percent in [43, 46] {
        input["rate_limits"] = json!({
            "five_hour": {"used_percentage": percent, "resets_at": end},
            "seven_day": {"used_percentage": 12.5, "resets_at": end},
        });
        home.line(input.to_string().as_bytes());
    }
    let input = input.to_string();
    let line = |format: &str| {
        let mut program = home.program(&["statusline", "--format", format]);
        shown(program.input(input.as_bytes()).output()).0
    };
    assert_eq!(line("{limits}"), "5h 46% (this session 3%), week 12% (0%)");
    assert_eq!(line("{limits:short}"), "5h 46%, week 12%");
    let listed = home.program(&["ls", "--json"]).output();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let limit = &listed["sessions"][0]["limits"][0];
    let [used, by_session] = ["used_percent", "session_percent"].map(|key| limit[key].as_f64());
    assert_eq!((used, by_session), (Some(46.0), Some(3.0)), "{limit}");
}

#[test]
fn what_the_client_says_is_kept_and_used_by_the_others() {
    let home = Home::with_log(90_000);
    let mut input = home.input(json!(90_000));
    input["model"]["id"] = json!("claude-opus-4-6[1m]");
    input["context_window"]["context_window_size"] = json!(1_000_000);
    let (line, _) = home.line(input.to_string().as_bytes());
    let kept = home.kept();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0]["window"], 1_000_000);
    assert!(line.contains(" 9% of "), "{line}");
    for arguments in [&["report", "--json"][..], &["ls", "--json"]] {
        let session = ["--session", ID];
        let arguments = if arguments[0] == "report" {
            [arguments, &session].concat()
        } else {
            arguments.to_vec()
        };
        let output = home.program(&arguments).output();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let context = if json["context"].is_null() {
            &json["sessions"][0]["context"]
        } else {
            &json["context"]
        };
        assert_eq!(
            (&context["window"], &context["window_source"]),
            (&json!(1_000_000), &json!("client"))
        );
    }
    // A response of another model since: its window is not that one.
    let other = log(90_000)
        .replace("claude-opus-4-6", "claude-haiku-4-5")
        .replace("2026-05-01", "2099-05-01")
        .replace("\"u", "\"v");
    fs::write(home.log(), other).unwrap();
    let json = report(&home);
    assert_ne!(json["context"]["window_source"], "client");
}

fn report(home: &Home) -> Value {
    let output = home
        .program(&["report", "--json", "--session", ID])
        .output();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The client changes its model before the next response has it: its word is newer than the log.
#[test]
fn a_switch_of_the_model_counts_at_once() {
    let home = Home::with_log(90_000);
    let line = |model: &str, window: u64| {
        let mut input = home.input(json!(90_000));
        input["model"]["id"] = json!(model);
        input["context_window"]["context_window_size"] = json!(window);
        home.line(input.to_string().as_bytes()).0
    };
    let limits = || {
        let json = report(&home);
        let trigger = json["compaction"]["trigger"].as_u64();
        (json["context"]["window"].as_u64().unwrap(), trigger)
    };
    assert!(line("claude-opus-4-6", 200_000).contains(" 54% of 167k"));
    let switched = line("claude-sonnet-5", 1_000_000);
    assert!(switched.contains(" 9% of 967k"), "{switched}");
    assert_eq!(limits(), (1_000_000, Some(967_000)));
    // And back.
    assert!(line("claude-opus-4-6", 200_000).contains(" 54% of 167k"));
    assert_eq!(limits(), (200_000, Some(167_000)));
}

#[test]
fn the_newer_of_log_and_client_counts() {
    let home = Home::with_log(50_000);
    let line = |prompt| home.line(home.input(prompt).to_string().as_bytes()).0;
    assert!(line(json!(50_000)).contains("50.0k known"));
    assert!(line(Value::Null).contains("50.0k known"));
    assert!(line(json!(60_000)).contains("60.0k known"));
    let more = log(70_000)
        .replace("\"u1\"", "\"u3\"")
        .replace("\"u2\"", "\"u4\"")
        .replace("m1", "m2")
        .replace("r1", "r2");
    OpenOptions::new()
        .append(true)
        .open(home.log())
        .unwrap()
        .write_all(more.as_bytes())
        .unwrap();
    assert!(
        line(json!(50_000)).contains("70.0k known"),
        "the client's is of before"
    );
}

#[test]
fn a_rewind_that_no_record_shows_yet_counts() {
    let home = Home::with_log(50_000);
    let line = |prompt| home.line(home.input(prompt).to_string().as_bytes()).0;
    let next = log(70_000)
        .replace("\"parentUuid\":null", "\"parentUuid\":\"u2\"")
        .replace("\"parentUuid\":\"u1\"", "\"parentUuid\":\"u3\"")
        .replace("\"uuid\":\"u1\"", "\"uuid\":\"u3\"")
        .replace("\"uuid\":\"u2\"", "\"uuid\":\"u4\"")
        .replace("m1", "m2")
        .replace("r1", "r2");
    fs::write(home.log(), log(50_000) + &next).unwrap();
    assert!(line(json!(70_000)).contains("70.0k known"));
    assert!(line(json!(50_000)).contains("50.0k known"));
}

#[test]
fn there_is_a_line_for_any_input() {
    let home = Home::with_log(50_000);
    let whole = home.input(json!(50_000)).to_string();
    for (input, word) in [
        ("", "no input"),
        ("null", "unknown input"),
        ("[1]", "unknown input"),
        ("{}", "unknown client"),
        (&whole[..whole.len() / 2], "input cut"),
        ("\u{0}\u{1}\u{2}", "unknown input"),
    ] {
        let (line, problems) = home.line(input.as_bytes());
        assert_eq!(
            (line.as_str(), problems.lines().count()),
            (word, 1),
            "{input}"
        );
    }
    let none = home
        .process(&["statusline"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(shown(none).0, "no input");
}

#[test]
fn a_path_outside_the_agents_folders_is_refused() {
    let home = Home::with_log(50_000);
    let outside = home.path().join("elsewhere.jsonl");
    fs::write(&outside, log(120_000)).unwrap();
    let around = home.path().join(".claude/projects/../../elsewhere.jsonl");
    let link = home.path().join(".claude/projects/-shop/link.jsonl");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let mut paths = vec![
        outside,
        around,
        PathBuf::from("/etc/passwd"),
        PathBuf::from("log.jsonl"),
    ];
    paths.extend(Some(link).filter(|_| cfg!(unix)));
    for path in paths {
        let mut input = home.input(Value::Null);
        input["transcript_path"] = json!(path);
        let (line, problems) = home.line(input.to_string().as_bytes());
        assert!(
            line.contains("log outside") && !line.contains("120"),
            "{path:?}: {line}"
        );
        assert!(
            problems.contains("outside the folders of claude"),
            "{path:?}: {problems}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_reached_by_a_link_is_the_agents_own() {
    let real = Home::with_log(50_000);
    let home = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(real.path().join(".claude"), home.path().join(".claude")).unwrap();
    for log in [
        real.log(),
        home.path()
            .join(".claude/projects/-shop")
            .join(format!("{ID}.jsonl")),
    ] {
        let mut input = real.input(Value::Null);
        input["transcript_path"] = json!(log);
        let mut command = ctxgauge(home.path());
        let command = command.arg("statusline").input(input.to_string());
        let (line, problems) = shown(command.output());
        assert!(
            line.contains("50.0k known") && problems.is_empty(),
            "{log:?}: {line} {problems}"
        );
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_never_waited_for() {
    let home = Home::new();
    nix::unistd::mkfifo(&home.log(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let (line, problems) = home.line(home.input(json!(50_000)).to_string().as_bytes());
    assert!(
        line.contains("50.0k known") && line.ends_with("no log"),
        "{line}"
    );
    assert!(problems.contains("named pipe"), "{problems}");
    fs::remove_file(home.log()).unwrap();
    fs::create_dir(home.log()).unwrap();
    let (_, problems) = home.line(home.input(Value::Null).to_string().as_bytes());
    assert!(problems.contains("a folder"), "{problems}");
}

/// Copilot names the folder of the session, not its log.
#[test]
fn a_session_is_found_by_its_folder() {
    let home = Home::new();
    let folder = home.path().join(".copilot/session-state/3f2a");
    fs::create_dir_all(&folder).unwrap();
    let fixture =
        manifest_folder().join("tests/fixtures/copilot-cli/own_number_and_no_prompts/log.jsonl");
    fs::copy(fixture, folder.join("events.jsonl")).unwrap();
    let input = json!({
        "session_id": "3f2a", "transcript_path": folder, "model": { "id": "gpt-5.4" }, "version": "1.0.102",
        "context_window": {
            "current_context_tokens": 37_400, "last_call_input_tokens": 45_184, "last_call_output_tokens": 310,
            "displayed_context_limit": 128_000,
        },
        "cost": { "total_premium_requests": 3 },
    });
    let (line, problems) = home.line(input.to_string().as_bytes());
    assert_eq!(problems, "");
    assert!(line.contains("45.5k known"), "{line}");
}

#[test]
fn a_session_is_found_by_its_id_and_a_path_is_no_id() {
    let home = Home::with_log(50_000);
    let by_id = |id: &str| {
        let mut input = home.input(Value::Null);
        input["session_id"] = json!(id);
        input.as_object_mut().unwrap().remove("transcript_path");
        home.line(input.to_string().as_bytes())
    };
    assert!(by_id(ID).0.contains("50.0k known"));
    // From what is kept, the second time.
    assert!(by_id(ID).0.contains("50.0k known"));
    let path = format!("../-shop/{ID}");
    let (line, problems) = by_id(&path);
    assert!(line.ends_with("no session"), "{line}");
    assert!(
        problems.contains("neither a log nor a session's id"),
        "{problems}"
    );
    let (line, _) = by_id("another");
    assert_eq!(line, "no request yet");
}

#[test]
fn a_log_that_is_empty_gone_or_being_replaced() {
    let home = Home::new();
    let line = |prompt| home.line(home.input(prompt).to_string().as_bytes()).0;
    assert_eq!(line(Value::Null), "no request yet");
    assert!(line(json!(50_000)).ends_with("no log"));
    fs::write(home.log(), "").unwrap();
    assert_eq!(line(Value::Null), "no request yet");
    assert!(line(json!(50_000)).contains("50.0k known"));
    let whole = log(50_000);
    for end in [1, whole.len() / 3, whole.len() - 1] {
        fs::write(home.log(), &whole[..end]).unwrap();
        assert!(line(json!(60_000)).contains("60.0k known"), "{end}");
    }
    fs::write(home.log(), b"\xff\xfe\x00\n\n{}\n").unwrap();
    assert!(line(json!(60_000)).contains("60.0k known"));
}

#[cfg(unix)]
#[test]
fn a_home_that_cannot_be_written_costs_a_sentence() {
    let home = Home::with_log(50_000);
    // A file in the place of the folder: this holds for every user.
    fs::write(home.path().join(".local"), "").unwrap();
    let (line, problems) = home.line(home.input(json!(50_000)).to_string().as_bytes());
    assert!(
        line.contains("50.0k known · ") || line.ends_with("50.0k known"),
        "{line}"
    );
    assert!(problems.contains("could not be kept"), "{problems}");
}

#[test]
fn many_at_once_leave_whole_files() {
    let home = Home::with_log(50_000);
    let inputs: Vec<String> = (0..200)
        .map(|n| {
            let mut input = home.input(json!(50_000));
            input["context_window"]["context_window_size"] = json!(200_000 + n % 5);
            input.to_string()
        })
        .collect();
    for inputs in inputs.chunks(100) {
        let children = inputs.iter().map(|input| {
            let mut command = home.process(&["statusline"]);
            let command = command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            child
                .stdin
                .take()
                .unwrap()
                .write_all(input.as_bytes())
                .unwrap();
            child
        });
        let children: Vec<_> = children.collect();
        for child in children {
            let (line, problems) = shown(child.wait_with_output().unwrap());
            assert!(
                line.contains("50.0k known") && problems.is_empty(),
                "{line} {problems}"
            );
        }
    }
    assert_eq!(home.kept().len(), 1, "nothing unfinished is left");
}

#[test]
fn a_wrong_format_or_configuration_is_a_word_in_the_line() {
    let home = Home::with_log(50_000);
    let input = home.input(json!(50_000)).to_string();
    let mut command = home.program(&["statusline", "--format", "{percents}"]);
    let (line, problems) = shown(command.input(input.as_str()).output());
    assert!(
        line.ends_with("· format") && problems.contains("there is no {percents}"),
        "{line} {problems}"
    );
    let config = home.path().join(".config/ctxgauge");
    fs::create_dir_all(&config).unwrap();
    fs::write(
        config.join("config.toml"),
        "[statusline]\nformat = \"{known}\"\ncolours = [0.5, 0.8]\n",
    )
    .unwrap();
    assert_eq!(home.line(input.as_bytes()).0, "50.0k known");
    fs::write(
        config.join("config.toml"),
        "[statusline]\ncolours = [0.9, 0.8]\n",
    )
    .unwrap();
    let (line, problems) = home.line(input.as_bytes());
    assert!(
        line.contains("50.0k known") && line.ends_with("configuration"),
        "{line}"
    );
    assert!(problems.contains("colours"), "{problems}");
}

#[test]
fn colours_are_on_in_a_pipe_unless_no_color() {
    let home = Home::with_log(50_000);
    let input = home.input(json!(50_000)).to_string();
    let of = |arguments: &[&str], set: &[(&str, &str)]| {
        let mut command = ctxgauge(home.path());
        command
            .arg("statusline")
            .args(arguments)
            .envs(set.iter().copied());
        shown(command.input(input.as_str()).output()).0
    };
    assert!(of(&[], &[]).contains("\u{1b}[32m"));
    assert!(!of(&[], &[("NO_COLOR", "1")]).contains('\u{1b}'));
    assert!(!of(&["--color", "never"], &[]).contains('\u{1b}'));
    assert!(of(&["--color", "always"], &[("NO_COLOR", "1")]).contains('\u{1b}'));
    assert!(of(&["--color", "tmux"], &[]).contains("#[fg=green]"));
    let narrow = of(&[], &[("COLUMNS", "30"), ("NO_COLOR", "1")]);
    assert!(narrow.chars().count() <= 30, "{narrow}");
    assert!(of(&[], &[("COLUMNS", "0"), ("NO_COLOR", "1")]).contains("50.0k known"));
}

#[test]
fn nothing_of_a_log_has_a_meaning_in_a_bar() {
    let home = Home::new();
    let hostile = log(50_000).replace("claude-opus-4-6", "m$(id)`id`#(id)#[fg=red]%F\\u001b[2J");
    fs::write(home.log(), hostile).unwrap();
    let output = home
        .program(&[
            "status",
            "--session",
            ID,
            "--format",
            "{model} {project} {session}",
        ])
        .output();
    let (line, _) = shown(output);
    assert!(!line.contains(['$', '`', '#', '%', '\u{1b}']), "{line}");
}

#[test]
fn status_takes_the_session_that_is_named_or_of_the_folder() {
    let home = Home::with_log(50_000);
    let status = |arguments: &[&str]| {
        let mut command = home.program(&["status", "-v"]);
        let output = command.args(arguments).output();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    let (line, how) = status(&["--session", &ID[..8]]);
    assert!(
        line.contains("50.0k known") && how.contains("as named"),
        "{line} {how}"
    );
    let (line, how) = status(&["--cwd", "/shop"]);
    assert!(
        line.contains("50.0k known") && how.contains("newest session in '/shop', of claude"),
        "{how}"
    );
    let (line, how) = status(&["--cwd", "/shop/src/deep"]);
    assert!(
        line.contains("50.0k known") && how.contains("newest session in '/shop', of claude"),
        "a folder around it: {how}"
    );
    let (line, how) = status(&["--cwd", "/elsewhere"]);
    assert!(
        line.is_empty() && how.contains("no session was at work"),
        "{line} {how}"
    );
    let (line, how) = status(&["--session", "nobody"]);
    assert!(
        line.is_empty() && how.contains("no session 'nobody'"),
        "{how}"
    );
    let (line, how) = status(&["--pid", "4294967295"]);
    assert!(
        line.is_empty() && how.contains("no agent runs below the process"),
        "{how}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn status_takes_the_session_of_a_process_by_its_registry() {
    let home = Home::with_log(50_000);
    let mut agent = std::process::Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let folder = home.path().join(".claude/sessions");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{}.json", agent.id()));
    let register = |id: &str| {
        let entry = json!({"pid": agent.id(), "sessionId": id, "status": "idle"});
        fs::write(&path, entry.to_string()).unwrap();
    };
    register(ID);
    // This process has started it, as a shell would.
    let pid = std::process::id().to_string();
    let status = || {
        home.program(&["status", "-v", "--pid", &pid, "--cwd", "/shop"])
            .output()
    };
    let output = status();
    // One that has just begun: the newest of the folder is another one.
    register("5e551001-0000-4000-8000-0000000000ff");
    let begun = status();
    drop(agent.stdin.take());
    agent.wait().unwrap();
    let how = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("50.0k known"),
        "{how}"
    );
    assert!(how.contains("which is claude"), "{how}");
    let how = String::from_utf8_lossy(&begun.stderr).into_owned();
    assert_eq!(begun.stdout, b"\n", "{how}");
    assert!(how.contains("has no log yet"), "{how}");
}

/// As from an agent that leaves its end of the pipe open.
#[test]
fn an_open_input_is_not_waited_for() {
    let home = Home::with_log(50_000);
    let mut command = home.process(&["statusline"]);
    let mut line = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = line.stdin.take().unwrap();
    input
        .write_all(home.input(json!(50_000)).to_string().as_bytes())
        .unwrap();
    input.flush().unwrap();
    let mut printed = String::new();
    line.stdout
        .take()
        .unwrap()
        .read_to_string(&mut printed)
        .unwrap();
    drop(input);
    line.wait().unwrap();
    assert!(printed.contains("50.0k known"), "{printed}");
}
