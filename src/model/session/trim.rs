//! Trims a session that nobody looks at and nobody writes to.
//!
//! A gigabyte of logs holds some hundred thousand items, most of them compacted away long ago. A trimmed
//! session keeps what its gauge and its forecast need: the items in the context, the requests, the
//! resets. It cannot be continued (a rewind may lead anywhere): when its log grows, it is read again.

use super::Session;
use crate::model::Gone;
use crate::model::history::{Item, Left};

impl Session {
    /// Forgets every item that is not in the context, and the session's earlier states. The context's
    /// numbers stay as they are; nothing can be applied afterwards.
    ///
    /// Thinking that was stripped stays where the agent's own count has it.
    pub fn trim(&mut self) {
        let rule = self.count_rule();
        let counts_thinking = rule.is_some_and(|rule| rule.earlier_reasoning);
        let stays = |item: &Item| {
            let is_stripped = |left: Left| left.why == Gone::Stripped;
            item.in_context() || (counts_thinking && item.left.is_some_and(is_stripped))
        };
        self.state.keep(stays);
        (self.sums, self.growth) = Default::default();
    }

    /// Forgets what only the records that follow would need. None does: nothing can be applied afterwards.
    pub fn end(&mut self) {
        self.state.forget_keys();
    }

    /// Keeps no earlier states from here on: nobody will ask for them.
    pub fn forget_past(&mut self) {
        self.state.forget_past_states();
    }
}

#[cfg(test)]
mod tests {
    use crate::agents::builtin::claude_code::CLAUDE_CODE;
    use crate::agents::format::Decoder;
    use crate::model::event::{ByLength, Place, Sink};
    use crate::model::replay::Timeline;
    use crate::model::session::Session;
    use std::sync::Arc;

    fn read(log: &str) -> Session {
        let mut session = Session::new("claude-code", Arc::default());
        let mut decoder: Box<dyn Decoder> = CLAUDE_CODE.decoder();
        for (n, line) in log.lines().enumerate() {
            let mut out = Sink::new(&ByLength);
            let place = Place {
                line: n as u64 + 1,
                ..Place::default()
            };
            out.begin(place);
            decoder.read_line(line, &mut out);
            out.entries.into_iter().for_each(|e| session.apply(e));
        }
        session
    }

    #[test]
    fn the_context_stays_and_the_past_goes() {
        let log = include_str!(
            "../../../tests/fixtures/claude-code/compact_keeps_preserved_messages/log.jsonl"
        );
        let whole = read(log);
        let mut trimmed = whole.clone();
        trimmed.end();
        assert_eq!(trimmed.context(), whole.context());
        trimmed.trim();
        assert_eq!(trimmed.context(), whole.context());
        assert_eq!(trimmed.limits(), whole.limits());
        assert_eq!(trimmed.requests().len(), whole.requests().len());
        assert!(trimmed.items().len() < whole.items().len());
        assert!(trimmed.items().iter().all(|item| item.in_context()));
        let timeline = Timeline::of(&trimmed);
        assert_eq!(timeline.len(), 1, "the past is gone");
        let last = trimmed.snapshot_at(timeline.moment(0).unwrap());
        assert_eq!(last.context, whole.context());
        assert_eq!(last.items.len(), trimmed.items().len());
    }
}
