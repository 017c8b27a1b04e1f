//! The context after any requests, and why blocks leave.

use super::*;
use model::Source;
use model::event::{BilledUsage, ByLength, Place};
use model::session::Session;
use model::window::Rules;
use proptest::prelude::*;
use std::sync::Arc;

fn block(letter: char) -> Block<'static> {
    let (role, kind) = match letter {
        'a'..='c' => (Role::User, Kind::Text),
        'd'..='f' => (Role::Assistant, Kind::Text),
        'g' => (Role::Container, Kind::Prompt),
        _ => (Role::Tool, Kind::Text),
    };
    Block::text(role, kind, letter.to_string())
}

fn usage(request: Key, prompt: u64) -> Usage {
    Usage {
        request,
        model: None,
        prompt,
        cached: 0,
        miss: None,
        output: Some(5),
        reasoning: None,
        source: Source::Reported,
        billed: BilledUsage::default(),
        is_whole: false,
        is_inherited: false,
    }
}

/// What a session holds after these requests: letters carried, letters answered.
fn session(losses: LossInference, requests: &[(String, String, bool)]) -> Session {
    let mut conversation = PromptHistory::new(losses);
    let mut out = EventSink::new(&ByLength);
    for (line, (carried, answered, is_late)) in (1..).zip(requests) {
        out.begin(Place::of_line(line));
        let request = Key::new(line);
        let usage = [usage(request, 100 * line)];
        if *is_late {
            conversation.add_late_response(request, usage, &mut out);
            continue;
        }
        let carried: Vec<Block<'_>> = carried.chars().map(block).collect();
        let answered: Vec<Block<'_>> = answered.chars().map(block).collect();
        conversation.add_request(&Prompt::of(&carried), &mut out);
        conversation.add_response(request, &answered, usage, &mut out);
    }
    let mut session = Session::new("otel-genai", Arc::new(Rules::default()));
    out.entries
        .into_iter()
        .for_each(|entry| session.apply(entry));
    session
}

fn letters(session: &Session) -> String {
    let alive = session.alive();
    let shown = alive.iter().map(|ix| &session.items()[*ix]);
    let mut letters: Vec<&str> = shown
        .filter(|item| item.kind != Kind::Unlogged)
        .map(|item| &*item.preview)
        .collect();
    letters.sort_unstable();
    letters.concat()
}

proptest! {
    #[test]
    fn the_context_is_what_was_carried_and_answered(
        requests in prop::collection::vec(("[a-h]{1,6}", "[df]{0,2}", prop::bool::weighted(0.1)), 1..8),
    ) {
        for losses in [LossInference::FromSize, LossInference::FromSummary] {
        let session = session(losses, &requests);
        let newest = requests.iter().rev().find(|(.., is_late)| !is_late);
        let mut expected: Vec<char> = newest
            .map(|(carried, answered, _)| carried.chars().chain(answered.chars()).collect())
            .unwrap_or_default();
        expected.sort_unstable();
        prop_assert_eq!(letters(&session), expected.into_iter().collect::<String>());
        prop_assert_eq!(session.requests().len(), requests.len());
        }
    }
}

#[test]
fn what_leaves_says_why() {
    let why = |requests: &[(&str, &str)]| {
        let requests: Vec<_> = requests
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned(), false))
            .collect();
        let session = session(LossInference::FromSize, &requests);
        let mut why: Vec<&str> = session
            .items()
            .iter()
            .filter_map(|item| Some(item.left?.why.name()))
            .collect();
        why.dedup();
        why.concat()
    };
    assert_eq!(why(&[("ga", "d"), ("gadb", "e")]), "");
    assert_eq!(why(&[("ga", "d"), ("gadb", "e"), ("gac", "d")]), "rewind");
    assert_eq!(why(&[("gab", "d"), ("gc", "e")]), "compaction");
    assert_eq!(why(&[("gah", "d"), ("gadbc", "e")]), "cleared");
}
