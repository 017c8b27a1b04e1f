use super::beginning::Beginning;
use super::*;
use crate::event::{Event, Meta};
use crate::testing::Log;
use crate::{Kind, Role};
use jiff::Timestamp;

/// A session that begins as the n-th.
fn session(known: &EarlierSessions, n: i64) -> Log {
    let meta = Meta {
        id: Some(n.to_string().into()),
        ..Meta::default()
    };
    let mut log = Log::after(known, "tested");
    log.session.started_at = Timestamp::from_second(n).ok();
    let log = log.event(Event::Meta(Box::new(meta))).model("m");
    log.item("tools", Role::Container, Kind::ToolList, 300)
        .item("asked", Role::User, Kind::Text, 200)
}

/// Nothing is known, and what is noted counts at once.
fn live() -> EarlierSessions {
    let known = EarlierSessions::new(Facts::default());
    known.count_at_once();
    known
}

#[test]
fn a_session_is_expected_to_begin_as_the_one_before() {
    let known = live();
    let first = session(&known, 1);
    assert_eq!(first.session.context().used, 500, "nothing is known yet");
    let first = first.report(5_000);
    assert!(known.has_new());

    let second = session(&known, 2).session.context();
    assert_eq!((second.known, second.used), (0, 5_000), "{second:?}");
    assert!(second.low < 4_000 && second.high > 6_000, "{second:?}");
    let longer = session(&known, 3).item("more", Role::User, Kind::Text, 1_000);
    assert_eq!(longer.session.context().used, 6_000);

    let known = EarlierSessions::new(known.take_new(Facts::default()));
    let same = session(&known, 1).session.context();
    assert_eq!(same.used, 500, "its own beginning is not known before");
    drop(first.report(9_000));
    assert!(!known.has_new(), "only the first request shows it");
}

#[test]
fn what_follows_something_said_shows_no_beginning() {
    let known = live();
    let log = session(&known, 1).compact(4_000).report(5_000);
    assert!(!known.has_new());
    drop(log);
}

fn of_beginnings(beginnings: Vec<Beginning>) -> Facts {
    Facts {
        beginnings,
        ..Facts::default()
    }
}

fn note(known: &EarlierSessions, beginning: &Beginning) {
    known.add(|facts| &mut facts.beginnings, beginning);
}

fn beginning(session: u64, at: i64, tokens: u64) -> Beginning {
    Beginning {
        origin: origin(session, at),
        is_child: false,
        cwd: Some(1),
        version: Some("1.0".into()),
        model: Some("m-1".into()),
        tokens,
    }
}

fn origin(session: u64, at: i64) -> Origin {
    Origin {
        agent: "toy".into(),
        session,
        at,
    }
}

fn of_other_agent(origin: Origin) -> Origin {
    Origin {
        agent: "other".into(),
        ..origin
    }
}

#[test]
fn the_newest_of_those_most_alike_is_expected() {
    let of = |change: fn(&mut Beginning)| {
        let mut asked = beginning(99, 50, 0);
        change(&mut asked);
        asked
    };
    let all = vec![
        beginning(1, 10, 100),
        beginning(2, 20, 200),
        Beginning {
            cwd: Some(2),
            ..beginning(3, 30, 300)
        },
        Beginning {
            model: Some("m-2".into()),
            ..beginning(4, 40, 400)
        },
        Beginning {
            is_child: true,
            ..beginning(5, 45, 500)
        },
        Beginning {
            origin: of_other_agent(origin(6, 46)),
            ..beginning(6, 46, 600)
        },
    ];
    let known = EarlierSessions::new(of_beginnings(all));
    let cases: [(Beginning, Option<u64>); 8] = [
        (of(|_| {}), Some(200)),
        (of(|asked| asked.origin.session = 2), Some(100)),
        (of(|asked| asked.cwd = Some(2)), Some(300)),
        (of(|asked| asked.cwd = Some(7)), Some(300)),
        (of(|asked| asked.model = Some("m-2".into())), Some(400)),
        (of(|asked| asked.model = None), Some(400)),
        (of(|asked| asked.is_child = true), Some(500)),
        (of(|asked| asked.origin.agent = "nobody".into()), None),
    ];
    for (asked, expected) in cases {
        assert_eq!(known.beginning_like(&asked), expected, "{asked:?}");
    }
}

#[test]
fn few_of_a_kind_are_kept_and_each_session_once() {
    let known = live();
    for n in 0..9 {
        note(&known, &beginning(n, n as i64, n));
    }
    let elsewhere = Beginning {
        cwd: None,
        ..beginning(20, 1, 20)
    };
    note(&known, &elsewhere);
    note(&known, &beginning(8, 8, 88));
    assert!(known.has_new());
    let tokens = |all: &[Beginning]| all.iter().map(|one| one.tokens).collect::<Vec<_>>();
    let all = known.take_new(of_beginnings(vec![beginning(30, 7, 30)]));
    assert_eq!(tokens(&all.beginnings), [20, 7, 30, 88]);
    assert!(!known.has_new());
}

#[test]
fn by_default_nothing_is_noted_or_expected() {
    let none = EarlierSessions::default();
    note(&none, &beginning(1, 1, 1));
    assert!(!none.has_new());
    assert_eq!(none.beginning_like(&beginning(2, 2, 2)), None);
}

/// A session of nine requests whose tool results cost this many tokens for a local one.
fn priced(known: &EarlierSessions, n: i64, factor: u64) -> Log {
    let mut log = session(known, n).report(1_500);
    let mut prompt = 1_500;
    for n in 0..9 {
        log = log.item(&format!("result {n}"), Role::Tool, Kind::ToolResult, 400);
        prompt += 400 * factor;
        log = log.report(prompt);
    }
    log
}

#[test]
fn a_token_is_expected_to_cost_what_it_cost_in_earlier_sessions() {
    let known = live();
    let first_result = |known: &EarlierSessions| {
        let log = session(known, 9).report(1_500);
        let log = log.item("result", Role::Tool, Kind::ToolResult, 400);
        log.session.context().used - 1_500
    };
    let by_the_table = first_result(&known);
    drop(priced(&known, 4, 2));
    let noted = known.take_new(Facts::default()).prices;
    assert_eq!(noted.len(), 1, "{noted:?}");
    assert!(noted[0].scale > 1.5, "{noted:?}");
    let learned = first_result(&known);
    assert!(
        by_the_table < 600 && learned > 650,
        "{by_the_table}, {learned}"
    );

    let again = priced(&known, 4, 2);
    let alone = priced(&EarlierSessions::default(), 4, 2);
    let used = |log: &Log| log.session.context().used;
    assert_eq!(
        used(&again),
        used(&alone),
        "its own prices are not known before"
    );
}

#[test]
fn the_middle_price_of_the_newest_sessions_is_expected() {
    let known = live();
    for (session, at, scale) in [(1, 10, 9.0), (2, 20, 1.2), (3, 30, 1.9), (4, 40, 1.3)] {
        let price = Price {
            origin: origin(session, at),
            model: "m".into(),
            scale,
            reports: 8,
        };
        known.add(|facts| &mut facts.prices, &price);
    }
    let expected = |session, at| known.scale_before(&origin(session, at), "m");
    assert_eq!(expected(9, 99), Some(1.3), "the oldest has made room");
    assert_eq!(expected(9, 40), Some(1.9), "only what was before counts");
    assert_eq!(expected(9, 20), None);
    assert_eq!(expected(3, 40), Some(1.2), "its own does not count");
    let other = of_other_agent(origin(9, 99));
    assert_eq!(known.scale_before(&other, "m"), None);
    assert_eq!(known.scale_before(&origin(9, 99), "n"), None);
}

#[test]
fn a_price_is_noted_once_the_reports_decide() {
    // Each result costs this many tokens for 100 local ones.
    let shown = |prices: &[u64]| {
        let known = live();
        let (log, _) = prices.iter().enumerate().fold(
            (session(&known, 1).report(1_500), 1_500),
            |(log, prompt), (n, price)| {
                let log = log.item(&n.to_string(), Role::Tool, Kind::ToolResult, 400);
                let prompt = prompt + 4 * price;
                (log.report(prompt), prompt)
            },
        );
        drop(log);
        let all = known.take_new(Facts::default());
        all.prices
            .first()
            .map(|price| (price.scale * 100.0).round())
    };
    assert_eq!(shown(&[150; 3]), None, "too few");
    assert_eq!(shown(&[150; 4]), Some(150.0));
    assert_eq!(shown(&[100; 4]), Some(100.0));
    // They are off by as much in both directions.
    assert_eq!(shown(&[98, 140, 100, 125, 101, 132, 96, 150]), Some(100.0));
}

#[test]
fn a_longer_copy_of_a_session_counts() {
    let known = live();
    for (reports, scale) in [(4, 1.2), (16, 1.3), (8, 1.4)] {
        known.note_price(&Price {
            origin: origin(1, 10),
            model: "m".into(),
            scale,
            reports,
        });
    }
    let prices = known.take_new(Facts::default()).prices;
    assert_eq!(prices.len(), 1);
    assert_eq!(prices[0].scale, 1.3);
}

#[test]
fn what_a_report_notes_counts_for_the_next_one() {
    let known = EarlierSessions::new(Facts::default());
    drop(session(&known, 1).report(5_000));
    let second = |known: &EarlierSessions| session(known, 2).session.context().used;
    assert_eq!(second(&known), 500);
    assert!(known.has_new());
    let next = EarlierSessions::new(known.take_new(Facts::default()));
    assert_eq!(second(&next), 5_000);
    drop(session(&next, 1).report(5_000));
    assert!(!next.has_new(), "that is known");
}
