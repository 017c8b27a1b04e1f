//! The table of sessions.

use super::{SessionRows, Take, table};
use crate::ls::Spending;
use anyhow::Result;
use model::Role;
use model::session::context::Context;
use model::window::Limits;

pub(super) fn rows(of: &SessionRows<'_>, take: &mut Take<'_>) -> Result<()> {
    let session = of.session;
    let mut spending = Spending::default();
    spending.own = of.log.own_costs.get(&of.key.conversation).copied();
    of.responses()
        .iter()
        .for_each(|response| spending.add(response.spending));
    let row = cells(of, &session.context(), &session.limits(), &spending);
    take(session.started_at, &row)
}

table! { (
    of: &'a SessionRows<'_>,
    context: &Context,
    limits: &Limits,
    spending: &Spending,
) {
    session: Text = &*of.name, "The session, the same in all tables.";
    agent: Text = of.session.agent, "The agent's id.";
    id: Text = of.session.meta.id.as_deref(), "The session's id, as the agent writes it; forks and resumed sessions may share one.";
    parent_id: Text = of.session.meta.parent.as_deref(), "The id of the session that started this one.";
    title: Text = of.log.sessions.title(of.key), "The title in the log, else the beginning of the first prompt.";
    project: Text = Some(of.log.projects.name(of.session.folder())).filter(|name| !name.is_empty()), "The name of the project: the shortest unique end of its folder's path.";
    cwd: Text = of.session.meta.cwd.as_deref(), "The working directory.";
    path: Text = of.log.sessions.facts(of.key).map(|facts| facts.path.to_string_lossy()), "The path of the log.";
    model: Text = of.session.model(), "The model of the newest response.";
    version: Text = of.session.meta.version.as_deref(), "The agent's version.";
    started_at: Time = of.session.started_at, "The time of the first record.";
    updated_at: Time = of.session.updated_at, "The time of the newest record.";
    window_tokens: Int = limits.window, "The window, in tokens.";
    window_source: Text = limits.window_source.name(), "The source of the window.";
    trigger_tokens: Int = limits.trigger, "The size at which the agent compacts, in tokens.";
    trigger_source: Text = limits.trigger_source.name(), "The source of the trigger.";
    context_tokens: Int = context.used, "The size of the context, in tokens.";
    known: Int = context.known, "The reported part of it.";
    estimated: Int = context.estimated, "The estimated part of it.";
    low: Int = context.low, "The lower end of the 90 % interval of the context's size.";
    high: Int = context.high, "The upper end of it.";
    own_count: Int = context.own.map(|own| own.tokens), "The agent's own count, which it compares with the trigger; empty: its rule is not known.";
    system_tokens: Int = context.role(Role::System).tokens, "Tokens in the context of the unlogged prefix.";
    container_tokens: Int = context.role(Role::Container).tokens, "Tokens in the context that the agent added by itself.";
    user_tokens: Int = context.role(Role::User).tokens, "Tokens in the context that a person typed.";
    assistant_tokens: Int = context.role(Role::Assistant).tokens, "Tokens in the context that the model wrote.";
    tool_tokens: Int = context.role(Role::Tool).tokens, "Tokens in the context that tools returned.";
    items: Int = of.session.items().len(), "How many items the log has.";
    requests: Int = of.session.requests().len(), "How many requests of the conversation were reported.";
    turns: Int = u64::from(of.session.turns), "How many user turns were begun.";
    compactions: Int = of.session.compactions(), "How many compactions there were.";
    records: Int = of.session.records, "How many records the log has.";
    unreadable: Int = of.session.unreadable, "How many of them could not be read.";
    responses: Int = spending.responses, "How many responses have usage: of the conversation and beside it, with those that a fork repeats.";
    input: Int = spending.spent.input, "Their input that no cache had, in tokens.";
    cache_read: Int = spending.spent.cache_read, "Their input that was read from a cache.";
    cache_write: Int = spending.spent.cache_write, "Their input that was written to a cache.";
    output: Int = spending.spent.output, "Their output, with reasoning.";
    cost_usd: Float = Some(spending.usd()), "The list price of those responses that have one.";
    unpriced: Int = spending.unpriced, "How many of them have none.";
    cost_lacks: Text = super::lacking(spending), "The surcharges that the price does not contain.";
    folder: Text = Some(of.session.folder()).filter(|folder| !folder.is_empty()), "The project's folder: the working directory or, in a worktree, its repository.";
    own_cost_usd: Float = spending.own_usd(), "The cost of the session as the agent itself counts it; empty: not in its log.";
}}
