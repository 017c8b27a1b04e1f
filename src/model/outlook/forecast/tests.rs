use super::*;
use crate::LeaveReason;
use crate::event::{
    Cause, Conversation, Entry, Event, Key, Meta, Node, Parent, Part, Place, Reset, RetainedItems,
    Usage,
};
use crate::session::Session;
use proptest::prelude::*;
use std::sync::Arc;

fn growth(tokens: &[f64]) -> Growth {
    let step = |tokens: &f64| GrowthStep {
        tokens: *tokens,
        turns: 0.0,
        seconds: Some(12.0),
    };
    Growth {
        steps: tokens.iter().map(step).collect(),
        ..Growth::default()
    }
}

#[test]
fn steady_growth_goes_on() {
    let forecast = growth(&[1_000.0; 200]).forecast(20_000).unwrap();
    let Band { p10, p50, p90 } = forecast.requests;
    assert!((18.0..22.0).contains(&p50), "{p50}");
    assert!(p10 < 15.0 && p90 > 25.0, "{p10} to {p90}");
    let minutes = forecast.minutes.unwrap();
    assert!((3.0..5.0).contains(&minutes.p50), "{}", minutes.p50);
}

#[test]
fn a_context_of_ever_large_steps_is_believed() {
    let forecast = growth(&[40_000.0; 60]).forecast(400_000).unwrap();
    assert!((9.5..20.0).contains(&forecast.requests.p50));
}

#[test]
fn steps_that_are_alike_need_no_prior() {
    let alike: Vec<f64> = (0..12).map(|n| 3_000.0 + f64::from(n % 3)).collect();
    let forecast = growth(&alike).forecast(30_000).unwrap().requests.p50;
    assert!((9.9..10.2).contains(&forecast), "{forecast}");
    // The same mean, in steps that differ.
    let differ: Vec<f64> = (0..12)
        .map(|n| if n % 4 == 0 { 12_000.0 } else { 1.0 })
        .collect();
    assert!(growth(&differ).forecast(30_000).unwrap().requests.p50 > 11.0);
}

#[test]
fn one_large_read_does_not_make_a_trend() {
    let mut steps = vec![500.0; 30];
    let calm = growth(&steps).forecast(50_000).unwrap().requests.p50;
    steps[29] = 60_000.0;
    let after = growth(&steps).forecast(50_000).unwrap().requests.p50;
    assert!(after < calm && after > calm / 2.0, "{calm}, then {after}");
}

#[test]
fn what_did_not_grow_has_no_forecast() {
    for steps in [[0.0; 5], [-300.0; 5]] {
        let none = growth(&steps).forecast(50_000);
        assert_eq!(none, Err(NoForecast::NoGrowth));
    }
}

#[test]
fn without_steps_the_usual_growth_holds() {
    let forecast = growth(&[]).forecast(120_000).unwrap();
    assert_eq!(forecast.requests.p50, 101.0);
    // One step says little.
    let one = growth(&[0.0]).forecast(120_000).unwrap();
    assert!((101.0..130.0).contains(&one.requests.p50));
}

#[test]
fn earlier_epochs_outweigh_the_usual_growth() {
    let mut slow = growth(&[]);
    slow.earlier = growth(&[300.0; 50]).steps;
    let usual = growth(&[]).forecast(60_000).unwrap().requests.p50;
    assert!(slow.forecast(60_000).unwrap().requests.p50 > 1.5 * usual);
}

#[test]
fn past_the_trigger_nothing_is_left() {
    let forecast = growth(&[1_000.0; 20]).forecast(0).unwrap();
    assert_eq!(forecast.requests, Band::default());
    assert_eq!(forecast.turns, Band::default());
    assert_eq!(forecast.minutes, Some(Band::default()));
}

#[test]
fn turns_follow_the_requests_of_a_turn() {
    let mut often = growth(&[1_000.0; 100]);
    often
        .steps
        .iter_mut()
        .step_by(2)
        .for_each(|s| s.turns = 1.0);
    let often = often.forecast(40_000).unwrap().turns.p50;
    let never = growth(&[1_000.0; 100]).forecast(40_000).unwrap().turns.p50;
    assert!(
        (10.0..20.0).contains(&often) && never < 2.0,
        "{often}, {never}"
    );
}

#[test]
fn a_jump_at_the_next_turn_brings_the_compaction_sooner() {
    let mut jumps = growth(&[1_000.0; 100]);
    jumps
        .steps
        .iter_mut()
        .step_by(4)
        .for_each(|s| s.turns = 1.0);
    let without = jumps.forecast(40_000).unwrap().requests.p50;
    jumps.jump = 15_000.0;
    let with = jumps.forecast(40_000).unwrap().requests.p50;
    assert!(
        (without - with - 15.0).abs() < 1.0,
        "{without}, then {with}"
    );
    // A way that is shorter than the jump ends with the turn.
    assert!(jumps.forecast(3_000).unwrap().requests.p50 <= 4.0);
}

#[test]
fn steps_of_the_agents_count_hold_earlier_reasoning() {
    let rules = r#"
        [[policy]]
        agent = "counter"
        name = "half of the window"
        share = 0.5
        count = { base = "total", earlier_reasoning = true }
    "#;
    let steps = |agent| {
        let mut log = Log::new();
        log.session = Session::new(agent, Arc::new(toml::from_str(rules).unwrap()));
        for (turn, prompt) in [(true, 10_000), (false, 11_000), (true, 11_200)] {
            if turn {
                log.turn();
            }
            let request = Key::of_number("request", prompt);
            log.push(Event::Usage(Box::new(Usage {
                output: Some(500),
                reasoning: Some(400),
                ..Usage::reported(request, prompt)
            })));
        }
        let growth = Growth::until(&log.session, 2);
        let tokens: Vec<f64> = growth.steps.iter().map(|step| step.tokens).collect();
        (tokens, growth.jump)
    };
    assert_eq!(steps("other"), (vec![1_000.0, 200.0], 0.0));
    assert_eq!(steps("counter"), (vec![1_000.0, 1_000.0], 400.0));
}

#[test]
fn pauses_are_no_work() {
    let mut paused = growth(&[1_000.0; 30]);
    paused.steps[29].seconds = Some(86_400.0);
    let minutes = paused.forecast(10_000).unwrap().minutes.unwrap();
    assert!(minutes.p50 < 10.0, "{}", minutes.p50);
}

proptest! {
    #[test]
    fn any_growth_gives_an_ordered_band_that_widens_with_the_way(
        steps in prop::collection::vec((-1e12..1e12f64, 0.0..1e9f64, prop::option::of(-1e15..1e15f64)), 0..60),
        earlier in prop::collection::vec(-1e6..1e6f64, 0..10),
        near in any::<u64>(),
        far in any::<u64>(),
    ) {
        let growth = Growth {
            steps: steps
                .into_iter()
                .map(|(tokens, turns, seconds)| GrowthStep { tokens, turns, seconds })
                .collect(),
            earlier: growth(&earlier).steps,
            jump: 0.0,
        };
        let (near, far) = (near.min(far), near.max(far));
        prop_assert_eq!(growth.forecast(near), growth.forecast(near));
        match (growth.forecast(near), growth.forecast(far)) {
            (Ok(near), Ok(far)) => {
                for (near, far) in [
                    (near.requests, far.requests),
                    (near.turns, far.turns),
                    (near.minutes.unwrap(), far.minutes.unwrap()),
                ] {
                    for band in [near, far] {
                        prop_assert!(band.p90.is_finite() && band.p10 >= 0.0);
                        prop_assert!(band.p10 <= band.p50 && band.p50 <= band.p90);
                    }
                    prop_assert!(near.p10 <= far.p10 && near.p50 <= far.p50 && near.p90 <= far.p90);
                }
            }
            (near, far) => prop_assert_eq!(near.is_err(), far.is_err()),
        }
    }
}

const RULES: &str = r#"
[[model]]
ids = ["alpha"]
window = 200000
tokenizer = "one"
source = "test"

[tokenizer.one]
per_token = 1.0
per_item = 0.0
spread = 0.1
spread_floor = 20.0
source = "test"

[[policy]]
agent = "test"
name = "window - 40,000"
reserve = 40000
keeps = "a summary"
source = "test"
"#;

/// A log under way: each call adds one event, ten seconds after the one before.
struct Log {
    session: Session,
    line: u64,
}

impl Log {
    fn new() -> Log {
        let rules: crate::window::Rules = toml::from_str(RULES).unwrap();
        let mut log = Log {
            session: Session::new("test", Arc::new(rules)),
            line: 0,
        };
        log.push(Event::Meta(Box::new(Meta {
            model: Some("alpha".into()),
            ..Meta::default()
        })));
        log
    }

    fn push(&mut self, event: Event) {
        self.line += 1;
        self.session.apply(Entry {
            conversation: Conversation::Main,
            place: Place::of_line(self.line),
            at: Some(self.now()),
            event,
        });
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + 10 * self.line as i64).unwrap()
    }

    fn turn(&mut self) {
        self.push(Event::Node(Box::new(Node {
            parent: Parent::Previous,
            part: Part::Input,
            turn: true,
            ..Node::default()
        })));
    }

    fn request(&mut self, prompt: u64) {
        self.push(Event::Usage(Box::new(Usage {
            model: Some("alpha".into()),
            ..Usage::reported(Key::of_number("request", self.line), prompt)
        })));
    }

    fn compact(&mut self, before: u64) {
        self.push(Event::Reset(Box::new(Reset {
            key: None,
            gone: LeaveReason::Compaction,
            cause: Cause::Automatic,
            before: Some(before),
            after: None,
            kept: RetainedItems::Nothing,
        })));
    }

    /// An epoch that grows evenly up to 160,000 in this many requests.
    fn epoch(&mut self, requests: u64) {
        for n in 0..requests {
            if n % 10 == 0 {
                self.turn();
            }
            self.request(20_000 + n * 140_000 / requests);
        }
    }
}

#[test]
fn a_session_tells_when_it_compacts() {
    let mut log = Log::new();
    assert_eq!(forecast(&log.session, None), Err(NoForecast::NoRequest));
    for n in 0..80 {
        log.turn();
        log.request(20_000 + n * 1_500);
    }
    let found = forecast(&log.session, Some(log.now())).unwrap();
    assert!((12.0..18.0).contains(&found.requests.p50), "{found:?}");
    assert!((9.0..18.0).contains(&found.turns.p50), "{found:?}");
    assert!(
        found.minutes.is_some_and(|m| (3.0..7.0).contains(&m.p50)),
        "{found:?}"
    );
    assert_eq!(forecast(&log.session, Some(log.now())), Ok(found));
}

#[test]
fn an_idle_session_has_no_minutes() {
    let mut log = Log::new();
    log.epoch(50);
    let hour = jiff::SignedDuration::from_hours(1);
    for now in [log.now() + hour, log.now() - hour] {
        let found = forecast(&log.session, Some(now)).unwrap();
        assert_eq!(found.minutes, None);
        assert!(found.requests.p90 > 0.0);
    }
}

#[test]
fn without_a_trigger_there_is_no_forecast() {
    let mut log = Log::new();
    log.session.agent = "another";
    log.epoch(50);
    assert_eq!(forecast(&log.session, None), Err(NoForecast::NoTrigger));
}

#[test]
fn right_after_a_compaction_the_earlier_epochs_speak() {
    let mut log = Log::new();
    log.epoch(100);
    log.compact(160_500);
    let found = forecast(&log.session, None).unwrap();
    assert!((80.0..130.0).contains(&found.requests.p50), "{found:?}");
}

#[test]
fn the_backtest_stands_before_each_compaction() {
    let mut log = Log::new();
    log.epoch(60);
    log.compact(160_500);
    log.epoch(30);
    log.compact(160_500);
    log.epoch(8);
    let points = backtest(&log.session);
    let stood: Vec<usize> = points.iter().map(|p| p.before).collect();
    assert_eq!(stood, [3, 5, 10, 20, 40, 3, 5, 10, 20]);
    for point in &points {
        let before = point.before as f64;
        assert!(
            (point.requests.p10..=point.requests.p90).contains(&before),
            "{point:?}"
        );
        let line = point.straight_line.unwrap();
        assert!((line - before).abs() < 1.5, "{point:?}");
    }
    assert_eq!(points[4].turns_before, 4);
}

#[test]
fn the_backtest_knows_nothing_of_what_came_later() {
    let mut log = Log::new();
    log.epoch(60);
    log.compact(160_500);
    let then = backtest(&log.session);
    log.epoch(30);
    // Far below the rule's trigger: it outranks the rule from here on.
    log.compact(90_000);
    log.epoch(20);
    assert_eq!(backtest(&log.session)[..then.len()], then);
    let limits = log.session.limits();
    assert_eq!(limits.trigger, Some(90_000));
}

#[test]
fn a_forecast_is_the_one_the_backtest_finds_there() {
    let (mut log, mut whole) = (Log::new(), Log::new());
    log.epoch(60);
    whole.epoch(60);
    for log in [&mut log, &mut whole] {
        log.request(158_000);
    }
    for n in 0..5 {
        whole.request(158_100 + n);
    }
    whole.compact(163_000);
    let there = backtest(&whole.session)[1];
    assert_eq!(there.before, 5);
    assert!(there.requests.p50 > 0.5);
    assert_eq!(
        forecast(&log.session, None).unwrap().requests,
        there.requests
    );
}

#[test]
fn a_summary_counts_what_fits() {
    let band = |p10, p90| Band { p10, p50: 8.0, p90 };
    let point = |before, requests| Point {
        before,
        requests,
        straight_line: Some(20.0),
        turns_before: 0,
        turns: Band::default(),
    };
    let points = [
        point(5, band(4.0, 9.0)),
        point(10, band(4.0, 9.0)),
        point(10, band(4.0, 10.0)),
    ];
    let json = serde_json::to_value(BacktestSummary::of(&points)).unwrap();
    assert_eq!(json["points"], 3);
    assert_eq!(json["at"]["5"]["coverage"], 1.0);
    assert_eq!(json["at"]["10"]["points"], 2);
    assert_eq!(json["at"]["10"]["coverage"], 0.5);
    assert_eq!(json["at"]["10"]["median_error"], 0.2);
    assert_eq!(json["at"]["10"]["straight_line_median_error"], 1.0);
    assert_eq!(json["at"]["40"]["coverage"], serde_json::Value::Null);
}
