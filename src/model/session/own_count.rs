//! Computes the number that an agent compares with its trigger: its own count of its context.
//!
//! The count often differs from the content of the context. Most agents take the last reported total and a quarter of
//! the bytes that came since. Codex adds the reasoning of earlier turns, sent or not. The rule of each agent is in its
//! policy (`assets/models.toml`), with its source; the numbers come from the session.

use crate::event::{Cause, Reset};
use crate::history::{CompactionCounts, Item, RequestIx, SizedItem};
use crate::state::State;
use crate::state::content::Content;
use crate::window::{Base, CountRule, LimitInputs, Limits};
use crate::{Kind, Role};
use serde::{Deserialize, Serialize};

/// An agent's own count of a context, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCount {
    /// All of it.
    pub tokens: u64,
    /// The part that is reasoning of earlier turns.
    pub earlier_reasoning: u64,
    /// The part of that which is not in the context any more.
    pub not_sent: u64,
    /// The part that came since the last report, by the agent's rule.
    pub since: u64,
}

impl State {
    /// Returns the agent's own count now; `None`: its rule is not known, or nothing of it is.
    pub fn own_count(&self) -> Option<OwnCount> {
        self.own_count_of(&self.content())
    }

    /// Returns the agent's own count of any content.
    pub(crate) fn own_count_of(&self, content: &Content) -> Option<OwnCount> {
        let facts = self.past().facts_at(&content.inputs);
        let rule = self.count_rule_for(facts.model.as_deref())?;
        let rule = match rule.anew_bytes_per_token {
            per_token if per_token > 0 && content.inputs.is_rewritten => CountRule {
                base: Base::Text,
                bytes_per_token: per_token,
                ..rule
            },
            _ => rule,
        };
        let own = self.count_by(rule, content);
        if !rule.or_prompt {
            return own;
        }
        let base = Base::Prompt;
        let by_prompt = self.count_by(CountRule { base, ..rule }, content);
        own.into_iter()
            .chain(by_prompt)
            .max_by_key(|own| own.tokens)
    }

    /// Returns the count of any content by a rule; `None`: nothing that it begins with is known.
    fn count_by(&self, rule: CountRule, content: &Content) -> Option<OwnCount> {
        let (base, from) = self.base(rule, content)?;
        let is_new = |item: &Item| match from {
            CountBase::Report(anchor) => {
                let request = &self.requests()[anchor];
                !item.is_prefix()
                    && !self.attribution().was_sent(item, anchor)
                    && item.output_of != Some(request.key())
            }
            CountBase::Estimate(record) => item.record > record,
            CountBase::Nothing => true,
            CountBase::NoText => !item.is_prefix(),
        };
        let items = content.items.iter().map(|(ix, ..)| &self.items()[*ix]);
        let since = items
            .filter(|item| is_new(item))
            .map(|item| rule.tokens(item))
            .fold(0, u64::saturating_add);
        let (earlier_reasoning, not_sent) = if rule.earlier_reasoning {
            self.earlier_reasoning(rule, content)
        } else {
            (0, 0)
        };
        Some(OwnCount {
            tokens: base.saturating_add(since).saturating_add(earlier_reasoning),
            earlier_reasoning,
            not_sent,
            since,
        })
    }

    /// Returns the agent's own counts when it compacts, before anything leaves. A size that the agent logs is its own
    /// count.
    pub(crate) fn counted_at_reset(&self, reset: &Reset) -> Option<CompactionCounts> {
        let rule = self.count_rule()?;
        let content = self.content();
        let own = self.own_count_of(&content);
        let reasoning = own.map_or(0, |own| own.earlier_reasoning);
        Some(CompactionCounts {
            at: reset.before.or(own.map(|own| own.tokens))?,
            not_at: self.counted_before(rule, &content, reasoning),
            ours: own.map(|own| own.tokens),
        })
    }

    /// Returns the agent's count when it sent its last request, at which it did not compact: not that request's prompt,
    /// which nobody had counted yet. 0: not known.
    fn counted_before(&self, rule: CountRule, content: &Content, reasoning: u64) -> u64 {
        let Some(last) = content.inputs.anchor else {
            return 0;
        };
        let Some(before) = self.requests()[last].previous else {
            return 0;
        };
        let request = &self.requests()[before];
        let base = request.prompt.saturating_add(match rule.base {
            Base::Prompt => 0,
            _ => request.output.unwrap_or(0),
        });
        let items = content.items.iter().map(|(ix, ..)| &self.items()[*ix]);
        let between: Vec<&Item> = items
            .filter(|item| {
                self.attribution().in_prompt(item, last)
                    && !self.attribution().in_prompt(item, before)
                    && item.output_of != Some(request.key())
            })
            .collect();
        // It counts before it takes in a message that begins a turn.
        if between.iter().copied().any(begins_turn) {
            return base;
        }
        let since = between.into_iter().map(|item| rule.tokens(item));
        since.fold(base.saturating_add(reasoning), u64::saturating_add)
    }

    /// Returns the cause of a reset, by the agent's count or else the size before it. Where the log does not have it,
    /// an agent that had reached its trigger compacted by itself; where no trigger is known, one whose window was half
    /// full did.
    pub(crate) fn cause_of(
        &self,
        reset: &Reset,
        counted: Option<CompactionCounts>,
        before: u64,
        limits: impl FnOnce() -> Limits,
    ) -> Cause {
        if !matches!(reset.cause, Cause::Unlogged | Cause::TurnEnd) {
            return reset.cause.clone();
        }
        let (at, share) = match counted {
            Some(counted) => (counted.at, AUTOMATIC_SHARE),
            None => (before, AUTOMATIC_SHARE_UNCOUNTED),
        };
        let limits = limits();
        if reset.cause == Cause::TurnEnd {
            let is_reached = |trigger: u64| at as f64 >= trigger as f64 * share;
            // An agent that has reached its usual trigger compacts after an answer too.
            return if limits.trigger.is_none_or(is_reached) {
                Cause::Automatic
            } else {
                Cause::TurnEnd
            };
        }
        match limits.trigger {
            Some(trigger) if (at as f64) < trigger as f64 * share => Cause::Manual,
            None if at < limits.window / 2 => Cause::Unlogged,
            _ => Cause::Automatic,
        }
    }

    /// Returns the tokens that the count begins with, and the content that they include.
    fn base(&self, rule: CountRule, content: &Content) -> Option<(u64, CountBase)> {
        let inputs = &content.inputs;
        let estimate = || {
            let estimate = self.past().estimate_at(inputs)?;
            let record = self.past().estimate_record_at(inputs);
            Some((estimate.tokens, CountBase::Estimate(record)))
        };
        let report = inputs.anchor.map(|anchor| {
            let request = &self.requests()[anchor];
            // A later line of the response may report its output: until then, its items are estimates.
            let is_unreported = |(ix, _, source): &SizedItem| {
                self.items()[*ix].output_of == Some(request.key()) && !source.is_known()
            };
            let output = match rule.base {
                Base::Prompt => 0,
                _ if content.items.iter().any(is_unreported) => 0,
                _ => request.output.unwrap_or(0),
            };
            let total = request.prompt.saturating_add(output);
            (total, CountBase::Report(anchor))
        });
        match rule.base {
            Base::Prompt | Base::Total => report.or_else(estimate),
            Base::Logged => estimate(),
            Base::O200k => Some((0, CountBase::Nothing)),
            Base::Text => Some((rule.prefix, CountBase::NoText)),
        }
    }

    /// Returns the reasoning of the turns before the last user message, since the last reset, and the part of it that
    /// is not in the context.
    fn earlier_reasoning(&self, rule: CountRule, content: &Content) -> (u64, u64) {
        let reset = content.inputs.resets.checked_sub(1);
        let epoch = reset.map_or(0, |ix| self.resets()[ix].record);
        let so_far = self.items().iter().take(content.so_far);
        let now = self.attribution().items().newest_record(content.so_far);
        let this_epoch = so_far.enumerate().rev();
        let mut this_epoch = this_epoch.take_while(|(_, item)| item.record > epoch);
        // Items after the last boundary are of the running turn.
        if !this_epoch.any(|(_, item)| begins_turn(item) && item.in_context_at(now)) {
            return (0, 0);
        }
        let (mut sum, mut not_sent) = (0_u64, 0_u64);
        for (ix, item) in this_epoch.filter(|(_, item)| item.kind == Kind::Thinking) {
            let is_here = item.in_context_at(now);
            if !is_here && !item.is_stripped_at(now) {
                continue;
            }
            let tokens = match (item.size.own_bytes, self.tokens(ix)) {
                (Some(_), _) => rule.tokens(item),
                // The log does not have its text: the provider's number is the next best.
                (None, (tokens, source)) if source.is_known() => tokens,
                (None, _) => 0,
            };
            sum = sum.saturating_add(tokens);
            if !is_here {
                not_sent = not_sent.saturating_add(tokens);
            }
        }
        (sum, not_sent)
    }

    /// Returns the rule by which the agent counts now.
    pub(crate) fn count_rule(&self) -> Option<CountRule> {
        self.count_rule_for(self.model())
    }

    /// Returns the rule by which the agent counts with this model.
    pub(crate) fn count_rule_for(&self, model: Option<&str>) -> Option<CountRule> {
        self.rules().count_rule(&LimitInputs {
            version: self.meta.version.as_deref(),
            session: self.meta.id.as_deref(),
            at: self.updated_at,
            ..LimitInputs::new(self.agent, model, self.overrides())
        })
    }
}

/// The share of the trigger from which on a compaction is taken for an automatic one. Our version of its
/// count is off by up to 2 %, where the log does not have what it counts.
const AUTOMATIC_SHARE: f64 = 0.97;
/// The share of the trigger where the agent's count is not known, and the size before may be an estimate.
const AUTOMATIC_SHARE_UNCOUNTED: f64 = 0.85;

/// The agent's own count of each prompt: where its rule adds the reasoning of earlier turns, the prompt
/// and that; else the prompt.
pub(crate) struct Counts<'s> {
    pub(crate) state: &'s State,
    pub(crate) prompts: Vec<u64>,
    /// The reasoning of the running turn, which the next turn adds; 0 without that rule.
    pub(crate) running: u64,
}

impl<'s> Counts<'s> {
    /// Returns the counts of the first requests.
    pub(crate) fn until(state: &'s State, requests: RequestIx) -> Counts<'s> {
        let rule = state.count_rule();
        let adds_reasoning = rule.is_some_and(|rule| rule.earlier_reasoning);
        let (mut earlier, mut running, mut turn) = (0_u64, 0_u64, 0);
        let requests = state.requests().iter().take(requests);
        let mut resets = state.resets().iter().peekable();
        let mut prompts = Vec::with_capacity(requests.len());
        for (ix, request) in requests.enumerate() {
            while resets.next_if(|reset| reset.request <= ix).is_some() {
                (earlier, running) = (0, 0);
            }
            if request.turn != turn {
                (earlier, running) = (earlier.saturating_add(running), 0);
                turn = request.turn;
            }
            prompts.push(request.prompt.saturating_add(earlier).min(MOST_TOKENS));
            if adds_reasoning {
                let reasoning = request.reasoning.unwrap_or(0).min(MOST_TOKENS);
                running = running.saturating_add(reasoning);
            }
        }
        Counts {
            state,
            prompts,
            running,
        }
    }
}

/// The largest logged number that is taken for a token count.
const MOST_TOKENS: u64 = 1_000_000_000_000;

/// The content that a count's base includes, so that the rest can be added.
#[derive(Clone, Copy)]
enum CountBase {
    /// The prompt and the output of this request.
    Report(RequestIx),
    /// All up to this record.
    Estimate(u32),
    /// Nothing.
    Nothing,
    /// Nothing, and the system prompt and tools are not counted.
    NoText,
}

impl CountRule {
    /// Returns the tokens of an item by this rule.
    fn tokens(self, item: &Item) -> u64 {
        let size = item.size;
        let by_formula = u64::from(size.fixed).saturating_mul(self.bytes_per_token);
        let length = match (self.base, size.own_bytes) {
            (Base::O200k, _) => return u64::from(size.local) + u64::from(size.fixed),
            (_, Some(bytes)) => u64::from(bytes),
            (_, None) => u64::from(size.bytes).saturating_add(by_formula),
        };
        match self.bytes_per_token {
            0 => 0,
            per_token => length.div_ceil(per_token),
        }
    }
}

/// Returns true if reasoning before this item is of an earlier turn: the item is a message of the user, or of another
/// agent.
fn begins_turn(item: &Item) -> bool {
    (item.role, item.kind) == (Role::User, Kind::Text)
        || item.tool.as_deref() == Some("agent_message")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Key, NewItem, Node, Part, RetainedItems, Size, Usage};
    use crate::session::replay::Timeline;
    use crate::testing::{Log, new_item};

    /// The trigger is 50,000.
    fn log() -> Log {
        Log::of("counter").model("any")
    }

    fn own(log: &Log) -> OwnCount {
        log.session.own_count().expect("a count")
    }

    fn says(log: Log, key: &str) -> Log {
        let text = new_item(Role::User, Kind::Text, 100);
        log.event(Event::Node(Box::new(Node::new(
            Some(Key::of(key)),
            Part::Input,
            vec![text],
        ))))
    }

    /// A response with reasoning, and its report.
    fn thinks(log: Log, key: &str, prompt: u64, own_bytes: Option<u32>) -> Log {
        let thinking = NewItem {
            size: Size {
                own_bytes,
                ..Size::default()
            },
            ..new_item(Role::Assistant, Kind::Thinking, 0)
        };
        let text = new_item(Role::Assistant, Kind::Text, 20);
        let request = Some(Key::of(key));
        let node = Node::output(None, request, vec![thinking, text]);
        let log = log.event(Event::Node(Box::new(node)));
        log.event(Event::Usage(Box::new(Usage {
            output: Some(520),
            reasoning: Some(500),
            ..Usage::reported(Key::of(key), prompt)
        })))
    }

    #[test]
    fn the_last_total_and_a_quarter_of_the_bytes_since() {
        let log = says(log(), "1");
        assert_eq!(log.session.own_count(), None, "nothing was reported");
        let log = thinks(log, "a", 10_000, None);
        assert_eq!(own(&log).tokens, 10_520);
        let log = log.result("r", "Bash", 700);
        assert_eq!((own(&log).tokens, own(&log).since), (11_220, 700));
        // Bytes that the agent counts otherwise, rounded up.
        let odd = NewItem {
            size: Size {
                own_bytes: Some(9),
                ..Size::default()
            },
            ..new_item(Role::Tool, Kind::ToolResult, 5_000)
        };
        let log = log.node("odd", vec![odd]);
        assert_eq!(own(&log).since, 703);
    }

    #[test]
    fn the_last_prompt_counts_where_it_is_more_than_the_text() {
        let of = |prompt| {
            let log = says(Log::of("measurer").model("any"), "1");
            own(&thinks(log, "a", prompt, None)).tokens
        };
        // 100 tokens of 4 bytes, and what was answered.
        let text = of(0);
        assert_eq!(text, 134 + 27);
        assert_eq!(of(5_000), 5_000);
    }

    #[test]
    fn reasoning_counts_once_its_turn_is_over() {
        let log = thinks(says(log(), "1"), "a", 10_000, None);
        let log = thinks(log, "b", 10_600, Some(1_001));
        assert_eq!(own(&log).earlier_reasoning, 0);
        let log = says(log, "2");
        // Reported, and by its own bytes.
        assert_eq!(own(&log).earlier_reasoning, 500 + 251);
        assert_eq!(own(&log).tokens, 11_120 + 751 + 100);
        assert_eq!(own(&log).not_sent, 0);
        let log = thinks(log, "c", 11_500, None);
        assert_eq!(own(&log).tokens, 12_020 + 751);
        // A compaction ends it.
        let log = log.compact(13_000).report(2_000);
        assert_eq!(own(&log).tokens, 2_000);
    }

    #[test]
    fn an_earlier_moment_counts_as_it_did_then() {
        let log = thinks(says(log(), "1"), "a", 10_000, None);
        let then = own(&log);
        let at = Timeline::of(&log.session).len() - 1;
        let log = thinks(says(log, "2"), "b", 11_000, None).compact(12_000);
        let timeline = Timeline::of(&log.session);
        let moment = timeline.moment(at).expect("a moment");
        assert_eq!(log.session.snapshot_at(moment).context.own, Some(then));
    }

    #[test]
    fn a_compaction_below_the_trigger_was_asked_for() {
        let compact = |prompt: u64| {
            let log = thinks(says(log(), "1"), "a", prompt, None);
            let reset = Reset::compaction(Cause::Unlogged, RetainedItems::Nothing);
            log.event(Event::Reset(Box::new(reset)))
        };
        let causes = [30_000, 49_000].map(|prompt| compact(prompt).session.resets()[0].clone());
        assert_eq!(causes[0].cause, Cause::Manual);
        assert_eq!(causes[1].cause, Cause::Automatic);
        assert_eq!(causes[1].counted.map(|counted| counted.at), Some(49_520));
    }

    #[test]
    fn an_agent_at_its_trigger_does_not_compact_because_a_turn_ends() {
        let cause = |prompt: u64| {
            let log = thinks(says(log(), "1"), "a", prompt, None);
            let reset = Reset::compaction(Cause::TurnEnd, RetainedItems::Nothing);
            let log = log.event(Event::Reset(Box::new(reset)));
            log.session.resets()[0].cause.clone()
        };
        assert_eq!(cause(30_000), Cause::TurnEnd);
        assert_eq!(cause(49_000), Cause::Automatic);
    }

    #[test]
    fn without_a_count_the_size_before_decides_and_without_a_trigger_half_the_window() {
        let cause = |agent: &'static str, prompt: u64| {
            let log = thinks(says(Log::of(agent).model("any"), "1"), "a", prompt, None);
            let reset = Reset::compaction(Cause::Unlogged, RetainedItems::Nothing);
            let log = log.event(Event::Reset(Box::new(reset)));
            log.session.resets()[0].cause.clone()
        };
        assert_eq!(cause("tested", 30_000), Cause::Manual);
        assert_eq!(cause("tested", 49_000), Cause::Automatic);
        assert_eq!(cause("without policy", 30_000), Cause::Unlogged);
        assert_eq!(cause("without policy", 60_000), Cause::Automatic);
    }

    #[test]
    fn a_count_refutes_a_rule_in_its_own_units() {
        let trigger = |at: &[u64]| {
            let mut log = says(log(), "1");
            for (n, at) in at.iter().enumerate() {
                // A result of 4,000 tokens that the provider counts as 5,000 to the one before.
                log = thinks(log, &format!("a{n}"), at - 5_520, None);
                log = log.result(&format!("r{n}"), "Bash", 4_000);
                log = thinks(log, &format!("b{n}"), at - 520, None);
                log = log.event(Event::Reset(Box::new(Reset::compaction(
                    Cause::Automatic,
                    RetainedItems::Nothing,
                ))));
            }
            log.session.limits().trigger
        };
        assert_eq!(trigger(&[50_300]), Some(50_000));
        assert_eq!(trigger(&[49_500]), Some(50_000));
        assert_eq!(trigger(&[40_000]), Some(40_000));
        // It did not compact at 59,000, before the last request, but may have at 50,900.
        assert_eq!(trigger(&[60_000]), Some(60_000));
        assert_eq!(trigger(&[51_900]), Some(50_000));
        assert_eq!(trigger(&[40_000, 50_200]), Some(50_000));
    }
}
