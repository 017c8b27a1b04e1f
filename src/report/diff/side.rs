//! One of the two sides: a session, or a moment of it.

use super::SessionMoment;
use super::parts::{Amount, Part};
use crate::ReportContext;
use crate::ls::{PriceList, Responses, Spending};
use crate::output::redact::Reader;
use crate::reading::sessions_builder::SessionsBuilder;
use crate::session::{find, unreadable};
use anyhow::{Context as _, Result, bail};
use ingest::log::LogFile;
use ingest::log::reader::{read_once, read_whole};
use model::cost::calls::Calls;
use model::cost::tools::{server_of, servers, short_name, tools};
use model::event::{Conversation, Key};
use model::session::context::Context;
use model::session::replay::{Snapshot, Timeline};
use model::session::{Item, ItemIx, Session};
use model::{Kind, LeaveReason, Role};
use render::item::{label, words};
use std::collections::{BTreeMap, HashSet};
use tokens::Counter;

/// A session as of a moment.
pub struct Side {
    /// The agent's id.
    pub agent: &'static str,
    /// The session's id.
    pub id: Option<String>,
    /// The session's name, as the screens show it.
    pub name: String,
    /// The path of its log.
    pub path: String,
    /// The model of the newest response.
    pub model: Option<String>,
    /// The request as of whose report it is, counted from 1; `None`: now.
    pub request: Option<usize>,
    /// Requests reported by then.
    pub requests: usize,
    /// Compactions by then.
    pub compactions: usize,
    /// The cost of the responses by then.
    pub spending: Spending,
    /// The first prompt, in tokens; `None`: no request was reported.
    pub first: Option<u64>,
    /// Its parts.
    pub first_parts: BTreeMap<Part, Amount>,
    /// The size of the context.
    pub context: Context,
    /// The context's parts by role.
    pub roles: BTreeMap<Part, Amount>,
    /// The results of each tool.
    pub tools: BTreeMap<Part, Amount>,
    /// The size of each MCP server in the context: definitions and results.
    pub servers: BTreeMap<Part, Amount>,
    /// The items in the context.
    pub items: BTreeMap<Part, Amount>,
}

impl Side {
    /// Reads a session.
    pub(super) fn read(context: &ReportContext, moment: SessionMoment<'_>) -> Result<Side> {
        let SessionMoment { asked, request } = moment;
        let (log, wanted) = find::find(context, &asked)?;
        let reader = Reader::new(context, Counter::new());
        let read = || {
            let responses = Responses::read(&log)?;
            let sessions = match request {
                // Earlier states are kept only by this.
                Some(_) => read_whole(&log, &reader, &context.rules)?,
                None => read_once(&log, &reader, &context.rules)?,
            };
            Ok((responses, sessions))
        };
        let read = context.patience.read(&log, read);
        let (responses, sessions) = read.with_context(|| unreadable(&log))?;
        let mut whole = SessionsBuilder::new(context);
        let mut all = whole.named(&log, sessions);
        let key = find::find_in_log(context, &log, &all, wanted.as_deref())?;
        whole.redact(&log, &mut all);
        let session = all.get(key).context("the log holds no session")?;
        let facts = all.facts(key).context("the log holds no session")?;
        let snapshot = as_of(session, request)?;
        let keys = request.map(|n| {
            session
                .requests()
                .iter()
                .take(n)
                .map(|it| it.key())
                .collect()
        });
        let mut side = Side {
            agent: session.agent,
            id: session.meta.id.as_deref().map(str::to_owned),
            name: all.name(key),
            path: facts.path.to_string_lossy().into_owned(),
            model: session.model().map(str::to_owned),
            request,
            requests: snapshot.requests,
            compactions: compactions(session, snapshot.resets),
            spending: spending(context, &log, &responses, key.conversation, keys),
            first: session.requests().first().map(|first| first.prompt),
            first_parts: BTreeMap::new(),
            context: snapshot.context,
            roles: BTreeMap::new(),
            tools: BTreeMap::new(),
            servers: BTreeMap::new(),
            items: BTreeMap::new(),
        };
        side.add_first(session);
        side.add_roles();
        side.add_tools(session, &snapshot);
        side.add_items(session, &snapshot);
        Ok(side)
    }

    /// Returns the 90 % error of so many estimated tokens: their part of the context's error.
    pub(super) fn error_of(&self, estimated: u64) -> u64 {
        match self.context.estimated {
            0 => 0,
            all => (self.error() as f64 * estimated.min(all) as f64 / all as f64).round() as u64,
        }
    }

    /// Returns the 90 % error of the context's size.
    pub(super) fn error(&self) -> u64 {
        let of = &self.context;
        let above = of.high.saturating_sub(of.used);
        above.max(of.used.saturating_sub(of.low))
    }

    /// Adds the parts of the first prompt.
    fn add_first(&mut self, session: &Session) {
        let Some(first) = session.requests().first() else {
            return;
        };
        if first.system > 0 {
            let part = Part::named("system, not in the log");
            let amount = self.first_parts.entry(part).or_default();
            amount.add(first.system, 0);
        }
        for (ix, item) in session.items().iter().enumerate() {
            if item.entered != Some(0) {
                continue;
            }
            let name = match (item.kind, item.tool.as_deref()) {
                (Kind::ToolList, Some(tool)) => server_of(tool).map_or_else(
                    || "definitions of tools".to_owned(),
                    |server| format!("MCP server {server}"),
                ),
                _ if item.role == Role::Container => words(item.kind.name()),
                _ => item.role.name().to_owned(),
            };
            let (tokens, source) = session.tokens(ix);
            let estimated = if source.is_known() { 0 } else { tokens };
            let amount = self.first_parts.entry(Part::named(name)).or_default();
            amount.add(tokens, estimated);
        }
    }

    fn add_roles(&mut self) {
        for role in Role::ALL {
            let share = self.context.role(role);
            let amount = Amount {
                count: share.items,
                tokens: share.tokens,
                estimated: share.estimated,
            };
            if amount != Amount::default() {
                self.roles.insert(Part::named(role.name()), amount);
            }
        }
    }

    fn add_tools(&mut self, session: &Session, snapshot: &Snapshot) {
        let mut estimated: BTreeMap<&str, u64> = BTreeMap::new();
        for (ix, tokens, source) in &snapshot.items {
            let tool = session.items()[*ix].tool.as_deref();
            if let Some(tool) = tool.filter(|_| !source.is_known()) {
                *estimated.entry(tool).or_default() += tokens;
            }
        }
        let all = tools(session, snapshot.items.iter().copied(), snapshot.requests);
        for tool in all.iter().filter(|tool| tool.results > 0) {
            let part = Part {
                server: server_of(&tool.name).map(str::to_owned),
                ..Part::named(short_name(&tool.name))
            };
            let estimated = estimated.get(&*tool.name).copied().unwrap_or(0);
            let amount = Amount {
                count: tool.results,
                tokens: tool.tokens,
                estimated: estimated.min(tool.tokens),
            };
            self.tools.insert(part, amount);
        }
        for server in servers(&all) {
            let of = |tool: &&str| server_of(tool) == Some(&*server.name);
            let estimated = estimated.iter().filter(|(tool, _)| of(tool));
            let parts = [server.schema, server.calls, server.in_context];
            let tokens = parts.into_iter().fold(0, u64::saturating_add);
            let amount = Amount {
                count: server.tools,
                tokens,
                estimated: estimated.map(|(_, tokens)| tokens).sum::<u64>().min(tokens),
            };
            self.servers.insert(Part::named(&*server.name), amount);
        }
    }

    fn add_items(&mut self, session: &Session, snapshot: &Snapshot) {
        let calls = Calls::of(session);
        for (ix, tokens, source) in &snapshot.items {
            let part = item_part(session, &calls, *ix);
            let estimated = if source.is_known() { 0 } else { *tokens };
            self.items.entry(part).or_default().add(*tokens, estimated);
        }
    }
}

/// Returns the identity of an item. Two results are the same if they are of the same file or command, whatever their
/// text is. Two other items are the same if their texts are equal.
fn item_part(session: &Session, calls: &Calls, ix: ItemIx) -> Part {
    let item: &Item = &session.items()[ix];
    let server = item.tool.as_deref().and_then(server_of).map(str::to_owned);
    let what = calls.name(session, item);
    let hash = match calls.subject(session, item) {
        Some(_) => 0,
        None => item.hash,
    };
    let label = match item.role {
        Role::Tool | Role::Assistant => label(item).into_owned(),
        role => format!("{}: {}", role.name(), label(item)),
    };
    let name = if what.is_empty() {
        label
    } else {
        format!("{label} {what}")
    };
    Part { name, hash, server }
}

/// Returns the session as of the report of a request, counted from 1, or as it is now.
fn as_of(session: &Session, request: Option<usize>) -> Result<Snapshot> {
    let Some(number) = request else {
        return Ok(session.snapshot());
    };
    let timeline = Timeline::of(session);
    let moment = number
        .checked_sub(1)
        .and_then(|ix| timeline.of_request(ix))
        .and_then(|ix| timeline.moment(ix));
    let Some(moment) = moment else {
        let all = session.requests().len();
        if all == 0 {
            bail!(
                "no request of the session was reported, so there is no earlier moment to compare with"
            );
        }
        bail!("there is no request {number}; the session has requests 1 to {all}");
    };
    Ok(session.snapshot_at(moment))
}

fn compactions(session: &Session, resets: usize) -> usize {
    let resets = session.resets().iter().take(resets);
    resets
        .filter(|reset| reset.gone == LeaveReason::Compaction)
        .count()
}

/// Returns the cost of the responses of a session: all of them, or only the requests in `of`. The agent's own count is
/// added only to the cost of all.
fn spending(
    context: &ReportContext,
    log: &LogFile,
    responses: &Responses,
    conversation: Conversation,
    of: Option<HashSet<Key>>,
) -> Spending {
    let mut prices = PriceList::new(&context.rules);
    let mut all = Spending::default();
    for (request, cost) in responses.costs() {
        let is_counted = of.as_ref().is_none_or(|keys| keys.contains(&request));
        if cost.conversation == conversation && is_counted {
            all.add(cost.spending(&mut prices, log.format, responses.model(&cost)));
        }
    }
    if of.is_none() {
        let own = responses.own.iter().find(|(of, _)| *of == conversation);
        all.own = own.map(|(_, own)| *own);
    }
    all
}
