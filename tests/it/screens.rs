//! The screens of the documentation: the program as it draws them, by `assets/screens/make`.

mod recording;
mod svg;

use recording::Recording;

use crate::conversation::{Agent, Conversation, ledger, rows};
use crate::monitor::Monitor;
use crate::support::{documentation, manifest_folder};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The screens, and what each shows.
const SCREENS: [(&str, &str); 9] = [
    ("overview", "HEADROOM"),
    ("overview-small", "NEXT"),
    ("session", "in context"),
    ("overview-large", "TITLE"),
    ("session-small", "CARRIED"),
    ("session-large", "CARRIED"),
    ("search", "searched 8 of 8 sessions"),
    ("replay", "request"),
    ("text", "test import::case_1 ... ok"),
];

fn folder() -> PathBuf {
    manifest_folder().join("assets/screens")
}

/// A home with sessions at work, and some of the last days.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let write = |ago: u64, talk: &Conversation| {
        let modified = SystemTime::now() - Duration::from_secs(ago);
        talk.write(home.path(), modified);
    };
    let plain = |writer, model, project: &'static str, tokens, title: &'static str| {
        move |at| {
            let mut talk = Conversation::begin(writer, model, project, at);
            talk.user(title).look_around(tokens);
            talk
        }
    };
    let title = "Retry idempotent requests if the upstream resets the connection";
    let gateway = plain(Agent::Codex, "gpt-5.5", "gateway", 231_000, title);
    write(3, &Conversation::ended(3, gateway));
    let ledger = Conversation::ended(20, ledger);
    write(20, &ledger);
    let agent = |at| {
        let mut agent = ledger.agent("claude-haiku-4-5-20251001", at);
        agent
            .user("Which tests need the second pass?")
            .look_around(44_000);
        agent
    };
    write(70, &Conversation::ended(70, agent));
    let shop = |at| {
        let (model, title) = (
            "claude-sonnet-4-5-20250929",
            "Move the checkout to the new tax tables",
        );
        let mut talk = plain(Agent::Claude, model, "shop", 167_000, title)(at);
        talk.compact(&rows(120, "Step # is done, its tests too."))
            .user("On with step 121.");
        talk
    };
    write(40, &Conversation::ended(40, shop));
    let (opus, sonnet) = ("claude-opus-4-5-20251101", "claude-sonnet-4-5");
    let notes = "Import the old archive with its attachments";
    let search = "Rank exact matches above prefixes";
    let refunds = "Book refunds in the month of the sale";
    let blog = "Build the feed without JavaScript";
    for (hours, writer, model, project, tokens, title) in [
        (2, Agent::Pi, sonnet, "notes", 96_000, notes),
        (5, Agent::Codex, "gpt-5.5", "search", 61_000, search),
        (26, Agent::Claude, opus, "ledger", 139_000, refunds),
        (75, Agent::Pi, sonnet, "blog", 31_000, blog),
    ] {
        let ago: i64 = hours * 3_600;
        let talk = plain(writer, model, project, tokens, title);
        write(ago.unsigned_abs(), &Conversation::ended(ago, talk));
    }
    home
}

#[test]
#[ignore = "writes the screens of the documentation: run by assets/screens/make"]
fn draw_the_screens() {
    let home = home();
    let arguments = ["--fresh", "--theme", "dark"];
    let colours = [("COLORTERM", "truecolor")];
    let mut monitor = Monitor::open_with(home.path(), &arguments, (120, 34), &colours);
    let draw = |name: &str, monitor: &Monitor| {
        let file = folder().join(name).with_extension("svg");
        fs::write(file, svg::draw(&monitor.screen())).unwrap();
    };
    monitor.wait_for("all sessions", |s| {
        let gauges = s.lines().filter(|row| row.contains("% "));
        gauges.count() >= 8 && !s.contains("reading") && s.contains("·▸claude   ledger")
    });
    monitor.click("·▸claude   ledger");
    monitor.wait_for_text("▌·▸claude   ledger");
    monitor.press("⏎");
    // Read to its beginning, and counted.
    monitor.wait_for("settled numbers", |s| {
        s.contains(" 14.9k ══") && !s.contains("reading") && !s.contains("counting")
    });
    draw("session", &monitor);

    monitor.press("⏎");
    monitor.wait_for_text("902 lines");
    monitor.press("/case_9⏎");
    monitor.wait_for_text("1 of ");
    draw("text", &monitor);

    monitor.press("⎋");
    monitor.wait_for_text("in context");
    monitor.press("[");
    monitor.wait_for_text("after #68 of");
    monitor.press("←←←←");
    monitor.wait_for_text("after #65 of");
    draw("replay", &monitor);

    for shown in ["2 compactions", "7 sessions"] {
        monitor.press("⎋");
        monitor.wait_for_text(shown);
    }
    monitor.resize((120, 18));
    monitor.wait_for_text("q quit");
    draw("overview", &monitor);

    monitor.resize((80, 24));
    monitor.wait_for("the small list", |s| {
        s.contains("NEXT") && !s.contains("HEADROOM")
    });
    draw("overview-small", &monitor);
    monitor.press("⏎");
    monitor.wait_for_text("CARRIED");
    draw("session-small", &monitor);

    monitor.resize((200, 60));
    monitor.wait_for_text(" 14.9k ══");
    draw("session-large", &monitor);
    monitor.press("⎋");
    monitor.wait_for("the large list", |s| {
        s.contains("7 sessions") && s.contains("TITLE")
    });
    draw("overview-large", &monitor);

    monitor.resize((120, 18));
    monitor.press("fcase_9\\d⏎");
    monitor.wait_for_text("searched 8 of 8 sessions");
    draw("search", &monitor);
}

/// The recording of the README, and the most bytes that it may have.
const RECORDING: &str = "recording";
const MOST_RECORDED: usize = 500_000;

#[test]
#[ignore = "writes the recording of the README: run by assets/screens/make"]
fn record_the_screens() {
    let home = home();
    let arguments = ["--fresh", "--theme", "dark"];
    let colours = [("COLORTERM", "truecolor")];
    let mut monitor = Monitor::open_with(home.path(), &arguments, (100, 28), &colours);
    monitor.wait_for("all sessions", |s| {
        let gauges = s.lines().filter(|row| row.contains("% "));
        gauges.count() >= 8 && !s.contains("reading")
    });
    let mut recording = Recording::default();
    let mut show = |monitor: &Monitor, seconds| {
        recording.show(monitor.screen(), Duration::from_secs_f64(seconds));
    };
    show(&monitor, 3.0);
    monitor.click("The nightly import");
    monitor.wait_for("the session is selected", |s| {
        s.lines()
            .any(|row| row.starts_with('▌') && row.contains("ledger"))
    });
    show(&monitor, 1.5);
    monitor.press("⏎");
    monitor.wait_for("settled numbers", |s| {
        s.contains(" 14.9k ══") && !s.contains("reading") && !s.contains("counting")
    });
    show(&monitor, 3.5);
    monitor.press("6");
    monitor.wait_for_text("167k│");
    show(&monitor, 3.5);
    for rank in ["1", "2"] {
        monitor.press("L");
        monitor.wait_for_text(&format!("jump {rank} of"));
        show(&monitor, 2.5);
    }
    monitor.press("⎋4");
    monitor.wait_for_text("clear now");
    show(&monitor, 4.5);
    monitor.press("y");
    monitor.wait_for_text("resume");
    show(&monitor, 3.0);
    let file = folder().join(RECORDING).with_extension("svg");
    fs::write(file, recording.draw()).unwrap();
}

#[test]
fn the_readme_shows_the_recording_and_their_page_all_screens() {
    let first = documentation("README.md", "screen");
    let link = format!("](assets/screens/{RECORDING}.svg)");
    assert_eq!(first.matches(&link).count(), 1);
    assert_eq!(first.matches("![").count(), 1);
    let recording = fs::read_to_string(folder().join(RECORDING).with_extension("svg")).unwrap();
    assert_eq!(malformed(&recording), None);
    assert!(
        recording.len() <= MOST_RECORDED,
        "{} bytes",
        recording.len()
    );
    let shown = documentation("assets/docs/screens.md", "screens");
    let files = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut drawn: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|it| it == "svg"))
        .collect();
    let names = SCREENS.iter().map(|(name, _)| *name).chain([RECORDING]);
    let mut known: Vec<PathBuf> = names
        .map(|name| folder().join(name).with_extension("svg"))
        .collect();
    drawn.sort();
    known.sort();
    assert_eq!(drawn, known, "run assets/screens/make");
    for (name, word) in SCREENS {
        let link = format!("](../screens/{name}.svg)");
        assert!(shown.contains(&link), "screens.md does not show {name}");
        let svg = fs::read_to_string(folder().join(name).with_extension("svg")).unwrap();
        assert!(
            svg.contains(&svg::escaped(word)),
            "{name} shows no '{word}'"
        );
        assert!(svg.len() < 80_000, "{name} is large: {} bytes", svg.len());
        assert_eq!(malformed(&svg), None, "{name}");
    }
    let script = fs::read_to_string(folder().join("make")).unwrap();
    for test in ["draw_the_screens", "record_the_screens"] {
        assert!(script.contains(&format!(" {test}")), "{script}");
    }
}

/// What is wrong with a text as XML, as far as the screens use it: elements, attributes, texts.
fn malformed(xml: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for piece in xml.split('<').skip(1) {
        let Some((tag, text)) = piece.split_once('>') else {
            return Some(format!("an open tag: {piece}"));
        };
        let stray = text.contains('>')
            || text.split('&').skip(1).any(|rest| {
                let known = ["amp;", "lt;", "gt;"];
                !known.iter().any(|name| rest.starts_with(name))
            });
        if stray {
            return Some(format!("not escaped: {text}"));
        }
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Some(format!("{name} is closed, and not open"));
            }
        } else if tag.matches('"').count() % 2 != 0 {
            return Some(format!("an open quote: {tag}"));
        } else if !tag.ends_with('/') {
            open.extend(tag.split_whitespace().next());
        }
    }
    open.pop().map(|name| format!("{name} is not closed"))
}

#[test]
fn what_is_malformed_is_told() {
    assert_eq!(malformed("<a b=\"c\"><d/>&lt;e&amp;</a>\n"), None);
    for wrong in [
        "<a>",
        "<a></b>",
        "<a>&</a>",
        "<a b=\"c></a>",
        "<a>></a>",
        "</a>",
        "<a",
    ] {
        assert!(malformed(wrong).is_some(), "{wrong}");
    }
}

#[test]
fn a_screen_is_drawn_cell_by_cell() {
    let mut parser = vt100::Parser::new(2, 12, 0);
    // White on black; what is written in between stands on red.
    parser.process(b"\x1b[38;2;255;255;255;48;2;0;0;0m\x1b[2J\x1b[H");
    parser.process("a<b&  ██▁│\x1b[2;1H".as_bytes());
    parser.process(b"\x1b[1;48;2;255;0;0mhot \x1b[0;38;2;255;255;255;48;2;0;0;0m");
    let svg = svg::draw(parser.screen());
    assert_eq!(malformed(&svg), None, "{svg}");
    let rows = [
        // Two columns of one block are one rectangle.
        "<rect x=\"60.4\" y=\"10.0\" width=\"16.8\" height=\"17.0\" fill=\"#ffffff\"/>",
        "<rect x=\"77.2\" y=\"24.9\" width=\"8.4\" height=\"2.1\" fill=\"#ffffff\"/>",
        "textLength=\"33.6\" lengthAdjust=\"spacingAndGlyphs\" fill=\"#ffffff\">a&lt;b&amp;</text>",
        "<rect x=\"10.0\" y=\"27.0\" width=\"33.6\" height=\"17.0\" fill=\"#ff0000\"/>",
        "fill=\"#ffffff\" font-weight=\"bold\">hot</text>",
    ];
    for row in rows {
        assert!(svg.contains(row), "{row} is missing:\n{svg}");
    }
}
