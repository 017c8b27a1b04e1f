//! What takes messages away: compactions, clears, truncations.

use super::events::Data;
use super::writer::Writer;
use super::{CopilotCliDecoder, Thread};
use crate::model::event::{Cause, Kept, Part, Reset};
use crate::model::{Gone, Kind, Role};

impl CopilotCliDecoder {
    pub(super) fn compaction(&mut self, data: &Data<'_>, writer: &mut Writer<'_, '_>) {
        self.window(data.token_limit, writer);
        let thread = self.thread(writer.lane);
        let summarised = thread.summarised.take();
        if data.success == Some(false) {
            return writer.skip("session.compaction_complete");
        }
        let cause = match (data.custom_instructions.get(), data.trigger.get()) {
            (Some(_), _) => Cause::Manual,
            (None, Some("threshold")) => Cause::Automatic,
            (None, Some(other)) => other.into(),
            (None, None) if thread.turn.is_some() => Cause::Automatic,
            (None, None) => "unknown".into(),
        };
        let all = thread.messages.len();
        thread.messages.drain(..summarised.unwrap_or(all).min(all));
        let kept = thread.kept();
        let after = data.parts().or(data.post_compaction_tokens.0);
        let id = writer.key;
        writer.reset(Reset {
            key: None,
            gone: Gone::Compaction,
            cause,
            before: data.pre_compaction_tokens.0,
            after,
            kept,
        });
        let mut items = Vec::new();
        if let Some(text) = data.summary_content.get().filter(|text| !text.is_empty()) {
            let item = writer.out.item(Role::Container, Kind::Summary);
            items.push(item.text(text).done());
        }
        self.thread(writer.lane).messages.extend(id);
        writer.node(Part::Injected, None, items);
        if after.is_some() {
            writer.says("session.compaction_complete", after);
        }
    }

    pub(super) fn clear(&mut self, writer: &mut Writer<'_, '_>) {
        let thread = self.thread(writer.lane);
        thread.messages.clear();
        thread.summarised = None;
        let kept = thread.kept();
        writer.reset(Reset {
            key: None,
            gone: Gone::Clear,
            cause: "clear".into(),
            before: None,
            after: None,
            kept,
        });
    }

    pub(super) fn truncation(&mut self, data: &Data<'_>, writer: &mut Writer<'_, '_>) {
        let removed = data.messages_removed_during_truncation.or_zero();
        self.window(data.token_limit, writer);
        if removed == 0 {
            return writer.skip("session.truncation");
        }
        let thread = self.thread(writer.lane);
        let removed = usize::try_from(removed).unwrap_or(usize::MAX);
        thread.messages.drain(..removed.min(thread.messages.len()));
        if let Some(summarised) = &mut thread.summarised {
            *summarised = summarised.saturating_sub(removed);
        }
        let kept = thread.kept();
        writer.reset(Reset {
            key: None,
            gone: Gone::Compaction,
            cause: "truncation".into(),
            before: None,
            after: None,
            kept,
        });
    }
}

impl Thread {
    fn kept(&self) -> Kept {
        Kept::Nodes(self.system.iter().chain(&self.messages).copied().collect())
    }
}
