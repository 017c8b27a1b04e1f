//! Reads the usage of a line. A response is named after its first output; of the others, only their presence matters.

use super::opening::{LineOpening, is_one_record};
use super::reader::{CodexDecoder, is_irrelevant};
use super::wire::EventLine;
use decode::lenient::{self, LostFields};
use decode::{damage, text};
use formats::Decoder;
use memchr::memmem::Finder;
use model::event::{Cause, EventSink, Reset, RetainedItems};
use std::sync::LazyLock;

impl CodexDecoder {
    /// Reads a line for what concerns usage.
    pub(super) fn spend(&mut self, line: &[u8], out: &mut EventSink<'_>) {
        let opening = LineOpening::of(line).unwrap_or_default();
        if opening.kind != b"compacted" {
            self.emit_unclear(out);
        }
        match (opening.kind, opening.subtype) {
            (b"event_msg", b"token_count") if self.count(&text(line), out).is_some() => {}
            _ if !is_one_record(line) => self.read_line(&damage::line(line).0, out),
            (b"event_msg", kind) if is_irrelevant(kind) => {}
            (b"compacted", _) => {
                self.compacts();
                let reset = Reset::compaction(Cause::Unlogged, RetainedItems::Nothing);
                out.reset(reset);
            }
            (b"response_item", kind) if is_result(kind) => self.turns.result(),
            (b"response_item", b"message") if matches!(opening.role, b"developer" | b"system") => {}
            (b"response_item", kind) if self.goes_on(kind, opening.role, line) => {
                self.has_output = true;
                self.open.is_over = false;
                self.price.has_searched |= kind == b"web_search_call";
                self.turns.output(kind == b"message");
            }
            _ => self.read_line(&damage::line(line).0, out),
        }
    }

    /// Returns true if a line is one more output of the open response.
    fn goes_on(&self, kind: &[u8], role: &[u8], line: &[u8]) -> bool {
        let is_output = match kind {
            b"message" => role == b"assistant",
            _ => OUTPUTS.contains(&kind),
        };
        // A note beside an item may exclude it from the history.
        let is_plain = || NOTES.iter().all(|note| note.find(line).is_none());
        is_output && self.open.request.is_some() && !self.is_interrupted && is_plain()
    }

    /// Reads a `token_count`; `None`: the line is damaged, or none.
    fn count(&mut self, line: &str, out: &mut EventSink<'_>) -> Option<()> {
        let line = lenient::parse::<EventLine<'_>>(line, &LostFields::default()).ok()?;
        out.set_time(line.timestamp.time());
        self.ordinal = line.ordinal.0;
        self.thread.reads(self.ordinal, out.time());
        self.event(line.payload.as_ref()?, out);
        Some(())
    }
}

/// The outputs that are no messages.
const OUTPUTS: [&[u8]; 7] = [
    b"reasoning",
    b"function_call",
    b"custom_tool_call",
    b"local_shell_call",
    b"tool_search_call",
    b"web_search_call",
    b"image_generation_call",
];

/// Finders of the notes beside an output that may exclude it from the history.
static NOTES: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| ["\"compaction_output\"", "\"delivered_assistant_message\""].map(Finder::new));

fn is_result(kind: &[u8]) -> bool {
    matches!(
        kind,
        b"function_call_output"
            | b"custom_tool_call_output"
            | b"local_shell_call_output"
            | b"tool_search_output"
            | b"additional_tools"
    )
}
