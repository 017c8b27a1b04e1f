//! Reads a log with what the texts of its items show.

use crate::output::redact::Reader;
use ingest::bytes::sync::lock;
use model::cost::texts::Texts;
use model::event::{Conversation, Event, Measure, NewItem, Place, Size};
use std::sync::{Mutex, PoisonError};

/// Measures the texts of one log, and keeps facts about them.
pub(crate) struct TextReader<'r> {
    reader: &'r Reader,
    texts: Mutex<Texts>,
}

impl<'r> TextReader<'r> {
    /// Measures as another reader does.
    pub(crate) fn new(reader: &'r Reader) -> TextReader<'r> {
        TextReader {
            reader,
            texts: Mutex::default(),
        }
    }

    /// Returns the facts about the texts that were read.
    pub(crate) fn into_texts(self) -> Texts {
        let texts = self.texts.into_inner();
        let texts = texts.unwrap_or_else(PoisonError::into_inner);
        if self.reader.is_redacting() {
            return texts.without_names();
        }
        texts
    }
}

impl Measure for TextReader<'_> {
    fn text(&self, text: &str) -> Size {
        self.reader.text(text)
    }

    fn call_id(&self, id: &str) -> u16 {
        self.reader.call_id(id)
    }

    fn prepare(&self, event: &mut Event) {
        self.reader.prepare(event);
    }

    fn takes_texts(&self) -> bool {
        true
    }

    fn item(&self, _: Conversation, place: Place, item: &NewItem, text: &str) {
        lock(&self.texts).add(place, item, text);
    }
}
