//! Tool results that Qwen Code leaves out of its prompts (`services/microcompaction/microcompact.ts` in 0.24.4): after a
//! pause all but the newest, and the oldest where all together are too long. No record says so. It is seen when the next
//! prompt is smaller than the one before.

use jiff::Timestamp;
use model::Kind;
use model::event::{Event, EventSink, Key, NewItem, Usage};

/// The tools whose results are left out.
const CLEARABLE: [&str; 9] = [
    "read_file",
    "run_shell_command",
    "grep_search",
    "glob",
    "web_fetch",
    "web_search",
    "read_mcp_resource",
    "edit",
    "write_file",
];
/// The number of the newest results that stay.
const KEPT: usize = 5;
/// The pause after which all others leave, in seconds.
const PAUSE: i64 = 3_600;
/// The characters of all results above which the oldest leave, and those that are left then.
const MOST: u64 = 500_000;
const LEFT: u64 = MOST / 2;
/// The most characters that a token of results has.
const PER_TOKEN: u64 = 12;

/// The results in the context, and the newest prompt.
#[derive(Default)]
pub(super) struct SentResults {
    /// The calls of the results that a prompt held, with their characters; and of those that none held yet.
    sent: Vec<(Key, u64)>,
    new: Vec<(Key, u64)>,
    prompt: u64,
    model: Option<Box<str>>,
    answered: Option<Timestamp>,
}

impl SentResults {
    /// Takes in the results of a record.
    pub(super) fn add(&mut self, items: &[NewItem]) {
        let results = items.iter().filter(|item| {
            let tool = item.tool.as_deref();
            item.kind == Kind::ToolResult && tool.is_some_and(|tool| CLEARABLE.contains(&tool))
        });
        let of = |item: &NewItem| Some((item.call?, u64::from(item.size.chars)));
        self.new.extend(results.filter_map(of));
    }

    /// Takes in a report on a prompt, and emits what it does not hold any more.
    pub(super) fn reported(&mut self, usage: &Usage, out: &mut EventSink<'_>) {
        let fell = self.prompt.saturating_sub(usage.prompt);
        if fell > 0 && self.model == usage.model {
            let leaving = self.leaving(out.time());
            let characters: u64 = self.sent[..leaving].iter().map(|(_, length)| length).sum();
            if leaving > 0 && fell.saturating_mul(PER_TOKEN) >= characters {
                let calls = self.sent.drain(..leaving).map(|(call, _)| call);
                out.emit(Event::cleared_calls(calls.collect()));
            }
        }
        self.sent.append(&mut self.new);
        (self.prompt, self.answered) = (usage.prompt, out.time());
        self.model.clone_from(&usage.model);
    }

    /// Returns the number of results, from the oldest on, that leave if any do.
    fn leaving(&self, now: Option<Timestamp>) -> usize {
        let old = self.sent.len().saturating_sub(KEPT);
        let pause = now.zip(self.answered);
        let pause = pause.map_or(0, |(now, then)| now.duration_since(then).as_secs());
        let all = self.sent.iter().chain(&self.new).map(|(_, length)| length);
        let mut left: u64 = all.sum();
        if pause >= PAUSE || left <= MOST {
            return old;
        }
        let leaves = |(_, length): &&(Key, u64)| {
            let leaves = left > LEFT;
            left = left.saturating_sub(*length);
            leaves
        };
        self.sent[..old].iter().take_while(leaves).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::event::ByLength;

    /// Takes in prompts with the results before each, as their characters, at these minutes. Returns the number of results
    /// that each prompt is seen to leave out.
    fn seen(prompts: &[(i64, u64, &[usize])]) -> Vec<usize> {
        let (mut results, mut calls) = (SentResults::default(), 0);
        let mut out = EventSink::new(&ByLength);
        let mut left = Vec::new();
        for (minute, prompt, new) in prompts {
            for length in *new {
                calls += 1;
                let id = calls.to_string();
                let item = out.tool_result(Some("read_file"), Some(&id));
                results.add(&[item.text(&"x".repeat(*length)).done()]);
            }
            out.set_time(Timestamp::from_second(minute * 60).ok());
            let before = out.entries.len();
            results.reported(&Usage::reported(Key::of("r"), *prompt), &mut out);
            left.push(match out.entries[before..].first() {
                Some(entry) => match &entry.event {
                    Event::Cleared { calls, .. } => calls.len(),
                    _ => 0,
                },
                None => 0,
            });
        }
        left
    }

    #[test]
    fn all_but_the_newest_leave_after_a_pause() {
        let seven: &[usize] = &[4_000; 7];
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
        let eleven: &[usize] = &[50_000; 11];
        assert_eq!(seen(&[(0, 150_000, eleven), (1, 80_000, &[])]), [0, 6]);
        // After a pause the newest five stay, whatever is left.
        let longer: &[usize] = &[50_000; 12];
        assert_eq!(seen(&[(0, 150_000, longer), (61, 80_000, &[])]), [0, 7]);
    }
}
