use super::*;
use crate::model::event::{Event, Meta};
use crate::model::testing::Log;
use crate::model::{Kind, Role};

fn session(known: &Beginnings, id: &str) -> Log {
    let meta = Meta {
        id: Some(id.into()),
        ..Meta::default()
    };
    let log = Log::after(known, "tested")
        .event(Event::Meta(Box::new(meta)))
        .model("m");
    log.item("tools", Role::Container, Kind::ToolList, 300)
        .item("asked", Role::User, Kind::Text, 200)
}

#[test]
fn a_session_is_expected_to_begin_as_the_one_before() {
    let known = Beginnings::new(Vec::new());
    let first = session(&known, "first");
    assert_eq!(first.session.context().used, 500, "nothing is known yet");
    let first = first.report(5_000);
    assert!(known.has_new());

    let second = session(&known, "second").session.context();
    assert_eq!((second.known, second.used), (0, 5_000), "{second:?}");
    assert!(second.low < 4_000 && second.high > 6_000, "{second:?}");
    let longer = session(&known, "third").item("more", Role::User, Kind::Text, 1_000);
    assert_eq!(longer.session.context().used, 6_000);

    let known = Beginnings::new(known.take_new(Vec::new()));
    let same = session(&known, "first").session.context();
    assert_eq!(same.used, 500, "its own beginning is not known before");
    drop(first.report(9_000));
    assert!(!known.has_new(), "only the first request shows it");
}

#[test]
fn what_follows_something_said_shows_no_beginning() {
    let known = Beginnings::new(Vec::new());
    let log = session(&known, "one").compact(4_000).report(5_000);
    assert!(!known.has_new());
    drop(log);
}

fn beginning(session: u64, at: i64, tokens: u64) -> Beginning {
    Beginning {
        agent: "toy".into(),
        is_child: false,
        session,
        cwd: Some(1),
        version: Some("1.0".into()),
        model: Some("m-1".into()),
        at,
        tokens,
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
            agent: "other".into(),
            ..beginning(6, 46, 600)
        },
    ];
    let known = Beginnings::new(all);
    let cases: [(Beginning, Option<u64>); 8] = [
        (of(|_| {}), Some(200)),
        (of(|asked| asked.session = 2), Some(100)),
        (of(|asked| asked.cwd = Some(2)), Some(300)),
        (of(|asked| asked.cwd = Some(7)), Some(300)),
        (of(|asked| asked.model = Some("m-2".into())), Some(400)),
        (of(|asked| asked.model = None), Some(400)),
        (of(|asked| asked.is_child = true), Some(500)),
        (of(|asked| asked.agent = "nobody".into()), None),
    ];
    for (asked, expected) in cases {
        assert_eq!(known.expected(&asked), expected, "{asked:?}");
    }
}

#[test]
fn few_of_a_kind_are_kept_and_each_session_once() {
    let known = Beginnings::new(Vec::new());
    for n in 0..9 {
        known.add(beginning(n, n as i64, n));
    }
    known.add(Beginning {
        cwd: None,
        ..beginning(20, 1, 20)
    });
    known.add(beginning(8, 8, 88));
    assert!(known.has_new());
    let tokens = |all: &[Beginning]| all.iter().map(|one| one.tokens).collect::<Vec<_>>();
    let all = known.take_new(vec![beginning(30, 7, 30)]);
    assert_eq!(tokens(&all), [20, 30, 7, 88]);
    assert!(!known.has_new());
}

#[test]
fn by_default_nothing_is_noted_or_expected() {
    let none = Beginnings::default();
    none.add(beginning(1, 1, 1));
    assert!(!none.has_new());
    assert_eq!(none.expected(&beginning(2, 2, 2)), None);
}
