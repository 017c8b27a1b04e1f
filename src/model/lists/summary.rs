//! Summarizes a session for lists: a small value without its items, its requests, and the settings of its agent. A
//! [`Gauge`](crate::lists::gauge::SessionGauge) adds the settings.

use crate::cost::cache_history::CacheHistory;
use crate::cost::calls::Calls;
use crate::cost::counts::SessionCounts;
use crate::cost::spending::SessionSpending;
use crate::event::Cause;
use crate::event::Meta;
use crate::event::PlanLimits;
use crate::event::cut::beginning;
use crate::history::{ItemIx, PastReset};
use crate::outlook::forecast::{NoForecast, Pace, pace};
use crate::session::cleared::until_half;
use crate::session::context::Context;
use crate::session::limits::Sizes;
use crate::session::{Coverage, Session, SizedItem};
use crate::state::past::ModelFacts;
use crate::values::names::is_chosen_id;
use crate::values::project::{last_part, trimmed};
use crate::values::prompt::shows;
use crate::{Kind, LeaveReason, Role};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The number of newest prompts that are kept: one more than the bars of growth in lists.
pub const NEWEST_PROMPTS: usize = 9;
/// The longest text of a log that a summary keeps, in bytes: what the session is called.
const LONGEST_NAME: usize = 1_000;
/// The last answer of a sub-agent is compared as far as this, in bytes.
const LONGEST_ANSWER: usize = 120;
/// Shorter answers are not compared: two agents may both write that they are done.
const SHORTEST_ANSWER: usize = 24;
/// Instructions, lists of tools and files come before the first message of the user.
const ITEMS_BEFORE_MESSAGE: usize = 64;

/// The data that a list shows of a session, as of its newest record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The agent's id; whoever reads a stored summary sets it.
    #[serde(skip)]
    pub agent: &'static str,
    /// The agent's own number for its context, in tokens.
    pub agents_number: Option<u64>,
    /// True if a report on the whole log would name this model.
    pub is_model_final: bool,
    /// The facts that the log names. Long names are cut.
    pub meta: Meta,
    /// The first message of the user, where nothing else names the session.
    pub said: Option<Box<str>>,
    /// The part of the log that was read.
    pub coverage: Coverage,
    /// True if the texts of its items were counted.
    pub is_counted: bool,
    /// The size of the context.
    pub context: Context,
    /// True if a report on the whole log would show this size.
    pub is_final: bool,
    /// True if a report on the whole log would show this count of the agent's own.
    pub is_own_count_final: bool,
    /// True if all that the agent's own count adds to the context was read. Otherwise the count is too small.
    pub is_own_count_whole: bool,
    /// True if the log, read whole, has no usage report.
    pub is_unreported: bool,
    /// True if its log has no items.
    pub is_empty: bool,
    /// The number of lines that could not be read.
    pub unreadable: u64,
    /// The number of records that were read.
    pub records: u64,
    /// True if its agent waits for the user, as the log says.
    pub is_turn_over: bool,
    /// User turns so far.
    pub turns: u32,
    /// Requests so far.
    pub requests: usize,
    /// Compactions so far.
    pub compactions: usize,
    /// The time of its first record.
    #[serde(with = "crate::values::stored::time")]
    pub started_at: Option<Timestamp>,
    /// The time of its newest record.
    #[serde(with = "crate::values::stored::time")]
    pub updated_at: Option<Timestamp>,
    /// The sizes of the newest prompts, in tokens, oldest first.
    pub prompts: Vec<u64>,
    /// The newest compaction or clear.
    pub newest_reset: Option<LastReset>,
    /// The largest item in the context.
    pub largest: Option<Largest>,
    /// The sum of all prompts, in tokens.
    pub prompted: u64,
    /// The sum of all outputs, in tokens, as far as the log has them.
    pub output: u64,
    /// Its cost so far; `None`: not all of its log was read.
    pub spending: Option<SessionSpending>,
    /// The counts of what it has done; `None`: not all of its log was read.
    pub counts: Option<SessionCounts>,
    /// The limits of the user's plan, as its log has them.
    pub plan: PlanLimits,
    /// The last text of the model.
    pub answer: Option<Answer>,
    /// [The part](crate::window::Overrides::summary_hash) of the settings that it depends on.
    pub settings: u64,
    #[serde(with = "crate::values::stored::shared")]
    pub(crate) model: Option<Arc<str>>,
    /// The sizes from which the limits are computed.
    pub(crate) sizes: Sizes,
    /// The sizes for each of its earlier models, which the client may change back to.
    pub(crate) earlier_models: Vec<(Box<str>, Sizes)>,
    /// The tokens that the provider leaves out of each prompt, though the agent counts them.
    pub(crate) left_out: u64,
    /// The time at which the newest request was answered.
    #[serde(with = "crate::values::stored::time")]
    pub(crate) answered_at: Option<Timestamp>,
    pub(crate) pace: Result<Pace, NoForecast>,
    pub(crate) cache: Option<CacheFacts>,
    /// The size at which it last compacted because a turn ended.
    pub(crate) turn_end: Option<u64>,
    /// Tokens of old tool results that leave the context after a pause, if that is on.
    pub(crate) clearable: Option<u64>,
    /// Tokens of old tool results that leave the context with the next prompt, since all of them are too long.
    pub(crate) excess: Option<u64>,
}

/// The newest compaction or clear of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastReset {
    /// The id of its record's place.
    pub id: u64,
    /// Tokens before it.
    pub before: u64,
    /// Tokens after it; `None`: not known.
    pub after: Option<u64>,
    /// The time at which it took place.
    #[serde(with = "crate::values::stored::time")]
    pub at: Option<Timestamp>,
    /// True if it is a compaction.
    pub is_compaction: bool,
    /// True if a usage report followed.
    pub is_reported: bool,
}

/// The largest item in a context. A stored one equals the one that was stored, though it has no name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Largest {
    /// Its index in the session, where all of that is held.
    pub ix: ItemIx,
    /// Its tokens.
    pub tokens: u64,
    /// The kind of its content.
    pub kind: Kind,
    /// The tool that it is of.
    #[serde(with = "crate::values::stored::shared")]
    pub tool: Option<Arc<str>>,
    /// [Its name](Calls::name) beside that; not safe to print. It is not stored, since it is text of the log: empty where
    /// the summary was not made in this run.
    #[serde(skip)]
    pub name: Box<str>,
}

impl PartialEq for Largest {
    fn eq(&self, other: &Largest) -> bool {
        let facts = |it: &Largest| (it.ix, it.tokens, it.kind);
        facts(self) == facts(other) && self.tool == other.tool
    }
}

/// The beginning of an answer, which is compared with the results of the session that asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    hash: u64,
    bytes: u8,
}

/// The time at which the newest prompt was sent, and the way in which its provider keeps prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CacheFacts {
    pub(crate) sent: Timestamp,
    /// The minutes for which it is kept according to the log.
    pub(crate) minutes: Option<u8>,
    /// True if the provider has kept prompts for as long as it promises.
    pub(crate) is_steady: bool,
    pub(crate) seen: CacheHistory,
}

impl Session {
    /// Returns its summary.
    pub fn summary(&self) -> Summary {
        let context = self.context();
        let requests = self.requests();
        let (mut prompted, mut output) = (0_u64, 0_u64);
        for request in requests {
            prompted = prompted.saturating_add(request.prompt);
            output = output.saturating_add(request.output.unwrap_or(0));
        }
        let (largest, clearable, excess) = self.of_context();
        let clock = &self.cache_clock;
        let sent = clock.newest().filter(|_| clock.has_cache);
        let turn_end = |reset: &&PastReset| reset.cause == Cause::TurnEnd;
        Summary {
            agent: self.agent,
            agents_number: self.agent_estimate().map(|own| own.tokens),
            is_model_final: self.is_model_final(),
            meta: names_of(&self.meta),
            said: self.said_first(),
            coverage: self.coverage,
            is_counted: self.is_counted,
            is_final: self.is_final(&context),
            is_own_count_final: self.is_own_count_final(&context),
            is_own_count_whole: self.is_own_count_whole(),
            is_unreported: self.is_unreported(),
            is_empty: self.items().is_empty(),
            unreadable: self.unreadable,
            records: self.records,
            is_turn_over: self.turn_over,
            turns: self.turns,
            requests: requests.len(),
            compactions: self.compactions(),
            started_at: self.started_at,
            updated_at: self.updated_at,
            prompts: self.newest_prompts(NEWEST_PROMPTS),
            newest_reset: self.newest_reset().map(LastReset::of),
            largest: largest.map(|item| self.largest(item)),
            prompted,
            output,
            spending: self.spending(),
            counts: self.counts(),
            plan: self.plan.clone(),
            answer: self.last_answer(),
            settings: self.overrides().summary_hash(),
            model: self.model_shared().cloned(),
            sizes: Sizes::of_model(self, self.model_shared()),
            earlier_models: Sizes::of_earlier_models(self),
            left_out: self.facts().left_out,
            answered_at: self.answered_at(),
            pace: pace(self),
            cache: sent.map(|(sent, minutes)| CacheFacts {
                sent,
                minutes,
                is_steady: clock.is_steady(),
                seen: CacheHistory::of(self, requests.len()),
            }),
            turn_end: self
                .resets()
                .iter()
                .rev()
                .find(turn_end)
                .map(PastReset::size),
            clearable,
            excess,
            context,
        }
    }

    /// Returns the largest item in the context; the tokens of old tool results that the agent may leave out of a prompt after
    /// a pause; and of those that it leaves out of the next, since all together are too long.
    fn of_context(&self) -> (Option<SizedItem>, Option<u64>, Option<u64>) {
        let row = self.clearing();
        let (mut largest, mut results) = (None::<SizedItem>, Vec::new());
        let set = &self.overrides().others;
        for item in self.in_context() {
            // The last of equal ones.
            if item.1 > 0 && largest.is_none_or(|(_, tokens, _)| tokens <= item.1) {
                largest = Some(item);
            }
            let of = &self.items()[item.0];
            if row.is_some_and(|row| self.is_clearable(of, row)) {
                let characters = u64::from(of.size.chars);
                let stays = row.map_or(0, |row| row.stays);
                results.push((leaving(item.1, characters, stays), characters));
            }
        }
        let old = row.and_then(|row| {
            let kept = set.clearing_kept.unwrap_or(row.kept);
            Some((row, &results[..results.len().checked_sub(kept)?]))
        });
        let sum = |of: &[(u64, u64)]| of.iter().fold(0, |sum: u64, one| sum.saturating_add(one.0));
        let clearable = old.and_then(|(row, old)| {
            let tokens = sum(old);
            (results.len() >= row.results && tokens >= row.least).then_some(tokens)
        });
        let excess = old.and_then(|(row, old)| {
            let most = set.clearing_characters.unwrap_or(row.characters);
            let all = results.iter().map(|(_, characters)| characters).sum();
            let tokens = sum(until_half(old, all, most));
            (most > 0 && all > most && tokens > 0).then_some(tokens)
        });
        (largest, clearable, excess)
    }

    fn largest(&self, (ix, tokens, _): SizedItem) -> Largest {
        let item = &self.items()[ix];
        Largest {
            ix,
            tokens,
            kind: item.kind,
            tool: item.tool.as_deref().map(Into::into),
            name: Calls::of_item(self, ix).name(self, item).into(),
        }
    }

    /// Returns the first message of the user, if nothing else names the session and it is among the first items.
    fn said_first(&self) -> Option<Box<str>> {
        let cwd = self.meta.cwd.as_deref().unwrap_or_default();
        let title = self.meta.title.as_deref().unwrap_or_default();
        let id = self.meta.id.as_deref().unwrap_or_default();
        if shows(last_part(trimmed(cwd))) || shows(title) || is_chosen_id(id) {
            return None;
        }
        let mut first = self.items().iter().take(ITEMS_BEFORE_MESSAGE);
        // Some logs have only the length of a text.
        let said = first
            .find(|item| item.role == Role::User && item.kind == Kind::Text && item.size.bytes > 0);
        said.map(|item| beginning(&item.preview, LONGEST_NAME).into())
    }

    fn last_answer(&self) -> Option<Answer> {
        let mut last = self.items().iter().rev();
        let said = last.find(|item| item.role == Role::Assistant && item.kind == Kind::Text);
        Answer::of(&said?.preview)
    }
}

/// Returns the tokens of a result that leave where so many of its characters stay.
fn leaving(tokens: u64, characters: u64, stays: u64) -> u64 {
    match characters.checked_sub(stays) {
        Some(gone) if stays > 0 => (tokens as f64 * gone as f64 / characters as f64) as u64,
        Some(_) => tokens,
        None => 0,
    }
}

/// Returns the facts that a log names of its session, with names as long as they are kept.
fn names_of(meta: &Meta) -> Meta {
    let cut = |name: &Option<Box<str>>| {
        let name = name.as_deref();
        name.map(|name| beginning(name, LONGEST_NAME).into())
    };
    Meta {
        title: cut(&meta.title),
        prompt: cut(&meta.prompt),
        ..meta.clone()
    }
}

impl LastReset {
    fn of((reset, is_reported): (&PastReset, bool)) -> LastReset {
        LastReset {
            id: reset.place.id(),
            before: reset.before,
            after: reset.after,
            at: reset.at,
            is_compaction: reset.gone == LeaveReason::Compaction,
            is_reported,
        }
    }
}

impl Answer {
    /// Returns the beginning of this text; `None`: it is too short to be compared.
    fn of(text: &str) -> Option<Answer> {
        // A preview that was cut has a sign there.
        let text = beginning(text.strip_suffix('…').unwrap_or(text), LONGEST_ANSWER);
        (text.len() >= SHORTEST_ANSWER).then(|| Answer {
            hash: xxh3_64(text.as_bytes()),
            bytes: u8::try_from(text.len()).unwrap_or(u8::MAX),
        })
    }

    /// Returns true if a text begins with it.
    pub fn begins(self, text: &str) -> bool {
        let text = text.get(..self.bytes.into());
        text.is_some_and(|text| xxh3_64(text.as_bytes()) == self.hash)
    }
}

impl Summary {
    /// Returns the model of the newest response, or the one the log names for the next.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns true if anything was said, or any request reported, as far as the log was read.
    pub fn has_begun(&self) -> bool {
        self.turns > 0 || (self.records > 0 && self.requests > 0)
    }

    /// Returns true if the sizes of its roles and items are those of its whole log.
    pub fn is_settled(&self) -> bool {
        self.coverage == Coverage::Whole && self.is_counted
    }

    /// Returns the growth of the prompt with each of the last requests, oldest first; 0 where it shrank.
    pub fn growth(&self) -> Vec<u64> {
        let pairs = self.prompts.windows(2);
        pairs.map(|pair| pair[1].saturating_sub(pair[0])).collect()
    }

    /// Returns the model and its limits, as the log names them.
    pub(crate) fn facts(&self) -> ModelFacts {
        ModelFacts {
            model: self.model.clone(),
            provider: self.meta.provider.clone(),
            window: self.meta.window,
            trigger: self.meta.trigger,
            left_out: self.left_out,
        }
    }
}
