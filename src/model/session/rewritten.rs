//! Keeps the compactions of a log that was rewritten, where the log itself has only the summary that took the place of
//! earlier records.

use super::Session;
use crate::Source;
use crate::event::{Cause, Reset, RetainedItems};
use crate::history::{Coverage, PastReset};
use crate::state::Summary;
use jiff::Timestamp;
use std::collections::HashSet;

impl Session {
    /// Takes over the compactions of the same session as it was read before its log was rewritten, if the
    /// log has a summary in the place of what was there. A summary that is new is a compaction, with the
    /// size of the context before and after the log was rewritten. `at` is when that was.
    ///
    /// Call it once all of the log was read.
    pub fn inherit(&mut self, former: &Session, at: Option<Timestamp>) {
        let are_read = [&*self, former]
            .iter()
            .all(|session| session.coverage == Coverage::Whole && session.unreadable == 0);
        let Some(summary) = self.state.summary().filter(|_| are_read) else {
            return;
        };
        // A log that has its compactions needs no others.
        if !self.resets().is_empty() || self.meta.id != former.meta.id {
            return;
        }
        let request = self
            .requests()
            .partition_point(|request| request.place < summary.place);
        let mut resets = former.resets().to_vec();
        for reset in &mut resets {
            (reset.place, reset.record, reset.request) = (summary.place, summary.record, request);
        }
        if former
            .state
            .summary()
            .is_none_or(|known| known.hash != summary.hash)
        {
            let reset = self.rewriting(former, summary, at);
            resets.extend(reset.map(|reset| PastReset { request, ..reset }));
        }
        self.state.inherit(resets, summary);
    }

    /// Returns the compaction that rewrote the log; `None`: nothing has left.
    fn rewriting(
        &self,
        former: &Session,
        summary: Summary,
        at: Option<Timestamp>,
    ) -> Option<PastReset> {
        let alive = self.alive().into_iter();
        let here: HashSet<u64> = alive.map(|ix| self.items()[ix].hash).collect();
        let mut dropped = [0; 5];
        for ix in former.alive() {
            let item = &former.items()[ix];
            if !here.contains(&item.hash) {
                dropped[item.role.index()] += former.tokens(ix).0;
            }
        }
        let reset = Reset::compaction(Cause::Unlogged, RetainedItems::Nothing);
        let before = former.before_reset(&reset, summary.place, at);
        (dropped != [0; 5]).then(|| PastReset {
            after: Some(self.calibrated_context().used),
            after_source: Source::Estimated,
            record: summary.record,
            dropped,
            ..before
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::replay::Timeline;
    use crate::testing::Log;
    use crate::{Kind, LeaveReason, Role};

    fn before() -> Log {
        let log = Log::new().item("prompt", Role::Container, Kind::Prompt, 50);
        let log = log.item("question", Role::User, Kind::Text, 4000);
        log.item("answer", Role::Assistant, Kind::Text, 900)
    }

    /// The log as it is rewritten, with a summary of this size.
    fn after(summary: u64) -> Log {
        let log = Log::new().item("prompt", Role::Container, Kind::Prompt, 50);
        log.item("summary", Role::Container, Kind::Summary, summary)
    }

    fn used(session: &Session) -> u64 {
        session.context().used
    }

    fn sizes(session: &Session) -> Vec<(u64, Option<u64>)> {
        let resets = session.resets().iter();
        resets.map(|reset| (reset.before, reset.after)).collect()
    }

    #[test]
    fn a_summary_in_the_place_of_what_was_there_is_a_compaction() {
        let at = Timestamp::from_second(60).ok();
        let former = before().session;
        let mut session = after(300).session;
        let context = session.context();
        session.inherit(&former, at);
        assert_eq!(sizes(&session), [(used(&former), Some(context.used))]);
        let reset = &session.resets()[0];
        assert_eq!((reset.gone, reset.at), (LeaveReason::Compaction, at));
        assert_eq!(reset.before_source, Source::Estimated);
        let left = former.tokens(1).0 + former.tokens(2).0;
        assert_eq!(reset.dropped.iter().sum::<u64>(), left);
        assert_eq!(session.context(), context);
        assert_eq!(session.snapshot().context, context);
        let timeline = Timeline::of(&session);
        let moment = timeline.of_reset(0).unwrap();
        assert_eq!(timeline.moment(moment).unwrap().place, reset.place);
        let first = session.snapshot_at(timeline.moment(0).unwrap());
        assert_eq!(first.resets, 0);
    }

    #[test]
    fn it_stays_while_the_summary_does_and_the_next_one_is_another() {
        let former = before().session;
        let mut first = after(300).session;
        first.inherit(&former, None);
        let one = (used(&former), Some(used(&first)));
        let grown = after(300).item("more", Role::User, Kind::Text, 1000);
        let mut grown = grown.session;
        grown.inherit(&first, None);
        assert_eq!(sizes(&grown), [one]);
        let mut second = after(200).session;
        second.inherit(&grown, None);
        let two = (used(&grown), Some(used(&second)));
        assert_eq!(sizes(&second), [one, two]);
        assert_eq!(second.snapshot().context, second.context());
    }

    #[test]
    fn no_compaction_is_shown_that_was_not_seen() {
        let none = |mut session: Session, former: &Session| {
            session.inherit(former, None);
            assert!(session.resets().is_empty());
        };
        // Nothing was read before, not all of it, or another session.
        none(after(300).session, &Session::default());
        let mut part = before().session;
        part.coverage = Coverage::Tail;
        none(after(300).session, &part);
        let mut other = before().session;
        other.meta.id = Some("other".into());
        none(after(300).session, &other);
        // The same log, read again.
        none(after(300).session, &after(300).session);
        // No summary: records were removed otherwise.
        let rest = Log::new().item("prompt", Role::Container, Kind::Prompt, 50);
        none(rest.session, &before().session);
    }
}
