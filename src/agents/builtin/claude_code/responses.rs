//! Determines the response that a line belongs to, and its key.
//!
//! A response is written as one line for each of its blocks. `message.id` and `requestId` are the same on all of them
//! and unique, where the provider's own are logged. What relays and other makers' endpoints pass on may be constant or
//! empty (ccusage issue 1635), and imports replace `message.id` by the record's own id. So lines are of one response if
//! their ids agree and one follows the other or has the same prompt. Of 3,466 lines that continue a response in real
//! logs, 3,140 follow another line of it, and all have its prompt.

use decode::lenient::Text;
use formats::is_uuid;
use model::event::{BilledUsage, Key};
use std::cell::LazyCell;
use std::collections::VecDeque;

/// The ids of a line that may be a response's.
pub(super) struct Ids<'t> {
    pub(super) message: &'t Text<'t>,
    pub(super) request: &'t Text<'t>,
    pub(super) record: &'t Text<'t>,
    pub(super) parent: &'t Text<'t>,
}

/// The newest responses. Lines of several alternate where sub-agents run beside each other.
#[derive(Default)]
pub(super) struct Responses {
    newest: VecDeque<Response>,
    /// True if a response's prompt was another on a later line.
    begin_with_estimates: bool,
}

struct Response {
    key: Key,
    /// The key by the provider's ids, which other responses have too if those are constant.
    provided: Option<Key>,
    newest: Line,
    /// The records of its lines.
    records: Vec<Key>,
}

/// The fields that the lines of one response have in common.
struct Line {
    message: Option<Key>,
    request: Option<Key>,
    /// Input, tokens written to a cache, tokens read from one.
    prompt: [u64; 3],
}

impl Responses {
    /// Returns the key of the response that a line belongs to; `None`: the line has no id. `usage` is the line's.
    pub(super) fn key_of(&mut self, ids: &Ids<'_>, usage: Option<BilledUsage>) -> Option<Key> {
        let record = ids.record.key();
        let line = Line::new(ids, usage.unwrap_or_default());
        let parent = LazyCell::new(|| ids.parent.key());
        let found = self.newest.iter_mut().find(|response| {
            // Most lines are decided by their ids.
            let follows = || {
                let mut related = [record, *parent].into_iter().flatten();
                related.any(|key| response.records.contains(&key))
            };
            line.continues(&response.newest, follows)
        });
        if let Some(response) = found {
            let before = std::mem::replace(&mut response.newest, line).prompt;
            self.begin_with_estimates |= before != response.newest.prompt && before != [0; 3];
            response.records.extend(record);
            return Some(response.key);
        }
        let provided = ids.provided();
        let is_constant = self
            .newest
            .iter()
            .any(|response| response.provided == provided);
        let unique = provided.filter(|_| !is_constant);
        let key = unique.or(record).or(provided).or(line.message)?;
        self.newest.truncate(NEWEST_RESPONSES - 1);
        self.newest.push_front(Response {
            key,
            provided,
            newest: line,
            records: record.into_iter().collect(),
        });
        Some(key)
    }

    /// Returns true if a line's usage is a report: not zero, and no estimate that the response's last line replaces,
    /// such as that of its beginning in a log whose earlier responses began with one.
    pub(super) fn is_report(&self, usage: &BilledUsage) -> bool {
        usage.prompt() > 0 && !(self.begin_with_estimates && usage.output == 0)
    }
}

impl Ids<'_> {
    /// Returns the message's id, unless it is a record's: imports write those instead, a different one for each line.
    fn message(&self) -> Option<&str> {
        let is_provided =
            |id: &&str| !id.is_empty() && Some(*id) != self.record.get() && !is_uuid(id);
        self.message.get().filter(is_provided)
    }

    fn request(&self) -> Option<&str> {
        self.request.get().filter(|id| !id.is_empty())
    }

    /// Returns the key by the provider's ids, which copies of the line in other sessions share whatever became of their
    /// own ids. `None` without a request's id: a message's alone may be a relay's, the same in all sessions.
    fn provided(&self) -> Option<Key> {
        // Names such as `relay` are no ids of one response.
        let is_generated = |id: &&str| {
            let has_digit = id.bytes().any(|byte| byte.is_ascii_digit());
            has_digit || id.starts_with("req_") || id.starts_with("msg_")
        };
        let request = self.request().filter(is_generated)?;
        let message = self.message().filter(is_generated);
        Some(Key::of_parts(&[message.unwrap_or_default(), request]))
    }
}

impl Line {
    fn new(ids: &Ids<'_>, usage: BilledUsage) -> Line {
        Line {
            message: ids.message().map(Key::of),
            request: ids.request().map(Key::of),
            prompt: [usage.input, usage.cache_creation, usage.cache_read],
        }
    }

    /// Returns true if this line is of the same response as an earlier one. `follows` returns true if one is the parent
    /// of the other.
    fn continues(&self, earlier: &Line, follows: impl FnOnce() -> bool) -> bool {
        let agree = |one: Option<Key>, other: Option<Key>| Some(one? == other?);
        let message = agree(self.message, earlier.message);
        let request = agree(self.request, earlier.request);
        let has_same_prompt = self.prompt == earlier.prompt;
        match (message, request) {
            (Some(false), Some(false)) => false,
            // Other makers' endpoints begin with an estimate of the prompt.
            (Some(true), Some(true) | None) | (None, Some(true)) => has_same_prompt || follows(),
            _ => has_same_prompt && follows(),
        }
    }
}

/// The number of responses that are remembered: Claude Code runs 10 sub-agents at once.
const NEWEST_RESPONSES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    /// The keys of lines, each given as `message request record parent prompt`; `-` is none.
    fn keys(lines: &[&str]) -> Vec<Key> {
        let mut responses = Responses::default();
        let key_of = |line: &&str| {
            let fields: Vec<Text<'_>> = line
                .split(' ')
                .map(|id| Text((id != "-").then_some(Cow::Borrowed(id))))
                .collect();
            let [message, request, record, parent, prompt] = &fields[..] else {
                panic!("{line}");
            };
            let ids = Ids {
                message,
                request,
                record,
                parent,
            };
            let prompt = prompt
                .get()
                .map(|prompt| BilledUsage::new(prompt.parse().unwrap(), 1));
            responses.key_of(&ids, prompt).unwrap()
        };
        lines.iter().map(key_of).collect()
    }

    /// Numbers lines by their response.
    fn responses(lines: &[&str]) -> Vec<usize> {
        let keys = keys(lines);
        let mut known = Vec::new();
        let number = |key: &Key| {
            let at = known.iter().position(|known| known == key);
            at.unwrap_or_else(|| {
                known.push(*key);
                known.len() - 1
            })
        };
        keys.iter().map(number).collect()
    }

    #[test]
    fn ids_of_the_provider_decide() {
        let lines = [
            "m1 r1 a u 10",
            "m1 r1 b a 10",
            "m1 r1 c t1 10",
            "m2 r2 d t2 10",
        ];
        assert_eq!(responses(&lines), [0, 0, 0, 1]);
        let estimated = ["m1 - a u 900", "m1 - b a 10", "m2 - c t 20"];
        assert_eq!(responses(&estimated), [0, 0, 1]);
    }

    #[test]
    fn constant_ids_do_not_join_responses() {
        let message = [
            "relay - a u 10",
            "relay - b a 10",
            "relay - c t 20",
            "relay - d t2 30",
        ];
        assert_eq!(responses(&message), [0, 0, 1, 2]);
        let both = [
            "m1 r1 a u 10",
            "m1 r1 b a 10",
            "m1 r1 c t 20",
            "m1 r1 d t2 15",
        ];
        assert_eq!(responses(&both), [0, 0, 1, 2]);
        let message = ["relay r1 a u 10", "relay r2 b t 10"];
        assert_eq!(responses(&message), [0, 1]);
        let request = ["m1 r1 a u 10", "m2 r1 b t 10"];
        assert_eq!(responses(&request), [0, 1]);
    }

    #[test]
    fn ids_that_differ_on_each_line_do_not_split_a_response() {
        let message = ["x1 r1 a u 10", "x2 r1 b a 10", "x3 r2 c t 20"];
        assert_eq!(responses(&message), [0, 0, 1]);
        let request = ["m1 x1 a u 10", "m1 x2 b a 10", "m2 x3 c t 20"];
        assert_eq!(responses(&request), [0, 0, 1]);
        let none = ["- - a u 10", "- - b a 10", "- - c t 20"];
        assert_eq!(responses(&none), [0, 0, 1]);
        let records = ["a r1 a u 10", "b r1 b t 10", "c r2 c t2 20"];
        assert_eq!(responses(&records), [0, 0, 1]);
    }

    #[test]
    fn copies_have_the_key_of_the_original() {
        let key = |line| keys(&[line])[0];
        assert_eq!(key("m1 r1 a u 10"), key("m1 r1 b v 10"));
        assert_eq!(key("m1 - a u 10"), key("m1 - a u 10"));
        assert_eq!(key("a r1 a u 10"), key("b r1 b v 10"));
        // A relay's id is the same in all sessions.
        assert_ne!(key("relay - a u 10"), key("relay - b u 10"));
        assert_ne!(key("relay req a u 10"), key("relay req b u 10"));
    }
}
