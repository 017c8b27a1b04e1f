//! The table of requests: all responses with usage, those beside the conversation too.

use super::{Response, SessionRows, Take, table};
use crate::output::json::dollars;
use anyhow::Result;
use jiff::Timestamp;
use model::cost::rebuilds::{Rebuild, rebuilds};
use model::event::Key;
use model::session::{Request, RequestIx};
use std::collections::HashMap;

/// A row.
struct Row<'a> {
    response: Key,
    /// The request of the conversation, and its index.
    request: Option<(RequestIx, &'a Request)>,
    /// Its usage; `None`: the report has none that is billed.
    usage: Option<&'a Response<'a>>,
    rebuild: Option<&'a Rebuild>,
}

pub(super) fn rows(of: &SessionRows<'_>, take: &mut Take<'_>) -> Result<()> {
    let responses = of.responses();
    let mut by_key: HashMap<Key, &Response<'_>> = HashMap::new();
    by_key.extend(
        responses
            .iter()
            .map(|response| (response.request, response)),
    );
    let rebuilds = rebuilds(of.session);
    let mut rebuilt = rebuilds.iter().peekable();
    for (ix, request) in of.session.requests().iter().enumerate() {
        let row = Row {
            response: request.key(),
            usage: by_key.remove(&request.key()),
            request: Some((ix, request)),
            rebuild: rebuilt.next_if(|rebuild| rebuild.request == ix),
        };
        take(row.at(), &cells(of, &row))?;
    }
    for response in responses {
        if by_key.contains_key(&response.request) {
            let row = Row {
                response: response.request,
                request: None,
                usage: Some(response),
                rebuild: None,
            };
            take(row.at(), &cells(of, &row))?;
        }
    }
    Ok(())
}

impl<'a> Row<'a> {
    fn request(&self) -> Option<&'a Request> {
        self.request.map(|(_, request)| request)
    }

    fn at(&self) -> Option<Timestamp> {
        let logged = self.request().and_then(|request| request.at);
        logged.or_else(|| self.usage?.cost.at)
    }

    fn everywhere(&self) -> Key {
        self.usage.map_or(self.response, |usage| usage.everywhere)
    }

    fn model(&self) -> Option<&'a str> {
        let logged = self.request().and_then(|request| request.model.as_deref());
        logged.or_else(|| Some(self.usage?.model?.model))
    }

    /// Returns the kind of the row: a request of the conversation, a sum of several, or a response beside the
    /// conversation.
    fn kind(&self) -> &'static str {
        match (&self.request, self.usage) {
            (Some(_), _) => "request",
            (None, Some(usage)) if usage.cost.is_sum => "sum",
            (None, _) => "beside",
        }
    }

    fn prompt(&self) -> Option<u64> {
        let logged = self.request().map(|request| request.prompt);
        logged.or_else(|| Some(self.usage?.spending.spent.prompt()))
    }

    fn cost(&self) -> Option<f64> {
        let usage = self.usage.filter(|usage| usage.spending.unpriced == 0)?;
        Some(usage.spending.usd())
    }
}

table! { (of: &'a SessionRows<'_>, row: &Row<'a>) {
    session: Text = &*of.name, "The session, the same in all tables.";
    agent: Text = of.session.agent, "The agent's id.";
    response: Text = format!("{:016x}", row.everywhere().get()), "The response, the same in all logs that have it: a hash of its id.";
    request: Int = row.request.as_ref().map(|(ix, _)| *ix), "Its number in the conversation, from 0; empty: it is no part of it.";
    kind: Text = row.kind(), "`request` of the conversation, `beside` it (a title, a summary), or the `sum` of several requests.";
    line: Int = row.request().map(|request| request.place.line()), "The last line of the log that has its usage.";
    time: Time = row.at(), "When the response began.";
    turn: Int = row.request().map(|request| u64::from(request.turn)), "The user turn that it belongs to, from 1.";
    model: Text = row.model(), "The model that answered.";
    prompt: Int = row.prompt(), "All of its input, cached or not.";
    input: Int = row.usage.map(|usage| usage.spending.spent.input), "The input that no cache had.";
    cache_read: Int = row.usage.map(|usage| usage.spending.spent.cache_read), "The input that was read from a cache.";
    cache_write: Int = row.usage.map(|usage| usage.spending.spent.cache_write), "The input that was written to a cache.";
    output: Int = row.usage.map(|usage| usage.spending.spent.output), "The output, with reasoning.";
    reasoning: Int = row.request().and_then(|request| request.reasoning), "The reasoning in it, if that is reported.";
    predicted: Int = row.request().and_then(|request| Some(request.predicted?.tokens)), "The prediction of the prompt, made before its report was read.";
    predicted_low: Int = row.request().and_then(|request| Some(request.predicted?.low)), "The lower end of the 90 % interval of that.";
    predicted_high: Int = row.request().and_then(|request| Some(request.predicted?.high)), "The upper end of it.";
    cost_usd: Float = row.cost(), "Its list price; empty: not known.";
    cost_lacks: Text = row.usage.and_then(|usage| super::lacking(&usage.spending)), "The surcharges that the price does not contain.";
    repeated: Bool = row.usage.is_some_and(|usage| usage.is_repeated), "Whether an earlier row has the same response, as a fork repeats it. The other rows add up to the totals.";
    miss_cause: Text = row.request().and_then(|request| Some(request.miss.as_ref()?.cause.name())), "The provider's own cause of a cache miss, such as `tools_changed`.";
    miss_tokens: Int = row.request().and_then(|request| request.miss.as_ref()?.tokens), "About how many tokens would otherwise have been read from the cache.";
    cache_minutes: Int = row.request().map(|request| u64::from(request.cache_minutes)).filter(|minutes| *minutes > 0), "The minutes for which the provider keeps the prompt in its cache, if the log shows that.";
    rebuilt: Int = row.rebuild.map(|rebuild| rebuild.tokens), "The tokens that were rebuilt: the cache had had them.";
    rebuild_cause: Text = row.rebuild.map(|rebuild| rebuild.cause.name()), "The cause of that: the provider's, or `expired`, `model_switched`, `not_stated`.";
    rebuild_usd: Float = row.rebuild.and_then(|rebuild| rebuild.usd).map(dollars), "Their additional cost compared with a cache hit, by list price.";
}}
