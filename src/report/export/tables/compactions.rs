//! The table of compactions and clears.

use super::{SessionRows, Take, table};
use anyhow::Result;
use model::Role;
use model::outlook::compaction::{Compaction, compactions};
use model::session::PastReset;

pub(super) fn rows(of: &SessionRows<'_>, take: &mut Take<'_>) -> Result<()> {
    for done in compactions(of.session) {
        if let Some(reset) = of.session.resets().get(done.reset) {
            take(reset.at, &cells(of, reset, &done))?;
        }
    }
    Ok(())
}

table! { (of: &'a SessionRows<'_>, reset: &'a PastReset, done: &Compaction) {
    session: Text = &*of.name, "The session, the same in all tables.";
    agent: Text = of.session.agent, "The agent's id.";
    compaction: Int = done.reset, "Its number in the session, from 0.";
    line: Int = reset.place.line(), "Its line in the log.";
    time: Time = reset.at, "When it took place.";
    kind: Text = reset.gone.name(), "`compaction`, `clear` or another way to drop items.";
    cause: Text = reset.cause.name(), "`auto` (by size), `beforehand`, `end of turn`, `idle`, `model change`, `background`, `manual`, or the word of the log.";
    model: Text = reset.model.as_deref(), "The model at that time.";
    next_request: Int = reset.request, "The first request after it, from 0.";
    tokens_before: Int = reset.before, "The size of the context before, in tokens.";
    tokens_before_source: Text = reset.before_source.name(), "The source of that size.";
    own_count: Int = reset.counted.map(|counted| counted.at), "The agent's own count, which it compared with its trigger; empty: its rule is not known.";
    tokens_after: Int = reset.after, "The size after.";
    tokens_after_source: Text = reset.after_source.name(), "The source of that size.";
    freed: Int = done.freed.map(|(tokens, _)| tokens), "Before minus after.";
    left_items: Int = done.left_items, "How many items left.";
    kept_items: Int = done.kept_items, "How many stayed.";
    kept_tokens: Int = done.kept_tokens, "Their tokens.";
    summary_tokens: Int = done.summary.map(|(_, tokens, _)| tokens), "The tokens of the summary that took their place.";
    dropped_system: Int = reset.dropped[Role::System.index()], "Tokens of the system role that left.";
    dropped_container: Int = reset.dropped[Role::Container.index()], "Tokens of the container role that left.";
    dropped_user: Int = reset.dropped[Role::User.index()], "Tokens of the user role that left.";
    dropped_assistant: Int = reset.dropped[Role::Assistant.index()], "Tokens of the assistant role that left.";
    dropped_tool: Int = reset.dropped[Role::Tool.index()], "Tokens of the tool role that left.";
}}
