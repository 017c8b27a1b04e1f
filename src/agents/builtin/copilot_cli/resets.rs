//! Events that remove messages: compactions, clears, truncations.

use super::events::Data;
use super::{CopilotCliDecoder, Thread, report_size};
use model::event::{Cause, EventSink, Part, Reset, RetainedItems};
use model::{Kind, LeaveReason, Role};

impl CopilotCliDecoder {
    pub(super) fn compaction(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        self.window(data.token_limit, out);
        self.compaction_calls(data, out);
        let thread = self.thread(out.conversation());
        let summarised = thread.summarised.take();
        if data.success == Some(false) {
            return out.skip("session.compaction_complete");
        }
        let cause = match (data.custom_instructions.get(), data.trigger.get()) {
            (Some(_), _) => Cause::Manual,
            (None, Some("threshold")) => Cause::Automatic,
            (None, Some(other)) => Cause::named(other),
            (None, None) if thread.turn.is_some() => Cause::Automatic,
            (None, None) => Cause::Unlogged,
        };
        let all = thread.messages.len();
        thread.remove_oldest(summarised.unwrap_or(all));
        let kept = thread.kept();
        let after = data.parts().or(data.post_compaction_tokens.0);
        out.reset(Reset {
            before: data.pre_compaction_tokens.0,
            after,
            ..Reset::compaction(cause, kept)
        });
        let text = data.summary_content.get().filter(|text| !text.is_empty());
        let item = text.map(|text| out.text(Role::Container, Kind::Summary, text));
        self.message(Part::Injected, item.into_iter().collect(), out);
        if after.is_some() {
            report_size("session.compaction_complete", after, out);
        }
    }

    pub(super) fn clear(&mut self, out: &mut EventSink<'_>) {
        let thread = self.thread(out.conversation());
        thread.remove_oldest(usize::MAX);
        thread.summarised = None;
        out.reset(Reset::new(
            LeaveReason::Clear,
            Cause::named("clear"),
            thread.kept(),
        ));
    }

    pub(super) fn truncation(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        let removed = data.messages_removed_during_truncation.or_zero();
        self.window(data.token_limit, out);
        if removed == 0 {
            return out.skip("session.truncation");
        }
        let thread = self.thread(out.conversation());
        let removed = usize::try_from(removed).unwrap_or(usize::MAX);
        thread.remove_oldest(removed);
        if let Some(summarised) = &mut thread.summarised {
            *summarised = summarised.saturating_sub(removed);
        }
        out.reset(Reset::compaction(Cause::named("truncation"), thread.kept()));
    }
}

impl Thread {
    fn remove_oldest(&mut self, messages: usize) {
        let removed = self.messages.drain(..messages.min(self.messages.len()));
        for key in removed {
            self.skills.remove(&key);
        }
    }

    fn kept(&self) -> RetainedItems {
        RetainedItems::Nodes(self.system.iter().chain(&self.messages).copied().collect())
    }
}
