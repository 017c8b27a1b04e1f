use super::*;
use crate::testing::{now, session, start, there};
use crate::wire;
use jiff::ToSpan;
use model::lists::sessions::Sessions;
use proptest::prelude::*;

fn incoming() -> Incoming {
    let host = Host::read("build-1").unwrap();
    let mut incoming = Incoming::new(host, agents::by_id);
    incoming.begin();
    incoming
}

/// Takes lines in, and applies what follows.
fn take(incoming: &mut Incoming, here: &mut Sessions, lines: &[String]) -> Vec<String> {
    let mut said = Vec::new();
    for line in lines {
        let news = incoming.line(line.as_bytes(), now()).unwrap();
        news.updates.into_iter().for_each(|it| here.apply(it));
        said.extend(news.said);
    }
    said
}

const SCANNED: &str = r#"{"type":"scanned","seq":2,"at":"2026-03-14T15:09:26Z","sessions":1}"#;

#[test]
fn a_row_shows_what_the_other_machine_shows() {
    let (there, key) = there();
    let row = wire::row(&there, key).unwrap();
    let mut here = Sessions::new(Arc::default());
    let mut incoming = incoming();
    take(
        &mut incoming,
        &mut here,
        &[start(), session("a", now(), &row), SCANNED.to_owned()],
    );
    let (it, gauge) = here.gauges().next().unwrap();
    let original = there.gauge(key).unwrap();
    assert_eq!(gauge.context, original.context);
    assert_eq!(gauge.limits(), original.limits());
    assert_eq!(gauge.forecast_then(), original.forecast_then());
    assert_eq!(
        (gauge.requests, gauge.agent),
        (original.requests, "claude-code")
    );
    assert_eq!(here.activity_of(it), there.activity_of(key));
    assert_eq!(here.name(it), "build-1:shop");
    assert_eq!(here.host(it).map(|host| &**host), Some("build-1"));
    // Nothing more of the folder leaves the machine, and of a title only what a column shows.
    let title = gauge.meta.title.as_deref().unwrap();
    assert_eq!(title.chars().count(), 120);
    assert!(title.ends_with('…'), "a cut has its sign: {title}");
    assert!(!String::from_utf8_lossy(&wire::bytes(&row).unwrap()).contains("/home/ada/shop"));
}

#[test]
fn a_clock_that_is_an_hour_off_makes_no_session_older() {
    let (there, key) = there();
    let row = wire::row(&there, key).unwrap();
    for hours in [-1, 0, 1] {
        let mut here = Sessions::new(Arc::default());
        let at = now() + hours.hours();
        take(
            &mut incoming(),
            &mut here,
            &[start(), session("a", at, &row)],
        );
        let (it, _) = here.gauges().next().unwrap();
        let right = there.activity_of(key).unwrap();
        assert_eq!(here.activity_of(it), Some(right - hours.hours()), "{hours}");
    }
}

#[test]
fn a_greeting_is_passed_over_and_said_and_one_without_end_is_refused() {
    let mut greeted = incoming();
    let mut here = Sessions::new(Arc::default());
    let greeting = "Welcome \u{1b}[2Jto build-1".to_owned();
    let prompt = format!("password: {}", start());
    let said = take(&mut greeted, &mut here, &[greeting, prompt]);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("1 line before those of ctxgauge passed over: Welcome"));
    assert!(!said[0].contains('\u{1b}') && greeted.has_started);
    let mut endless = incoming();
    let refused = (0..1_000).find_map(|_| endless.line(b"$ ", now()).err());
    assert!(
        refused
            .unwrap()
            .starts_with("it prints no lines of ctxgauge")
    );
    let mut long = incoming();
    assert!(
        long.line(&vec![b'x'; MOST_FOREIGN_BYTES + 1], now())
            .is_err()
    );
}

#[test]
fn another_version_is_said() {
    let other = start().replace(VERSION, "0.0.1");
    let refused = incoming().line(other.as_bytes(), now()).unwrap_err();
    assert!(
        refused.starts_with("ctxgauge 0.0.1 is there"),
        "{refused:?}"
    );
}

#[test]
fn what_a_new_connection_does_not_send_is_gone() {
    let (there, key) = there();
    let row = wire::row(&there, key).unwrap();
    let mut here = Sessions::new(Arc::default());
    let mut incoming = incoming();
    let two = [
        start(),
        session("a", now(), &row),
        session("b", now(), &row),
    ];
    take(&mut incoming, &mut here, &two);
    take(&mut incoming, &mut here, &[SCANNED.to_owned()]);
    assert_eq!(here.len(), 2);
    incoming.begin();
    take(
        &mut incoming,
        &mut here,
        &[start(), session("b", now(), &row)],
    );
    assert_eq!(here.len(), 2, "not all was sent yet");
    take(&mut incoming, &mut here, &[SCANNED.to_owned()]);
    assert_eq!((here.len(), incoming.sessions()), (1, 1));
    take(
        &mut incoming,
        &mut here,
        &[r#"{"type":"gone","session":"b"}"#.to_owned()],
    );
    assert_eq!((here.len(), incoming.sessions()), (0, 0));
}

#[test]
fn sessions_are_bounded_and_what_is_left_out_is_said_once() {
    let (there, key) = there();
    let row = wire::row(&there, key).unwrap();
    let mut here = Sessions::new(Arc::default());
    let mut incoming = incoming();
    let mut lines = vec![start()];
    lines.extend((0..MOST_SESSIONS + 3).map(|n| session(&format!("{n}"), now(), &row)));
    lines.push(r#"{"type":"session","session":"x","row":"AAAA"}"#.to_owned());
    lines.extend([SCANNED.to_owned(), SCANNED.to_owned()]);
    let said = take(&mut incoming, &mut here, &lines);
    assert_eq!(
        (here.len(), incoming.sessions()),
        (MOST_SESSIONS, MOST_SESSIONS)
    );
    assert_eq!(
        said,
        ["left out: sessions beyond 2000, lines that are not understood"]
    );
}

#[test]
fn numbers_beyond_any_session_are_no_row() {
    let (there, key) = there();
    let row = wire::row(&there, key).unwrap();
    let mut changed = wire::read(&row).unwrap();
    changed.summary.context.used = u64::MAX;
    let bytes = postcard::to_stdvec(&changed).unwrap();
    assert_eq!(wire::read(&wire::text(&bytes)), None);
    changed.summary.context.used = 5;
    changed.summary.meta.title = Some("x".repeat(1 << 16).into());
    let bytes = postcard::to_stdvec(&changed).unwrap();
    assert_eq!(wire::read(&wire::text(&bytes)), None);
}

proptest! {
    #[test]
    fn any_bytes_are_lines(
        lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20),
        started: bool,
    ) {
        let mut incoming = incoming();
        if started {
            incoming.line(start().as_bytes(), now()).unwrap();
        }
        for line in lines {
            if let Ok(news) = incoming.line(&line, now()) {
                prop_assert!(news.said.is_none_or(|said| !said.contains(char::is_control)));
            }
        }
    }

    #[test]
    fn any_damaged_row_is_none_or_one_that_shows(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let (there, key) = there();
        let mut bytes = wire::bytes(&wire::row(&there, key).unwrap()).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut here = Sessions::new(Arc::default());
        let row = wire::text(&bytes);
        take(&mut incoming(), &mut here, &[start(), session("a", now(), &row)]);
        for (key, gauge) in here.gauges() {
            let forecast = gauge.forecast(now());
            let _ = (gauge.limits(), gauge.headroom(), gauge.prompt_cache());
            let _ = model::due::triggers::next(gauge, &forecast, now());
            prop_assert!(here.name(key).len() < 5_000);
        }
    }
}
