//! Tool results that an agent leaves out of a prompt by its rule, without a record of it. It is seen when a prompt is smaller
//! than the one before.

use super::Session;
use crate::event::{Key, Usage};
use crate::history::Item;
use crate::window::{OtherTrigger, TriggerKind};
use crate::{Kind, Role};
use jiff::Timestamp;

/// The most characters that a token of results has.
const PER_TOKEN: u64 = 12;

impl Session {
    /// Takes out of the context what a reported prompt does not hold any more.
    pub(super) fn leave_cleared(&mut self, usage: &Usage, at: Option<Timestamp>) {
        if let Some((calls, stays)) = self.cleared(usage, at) {
            self.state.clear_results(&calls, stays);
        }
    }

    /// Returns the rule by which the agent leaves results out.
    pub(crate) fn clearing(&self) -> Option<&OtherTrigger> {
        let version = self.meta.version.as_deref();
        let mut rows = self.rules().others(self.agent, version).into_iter();
        rows.find(|row| row.kind == TriggerKind::Clearing)
    }

    /// Returns true if an item is a result that the next prompt may leave out.
    pub(crate) fn is_clearable(&self, item: &Item, row: &OtherTrigger) -> bool {
        let is_old = || {
            let request = self.requests().len().checked_sub(row.answers);
            request.is_some_and(|request| self.attribution().in_prompt(item, request))
        };
        item.role == Role::Tool
            && item.kind == Kind::ToolResult
            && item.tool.as_deref().is_some_and(|tool| row.clears(tool))
            && u64::from(item.size.chars) >= row.shortest
            && (row.answers == 0 || is_old())
    }

    /// Returns the calls whose results a prompt does not hold any more, and how many characters it holds of each; `None`: it
    /// holds all.
    fn cleared(&self, usage: &Usage, at: Option<Timestamp>) -> Option<(Vec<Key>, u64)> {
        let newest = self.requests().len().checked_sub(1)?;
        let before = &self.requests()[newest];
        let fell = before.prompt.saturating_sub(usage.prompt);
        let is_other_model = before.model.as_deref() != self.model();
        // A prompt that was reported already does not follow the newest one.
        let is_again = || self.attribution().request_of(usage.request).is_some();
        if fell == 0 || is_other_model || is_again() {
            return None;
        }
        let row = self.clearing().filter(|row| row.unlogged)?;
        if !row.is_for(self.model(), before.prompt, self.limits().window) {
            return None;
        }
        let pause = at.zip(before.at);
        let pause = pause.map_or(0, |(now, then)| now.duration_since(then).as_secs());
        let (sent, all) = self.clearable(row, newest);
        let sent = leaving(row, &sent, all, pause);
        let gone = sent
            .iter()
            .map(|(_, length)| length.saturating_sub(row.stays));
        let is_seen = !sent.is_empty() && fell.saturating_mul(PER_TOKEN) >= gone.sum();
        is_seen.then(|| (sent.iter().map(|(call, _)| *call).collect(), row.stays))
    }

    /// Returns the calls of the results that may leave and that a request held, with their characters; and the characters of
    /// all that may leave.
    fn clearable(&self, row: &OtherTrigger, request: usize) -> (Vec<(Key, u64)>, u64) {
        let (mut sent, mut all) = (Vec::new(), 0);
        let items = self.alive_items().map(|ix| &self.items()[ix]);
        for item in items.filter(|item| self.is_clearable(item, row)) {
            if let Some(call) = item.call {
                let characters = u64::from(item.size.chars);
                all += characters;
                if self.attribution().in_prompt(item, request) {
                    sent.push((call, characters));
                }
            }
        }
        (sent, all)
    }
}

/// Returns the results that leave if any do, after a pause of so many seconds: all but the newest, or else the oldest where
/// there is a limit for them.
fn leaving<'r>(
    row: &OtherTrigger,
    sent: &'r [(Key, u64)],
    all: u64,
    pause: i64,
) -> &'r [(Key, u64)] {
    let old = &sent[..sent.len().saturating_sub(row.kept)];
    match row.characters {
        most if pause >= row.pause.into() || all <= most => old,
        0 => &[],
        most => until_half(old, all, most),
    }
}

/// Returns the oldest of these results, each with its characters, until half of `most` is left of `all`.
pub(crate) fn until_half<T>(old: &[(T, u64)], all: u64, most: u64) -> &[(T, u64)] {
    let mut left = all;
    let stays = |(_, length): &(T, u64)| {
        let stays = left <= most / 2;
        left = left.saturating_sub(*length);
        stays
    };
    &old[..old.iter().position(stays).unwrap_or(old.len())]
}

#[cfg(test)]
mod tests {
    use crate::event::{Conversation, Entry, Event, Key, NewItem, Node, Part, Place, Usage};
    use crate::session::{Coverage, Session};
    use crate::testing::new_item;
    use crate::{Kind, LeaveReason, Role};
    use jiff::Timestamp;
    use std::sync::Arc;

    const RULES: &str = r#"
[[trigger]]
agent = "tested"
kind = "clearing"
pause = 3_600
kept = 5
characters = 500_000
tools = ["read"]
unlogged = true

[[trigger]]
agent = "cuts"
kind = "clearing"
pause = 3_600
share = 0.1
answers = 3
shortest = 4_001
stays = 3_000
tools = ["*"]
unlogged = true
"#;

    /// Takes in prompts with the results before each, as their characters, at these minutes; a minute has one request.
    /// Returns the number of results that each prompt is seen to leave out.
    fn seen(prompts: &[(i64, u64, &[u64])]) -> Vec<usize> {
        seen_of("tested", prompts).0
    }

    /// Returns the same for an agent, with the characters of the results that are in the context at the end.
    fn seen_of(agent: &'static str, prompts: &[(i64, u64, &[u64])]) -> (Vec<usize>, u32) {
        let rules = toml::from_str(RULES).expect("rules");
        let mut session = Session::new(agent, Arc::new(rules));
        session.coverage = Coverage::Whole;
        let mut line = 0;
        let mut apply = |session: &mut Session, minute: i64, event: Event| {
            line += 1;
            session.apply(Entry {
                conversation: Conversation::Main,
                place: Place::new(line, line * 100, 99),
                at: Timestamp::from_second(minute * 60).ok(),
                event,
            });
        };
        let (mut calls, mut gone) = (0, 0);
        let mut left = Vec::new();
        for (minute, prompt, new) in prompts {
            for length in *new {
                calls += 1;
                let item = NewItem {
                    tool: Some("read".into()),
                    call: Some(Key::of_number("call", calls)),
                    ..new_item(Role::Tool, Kind::ToolResult, length / 4)
                };
                let key = Some(Key::of_number("node", calls));
                let node = Node::new(key, Part::Result, vec![item]);
                apply(&mut session, *minute, Event::Node(Box::new(node)));
            }
            let key = Key::of_number("request", *minute as u64);
            let usage = Usage::reported(key, *prompt);
            apply(&mut session, *minute, Event::Usage(Box::new(usage)));
            let items = session.items().iter();
            let cleared = items.filter(|item| {
                let left = item.left;
                left.is_some_and(|left| left.why == LeaveReason::Cleared)
            });
            let all = cleared.count();
            left.push(all - gone);
            gone = all;
        }
        let held = session
            .alive_items()
            .map(|ix| session.items()[ix].size.chars);
        (left, held.sum())
    }

    #[test]
    fn results_before_the_last_answers_are_cut_after_a_pause() {
        let before: [(i64, u64, &[u64]); 4] = [
            (0, 40_000, &[40_000, 4_000]),
            (1, 44_000, &[16_000]),
            (2, 48_000, &[16_000]),
            (3, 52_000, &[16_000]),
        ];
        let with =
            |minute, prompt| seen_of("cuts", &[&before[..], &[(minute, prompt, &[])]].concat());
        // Those of the last three answers came with the prompts after the second one.
        assert_eq!(
            with(70, 39_500),
            (vec![0, 0, 0, 0, 2], 3_000 + 4_000 + 3_000 + 32_000)
        );
        let whole = (vec![0; 5], 92_000);
        assert_eq!(with(70, 52_500), whole);
        // Without a pause something else left.
        assert_eq!(with(40, 39_500), whole);
        // Of so small a share of the window none is cut.
        let small = [
            (0, 15_000, &[40_000][..]),
            (1, 15_100, &[]),
            (2, 15_200, &[]),
            (70, 6_000, &[]),
        ];
        assert_eq!(seen_of("cuts", &small), (vec![0; 4], 40_000));
    }

    #[test]
    fn a_prompt_that_is_reported_again_takes_nothing_out() {
        let eleven: &[u64] = &[50_000; 11];
        let prompts = [(0, 150_000, eleven), (1, 151_000, &[]), (0, 80_000, &[])];
        assert_eq!(seen(&prompts), [0, 0, 0]);
    }

    #[test]
    fn all_but_the_newest_leave_after_a_pause() {
        let seven: &[u64] = &[4_000; 7];
        assert_eq!(seen(&[(0, 20_000, seven), (61, 18_200, &[])]), [0, 2]);
        // It grew: nothing left.
        assert_eq!(seen(&[(0, 20_000, seven), (61, 20_200, &[])]), [0, 0]);
        // A little less is another reminder.
        assert_eq!(seen(&[(0, 20_000, seven), (61, 19_990, &[])]), [0, 0]);
        // Those that are sent first with this prompt stay, and are none of the five.
        let more = [(0, 20_000, seven), (61, 19_300, &[4_000; 2][..])];
        assert_eq!(seen(&more), [0, 2]);
        // With five there is nothing to leave.
        assert_eq!(seen(&[(0, 20_000, &[4_000; 5]), (61, 5_000, &[])]), [0, 0]);
    }

    #[test]
    fn the_oldest_leave_where_all_are_too_long() {
        let eleven: &[u64] = &[50_000; 11];
        assert_eq!(seen(&[(0, 150_000, eleven), (1, 80_000, &[])]), [0, 6]);
        // After a pause the newest five stay, whatever is left.
        let longer: &[u64] = &[50_000; 12];
        assert_eq!(seen(&[(0, 150_000, longer), (61, 80_000, &[])]), [0, 7]);
    }
}
