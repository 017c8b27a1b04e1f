use super::*;
use crate::app::Msg;
use crate::tests::testing::{Log, app, now};
use model::due::alerts::CLEAR_FALL;
use model::event::{Conversation, Event, Key, Usage};
use model::lists::sessions::Update;
use model::session::Coverage;
use model::values::process_activity::ProcessActivity;
use proptest::prelude::*;

/// Shares of the trigger of 167,000 tokens.
const SHARES: [f64; 2] = [0.5, 0.8];

fn wanted(shares: &[f64], requests_left: Option<u64>, item: Option<u64>) -> Alerts {
    Alerts {
        shares: shares.to_vec(),
        requests_left,
        minutes_left: None,
        item: item.map(Threshold::Tokens),
        rebuild: None,
        notify: vec![Channel::Screen],
        command: Vec::new(),
    }
}

/// A session that showed its last sign of life this many seconds ago.
fn log(age: i64) -> Log {
    Log::found(9, "claude-code", "shop-1", age).meta("/w/shop", "claude-opus-4-6", None, None)
}

/// Screens without a session.
fn screens(wanted: Alerts) -> App {
    let mut app = app(Vec::new(), 80, 24);
    app.set_alerts(wanted);
    app
}

/// The alerts raised while a log is read, after each update.
fn raised(app: &mut App, log: Log) -> Vec<Vec<Alert>> {
    let updates = log.into_updates().into_iter();
    updates
        .map(|update| {
            app.update(Msg::Update(update));
            read_through(app);
            app.prepare(now());
            app.take_alerts()
        })
        .collect()
}

/// All logs count as read from their beginning.
fn read_through(app: &mut App) {
    let keys: Vec<SessionKey> = app.sessions.keys().collect();
    for key in keys {
        if let Some(session) = app.sessions.get_mut(key) {
            session.coverage = Coverage::Whole;
        }
    }
}

#[test]
fn a_muted_session_raises_no_alerts() {
    let near = || log(5).answer(150_000, 10, "Read", "a");
    for is_muted in [false, true] {
        let mut app = screens(wanted(&SHARES, None, None));
        let key = SessionKey {
            file: FileId(9),
            conversation: Conversation::Main,
        };
        if is_muted {
            app.ui.muted.insert(key);
        }
        let all: Vec<Alert> = raised(&mut app, near()).into_iter().flatten().collect();
        assert_eq!(all.is_empty(), is_muted, "{all:?}");
    }
}

#[test]
fn what_was_not_counted_raises_an_alert_for_what_is_sure_alone() {
    let mut app = screens(wanted(&[0.5], None, None));
    let log = log(1).answer(60_000, 10, "Bash", "a");
    // 84,010 of 167,000, give or take more than 510.
    let log = log.result("Bash", 24_000, "much");
    for update in log.into_updates() {
        app.update(Msg::Update(update));
        app.prepare(now());
        assert_eq!(app.take_alerts(), []);
    }
}

fn messages(app: &mut App, log: Log) -> Vec<String> {
    let raised = raised(app, log).into_iter().flatten();
    raised.map(|alert| alert.message).collect()
}

#[test]
fn a_share_is_reported_once_each_time_it_is_passed() {
    let mut app = screens(wanted(&SHARES, None, None));
    let log = log(1)
        .answer(80_000, 10, "Bash", "a")
        .answer(90_000, 10, "Bash", "b")
        // Not clearly below a half.
        .answer(80_000, 10, "Bash", "c")
        .answer(84_000, 10, "Bash", "d")
        .answer(70_000, 10, "Bash", "e")
        .answer(84_000, 10, "Bash", "f")
        // Past eight tenths: one line, though it is past a half, too.
        .answer(20_000, 10, "Bash", "g")
        .answer(140_000, 10, "Bash", "h");
    assert_eq!(
        messages(&mut app, log),
        [
            "shop: at 54% of its trigger",
            "shop: at 50% of its trigger",
            "shop: at 84% of its trigger",
        ]
    );
    let notice = app.notices.newest(now()).unwrap();
    assert_eq!(
        (notice.severity, notice.text.as_str()),
        (Severity::Alert, "at 84% of its trigger")
    );
}

#[test]
fn an_alert_has_the_facts() {
    let mut app = screens(wanted(&[0.5], None, None));
    let log = log(1)
        .answer(60_000, 500, "Bash", "a")
        .result("Bash", 30_000, "much");
    let all: Vec<Alert> = raised(&mut app, log).into_iter().flatten().collect();
    let [alert] = all.as_slice() else {
        panic!("{all:#?}");
    };
    assert_eq!(alert.cause, Cause::Share);
    assert_eq!(alert.agent, "claude-code");
    assert_eq!(alert.project.as_deref(), Some("shop"));
    assert_eq!(alert.model.as_deref(), Some("claude-opus-4-6"));
    assert_eq!(alert.id.as_deref(), Some("shop-1"));
    assert_eq!((alert.trigger, alert.window), (Some(167_000), 200_000));
    assert_eq!(alert.known, 60_500);
    assert!((90_000..91_000).contains(&alert.used), "{}", alert.used);
    assert_eq!(alert.percent, 54);
    assert!(alert.requests_left.is_some());
    let log = alert.log.as_deref().unwrap();
    assert!(log.ends_with("shop-1.jsonl"));
}

#[test]
fn without_a_trigger_the_window_counts() {
    let mut app = screens(wanted(&[0.5], None, None));
    let log = Log::found(9, "gemini-cli", "g", 1)
        .meta("/w/shop", "gemini-3-pro", None, None)
        .answer(600_000, 10, "Bash", "a");
    assert_eq!(messages(&mut app, log), ["shop: at 57% of its window"]);
}

#[test]
fn nothing_is_reported_from_before_a_session_was_live() {
    let mut app = screens(wanted(&[0.5], None, Some(20_000)));
    let old = log(3_600)
        .result("Bash", 30_000, "much")
        .answer(90_000, 10, "Bash", "a");
    assert_eq!(messages(&mut app, old), [""; 0]);
    // It goes on: what it begins with is no news, what comes is.
    let now = Log::found(9, "claude-code", "shop-1", 1)
        .answer(91_000, 10, "Bash", "b")
        .result("Read", 25_000, "more");
    assert_eq!(
        messages(&mut app, now),
        ["shop: Read result of 25.0k tokens"]
    );
}

#[test]
fn few_requests_left_are_reported() {
    let mut app = screens(wanted(&[], Some(5), None));
    let full = |mut log: Log| {
        for n in 0..40 {
            log = log.answer(9_000 + n * 4_000, 10, "Bash", "a");
        }
        log
    };
    // Compacted, and full once more.
    let log = full(full(log(1)).compact(165_000, Some(9_000)));
    let lines = messages(&mut app, log);
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in lines {
        let median = line.strip_prefix("shop: compacts in about ").unwrap();
        assert!(median.starts_with(['4', '5']), "{line}");
    }
}

#[test]
fn the_last_minutes_of_an_idle_session_are_reported_once() {
    let mut app = screens(Alerts {
        minutes_left: Some(5),
        ..wanted(&[], None, None)
    });
    // The prompt is kept for an hour; the session compacts six minutes before that is over.
    let log = log(48 * 60)
        .user(100, "sort them")
        .answer(120_000, 10, "Bash", "a");
    for update in log.into_updates() {
        app.update(Msg::Update(update));
    }
    app.update(Msg::Update(Update::Running {
        file: FileId(9),
        running: Some(ProcessActivity::Idle),
        at: now(),
    }));
    read_through(&mut app);
    let mut raised = Vec::new();
    for minute in 0..8 {
        app.prepare(now() + jiff::SignedDuration::from_mins(minute));
        raised.extend(app.take_alerts());
    }
    let [alert] = &raised[..] else {
        panic!("{raised:?}");
    };
    assert_eq!(alert.message, "shop: compacts in 5 minutes if nobody types");
    assert_eq!((&alert.cause, alert.minutes_left), (&Cause::Idle, Some(5)));
}

#[test]
fn few_and_clearly_more_are_apart() {
    let mut raised = AlertState::default();
    let left = [9, 5, 4, 6, 5, 8, 5, 9, 5, 0];
    let news: Vec<u64> = left
        .into_iter()
        .filter(|left| raised.runs_short(5, *left))
        .collect();
    // 8 is not more than half as many again and one; 9 is.
    assert_eq!(news, [5, 5]);
    // No number is too large.
    assert!(!raised.runs_short(u64::MAX, u64::MAX) && raised.few_left);
}

#[test]
fn the_alerts_of_a_session_that_has_compacted_go() {
    let mut app = screens(wanted(&[0.5], None, Some(20_000)));
    let full = || {
        log(1)
            .answer(60_000, 10, "Bash", "a")
            .result("Bash", 30_000, "much")
            .answer(95_000, 10, "Bash", "b")
    };
    raised(&mut app, full());
    assert_eq!(app.notices.all.len(), 2);
    let read_again = |app: &mut App, log: Log| {
        app.update(Msg::Update(Update::Vanished(FileId(9))));
        raised(app, log);
    };
    read_again(&mut app, full());
    assert_eq!(app.notices.all.len(), 2);
    let on = || full().compact(95_010, Some(9_000)).summary(5_000, "so far");
    read_again(&mut app, on());
    assert_eq!(app.notices.all, []);
    // The next ones stay as long.
    read_again(&mut app, on().answer(90_000, 10, "Bash", "c"));
    assert_eq!(app.notices.all.len(), 1);
}

#[test]
fn the_alerts_of_another_window_go() {
    let mut app = screens(wanted(&[0.5], None, None));
    // The window was taken for the smaller of two.
    raised(&mut app, log(1).answer(160_000, 10, "Bash", "a"));
    assert_eq!(app.notices.all.len(), 1);
    app.update(Msg::Update(Update::Vanished(FileId(9))));
    let larger = log(1)
        .answer(160_000, 10, "Bash", "a")
        .answer(230_000, 10, "Bash", "b");
    raised(&mut app, larger);
    assert_eq!(app.notices.all, []);
}

#[test]
fn an_item_is_reported_once_however_often_its_log_is_read() {
    let mut app = screens(wanted(&[], None, Some(20_000)));
    let log = || {
        log(1)
            .result("Read", 19_000, "small")
            .result("Grep", 61_000, "large")
            .user(22_000, "a long question")
    };
    let lines = messages(&mut app, log());
    assert_eq!(
        lines,
        [
            "shop: Grep result of 61.0k tokens",
            "shop: user text of 22.0k tokens"
        ]
    );
    let file = FileId(9);
    app.update(Msg::Update(Update::Vanished(file)));
    assert_eq!(messages(&mut app, log()), [""; 0]);
}

/// A result that came long before the program was started, or before its log was read whole, is no news.
#[test]
fn an_old_item_is_not_reported_at_the_start() {
    let mut app = screens(wanted(&[], None, Some(20_000)));
    let log = log(1)
        .result("Grep", 61_000, "large")
        .answer(80_000, 10, "Bash", "a")
        .answer(80_100, 10, "Bash", "b")
        .answer(80_200, 10, "Bash", "c")
        .answer(80_300, 10, "Bash", "d");
    for update in log.into_updates() {
        app.update(Msg::Update(update));
    }
    app.prepare(now());
    assert_eq!(app.take_alerts(), []);
    assert_eq!(app.notices.all, []);
}

#[test]
fn items_found_together_are_reported_together() {
    let mut app = screens(wanted(&[], None, Some(20_000)));
    let log = log(1)
        .result("Read", 25_000, "large")
        .result("Grep", 61_000, "larger")
        .result("Read", 30_000, "large");
    for update in log.into_updates() {
        app.update(Msg::Update(update));
    }
    app.prepare(now());
    let all = app.take_alerts();
    assert_eq!(all.len(), 1);
    assert_eq!(
        all[0].message,
        "shop: Grep result of 61.0k tokens, and 2 more"
    );
    let tool = Some("Grep".to_owned());
    let tokens = 61_004;
    assert_eq!(all[0].cause, Cause::Item { tokens, tool });
}

#[test]
fn a_large_rebuild_is_reported_once() {
    let request = |name: &str, cached| {
        Event::Usage(Box::new(Usage {
            cached,
            ..Usage::reported(Key::of(name), 100_000)
        }))
    };
    let read = |size, after: i64| {
        let mut app = screens(Alerts {
            rebuild: Some(Threshold::Tokens(size)),
            ..wanted(&[], None, None)
        });
        let log = log(1).event(request("a", 90_000)).event(request("b", 0));
        // The records are a minute apart.
        let later = (0..after).map(|n| request(&n.to_string(), 100_000));
        messages(&mut app, later.fold(log, Log::event))
    };
    let line = "shop: cache rebuilt: cause not stated, 100k";
    assert_eq!(read(100_000, 3), [line]);
    assert_eq!(read(100_001, 3), [""; 0]);
}

#[test]
fn nothing_is_looked_at_where_nothing_is_wanted() {
    let mut app = screens(Alerts::default());
    assert_eq!(
        messages(&mut app, log(1).answer(160_000, 9, "Bash", "a")),
        [""; 0]
    );
    assert!(app.watch.changed.is_empty() && app.watch.reported.is_empty());
}

#[test]
fn who_does_not_want_it_on_screen_does_not_get_it_there() {
    let mut quiet = wanted(&[0.5], None, None);
    quiet.notify = vec![Channel::Bell];
    let mut app = screens(quiet);
    assert_eq!(
        messages(&mut app, log(1).answer(90_000, 9, "Bash", "a")).len(),
        1
    );
    assert!(app.notices.all.is_empty());
}

proptest! {
    /// Whatever happens, an alert for a share is raised only when the context is past it, and a second time only
    /// after the context was clearly below it in between; and each first crossing raises one.
    #[test]
    fn a_crossing_is_reported_at_most_once(
        steps in proptest::collection::vec((0_u64..200_000, 0_u8..8), 1..40),
        age in prop_oneof![Just(1_i64), Just(9_000)],
    ) {
        let mut app = screens(wanted(&SHARES, None, None));
        let mut log = log(age);
        for (prompt, event) in steps {
            log = match event {
                0 => log.compact(prompt, None),
                1 => log.result("Bash", prompt / 4, "out"),
                _ => log.answer(prompt, 10, "Bash", "a"),
            };
        }
        let key = SessionKey { file: FileId(9), conversation: Conversation::Main };
        let mut armed = [true; 2];
        for update in log.into_updates() {
            app.update(Msg::Update(update));
            read_through(&mut app);
            app.prepare(now());
            let gauge = app.sessions.gauge(key).unwrap();
            let share = gauge.context.used as f64 / gauge.limits().trigger.unwrap_or(200_000) as f64;
            let mut expected = 0;
            for (armed, of) in armed.iter_mut().zip(SHARES) {
                if *armed && share >= of {
                    expected = 1;
                    *armed = false;
                } else if share < of - CLEAR_FALL {
                    *armed = true;
                }
            }
            let raised = app.take_alerts();
            prop_assert_eq!(raised.len(), if age > 100 { 0 } else { expected });
        }
    }
}
