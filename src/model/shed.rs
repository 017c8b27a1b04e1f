//! Letting go of the past of a session that nobody looks at and nobody writes to.
//!
//! A gigabyte of logs holds some hundred thousand items, most of them compacted away long ago. Their
//! session keeps what its gauge and its forecast need: the items in the context, the requests, the
//! resets. It cannot go on from there (a rewind may lead anywhere), so whoever shed it must read its
//! log again when that grows.

use super::session::Session;

impl Session {
    /// Forgets every item that is not in the context. The context's numbers stay as they are.
    pub fn shed(&mut self) {
        let live = self.chain.live().to_vec();
        for request in &mut self.requests {
            request.start = live.partition_point(|node| *node < request.start);
        }
        let mut kept = Vec::new();
        let mut nodes = Vec::with_capacity(live.len());
        for (node, old) in live.iter().enumerate() {
            let from = kept.len();
            for ix in self.chain.items(*old) {
                if self.items[*ix].in_context() {
                    let mut item = self.items[*ix].clone();
                    item.node = u32::try_from(node).unwrap_or(u32::MAX);
                    kept.push(item);
                }
            }
            nodes.push((from..kept.len()).collect());
        }
        kept.shrink_to_fit();
        self.items = kept;
        self.chain.keep_only_live(nodes);
        self.requests.shrink_to_fit();
        self.by_request = Default::default();
        self.forget_past();
    }
}

#[cfg(test)]
mod tests {
    use crate::agents::{Decoder, Input, claude_code::CLAUDE_CODE};
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
            decoder.read(Input::Line(place, line.as_bytes()), &mut out);
            out.entries.into_iter().for_each(|e| session.apply(e));
        }
        session
    }

    #[test]
    fn the_context_stays_and_the_past_goes() {
        let log = include_str!(
            "../../tests/fixtures/claude-code/compact_keeps_preserved_messages/log.jsonl"
        );
        let whole = read(log);
        let mut shed = whole.clone();
        shed.shed();
        assert_eq!(shed.context(), whole.context());
        assert_eq!(shed.limits(), whole.limits());
        assert_eq!(shed.requests.len(), whole.requests.len());
        assert!(shed.items.len() < whole.items.len());
        assert!(shed.items.iter().all(|item| item.in_context()));
        let timeline = Timeline::of(&shed);
        assert_eq!(timeline.len(), 1, "the past is gone");
        let last = shed.state_at(timeline.moment(0).unwrap());
        assert_eq!(last.context, whole.context());
        assert_eq!(last.items.len(), shed.items.len());
    }
}
