//! The answers: parts of a report, as JSON objects in which every string is inert and short.

use super::logs::SessionMatch;
use super::tools::{AllSessions, Largest, Part, Question, Texts};
use jiff::{SignedDuration, Timestamp};
use model::cost::calls::Calls;
use model::cost::carried::CarriedCost;
use model::due::triggers;
use model::event::cut::floor_char;
use model::lists::gauge::SessionGauge;
use model::lists::text::{PAGE_BYTES, TextRequest};
use model::outlook::forecast::forecast_without;
use model::outlook::whatif::{WhatIf, what_if_without, without};
use model::session::ItemIx;
use render::inert::visible_text;
use render::text::inert;
use report::ReportContext;
use report::ls::ListOptions;
use report::session::parts;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The most past compactions that are listed.
const MOST_PAST: usize = 5;
/// The most growths that are listed.
const MOST_JUMPS: usize = 3;
/// The most findings that are listed.
const MOST_FINDINGS: usize = 10;
/// The longest name, in characters, and the longest sentence, which may contain two ids.
const LONGEST_NAME: usize = 200;
const LONGEST_NOTE: usize = 600;
/// The most ids that an error lists.
const NAMED_IDS: usize = 10;

/// Answers what is asked for.
///
/// # Errors
///
/// If there is no answer: the reason, for the model to read.
pub(crate) fn answer(of: &SessionMatch<'_>, asked: Question) -> Result<Value, String> {
    let mut answer = match asked {
        Question::Now => now(of),
        Question::Largest(which) => largest(of, &which),
        Question::Without(ids) => what_if(of, ids)?,
        Question::Forecast => coming(of),
        Question::Why => why(of)?,
        Question::WhyOfAll(of_all_sessions) => return of_all(of.context, &of_all_sessions),
        Question::Text(part) => text(of, &part)?,
    };
    answer["session"] = session(of);
    make_inert(&mut answer, LONGEST_NAME);
    Ok(answer)
}

/// Returns the facts that identify the session, and the way in which it was found.
fn session(of: &SessionMatch<'_>) -> Value {
    let mut part = json!({
        "id": of.session.meta.id.as_deref().or(of.follower.log.facts.id.as_deref()),
        "agent": of.session.agent,
        "model": of.session.model(),
        "updated_at": of.session.updated_at,
        "found_by": of.found_by,
    });
    if let Some(note) = &of.note {
        part["note"] = json!(note);
    }
    part
}

fn now(of: &SessionMatch<'_>) -> Value {
    let gauge = of.session.gauge();
    let mut coming = next(of, &gauge);
    // The rest is in `compaction_forecast`.
    coming.retain(|key, _| !matches!(&**key, "policy" | "turns_left" | "minutes_left"));
    json!({
        "context": parts::context(&gauge),
        "roles": parts::roles(&gauge.context),
        "compaction": coming,
        "cache": parts::cache(&gauge, of.now),
    })
}

/// Returns the forecast of the next compaction, or the reason why there is none.
fn next(of: &SessionMatch<'_>, gauge: &SessionGauge) -> Map<String, Value> {
    let all = triggers::next(gauge, &of.forecast, of.now);
    let mut coming = parts::coming(&of.forecast, &all, gauge);
    if let Err(why) = &of.forecast {
        coming.insert("no_forecast".into(), why.name().into());
    }
    coming
}

fn largest(of: &SessionMatch<'_>, which: &Largest) -> Value {
    let session = of.session;
    let requests = session.requests().len();
    let carried = CarriedCost::by(session, requests);
    let is_asked_for = |ix: ItemIx| {
        let item = &session.items()[ix];
        let tool = item.tool.as_deref();
        which.role.is_none_or(|role| item.role == role)
            && which.tool.as_deref().is_none_or(|name| tool == Some(name))
    };
    let mut items: Vec<(ItemIx, u64)> = session
        .in_context()
        .filter(|(ix, ..)| is_asked_for(*ix))
        .map(|(ix, tokens, _)| (ix, tokens))
        .collect();
    let tokens = items
        .iter()
        .fold(0_u64, |sum, (_, tokens)| sum.saturating_add(*tokens));
    let total = json!({"items": items.len(), "tokens": tokens, "requests": requests});
    items.sort_by_key(|(ix, tokens)| (Reverse(*tokens), *ix));
    items.truncate(which.most);
    let calls = match which.texts {
        Texts::On => Calls::of_items(session, items.iter().map(|(ix, _)| *ix)),
        Texts::Off => Calls::default(),
    };
    let item = |ix: ItemIx| {
        let mut part = parts::item(session, &carried, ix);
        if which.texts == Texts::On {
            part.insert("call".into(), calls.arguments_at(session, ix).into());
        }
        let held = session.items()[ix].requests_held(requests);
        part.insert("requests_held".into(), held.into());
        part.retain(|_, value| !value.is_null());
        part
    };
    let items: Vec<_> = items.into_iter().map(|(ix, _)| item(ix)).collect();
    let mut answer = json!({"items": items, "total": total});
    if which.role.is_none() && which.tool.is_none() {
        answer["jumps"] = json!(parts::jumps(session, MOST_JUMPS, which.texts));
    }
    answer
}

fn what_if(of: &SessionMatch<'_>, ids: Vec<ItemIx>) -> Result<Value, String> {
    let session = of.session;
    let count = session.items().len();
    let ids: BTreeSet<ItemIx> = ids.into_iter().collect();
    check_ids(&ids, count)?;
    let (context, limits) = (session.context(), session.limits());
    let (freed, used) = without(session.in_context(), &ids, context.used);
    let snapshot = session.snapshot();
    let forecast = forecast_without(session, &snapshot, freed);
    let counted = context.counted().saturating_sub(freed);
    let headroom = limits
        .trigger
        .map(|trigger| trigger.saturating_sub(counted));
    let requests = session.requests().len();
    let with = what_if_without(session, requests, &BTreeSet::new());
    let gone = what_if_without(session, requests, &ids);
    let absent: Vec<ItemIx> = ids
        .iter()
        .copied()
        .filter(|ix| !session.items()[*ix].in_context())
        .take(NAMED_IDS)
        .collect();
    let side = |used: u64, headroom: Option<u64>, left: Value, row: &WhatIf| {
        json!({
            "used": used,
            "headroom": headroom,
            "requests_left": left,
            "compactions_so_far": row.compactions.len(),
            "prompts_so_far": row.prompts,
            "largest_so_far": row.largest,
        })
    };
    let headroom_now = limits.trigger.map(|trigger| context.headroom(trigger));
    let left_now = parts::requests_left(&of.forecast);
    let mut without = side(used, headroom, parts::requests_left(&forecast), &gone);
    without["freed"] = json!(freed);
    if !absent.is_empty() {
        without["not_in_context"] = json!(absent);
    }
    Ok(json!({
        "now": side(context.used, headroom_now, left_now, &with),
        "without": without,
    }))
}

/// Complains of ids that no item has.
fn check_ids(ids: &BTreeSet<ItemIx>, count: usize) -> Result<(), String> {
    let unknown = ids.range(count..);
    let named: Vec<String> = unknown.take(NAMED_IDS).map(|id| id.to_string()).collect();
    if named.is_empty() {
        return Ok(());
    }
    Err(format!(
        "no item has the id {}; `largest_items` lists ids, which are below {count}",
        named.join(", ")
    ))
}

fn coming(of: &SessionMatch<'_>) -> Value {
    let mut past = parts::past(of.session, MOST_PAST);
    for part in &mut past {
        let is_kept = |key: &str| {
            matches!(
                key,
                "line" | "at" | "cause" | "before" | "after" | "freed" | "source"
            )
        };
        part.retain(|key, _| is_kept(key));
    }
    json!({"next": next(of, &of.session.gauge()), "past": past})
}

fn why(of: &SessionMatch<'_>) -> Result<Value, String> {
    let log = &of.follower.log.facts.path;
    let found = report::why::in_session(of.context.beside(), log, of.key);
    let found = found.map_err(|e| format!("the log cannot be read: {e:#}"))?;
    let found = found.iter().take(MOST_FINDINGS);
    let found = found.map(|finding| parts::finding(finding, of.session.agent));
    Ok(json!({"findings": found.collect::<Vec<_>>()}))
}

/// Answers what took the tokens and the money of all sessions.
///
/// # Errors
///
/// If there is none: the reason, for the model to read.
pub(crate) fn of_all(context: &ReportContext, asked: &AllSessions) -> Result<Value, String> {
    let since = asked.days.map(|days| {
        let ago = SignedDuration::from_hours(i64::from(days) * 24);
        (context.now)().checked_sub(ago).unwrap_or(Timestamp::MIN)
    });
    let wanted = ListOptions {
        since,
        project: asked.project.clone(),
        ..ListOptions::default()
    };
    let part = report::why::part(context, &wanted, MOST_FINDINGS, asked.texts);
    let mut answer = Value::Object(part.map_err(|e| e.to_string())?);
    make_inert(&mut answer, LONGEST_NAME);
    Ok(answer)
}

fn text(of: &SessionMatch<'_>, part: &Part) -> Result<Value, String> {
    let items = of.session.items();
    check_ids(&BTreeSet::from([part.id]), items.len())?;
    let request = TextRequest::of(of.follower.log.facts.file, &items[part.id]);
    let mut request = request.ok_or("the log has no text of this item")?;
    request.page = u32::try_from(part.from / PAGE_BYTES).unwrap_or(u32::MAX);
    let page = of
        .follower
        .text(request)
        .map_err(|e| format!("the text cannot be read: {e}"))?;
    let begin = u64::from(request.page.min(page.pages - 1)) * PAGE_BYTES;
    let from = usize::try_from(part.from.saturating_sub(begin)).unwrap_or(usize::MAX);
    let bytes = usize::try_from(part.bytes).unwrap_or(usize::MAX);
    let from = floor_char(&page.text, from);
    let to = floor_char(&page.text, from.saturating_add(bytes));
    let shown = page.text.get(from..to).unwrap_or_default();
    let next = begin + to as u64;
    Ok(json!({
        "id": part.id,
        "text": visible_text(shown),
        "from": begin + from as u64,
        "next": (next < page.bytes).then_some(next),
        "of": page.bytes,
    }))
}

/// Makes names safe to show, and cuts long ones. Texts were made so before.
fn make_inert(value: &mut Value, longest: usize) {
    match value {
        Value::String(name) => {
            let shown = inert(name);
            *name = match shown.char_indices().nth(longest) {
                Some((end, _)) => format!("{}…", &shown[..end]),
                None => shown.into_owned(),
            };
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| make_inert(value, longest)),
        Value::Object(map) => {
            let parts = map.iter_mut().filter(|(key, _)| *key != "text");
            parts.for_each(|(key, value)| {
                let longest = if matches!(key.as_str(), "note" | "act") {
                    LONGEST_NOTE
                } else {
                    longest
                };
                make_inert(value, longest);
            });
        }
        _ => {}
    }
}
