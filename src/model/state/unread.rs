//! Determines from the end of a log whether a gauge needs more of it than was read.

use crate::history::{Coverage, PastReset};
use crate::state::State;

impl State {
    /// Returns true if the output of the newest report was read from its beginning, as far as that shows: the report
    /// before it was read, or the output itself with something before it. Results of tools show nothing: they may be
    /// those of a call of the same output.
    pub fn has_output_of_report(&self) -> bool {
        let Some(key) = self.anchor().map(|anchor| anchor.key()) else {
            return false;
        };
        let mut newest = self.items().iter().rev();
        let is_before = |first| {
            let mut before = self.chain().live().take_while(|node| *node < first);
            before.any(|node| !self.chain().hangs(node))
        };
        self.has_report_before()
            || newest.any(|item| item.output_of == Some(key) && item.is_logged())
                && self.chain().start_of(key).is_some_and(is_before)
    }

    /// Returns true if the report before the newest one was read, or the last reset: some logs repeat reports.
    pub fn has_report_before(&self) -> bool {
        self.requests().len() > 1 || !self.resets().is_empty()
    }

    /// Returns true unless the newest report is the first one after a reset: unlogged text that the reset took out may come
    /// again, and only earlier resets show whether it does.
    pub fn shows_what_returns(&self) -> bool {
        let last = self.resets().last();
        last.is_none_or(|reset| reset.request + 1 < self.requests().len())
    }

    /// Returns true if the newest report is of the time since the last reset. A reading that begins at a reset cannot
    /// notice that an older one was written again.
    pub(crate) fn has_report_of_epoch(&self) -> bool {
        let is_newer = |reset: &PastReset| self.anchor().is_some_and(|it| it.at >= reset.at);
        self.coverage != Coverage::Epoch || self.resets().last().is_none_or(is_newer)
    }

    /// Returns true if all of the context was read or reported.
    pub(crate) fn has_whole_context(&self) -> bool {
        match self.coverage {
            Coverage::Unread | Coverage::Whole => true,
            Coverage::Epoch => self.has_all_that_left(),
            Coverage::Tail => self.has_output_of_report() && self.has_all_that_left(),
        }
    }

    /// Returns true if its log was read from a reset on, and that reset has not come yet: its size is that of a context
    /// that was not read.
    pub(crate) fn begins_at_reset(&self) -> bool {
        self.coverage == Coverage::Epoch && self.resets().is_empty()
    }

    /// Returns true if the agent may have rewritten its history after a request, not before it: the record that shows
    /// which came first was not read.
    pub(crate) fn lacks_rewrite(&self) -> bool {
        self.coverage == Coverage::Tail && self.rewritten_at.is_some() && !self.has_report_before()
    }

    /// Returns true if all that has left the context since the newest report was read: no record since refers to one that
    /// was not read, or may be one that was written again.
    pub fn has_all_that_left(&self) -> bool {
        !self.refers_back && !self.begins_again
    }

    /// Returns true if the unlogged prefix is known only from reports that were not read.
    pub(crate) fn lacks_prefix(&self) -> bool {
        self.coverage == Coverage::Tail && !self.resets().is_empty()
    }

    /// Returns true if its log was read from its beginning, and its conversation begins there.
    pub(crate) fn is_read_from_its_beginning(&self) -> bool {
        self.coverage == Coverage::Whole
            && self.meta.id.is_some()
            && !self.begins_midway
            && !self.attribution().lacks_beginning
            && self.resets().is_empty()
    }
}
