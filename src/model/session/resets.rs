//! The size of a context just before a reset.

use super::Session;
use crate::Source;
use crate::event::{Cause, CauseSource, Place, Reset};
use crate::history::PastReset;
use jiff::Timestamp;

impl Session {
    /// Returns a reset as it will be noted, but for what it drops; nothing has changed yet.
    pub(super) fn before_reset(
        &self,
        reset: &Reset,
        place: Place,
        at: Option<Timestamp>,
    ) -> PastReset {
        let used = self.calibrated_context();
        let again = self.state.written_again(&reset.kept);
        let ours = used.used.saturating_sub(again);
        // Agents whose provider reports nothing write zeros.
        let (before, before_source) = match reset.before.filter(|size| *size > 0) {
            Some(size) => (size, Source::Agent),
            None if used.estimated <= again => (ours, Source::Reported),
            None => (ours, Source::Estimated),
        };
        let counted = self.counted_at_reset(reset);
        PastReset {
            place,
            at,
            gone: reset.gone,
            cause: self.cause_of(reset, counted, before, || self.limits()),
            cause_source: match reset.cause {
                Cause::Unlogged => CauseSource::Inferred,
                _ => CauseSource::Log,
            },
            cause_shown_by: 0,
            model: self.model_shared().cloned(),
            before,
            before_source,
            is_whole: reset.before.is_some()
                || (!self.begins_at_reset()
                    && self.has_whole_context()
                    && self.is_own_count_whole()),
            ours,
            counted,
            left_out: self.state.facts().left_out,
            after: reset.after.filter(|size| *size > 0),
            after_source: Source::Agent,
            request: self.requests().len(),
            record: self.attribution().items().record,
            dropped: [0; 5],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Key, RetainedItems};
    use crate::history::Coverage;
    use crate::testing::Log;
    use crate::window::TriggerSource;
    use crate::{Kind, Role};

    /// A compaction whose cause the log does not have.
    fn compacted(log: Log, before: Option<u64>) -> Log {
        let reset = Reset::compaction(Cause::Unlogged, RetainedItems::Nothing);
        log.event(Event::Reset(Box::new(Reset { before, ..reset })))
    }

    #[test]
    fn a_size_of_zero_is_no_size() {
        let log = Log::new().item("1", Role::User, Kind::Text, 3_000);
        let log = compacted(log, Some(0));
        let reset = &log.session.resets()[0];
        assert!(reset.before >= 3_000, "{}", reset.before);
        assert_eq!(reset.before_source, Source::Estimated);
    }

    #[test]
    fn a_compaction_that_a_reading_begins_with_has_no_size() {
        let trigger = |coverage, before| {
            let mut log = Log::of("tested").model("m");
            log.session.coverage = coverage;
            let reset = Reset {
                before,
                ..Reset::compaction(Cause::Automatic, RetainedItems::Nothing)
            };
            let log = log.event(Event::Reset(Box::new(reset))).report(30_000);
            let limits = log.session.limits();
            (limits.trigger, limits.trigger_source)
        };
        let rule = (Some(50_000), TriggerSource::Policy);
        assert_eq!(trigger(Coverage::Epoch, None), rule);
        let past = (Some(40_000), TriggerSource::Past);
        assert_eq!(trigger(Coverage::Epoch, Some(40_000)), past);
        // Nothing was in the context.
        assert_eq!(trigger(Coverage::Whole, None), rule);
    }

    #[test]
    fn what_the_agent_wrote_again_for_the_reset_does_not_count_twice() {
        let before = |again: u64| {
            let log = Log::new().model("m").report(8_000);
            let log = log
                .result("r", "Read", 2_000)
                .result("again", "Read", again);
            let first = Some(Key::of("again"));
            let reset = Reset::compaction(Cause::Unlogged, RetainedItems::from(first));
            let log = log.event(Event::Reset(Box::new(reset)));
            log.session.resets()[0].before
        };
        assert_eq!(before(2_000), 10_000);
        assert_eq!(before(1_000), 11_000);
    }

    #[test]
    fn a_postponed_compaction_takes_effect_after_the_next_request() {
        let log = Log::new().model("m").report(10_000);
        let log = log.result("r", "Read", 60_000).report(71_000);
        let log = compacted(log, Some(71_000));
        // This request was under way.
        let log = log.event(Event::ResetPostponed).report(71_500);
        assert_eq!(log.session.resets()[0].after, None);
        assert_eq!(log.session.context().known, 0);
        assert_eq!(log.session.requests().len(), 3);
        let log = log.item("u", Role::User, Kind::Text, 200).report(12_000);
        let reset = &log.session.resets()[0];
        assert_eq!((reset.after, reset.request), (Some(12_000), 3));
        assert_eq!(log.session.context().known, 12_000);
    }

    #[test]
    fn only_a_compaction_by_size_teaches_a_trigger() {
        let trigger = |cause: Option<Cause>| {
            let log = Log::of("tested").model("m").report(8_000);
            let log = log.result("r", "Read", 20_000).report(30_000);
            let reset = Reset::compaction(Cause::Automatic, RetainedItems::Nothing);
            let log = log.event(Event::Reset(Box::new(reset)));
            let log = match cause {
                Some(cause) => log.event(Event::ResetCause(cause)),
                None => log,
            };
            let log = log.item("u", Role::User, Kind::Text, 200).report(9_000);
            log.session.limits().trigger
        };
        let by_size = trigger(None);
        assert_ne!(trigger(Some(Cause::Idle)), by_size);
        assert_eq!(trigger(Some(Cause::Automatic)), by_size);
        // A request came in between.
        let log = Log::of("tested").model("m").report(8_000);
        let log = compacted(log, Some(30_000)).report(5_000);
        let log = log.event(Event::ResetCause(Cause::Idle));
        assert_ne!(log.session.resets()[0].cause, Cause::Idle);
    }

    #[test]
    fn compactions_at_one_size_were_not_asked_for() {
        let causes = |sizes: &[u64]| {
            let log = Log::of("tested").model("m").report(8_000);
            let log = sizes.iter().enumerate().fold(log, |log, (n, size)| {
                let log = log.result(&format!("r{n}"), "Read", 10_000).report(*size);
                let log = compacted(log, None);
                let log = log.item(&format!("u{n}"), Role::User, Kind::Text, 100);
                log.report(9_000)
            });
            let resets = log.session.resets().iter();
            let causes: Vec<Cause> = resets.map(|reset| reset.cause.clone()).collect();
            (causes, log.session.limits().trigger)
        };
        let (automatic, manual) = (Cause::Automatic, Cause::Manual);
        // The rule is 50,000.
        let (two, trigger) = causes(&[30_000, 31_000]);
        assert_eq!((two, trigger), (vec![manual.clone(); 2], Some(50_000)));
        let (three, trigger) = causes(&[30_000, 31_000, 33_500]);
        assert_eq!((three, trigger), (vec![automatic; 3], Some(30_000)));
        let (apart, _) = causes(&[20_000, 31_000, 25_000]);
        assert_eq!(apart, vec![manual; 3]);
    }
}
