//! `ctxgauge ls`: which sessions it lists, and what they have used.

use crate::support::{ctxgauge, manifest_folder};
use ctxgauge::agents;
use ctxgauge::formats::CachePlacement;
use ctxgauge::ingest::discover::Scanner;
use ctxgauge::ingest::discover::roots::SearchRoot;
use ctxgauge::ingest::log::reader::each_usage;
use ctxgauge::model::event::Event;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A session of Claude Code: a response a day from this day of November 2026 on, each with another prompt.
fn log(session: &str, project: &str, model: &str, days: std::ops::Range<u64>) -> String {
    let mut lines = Vec::new();
    let mut parent = Value::Null;
    for day in days {
        for kind in ["user", "assistant"] {
            let uuid = format!("{session}-{kind}-{day}");
            let at = format!("2026-11-{day:02}T10:00:00Z");
            let usage = json!({
                "input_tokens": day,
                "cache_read_input_tokens": 1_000 * day,
                "cache_creation_input_tokens": 100,
                "cache_creation": { "ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 60 },
                "output_tokens": 10,
            });
            let message = if kind == "user" {
                json!({ "role": kind, "content": "go on" })
            } else {
                let content = json!([{ "type": "text", "text": "done" }]);
                json!({ "role": kind, "id": format!("m{session}{day}"), "model": model, "content": content, "usage": usage })
            };
            let line = json!({
                "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": session, "timestamp": at,
                "requestId": format!("r{session}{day}"), "cwd": format!("/home/dev/{project}"),
                "version": "2.1.330", "message": message, "isSidechain": false,
            });
            parent = json!(uuid);
            lines.push(line.to_string());
        }
    }
    lines.join("\n") + "\n"
}

/// Two projects with two models.
fn logs(folder: &Path) {
    let write = |name: &str, text: String| fs::write(folder.join(name), text).unwrap();
    write("a.jsonl", log("aaaa", "shop", "claude-opus-4-8", 1..4));
    write("b.jsonl", log("bbbb", "blog", "claude-opus-4-8", 3..6));
    write("c.jsonl", log("cccc", "blog", "unheard-of", 9..10));
}

fn list(folder: &Path, arguments: &[&str]) -> Value {
    let home = tempfile::tempdir().unwrap();
    let mut command = ctxgauge(home.path());
    command.args(["ls", "--json"]).args(arguments).arg(folder);
    let output = command.output();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn ids(list: &Value) -> Vec<&str> {
    let sessions = list["sessions"].as_array().unwrap().iter();
    sessions
        .map(|session| session["id"].as_str().unwrap())
        .collect()
}

#[test]
fn sessions_are_selected_and_ordered() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let listed = |arguments: &[&str]| -> Vec<String> {
        let list = list(folder.path(), arguments);
        ids(&list).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(listed(&[]), ["cccc", "bbbb", "aaaa"]);
    assert_eq!(listed(&["--since", "2026-11-05"]), ["cccc", "bbbb"]);
    assert_eq!(listed(&["--project", "BLO"]), ["cccc", "bbbb"]);
    assert_eq!(listed(&["--model", "opus"]), ["bbbb", "aaaa"]);
    assert_eq!(listed(&["--limit", "1"]), ["cccc"]);
    assert_eq!(
        listed(&["--sort", "cost", "--limit", "2"]),
        ["bbbb", "aaaa"]
    );
    assert_eq!(listed(&["--sort", "context"]), ["cccc", "bbbb", "aaaa"]);
    assert_eq!(listed(&["--sort", "usage"]), ["bbbb", "cccc", "aaaa"]);
    assert_eq!(listed(&["--sort", "trigger"])[0], "cccc");
}

#[test]
fn the_prompt_that_is_next_to_leave_the_cache_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let now = Timestamp::now();
    // The cache has a prompt for an hour.
    for (session, minutes) in [("early", 30), ("late", 10), ("cold", 90)] {
        let text = log(session, "shop", "claude-opus-4-8", 1..2);
        let at = now - SignedDuration::from_mins(minutes);
        let text = text.replace("2026-11-01T10:00:00Z", &at.to_string());
        fs::write(folder.path().join(format!("{session}.jsonl")), text).unwrap();
    }
    let by_cache = list(folder.path(), &["--sort", "cache"]);
    assert_eq!(ids(&by_cache), ["early", "late", "cold"]);
    let recent = list(folder.path(), &[]);
    assert_eq!(ids(&recent), ["late", "early", "cold"]);
}

#[test]
fn what_a_session_used_costs_each_of_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let list = list(folder.path(), &["--totals"]);
    let usage = &list["sessions"][2]["usage"];
    // Three responses at $5, $0.5, $6.25, $10 and $25 a million.
    let usd = 6.0 * 5.0 + 6_000.0 * 0.5 + 120.0 * 6.25 + 180.0 * 10.0 + 30.0 * 25.0;
    let expected = json!({
        "responses": 3, "input": 6, "cache_read": 6_000, "cache_write": 300, "output": 30,
        "cost_usd": usd / 1e6, "unpriced": 0, "cost_lacks": [],
        "own_cost_usd": null,
    });
    assert_eq!(usage, &expected);
    assert_eq!(list["sessions"][0]["usage"]["unpriced"], 1);
    assert_eq!(list["sessions"][0]["usage"]["cost_usd"], 0.0);
}

#[test]
fn copies_of_codex_responses_count_once_and_equal_answers_twice() {
    let totals = |cases: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        for case in cases {
            let from = manifest_folder().join("tests/fixtures/codex").join(case);
            let to = folder.path().join(format!("{case}.jsonl"));
            fs::copy(from.join("log.jsonl"), to).unwrap();
        }
        let codex = &list(folder.path(), &["--totals"])["totals"]["codex"];
        [&codex["input"], &codex["output"]].map(|sum| sum.as_u64().unwrap())
    };
    let siblings = ["sub-agent-own-times", "sub-agent-own-times-sibling"];
    assert_eq!(totals(&siblings), [12_500 + 12_510, 30 + 31]);
    let family = [&siblings[..], &["sub-agent-parent"]].concat();
    assert_eq!(totals(&family), [24_300 + 12_500 + 12_510, 200 + 30 + 31]);
    let copies = ["encrypted", "encrypted-redacted"];
    assert_eq!(totals(&copies), [24_120, 140]);
    assert_eq!(totals(&["fork", "fork-parent"]), [27_300 + 9_300, 120 + 10]);
}

#[test]
fn totals_are_divided_and_their_parts_are_the_totals() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    // A fork repeats what it continues.
    let fork = log("aaaa", "shop", "claude-opus-4-8", 1..4)
        .replace("\"sessionId\":\"aaaa\"", "\"sessionId\":\"dddd\"");
    fs::write(folder.path().join("d.jsonl"), fork).unwrap();
    let of = |arguments: &[&str]| list(folder.path(), &[&["--totals"], arguments].concat());
    for by in ["day", "week", "project", "model", "agent"] {
        let list = of(&["--by", by]);
        let groups = list["groups"]["of"].as_array().unwrap();
        let sum = |key: &str| {
            groups
                .iter()
                .map(|of| of[key].as_u64().unwrap())
                .sum::<u64>()
        };
        assert_eq!(list["groups"]["by"], by);
        assert_eq!(sum("responses"), 7, "{by}");
        let totals = &list["totals"]["claude-code"];
        for (part, total) in [
            ("input", "input"),
            ("cache_read", "cache_read"),
            ("cache_write", "cache_creation"),
            ("output", "output"),
        ] {
            assert_eq!(sum(part), totals[total].as_u64().unwrap(), "{by} {part}");
        }
    }
    let names = |arguments: &[&str]| -> Vec<String> {
        let groups = of(arguments)["groups"]["of"].clone();
        let names = groups.as_array().unwrap().iter();
        names
            .map(|of| of["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let days = ["01", "02", "03", "04", "05", "09"].map(|day| format!("2026-11-{day}"));
    assert_eq!(names(&["--by", "day"]), days);
    let weeks = ["2026-10-26", "2026-11-02", "2026-11-09"];
    assert_eq!(names(&["--by", "week"]), weeks);
    assert_eq!(names(&["--by", "day", "--since", "2026-11-05"]), days[4..]);
    assert_eq!(
        names(&["--by", "model", "--project", "blog"]),
        ["claude-opus-4-8", "unheard-of"]
    );
    // From the cache too.
    let home = tempfile::tempdir().unwrap();
    let run = || {
        let mut command = ctxgauge(home.path());
        command
            .args(["ls", "--totals", "--by", "model"])
            .arg(folder.path());
        String::from_utf8(command.output().stdout).unwrap()
    };
    let first = run();
    assert!(
        first.contains("by model; input without what was cached"),
        "{first}"
    );
    assert_eq!(run(), first);
}

#[test]
fn a_project_is_a_folder_and_a_worktree_is_its_repositorys() {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    let name = |path: &str| at(path).display().to_string();
    let write = |path: &str, text: String| {
        fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        fs::write(at(path), text).unwrap();
    };
    let works_in = |session: &str, folder: &str, day: u64| {
        let text = log(session, "shop", "claude-opus-4-8", day..day + 1);
        let text = text.replace("/home/dev/shop", folder);
        write(&format!(".claude/projects/shop/{session}.jsonl"), text);
    };
    write("work/tea/.git/HEAD", String::new());
    write(
        "trees/next/.git",
        format!("gitdir: {}", name("work/tea/.git/worktrees/next")),
    );
    works_in("aaaa", "/srv/one/web", 1);
    works_in("bbbb", "/srv/two/web/", 2);
    works_in("cccc", &name("work/tea"), 3);
    works_in("dddd", &name("trees/next"), 4);
    works_in("eeee", &name("work/tea/.claude/worktrees/gone"), 5);
    let run = |arguments: &[&str]| -> Vec<u8> {
        let mut command = ctxgauge(home.path());
        command.args(arguments);
        let output = command.output();
        assert!(output.status.success());
        output.stdout
    };
    let list: Value =
        serde_json::from_slice(&run(&["ls", "--json", "--totals", "--by", "project"])).unwrap();
    let (tea, shared) = (name("work/tea"), |list: &Value, key: &str| {
        list[key].clone()
    });
    let of = |list: &Value, keys: [&str; 2]| keys.map(|key| shared(list, key));
    let rows = list["sessions"].as_array().unwrap();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| of(row, ["project", "folder"]))
        .collect();
    let (one, two) = (["one/web", "/srv/one/web"], ["two/web", "/srv/two/web"]);
    let tea = ["tea", &*tea];
    assert_eq!(rows, [tea, tea, tea, two, one]);
    let groups = list["groups"]["of"].as_array().unwrap();
    let groups: Vec<_> = groups
        .iter()
        .map(|of| (&of["name"], &of["folder"], &of["responses"]))
        .collect();
    let group =
        |[name, folder]: [&str; 2], responses: u64| (json!(name), json!(folder), json!(responses));
    let expected = [group(tea, 3), group(two, 1), group(one, 1)];
    assert_eq!(groups, expected.each_ref().map(|(a, b, c)| (a, b, c)));

    let exported = String::from_utf8(run(&["export"])).unwrap();
    let exported = exported
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).unwrap());
    let mut exported: Vec<_> = exported
        .map(|row| of(&row, ["project", "folder"]))
        .collect();
    exported.sort_by_key(|row| row[1].to_string());
    assert_eq!(exported, {
        let mut rows = [one, two, tea, tea, tea];
        rows.sort_by_key(|row| format!("{:?}", row[1]));
        rows
    });
    let listed = |project: &str| {
        let list: Value =
            serde_json::from_slice(&run(&["ls", "--json", "--project", project])).unwrap();
        ids(&list)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(listed("WEB"), ["bbbb", "aaaa"]);
    assert_eq!(listed("two/web"), ["bbbb"]);
    assert_eq!(listed("tea"), ["eeee", "dddd", "cccc"]);
}

/// Responses at 10 o'clock in UTC.
#[test]
fn days_are_those_of_the_users_clock() {
    let home = tempfile::tempdir().unwrap();
    let logs = home.path().join("logs");
    fs::create_dir(&logs).unwrap();
    fs::write(
        logs.join("a.jsonl"),
        log("aaaa", "shop", "claude-opus-4-8", 1..4),
    )
    .unwrap();
    let days = |zone: &str, arguments: &[&str]| -> (Value, Vec<String>) {
        let mut command = ctxgauge(home.path());
        command.env("TZ", zone);
        command.args(["ls", "--json", "--totals", "--by", "day"]);
        command.args(arguments).arg(&logs);
        let output = command.output();
        let list: Value = serde_json::from_slice(&output.stdout).unwrap();
        let groups = list["groups"]["of"].as_array().unwrap().iter();
        let names = groups.map(|of| of["name"].as_str().unwrap().to_owned());
        (list["groups"]["zone"].clone(), names.collect())
    };
    let day = |day: u32| format!("2026-11-{day:02}");
    let all = |days: [u32; 3]| days.map(day).to_vec();
    assert_eq!(days("UTC", &[]), (json!("UTC"), all([1, 2, 3])));
    assert_eq!(days("<+14>-14", &[]), (json!("local time"), all([2, 3, 4])));
    assert_eq!(days("<+14>-14", &["--utc"]), (json!("UTC"), all([1, 2, 3])));
    // Midnight is at 10 o'clock of the day before.
    let since = ["--since", "2026-11-03"];
    assert_eq!(days("<+14>-14", &since).1, [day(3), day(4)]);
    let since = ["--since", "2026-11-03", "--utc"];
    assert_eq!(days("<+14>-14", &since).1, [day(3)]);
}

/// Where the provider counts what was cached decides what its input costs.
#[test]
fn the_cached_part_is_where_the_format_says() {
    let roots = vec![SearchRoot::Given(manifest_folder().join("tests/fixtures"))];
    let logs = Scanner::new(roots, agents::ALL.to_vec(), |_| None)
        .look()
        .files;
    // Spans of several programs, which count differently.
    let mixed = ["otel-genai"];
    let (mut within, mut beside) = (0, 0);
    for log in logs.iter().filter(|log| !mixed.contains(&log.format.id)) {
        let usual = log.format.totals.cached;
        let read = each_usage(log, &mut |entry| {
            let Event::Usage(usage) = entry.event else {
                return;
            };
            let billed = usage.billed;
            let cached = billed.cache_read + billed.cache_creation;
            if !usage.source.is_known() || cached == 0 || billed.input == 0 {
                return;
            }
            let shown = CachePlacement::of(billed, usage.prompt, usual);
            assert_eq!(shown, usual, "{}: {billed:?}", log.format.id);
            match usual {
                CachePlacement::Within => within += 1,
                CachePlacement::Beside => beside += 1,
            }
        });
        read.unwrap();
    }
    assert!(within > 20 && beside > 20, "{within} {beside}");
}

/// A rollout of Codex, as large as real ones: `instructions` bytes before the first prompt.
fn rollout(instructions: usize) -> String {
    let item = |role: &str, text: String| {
        let content = json!([{ "type": "input_text", "text": text }]);
        let payload = json!({ "type": "message", "role": role, "content": content });
        json!({ "timestamp": "2026-11-02T10:00:00Z", "type": "response_item", "payload": payload })
    };
    let meta = json!({ "id": "0199-x", "cwd": "/home/dev/shop", "cli_version": "0.145.0" });
    let usage = json!({ "input_tokens": 9_000, "output_tokens": 10, "total_tokens": 9_010 });
    let info = json!({ "total_token_usage": usage, "last_token_usage": usage, "model_context_window": 258_400 });
    let mut lines = vec![
        json!({ "timestamp": "2026-11-02T10:00:00Z", "type": "session_meta", "payload": meta }),
        item("developer", "Be careful. ".repeat(instructions / 24)),
        item(
            "user",
            format!(
                "# AGENTS.md instructions for /home/dev/shop\n\n<INSTRUCTIONS>\n{}</INSTRUCTIONS>",
                "- Test.\n".repeat(instructions / 16)
            ),
        ),
        item("user", "Mend the checkout page".to_owned()),
    ];
    lines.extend((0..60).map(|_| item("assistant", "It is done. ".repeat(1_000))));
    lines.push(json!({
        "timestamp": "2026-11-02T10:00:09Z", "type": "event_msg",
        "payload": { "type": "token_count", "info": info },
    }));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn long_instructions_do_not_hide_what_a_session_is_called() {
    for instructions in [10_000, 90_000, 200_000] {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".codex/sessions/2026/11/02");
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("rollout-2026-11-02T10-00-00-0199-x.jsonl"),
            rollout(instructions),
        )
        .unwrap();
        let output = ctxgauge(home.path()).arg("ls").output();
        let list = String::from_utf8(output.stdout).unwrap();
        assert!(
            list.contains("Mend the checkout page"),
            "{instructions}: {list}"
        );
        let report = ["report", "--session", "the checkout"];
        assert!(ctxgauge(home.path()).args(report).output().status.success());
    }
}

#[test]
fn sessions_that_match_alike_are_named_by_their_ids() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/shop");
    fs::create_dir_all(&folder).unwrap();
    for (id, days) in [("aaaa-111111", 1..4), ("bbbb-222222", 3..6)] {
        let log = log(id, "shop", "claude-opus-4-8", days);
        fs::write(folder.join(format!("{id}.jsonl")), log).unwrap();
    }
    let report = |session: &str| {
        let report = ["report", "--session", session];
        ctxgauge(home.path()).args(report).output()
    };
    let error = String::from_utf8(report("go on").stderr).unwrap();
    assert!(
        error.contains("2 sessions of this machine match 'go on'"),
        "{error}"
    );
    for id in ["111111", "222222"] {
        assert!(error.contains(id), "{error}");
        assert!(report(id).status.success(), "{id}");
    }
}

/// Until a session of Copilot CLI has ended, its log has the outputs of its responses alone.
#[test]
fn what_totals_lack_is_the_input_until_a_sum_has_it() {
    let id = "5f0c7c0e-1111-4222-8333-444455556666";
    let start = json!({ "type": "session.start", "id": "s", "timestamp": "2026-11-01T10:00:00Z",
        "data": { "sessionId": id, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.80" } });
    let message = |id: &str| {
        json!({ "type": "assistant.message", "id": id, "parentId": "s", "timestamp": "2026-11-01T10:00:01Z",
            "data": { "messageId": id, "content": "done", "outputTokens": 30 } })
    };
    let end = json!({ "type": "session.shutdown", "id": "e", "parentId": "b", "timestamp": "2026-11-01T10:00:02Z",
        "data": { "modelMetrics": { "gpt-5": { "usage": { "inputTokens": 4_100, "outputTokens": 60 } } } } });
    let lines = [start, message("a"), message("b"), end].map(|line| line.to_string() + "\n");
    let lacks = |lines: &[String]| {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join(id);
        fs::create_dir(&session).unwrap();
        fs::write(session.join("events.jsonl"), lines.concat()).unwrap();
        let list = list(folder.path(), &["--totals"]);
        let lacks = &list["totals_lack"]["copilot-cli"]["responses_without_input"];
        let totals = &list["totals"]["copilot-cli"];
        (
            lacks.clone(),
            totals["input"].clone(),
            totals["output"].clone(),
        )
    };
    assert_eq!(lacks(&lines[..3]), (json!(2), json!(0), json!(60)));
    assert_eq!(lacks(&lines), (json!(0), json!(4_100), json!(60)));
}

fn printed(folder: &Path, arguments: &[&str]) -> (String, String) {
    let home = tempfile::tempdir().unwrap();
    let mut command = ctxgauge(home.path());
    let output = command.arg("ls").args(arguments).arg(folder).output();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (out, err)
}

#[test]
fn a_format_prints_a_line_for_each_session() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let lines = |format: &str| printed(folder.path(), &["--format", format]).0;
    assert_eq!(lines("{id}"), "cccc\nbbbb\naaaa\n");
    assert_eq!(
        lines("{project}\\t{title}[ of {parent}]"),
        "blog\tgo on\nblog\tgo on\nshop\tgo on\n"
    );
    let costs = lines("{cost}");
    assert!(
        costs.lines().skip(1).all(|cost| cost.starts_with('$')),
        "{costs}"
    );
    let (out, err) = printed(folder.path(), &["--format", "{idd}"]);
    assert_eq!(out, "");
    for possible in ["there is no {idd}", "id,", "title,", "percent,"] {
        assert!(err.contains(possible), "{possible}: {err}");
    }
    let (_, err) = printed(folder.path(), &["--format", "{largest}"]);
    assert!(err.contains("there is no {largest}"), "{err}");
}

#[test]
fn sums_have_a_last_row_and_what_they_cost() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let (text, _) = printed(folder.path(), &["--totals", "--by", "day"]);
    let list = list(folder.path(), &["--totals", "--by", "day"]);
    let groups = list["groups"]["of"].as_array().unwrap();
    let sum: u64 = groups
        .iter()
        .map(|day| day["cache_read"].as_u64().unwrap())
        .sum();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let all: Vec<&Vec<&str>> = rows
        .iter()
        .filter(|row| row.first() == Some(&"all"))
        .collect();
    assert_eq!(all.len(), 2, "{text}");
    for row in all {
        assert_eq!(row[3], sum.to_string(), "{text}");
        // One of the models has no price.
        assert!(row[6].starts_with("≥$"), "{text}");
    }
}

#[test]
fn the_sessions_of_a_compaction_are_no_rows_and_sub_agents_are_of_their_parents_project() {
    let folder = tempfile::tempdir().unwrap();
    let sub = folder.path().join("aaaa/subagents");
    fs::create_dir_all(&sub).unwrap();
    fs::write(
        folder.path().join("aaaa.jsonl"),
        log("aaaa", "shop", "claude-opus-4-6", 1..4),
    )
    .unwrap();
    for id in ["agent-acompact-1", "agent-a2"] {
        let text = log("aaaa", "shop/assets", "claude-opus-4-6", 2..3);
        fs::write(sub.join(format!("{id}.jsonl")), text).unwrap();
    }
    let lines = |arguments: &[&str]| {
        let format = ["--format", "{id} {project}"];
        printed(folder.path(), &[&format, arguments].concat()).0
    };
    assert_eq!(lines(&[]), "aaaa shop\nagent-a2 shop\n");
    assert_eq!(lines(&["--project", "shop"]), lines(&[]));
    let all = lines(&["--all"]);
    assert!(all.contains("agent-acompact-1 shop\n"), "{all}");
    // Alone, it is a session like any other.
    let alone = printed(&sub.join("agent-acompact-1.jsonl"), &["--format", "{id}"]);
    assert_eq!(alone.0, "agent-acompact-1\n");
}

#[test]
fn agents_count_the_sessions_that_are_listed() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/shop");
    let sub = folder.join("aaaa/subagents");
    fs::create_dir_all(&sub).unwrap();
    let text = |days| log("aaaa", "shop", "claude-opus-4-6", days);
    fs::write(folder.join("aaaa.jsonl"), text(1..4)).unwrap();
    fs::write(sub.join("agent-acompact-1.jsonl"), text(4..6)).unwrap();
    let mut command = ctxgauge(home.path());
    let output = command
        .args(["agents", "--json", "--agent", "claude-code"])
        .output();
    let agents: Value = serde_json::from_slice(&output.stdout).unwrap();
    let agent = &agents["agents"][0];
    assert_eq!(
        (&agent["sessions"], &agent["roots"][0]["sessions"]),
        (&json!(1), &json!(1))
    );
    // Its last record, whenever its file was written.
    assert_eq!(agent["newest"], "2026-11-03T10:00:00Z");
    let here = agent["compacts_here"].as_str().unwrap();
    assert!(here.contains("window - 33,000"), "{here}");
}

#[test]
fn a_division_implies_totals() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let text = |arguments: &[&str]| printed(folder.path(), arguments).0;
    assert_eq!(text(&["--by", "week"]), text(&["--totals", "--by", "week"]));
    let sessions = text(&["--by", "week", "--sessions"]);
    assert_eq!(sessions, text(&["--totals", "--by", "week", "--sessions"]));
    assert!(text(&["--by", "week", "--sort", "cost"]).contains("by week"));
    assert_eq!(text(&["--sessions"]), text(&["--totals", "--sessions"]));
}

#[test]
fn a_list_without_sessions_says_why() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    for (arguments, said) in [
        (
            &["--since", "2026-11-20"][..],
            "no matching session was active since 11-20 00:00\n",
        ),
        (&["--project", "ham"], "no session matches\n"),
        (&["--model", "gpt"], "no session matches\n"),
    ] {
        assert_eq!(
            printed(folder.path(), arguments),
            (String::new(), said.to_owned())
        );
        if arguments[0] != "--model" {
            let home = tempfile::tempdir().unwrap();
            let mut command = ctxgauge(home.path());
            let output = command
                .arg("why")
                .args(arguments)
                .arg(folder.path())
                .output();
            let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            assert_eq!(texts, [String::new(), said.to_owned()]);
        }
    }
    let none = printed(folder.path(), &["--limit", "0"]);
    assert_eq!(none, (String::new(), String::new()));
}

#[test]
fn an_idle_session_of_codex_waits_for_its_user() {
    let folder = tempfile::tempdir().unwrap();
    let at = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(300);
    let id = "019f36b8-7808-7b53-b256-85144c802798";
    let line = |kind: &str, payload: Value| {
        json!({ "timestamp": at.to_string(), "type": kind, "payload": payload }).to_string()
    };
    let said = |role: &str, kind: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": "on" }] });
    let lines = [
        line(
            "session_meta",
            json!({ "id": id, "cwd": "/home/dev/shop", "cli_version": "0.145.0" }),
        ),
        line(
            "event_msg",
            json!({ "type": "task_started", "turn_id": "1" }),
        ),
        line("response_item", said("user", "input_text")),
        line("response_item", said("assistant", "output_text")),
        line(
            "event_msg",
            json!({ "type": "task_complete", "turn_id": "1" }),
        ),
    ];
    let path = folder
        .path()
        .join(format!("rollout-2026-11-29T08-00-00-{id}.jsonl"));
    let live = |lines: &[String]| {
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let log = fs::File::options().write(true).open(&path).unwrap();
        log.set_modified(at.into()).unwrap();
        printed(folder.path(), &["--format", "{live}"]).0
    };
    assert_eq!(live(&lines), "waits\n");
    assert_eq!(live(&lines[..4]), "\n");
}

#[test]
fn the_totals_come_first_and_sessions_only_if_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let text = |arguments: &[&str]| printed(folder.path(), arguments).0;
    let totals = text(&["--totals"]);
    assert!(totals.starts_with("totals, "), "{totals}");
    assert!(!totals.contains("TITLE"), "{totals}");
    let by_day = text(&["--totals", "--by", "day"]);
    assert!(by_day.starts_with("by day"), "{by_day}");
    assert!(by_day.contains("\n\ntotals, "), "{by_day}");
    for wanted in [&["--totals", "--sessions"][..], &["--sort", "cost"]] {
        let both = text(wanted);
        assert!(both.starts_with(&totals), "{both}");
        assert!(both.contains("TITLE"), "{both}");
    }
    // All costs have cents.
    let costs = by_day.split_whitespace().filter(|word| word.contains('$'));
    let costs: Vec<&str> = costs.collect();
    let cents = |cost: &&str| {
        cost.rsplit_once('.')
            .is_some_and(|(_, cents)| cents.len() == 2)
    };
    assert!(costs.len() > 2 && costs.iter().all(cents), "{costs:?}");
}

#[test]
fn what_compacts_when_a_prompt_is_refused_has_a_forecast() {
    let folder = tempfile::tempdir().unwrap();
    let text = log("aaaa", "shop", "claude-opus-5", 1..9).replace("2.1.330", "2.1.250");
    fs::write(folder.path().join("aaaa.jsonl"), text).unwrap();
    let row = &list(folder.path(), &[])["sessions"][0];
    assert_eq!(row["trigger"], json!(null));
    let (requests, _) = printed(folder.path(), &["--format", "{requests}"]);
    assert!(
        requests.starts_with('~') && requests.contains(" requests ("),
        "{requests}"
    );
    let home = tempfile::tempdir().unwrap();
    let report = ctxgauge(home.path())
        .arg("report")
        .arg(folder.path())
        .output();
    let report = String::from_utf8(report.stdout).unwrap();
    let forecast = format!(
        "compacts in about {}",
        requests.trim_start_matches('~').trim()
    );
    assert!(report.contains(&forecast), "{forecast}: {report}");
}
