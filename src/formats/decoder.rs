//! Defines the decoders, which turn the bytes of a log into events.

use super::sidecar::SidecarRecord;
use decode::damage;
use model::event::{EventSink, Meta};

/// The effect on a decoder of the files beside its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateUpdate {
    /// The events that were read from the log still hold.
    Accepted,
    /// It concerns what was read long before: the log must be read again from its beginning.
    RereadLog,
}

/// Reads one log, from any of its records on, and emits what it contains as events. Never fails and never
/// panics, whatever the text.
///
/// Most decoders implement [`Decoder::read_line`], or [`Decoder::read_document`], and nothing else:
///
/// ```text
/// record! {
///     struct Record<'a> { id: Text<'a>, text: Text<'a> }
/// }
///
/// impl Decoder for MyDecoder {
///     fn read_line(&mut self, line: &str, out: &mut Sink<'_>) {
///         if let Some(record) = lenient::object::<Record<'_>>(line, out) {
///             let item = out.text(Role::User, Kind::Text, record.text.or_empty());
///             out.node(Node::new(record.id.key(), Part::Input, vec![item]));
///         }
///     }
/// }
/// ```
///
/// `mistral_vibe_2` is the smallest decoder of lines, `zed` the smallest of a database.
pub trait Decoder: Send {
    /// The next line is one of the end of the log. What is between it and the beginning is not read. `head` is what the
    /// beginning says of the session.
    fn skip_to_end(&mut self, _head: &Meta) {}

    /// Decodes one complete line, without its newline; it is never blank. [`EventSink::place`] is its
    /// place.
    fn read_line(&mut self, _line: &str, _out: &mut EventSink<'_>) {}

    /// Decodes of a line, which may be damaged, only what [concerns usage](model::event::Event::of_usage). What else it
    /// emits is dropped. Such a reading passes over lines without a [mark](super::Format::usage_marks), unless the decoder
    /// [needs](Decoder::needs) them.
    fn read_usage(&mut self, line: &[u8], out: &mut EventSink<'_>) {
        self.read_line(&damage::line(line).0, out);
    }

    /// Returns true if a reading for usage needs this line although it has no mark.
    fn needs(&self, _line: &[u8]) -> bool {
        false
    }

    /// Decodes a whole document.
    fn read_document(&mut self, _document: &str, _out: &mut EventSink<'_>) {}

    /// Takes the sidecar records of its session: before it reads anything, and again when there are more,
    /// all of them.
    fn read_sidecar(&mut self, _records: &[SidecarRecord]) -> StateUpdate {
        StateUpdate::RereadLog
    }

    /// Returns a copy of itself that has read the same, for documents with a [`list`](super::Recognition::list):
    /// they are read on from the first change. `None`: they are read as a whole whenever they change.
    fn copy(&self) -> Option<Box<dyn Decoder>> {
        None
    }

    /// Takes a document beside the log ([`FilesBeside::states`](super::FilesBeside::states)): before it reads anything, and again
    /// whenever the document has changed. Where there are several, they differ in content. A log
    /// that is a document itself is then read again from its beginning. `None`: the document is half written, or none.
    fn read_state(&mut self, _document: &str, _out: &mut EventSink<'_>) -> Option<StateUpdate> {
        Some(StateUpdate::Accepted)
    }

    /// Called whenever all complete lines or elements of the log have been read, for what only holds of its
    /// end.
    fn read_end(&mut self, _out: &mut EventSink<'_>) {}

    /// Returns true if the end shows that an event which was emitted before it is wrong: the rows of a database are
    /// then read again from their beginning.
    fn is_wrong(&self) -> bool {
        false
    }
}
