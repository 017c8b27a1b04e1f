//! Parts of a report on a session, for faces that show some of them. They are those of `ctxgauge.report/1`, so that a
//! number is the same wherever it is asked for. None contains text of the log but names: those of tools, models and
//! settings; and, where they are asked for, those of calls.

use super::json::{
    Band, ComingPart, ContextPart, ItemPart, JumpPart, PastPart, by_role, cache_part,
};
use crate::output::finding::FindingPart;
use crate::output::json::line;
use jiff::Timestamp;
use model::cost::calls::Calls;
use model::cost::carried::CarriedCost;
use model::due::triggers::NextTrigger;
use model::lists::gauge::SessionGauge;
use model::outlook::compaction::compactions;
use model::outlook::forecast::{Forecast, NoForecast};
use model::outlook::jumps::Jump;
use model::session::context::Context;
use model::session::{ItemIx, Session};
use model::why::Finding;
use render::jump;
use serde::Serialize;
use serde_json::{Map, Value};

/// Returns the size of the context, and its window: `context` of a report.
pub fn context(gauge: &SessionGauge) -> Map<String, Value> {
    object(&ContextPart::new(gauge))
}

/// Returns the parts of the context by role: `roles` of a report.
pub fn roles(context: &Context) -> Map<String, Value> {
    object(&by_role(|role| *context.role(role)))
}

/// Returns the trigger and what is left before it: `compaction` of a report, without the past ones.
pub fn coming(
    forecast: &Result<Forecast, NoForecast>,
    next: &[NextTrigger],
    gauge: &SessionGauge,
) -> Map<String, Value> {
    object(&ComingPart::new(
        forecast,
        next,
        &gauge.context,
        gauge.limits().clone(),
    ))
}

/// Returns the prompt cache, and the cost of the next request: `cache` of a report; null if nothing is known of it.
pub fn cache(gauge: &SessionGauge, now: Timestamp) -> Value {
    value(&cache_part(gauge, now))
}

/// Returns the requests until the next compaction: `requests_left` of `compaction`.
pub fn requests_left(forecast: &Result<Forecast, NoForecast>) -> Value {
    let band = forecast.as_ref().ok().map(|f| Band::new(&f.requests, 1.0));
    value(&band)
}

/// Returns what took tokens in a session of an agent: one of `findings`.
pub fn finding(finding: &Finding, agent: &str) -> Map<String, Value> {
    object(&FindingPart::new(finding, agent))
}

/// Returns the last compactions, at most this many, the oldest first: `past` of `compaction`.
pub fn past(session: &Session, most: usize) -> Vec<Map<String, Value>> {
    let done = compactions(session);
    let last = &done[done.len().saturating_sub(most)..];
    last.iter()
        .map(|done| object(&PastPart::new(session, &session.resets()[done.reset], done)))
        .collect()
}

/// Returns an item as in `messages` of a report, without its preview.
pub fn item(session: &Session, carried: &CarriedCost<'_>, ix: ItemIx) -> Map<String, Value> {
    let (tokens, source) = session.tokens(ix);
    let mut part = object(&ItemPart::new(session.items(), (ix, tokens, source)));
    let item = &session.items()[ix];
    part.insert("kind".into(), item.kind.name().into());
    part.insert("entered".into(), item.entered.into());
    part.insert("carried".into(), carried.tokens(ix, tokens).into());
    part
}

/// Returns the largest growths of the context, at most this many, each with its largest parts: `jumps` of a report. With
/// [`Texts::On`], calls have their arguments in place of names, which may be text of the log.
pub fn jumps(session: &Session, most: usize, texts: Texts) -> Vec<Map<String, Value>> {
    let jumps = model::outlook::jumps::jumps(session, most);
    let calls = match texts {
        Texts::On => Calls::of_items(session, jump::items(&jumps)),
        Texts::Off => Calls::default(),
    };
    let short = |jump: &Jump| {
        let mut part = object(&JumpPart::new(session, &calls, jump));
        let (named, others) = jump.parts.split_at(jump.parts.len().min(MOST_JUMP_PARTS));
        let more = others.iter().map(|part| part.tokens);
        let more = more.fold(0, u64::saturating_add);
        if more > 0 {
            part.insert("more".into(), more.into());
        }
        if let Some(Value::Array(parts)) = part.get_mut("parts") {
            parts.truncate(named.len());
            for (part, item) in parts.iter_mut().zip(named) {
                let Some(part) = part.as_object_mut() else {
                    continue;
                };
                part.remove("name");
                let call = calls.arguments_at(session, item.item);
                if let Some(call) = call.filter(|_| texts == Texts::On) {
                    part.insert("call".into(), call.into());
                }
            }
        }
        part
    };
    jumps.iter().map(short).collect()
}

/// The use of texts of logs in parts and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// Numbers, names and places only.
    Off,
    /// Calls have their arguments, and items their text.
    On,
}

/// The most parts of a jump.
const MOST_JUMP_PARTS: usize = 3;

pub(crate) fn object(part: &impl Serialize) -> Map<String, Value> {
    match value(part) {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A part as a value, by its text: the code that writes it is there already, and a second one for values would be as long.
fn value(part: &impl Serialize) -> Value {
    let mut text = Vec::new();
    // A part has string keys, and memory can be written to.
    let _ = line(&mut text, part);
    serde_json::from_slice(&text).unwrap_or_default()
}
