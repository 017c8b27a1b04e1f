//! What a user at a terminal waits for: the first frame, and the frame after a key.
//!
//! `cargo bench --bench terminal`. The program runs in a pseudo-terminal of 200×60; a key is answered when
//! the last byte of the frame with its effect has arrived. One line for each figure: its goal, what was
//! measured, and the ratio. `CTXGAUGE_BENCH_HOME` names a home for the first frame instead of a made-up one
//! of 400 logs. `-- NAME` runs only the figures whose names contain NAME.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::home::{Home, response};
use common::rows::{row, time};
use common::screen::{Screen, moment, tab};
use ratatui::crossterm::{event, execute, terminal};
use ratatui::layout::Constraint;
use ratatui::style::{Color, Style};
use ratatui::widgets::{Cell, Row, Table};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Begins of this program as the minimal one.
const MINIMAL: &str = "--minimal";
const STARTS: usize = 15;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == MINIMAL) {
        return minimal();
    }
    let only = arguments.iter().find(|argument| !argument.starts_with('-'));
    let figures: [(&str, fn()); 4] = [
        ("first frame", first_frame),
        ("keys, 50 growing", keys_while_growing),
        ("keys, 10,000 sessions", keys_of_many),
        ("idle", idle),
    ];
    for (name, figure) in figures {
        if only.is_none_or(|only| name.contains(only.as_str())) {
            figure();
        }
    }
}

/// One line: what, the goal, what was measured, in the same unit.
fn figure(name: &str, goal: f64, measured: f64, unit: &str) {
    println!(
        "{name:<46} goal {goal:>6.1} {unit:<7} measured {measured:>7.2}  {:.2} of the goal",
        measured / goal
    );
}

/// A ratatui program that draws a table and waits for a key.
fn minimal() {
    let mut terminal = ratatui::init();
    execute!(std::io::stdout(), event::EnableMouseCapture).unwrap();
    terminal
        .draw(|frame| {
            let rows = (0..frame.area().height).map(|n| {
                let cells = (0..10).map(|column| Cell::from(format!("cell {n} {column}")));
                Row::new(cells).style(Style::new().fg(Color::Indexed(n as u8 % 7)))
            });
            frame.render_widget(Table::new(rows, [Constraint::Fill(1); 10]), frame.area());
        })
        .unwrap();
    let _ = event::read();
    ratatui::restore();
    let _ = terminal::disable_raw_mode();
}

fn first_frame() {
    let made;
    let home = match std::env::var_os("CTXGAUGE_BENCH_HOME") {
        Some(home) => PathBuf::from(home),
        None => {
            made = Home::new(400, 200_000, Duration::from_secs(3_600));
            made.path().to_owned()
        }
    };
    let mut took = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        let me = std::env::current_exe().unwrap();
        let minimal = Screen::start(me.to_str().unwrap(), &[MINIMAL], &home);
        took[0].push(minimal.wait_for_bytes(2_000));
        let ours = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], &home);
        took[1].push(ours.wait_for_bytes(2_000));
        drop(ours);
        let mut ours = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], &home);
        let begun = ours.begun;
        ours.wait_for(|screen| rows_listed(screen) > 20);
        took[2].push(begun.elapsed());
    }
    let [minimal, bytes, rows] = took.map(|mut took| {
        took.sort_unstable();
        took[took.len() / 2].as_secs_f64()
    });
    println!("a minimal program's first frame: {:.1} ms", minimal * 1e3);
    figure(
        "first frame, 400 sessions (2 kB)",
        3.0,
        bytes / minimal,
        "minimal",
    );
    figure("a screen full of them", 3.0, rows / minimal, "minimal");
    let of = Duration::from_secs_f64;
    for (what, ours) in [
        ("first frame with 400 sessions", bytes),
        ("first screen full of them", rows),
    ] {
        row(
            &format!("{what}, beside a minimal ratatui program's first frame"),
            "≤ 3×",
            time(of(ours)),
            time(of(minimal)),
            format!("{:.2}×", ours / minimal),
        );
    }
}

fn rows_listed(screen: &vt100::Screen) -> usize {
    let rows = screen.contents();
    rows.lines()
        .filter(|row| row.contains("claude") || row.contains("codex"))
        .count()
}

/// Keys on every screen, while 50 sessions grow.
fn keys_while_growing() {
    let home = Home::new(50, 60_000, Duration::ZERO);
    let logs = home.logs.clone();
    let (stop, stopped) = channel::<()>();
    let grow = std::thread::spawn(move || {
        let mut files: Vec<File> = logs
            .iter()
            .map(|log| OpenOptions::new().append(true).open(log).unwrap())
            .collect();
        // Each grows five times a second.
        for n in 1_000.. {
            let file = &mut files[n % 50];
            file.write_all(response(n, n % 50, 700).as_bytes()).unwrap();
            if stopped.recv_timeout(Duration::from_millis(4))
                != Err(std::sync::mpsc::RecvTimeoutError::Timeout)
            {
                return;
            }
        }
    });
    let mut screen = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], home.path());
    screen.wait_for(|screen| rows_listed(screen) > 40);
    std::thread::sleep(Duration::from_millis(1_500));
    let mut all = Vec::new();
    let mut of = |name: &str, took: Vec<Duration>| {
        report_keys(name, 16.0, &took);
        all.extend(took);
    };
    of("key, 50 growing: list, up and down", screen.keys("jk", 200));
    of("key, 50 growing: list, sort", screen.keys("sj\rsk\r", 60));
    of("key, 50 growing: list, group", screen.keys("pj\rpk\r", 60));
    of("key, 50 growing: list, help", screen.keys("?\x1b", 60));
    screen.press_for("/");
    of(
        "key, 50 growing: list, filter",
        screen.keys("proj\x7f\x7f\x7f\x7f", 80),
    );
    screen.press("\r");
    std::thread::sleep(Duration::from_millis(300));
    screen.press_for("\r");
    std::thread::sleep(Duration::from_millis(500));
    of(
        "key, 50 growing: session, up and down",
        screen.keys("jk", 100),
    );
    of(
        "key, 50 growing: session, tabs",
        screen.keys_and_watch("\t", 90, tab),
    );
    screen.press_for("1");
    of(
        "key, 50 growing: session, steps",
        screen.keys_and_watch("\x1b[D", 60, moment),
    );
    screen.press("l");
    std::thread::sleep(Duration::from_millis(200));
    screen.press_for("\r");
    std::thread::sleep(Duration::from_millis(300));
    of("key, 50 growing: text", screen.keys("?\x1b", 60));
    report_keys("key, 50 growing: all", 16.0, &all);
    all.sort_unstable();
    let at = |share: f64| time(all[((all.len() - 1) as f64 * share) as usize]);
    row(
        "a key to its frame's last byte, 50 sessions growing: p50 and p99",
        "≤ 16 ms at p99",
        format!("{} and {}", at(0.5), at(0.99)),
        "–",
        "–",
    );
    let _ = stop.send(());
    grow.join().unwrap();
}

/// Keys on 10,000 sessions, 10 GB, from the start of the program.
fn keys_of_many() {
    let home = Home::new(10_000, 1 << 20, Duration::from_secs(3_600));
    let mut screen = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], home.path());
    let begun = screen.begun;
    screen.wait_for(|screen| rows_listed(screen) > 40);
    figure(
        "10,000 sessions: a screen full",
        1_000.0,
        begun.elapsed().as_secs_f64() * 1e3,
        "ms",
    );
    let mut all = Vec::new();
    let mut of = |name: &str, took: Vec<Duration>| {
        report_keys(name, 50.0, &took);
        all.extend(took);
    };
    // A session moves to the end of the list when its log has been read, and the mark moves with it. There, a key for
    // what is below has no effect: each of these goes up first.
    screen.press_for("G");
    of("key, 10,000 sessions: up and down", screen.keys("kj", 150));
    of(
        "key, 10,000 sessions: pages",
        screen.keys("\x1b[5~\x1b[6~", 100),
    );
    of(
        "key, 10,000 sessions: top and bottom",
        screen.keys("gG", 60),
    );
    of("key, 10,000 sessions: sort", screen.keys("sj\rsk\r", 42));
    of("key, 10,000 sessions: reverse", screen.keys("S", 20));
    of("key, 10,000 sessions: group", screen.keys("pj\rpk\r", 24));
    screen.press_for("/");
    of(
        "key, 10,000 sessions: filter",
        screen.keys("project-7\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 80),
    );
    screen.press("\x1b");
    let text = screen.parser.screen().contents();
    let state = if text.contains("reading") || text.contains('…') {
        ""
    } else {
        "not "
    };
    println!("the index was {state}being built at the last key");
    report_keys("key, 10,000 sessions: all, the longest", 50.0, &all);
    let longest = all.iter().max().unwrap().as_secs_f64() * 1e3;
    figure(
        "key, 10,000 sessions: the longest of all",
        50.0,
        longest,
        "ms",
    );
    all.sort_unstable();
    row(
        "a key among 10,000 sessions of 10 GB that are being read: p50 and the longest",
        "≤ 50 ms",
        format!(
            "{} and {}",
            time(all[all.len() / 2]),
            time(all[all.len() - 1])
        ),
        "–",
        "–",
    );
}

/// A screen on which nothing happens.
fn idle() {
    let home = Home::new(100, 60_000, Duration::from_secs(86_400));
    let mut screen = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], home.path());
    screen.wait_for(|screen| rows_listed(screen) > 40);
    screen.settle(Duration::from_secs(1));
    let before = screen.written;
    screen.settle_for(Duration::from_secs(5));
    figure(
        "idle: bytes in 5 s",
        1.0,
        (screen.written - before) as f64,
        "bytes",
    );
}

fn report_keys(name: &str, goal: f64, took: &[Duration]) {
    let mut took: Vec<f64> = took.iter().map(|took| took.as_secs_f64() * 1e3).collect();
    took.sort_by(f64::total_cmp);
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    figure(&format!("{name}, p99"), goal, at(0.99), "ms");
    println!(
        "{:<46} p50 {:.2} ms, most {:.2} ms, {} keys",
        "",
        at(0.5),
        at(1.0),
        took.len()
    );
}
