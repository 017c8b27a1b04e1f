//! Logs whose every string is hostile: reports, lists, audits and screens show it made visible.

use super::bytes::{HOSTILE, NAME, wrong_in_text};
use super::plant;
use super::screen::Screen;
use ctxgauge::files::paths::User;
use ctxgauge::ingest::discover::Scanner;
use ctxgauge::ingest::discover::roots::SearchRoot;
use ctxgauge::ingest::log::LogFile;
use ctxgauge::ingest::log::reader::read_whole;
use ctxgauge::ingest::search::{Case, Matcher, Syntax};
use ctxgauge::model::lists::sessions::Update;
use ctxgauge::model::window::Rules;
use ctxgauge::report::audit::{self, WorstChoice};
use ctxgauge::report::ls::ListOptions;
use ctxgauge::report::output::redact::Redaction;
use ctxgauge::report::reading::patience::Patience;
use ctxgauge::report::reading::progress::Progress;
use ctxgauge::report::search::{self, Colours};
use ctxgauge::report::session::SessionRequest;
use ctxgauge::report::{
    self, CacheUse, Charset, DOCUMENT_FORMATS, FORMATS, ReportContext, Style, session,
};
use ctxgauge::tokens::Counter;
use ctxgauge::tui::app::Msg;
use ctxgauge::{agents, config};
use jiff::{SignedDuration, Timestamp};
use memchr::memmem;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn context(root: &Path, rules: &Arc<Rules>) -> ReportContext {
    ReportContext {
        formats: agents::ALL.to_vec(),
        forced: None,
        roots: vec![SearchRoot::Given(root.to_owned())],
        rules: Arc::clone(rules),
        user: User::default(),
        cache: None,
        cache_use: CacheUse::Kept,
        poll: false,
        now: Timestamp::now,
        zone: jiff::tz::TimeZone::UTC,
        patience: Patience::default(),
        progress: Progress::default(),
        redaction: Redaction::Off,
        only: None,
    }
}

fn logs(root: &Path) -> Vec<LogFile> {
    let roots = vec![SearchRoot::Given(root.to_owned())];
    Scanner::new(roots, agents::ALL.to_vec(), |_| None)
        .look()
        .files
}

#[test]
fn nothing_of_a_hostile_log_reaches_a_report_or_a_screen_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join(HOSTILE);
    let planted = plant::fixtures(&root);
    let now = Timestamp::now();
    plant::date(&root, (now - SignedDuration::from_mins(1)).into());
    let rules = Arc::new(config::rules().unwrap());
    let logs = logs(&root);
    let found: BTreeSet<String> = logs.iter().map(|log| log.format.id.to_owned()).collect();
    let lacking: Vec<&String> = planted.difference(&found).collect();
    assert!(
        lacking.is_empty(),
        "no session of {lacking:?} was found. If a key of its log says how a record is read, put it into DECIDING in \
         tests/it/hostile/plant.rs"
    );
    assert_eq!(found, planted, "a log is read as another agent's");
    reports(&logs, &rules);
    lists(&root, &rules);
    screens(&logs, &rules, now);
}

/// The report of every log, and how its records are decoded, in the default format; of a few logs of each agent in the
/// other formats.
fn reports(logs: &[LogFile], rules: &Arc<Rules>) {
    let mut visible = BTreeSet::new();
    for log in logs {
        let path = &log.facts.path;
        let context = context(path, rules);
        for format in &DOCUMENT_FORMATS {
            let is_shown = visible.contains(&(log.format.id, format.name));
            if is_shown && !format.for_people {
                continue;
            }
            for charset in [Charset::Ascii, Charset::Unicode] {
                if is_shown && charset == Charset::Ascii {
                    continue;
                }
                let style = Style {
                    format,
                    charset,
                    columns: None,
                };
                let mut out = Vec::new();
                // A log without a session has no report, and records have fewer formats.
                let asked = SessionRequest {
                    path: Some(path),
                    ..SessionRequest::default()
                };
                let _ = session::run(&context, &asked, style, &mut out);
                let _ = report::session::records::run(&context, path, 50, style, &mut out);
                if let Some(wrong) = wrong_in_report(&out, format.name) {
                    panic!("{} of {path:?} holds {wrong}", format.name);
                }
                let is_right = charset == Charset::Unicode || out.is_ascii();
                assert!(is_right, "{} of {path:?} is not ASCII", format.name);
                // A report to share has no texts, but the names of tools.
                let most = if format.to_hand_on { 0 } else { 3 };
                if String::from_utf8_lossy(&out).matches(NAME).count() > most {
                    visible.insert((log.format.id, format.name));
                }
            }
        }
    }
    let agents: BTreeSet<&str> = logs.iter().map(|log| log.format.id).collect();
    let formats = |id| DOCUMENT_FORMATS.iter().map(move |it| (id, it.name));
    let both = agents.into_iter().flat_map(formats);
    let lacking: Vec<_> = both.filter(|one| !visible.contains(one)).collect();
    assert!(
        lacking.is_empty(),
        "nothing hostile was shown of {lacking:?}. If a key of its log says how a record is read, put it into DECIDING \
         in tests/it/hostile/plant.rs"
    );
}

/// The list of all sessions in each format; all texts as results of a search, and of a log of each agent where they are
/// fitted or JSON; of a log of some agents, the audit.
fn lists(root: &Path, rules: &Arc<Rules>) {
    let all = context(root, rules);
    let mut few = context(root, rules);
    let agents = fs::read_dir(root).unwrap();
    let first = agents.map(|agent| agent.unwrap().path().join("0"));
    // Every third: the audit replays a log with each estimator.
    let first: Vec<SearchRoot> = first.map(SearchRoot::Given).collect();
    few.roots = first.iter().step_by(3).cloned().collect();
    let mut of_each = context(root, rules);
    of_each.roots = first;
    let matcher = Matcher::new(r"\S.*", Syntax::Regex, Case::Smart).unwrap();
    let everything = search::Search {
        matcher: &matcher,
        since: None,
        project: None,
        role: None,
        tool: None,
        by_size: false,
        limit: None,
        lines: usize::MAX,
    };
    for format in &FORMATS {
        let style = Style::of_page(format);
        let (mut list, mut audit, mut err) = (Vec::new(), Vec::new(), Vec::new());
        report::ls::run(&all, style, &ListOptions::default(), &mut list, &mut err).unwrap();
        // It fails in the end: databases of some agents are not read by themselves.
        let worst = WorstChoice {
            most: 9,
            ..WorstChoice::default()
        };
        let _ = audit::run(&few, style, worst, &mut audit, &mut err);
        assert!(!audit.is_empty());
        let [anywhere, fitted] = [None, Some(60)].map(|columns| {
            let mut found = Vec::new();
            let is_plain_text = columns.is_none() && format.for_people;
            let logs = if is_plain_text { &all } else { &of_each };
            let style = Style { columns, ..style };
            let _ = search::run(
                logs,
                &everything,
                (style, Colours::Off),
                &mut found,
                &mut err,
            );
            assert!(is_visible(&found), "{}", format.name);
            found
        });
        // The tabs between the cells are ours.
        let anywhere = String::from_utf8_lossy(&anywhere)
            .replace('\t', " ")
            .into_bytes();
        for out in [list, audit, anywhere, fitted, err] {
            if let Some(wrong) = wrong_in_report(&out, format.name) {
                panic!("a list as {} holds {wrong}", format.name);
            }
        }
    }
}

/// What is wrong with a report. JSON keeps marks: it holds exactly what a log does.
fn wrong_in_report(out: &[u8], format: &str) -> Option<String> {
    match format {
        "json" => wrong_in_text(
            String::from_utf8_lossy(out)
                .replace('\u{301}', "")
                .as_bytes(),
        ),
        _ => wrong_in_text(out),
    }
}

fn is_visible(bytes: &[u8]) -> bool {
    memmem::find(bytes, NAME.as_bytes()).is_some()
}

/// Every tab of a session of each agent, its texts and its replay; the list, the notices and the prompts.
fn screens(logs: &[LogFile], rules: &Arc<Rules>, now: Timestamp) {
    let counter = Counter::new();
    let mut shown = BTreeSet::new();
    let mut all = Screen::at(rules, now);
    for log in logs {
        if shown.contains(log.format.id) {
            continue;
        }
        let Ok(sessions) = read_whole(log, &counter, rules) else {
            continue;
        };
        let mut screen = Screen::at(rules, now);
        let copies = sessions
            .iter()
            .map(|(conversation, session)| (*conversation, session.clone()));
        screen.add(log, copies.collect());
        all.add(log, sessions);
        let what = log.format.id;
        screen.frame(what);
        let tabs = screen.press(what, "⏎123456");
        let text = screen.press(what, "1c⏎pp⎋");
        if is_visible(&tabs) && is_visible(&text) {
            screen.press(what, "s⏎/H⏎ny⎋⎋2⏎⎋⎋5⎋3@,]r .fH⏎l⎋⎋");
            shown.insert(log.format.id);
        }
    }
    let agents: BTreeSet<&str> = logs.iter().map(|log| log.format.id).collect();
    let lacking: Vec<_> = agents.difference(&shown).collect();
    assert!(
        lacking.is_empty(),
        "nothing hostile was shown of {lacking:?}"
    );
    let problem = Msg::Problem {
        path: PathBuf::from(format!("/{HOSTILE}/x")),
        what: HOSTILE.to_owned(),
    };
    all.app.banner = HOSTILE.to_owned();
    all.app.update(problem);
    all.app.update(Msg::Update(Update::InitialScanDone));
    all.app.notify(HOSTILE.to_owned());
    all.frame("the list");
    // Of what is already on the screen nothing is written.
    for (what, key) in [("the list", "p"), ("the list", "p⏎"), ("the notices", "!")] {
        all.press(what, key);
        assert!(is_visible(&all.whole_frame(what)), "{what} after {key}");
    }
    all.press("the list", "⎋pp⏎?⎋ss⏎Si↓↓↓↓↓w⎋/HO⏎⎋");
    let mut empty = Screen::at(rules, now);
    empty.app.looked_in = vec![format!("~/{HOSTILE}")];
    empty.app.update(Msg::Update(Update::InitialScanDone));
    assert!(is_visible(&empty.frame("the empty list")));
}
