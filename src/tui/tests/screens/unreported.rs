//! Contexts that the agent counts itself, and sessions whose logs have no usage
//! reports.

use super::at_each_size;
use super::session::spot;
use crate::app::{App, Msg};
use crate::keymap::KeyPress;
use crate::paint::Hit;
use crate::tests::testing::{Log, app, click, item, now, text, type_keys};
use crate::theme::Theme;
use model::event::{BilledUsage, Event, Key, Node, Part, Usage};
use model::session::replay::role_sizes::total;
use model::{Kind, Role, Source};

const OPEN: &str = "⏎";

impl Log {
    /// The agent's own number for its context.
    fn counts(self, tokens: u64) -> Log {
        self.event(Event::Usage(Box::new(Usage {
            request: Key::of_number("count", tokens),
            model: None,
            prompt: tokens,
            cached: 0,
            miss: None,
            output: None,
            reasoning: None,
            source: Source::Agent,
            billed: BilledUsage::default(),
            is_whole: false,
            is_inherited: false,
        })))
    }

    /// A notice about the record before; it is in no context.
    fn notice(self, text: &str) -> Log {
        let key = Key::of("notice");
        let node = Event::Node(Box::new(Node {
            key: Some(key),
            part: Part::Injected,
            items: vec![item(Role::Container, Kind::Reminder, None, 12, text)],
            ..Node::default()
        }));
        self.too(node).too(Event::cleared_node(key))
    }

    fn speech(self, role: Role, part: Part, tokens: u64, text: &str) -> Log {
        let kind = match part {
            Part::Result => Kind::ToolResult,
            _ => Kind::Text,
        };
        let tool = (part == Part::Result).then_some("shell");
        self.event(Event::Node(Box::new(Node {
            part,
            turn: part == Part::Input,
            items: vec![item(role, kind, tool, tokens, text)],
            ..Node::default()
        })))
    }
}

/// A session whose provider reports, and whose agent counts too.
fn both() -> Vec<Log> {
    let log = Log::found(1, "codex", "019a-both", 8)
        .meta("/home/ada/code/shop", "gpt-5.4", None, None)
        .user(900, "why does the retry loop spin")
        .answer(150_000, 600, "shell", "rg -n retry src")
        .result("shell", 14_000, "src/retry.rs:14: loop {")
        .counts(161_200);
    vec![log]
}

/// A session without any report, whose agent counts, and warns of its limit.
fn unreported() -> Vec<Log> {
    let log = Log::found(1, "codex", "019b-alone", 8)
        .meta("/home/ada/code/shop", "gpt-5.4", None, None)
        .speech(Role::User, Part::Input, 900, "tell me all of the shop")
        .speech(Role::Assistant, Part::Output, 2_000, "It sells tea.")
        .speech(Role::Tool, Part::Result, 90_000, "a very long list")
        .counts(230_000)
        .notice("near limit: 230000 of 258400 tokens")
        .speech(Role::User, Part::Input, 700, "and coffee?");
    vec![log]
}

/// The same without a word of the agent's, of one that is not known to compact.
fn silent() -> Vec<Log> {
    let log = Log::found(1, "cursor", "019c-silent", 8)
        .meta("/home/ada/code/shop", "gpt-5.4", None, None)
        .speech(Role::User, Part::Input, 900, "tell me all of the shop")
        .speech(Role::Assistant, Part::Output, 2_000, "It sells tea.")
        .speech(Role::Tool, Part::Result, 90_000, "a very long list");
    vec![log]
}

fn opened(logs: Vec<Log>, columns: u16, rows: u16) -> App {
    let mut app = app(logs, columns, rows);
    type_keys(&mut app, OPEN);
    app
}

fn step(app: &mut App, press: KeyPress) {
    app.update(Msg::Key(press));
    app.prepare(now());
}

#[test]
fn the_agents_count_is_beside_the_known_tokens() {
    at_each_size("agent_count", OPEN, both);
}

#[test]
fn sessions_without_reports_are_marked() {
    at_each_size("unreported", OPEN, unreported);
    at_each_size("silent", OPEN, silent);
    at_each_size("silent_what_if", "⏎4", silent);
    let shown = text(&app(silent(), 80, 24), Theme::default());
    assert!(shown.contains("no usage: all estimated"), "{shown}");
    assert!(!shown.contains("0 known"), "{shown}");
}

/// The agent's count is valid from its record on.
#[test]
fn in_a_replay_the_agent_s_number_is_that_of_then() {
    for (columns, rows) in super::SIZES {
        let mut app = opened(unreported(), columns, rows);
        // Back to the record of the count and the warning.
        step(&mut app, KeyPress::Left);
        let shown = text(&app, Theme::default());
        insta::assert_snapshot!(format!("unreported_replay_{columns}x{rows}"), shown);
        // And to before.
        step(&mut app, KeyPress::Left);
        let shown = text(&app, Theme::default());
        assert!(!shown.contains("agent's count"), "{shown}");
        assert!(!shown.contains("near limit"), "{shown}");
    }
}

/// Without requests, steps and columns are records.
#[test]
fn a_session_without_requests_is_stepped_through_by_record() {
    let mut app = opened(silent(), 80, 24);
    let moments = app.page().unwrap().timeline.len();
    for back in 2..=moments {
        step(&mut app, KeyPress::Left);
        assert_eq!(app.moment(), Some(moments - back));
        let at = format!("record {} of {moments}", moments - back + 1);
        let shown = text(&app, Theme::default());
        assert!(shown.contains(&at), "{shown}");
    }
    let history = app.history().unwrap();
    assert_eq!(
        (history.at, history.now),
        (0, total(&history.steps.roles[0]))
    );
    // Each has four columns where there is room.
    let (x, y) = spot(&app, |hit| hit == Hit::Timeline);
    click(&mut app, (x + 5, y));
    assert_eq!(app.moment(), Some(1));
}

#[test]
fn the_largest_growth_is_found_without_reports_too() {
    let mut app = opened(silent(), 120, 40);
    type_keys(&mut app, "L");
    let shown = text(&app, Theme::default());
    assert!(
        shown.contains("jump 1 of ") && shown.contains(": next +"),
        "{shown}"
    );
    type_keys(&mut app, "7");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("GROWTH") && shown.contains("±"), "{shown}");
}

#[test]
fn a_notice_is_listed_as_one() {
    let mut app = opened(unreported(), 100, 24);
    type_keys(&mut app, "c");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("notice · near limit: 230000"), "{shown}");
}

/// From when an item came to when it left.
#[test]
fn an_item_leads_to_when_it_came_and_from_there_to_when_it_left() {
    let mut app = app(super::logs(), 80, 24);
    type_keys(&mut app, "/billing⏎⏎c");
    let (_, _, selected) = app.selected_item().unwrap();
    let timeline = &app.page().unwrap().timeline;
    let came = timeline.of_item(selected);
    let left = timeline.of_leaving(selected);
    assert!(came < left);
    type_keys(&mut app, "@");
    assert_eq!(app.moment(), came);
    type_keys(&mut app, "@");
    assert_eq!(app.moment(), left);
    type_keys(&mut app, "@");
    assert_eq!(app.moment(), came);
}
