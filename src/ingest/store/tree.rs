//! Sessions in many files. They are read as the document that their files make; a gauge and totals need few of these.

use super::document::{self, Document};
use crate::conversations::{Conversations, SearchLimits};
use crate::log::{Cursor, LogFile, OnEntry, Reading, Store};
use crate::source::file_system::Location;
use crate::source::tree::{Extract, Files, Owners, Tree};
use crate::source::{Open, Stamp};
use crate::sync::lock;
use crate::text::Pieces;
use formats::TreeSpec;
use model::event::{Conversation, Entry, EventSink, Measure};
use model::prompt::prompt_of;
use model::session::Coverage;
use model::text::TextRequest;
use model::window::Rules;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// The number of messages that are read first for a gauge, and the factor if they are not enough.
const FIRST_MESSAGES: usize = 2;
const MESSAGES_GROWTH: usize = 4;
/// The messages that are searched.
const SEARCHED_MESSAGES: SearchLimits = SearchLimits {
    report: u64::MAX,
    output: 1024,
    before: FIRST_MESSAGES as u64,
};

/// A session in many files.
pub struct TreeLog {
    tree: Arc<Tree>,
    spec: &'static TreeSpec,
    document: Document,
    /// The files as they were listed for a stamp, for the readings that follow.
    listed: Mutex<Option<Arc<Files>>>,
}

impl TreeLog {
    /// Returns the session whose own file is at a path.
    pub fn new(at: &Location, spec: &'static TreeSpec, owners: &Arc<Owners>) -> TreeLog {
        let tree = Arc::new(Tree::new(at, spec, owners));
        TreeLog {
            document: Document::new(Arc::clone(&tree) as Arc<dyn Open>),
            tree,
            spec,
            listed: Mutex::default(),
        }
    }

    fn files(&self) -> io::Result<Arc<Files>> {
        match &*lock(&self.listed) {
            Some(files) => Ok(Arc::clone(files)),
            None => self.tree.files().map(Arc::new),
        }
    }

    /// Returns the first prompt, if it is in the first messages.
    fn prompt(&self, log: &LogFile, files: &Files) -> io::Result<Option<Box<str>>> {
        let extract = Extract {
            messages: 0..FIRST_MESSAGES,
            ..Extract::from(files, 0)
        };
        let mut out = EventSink::for_names();
        self.decode(log, (files, &extract), &mut out)?;
        Ok(prompt_of(&out.entries))
    }

    /// Decodes the messages of an extract.
    fn decode(
        &self,
        log: &LogFile,
        (files, extract): (&Files, &Extract),
        out: &mut EventSink<'_>,
    ) -> io::Result<()> {
        let document = self.tree.document(files, extract)?;
        document::decode_from(log, extract.messages.start, &document, out);
        Ok(())
    }
}

impl Store for TreeLog {
    fn stamp(&self) -> io::Result<Stamp> {
        self.document.stamp()
    }

    fn stamp_of_all(&self) -> io::Result<Option<Stamp>> {
        let files = self.tree.files()?;
        let stamp = files.stamp;
        *lock(&self.listed) = Some(Arc::new(files));
        Ok(Some(stamp))
    }

    fn is_stamped_whole(&self) -> bool {
        true
    }

    fn head(&self) -> io::Result<Vec<u8>> {
        self.document.head()
    }

    fn cursor(&self, log: &LogFile, rules: &Arc<Rules>) -> Box<dyn Cursor> {
        self.document.cursor(log, rules)
    }

    fn text(&self, log: &LogFile, wanted: TextRequest) -> io::Result<Pieces> {
        self.document.text(log, wanted)
    }

    fn tail_to_report(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        rules: &Arc<Rules>,
    ) -> io::Result<Reading> {
        let files = self.files()?;
        let mut size = FIRST_MESSAGES;
        loop {
            let first = files.messages().saturating_sub(size);
            let coverage = match first {
                0 => Coverage::Whole,
                _ => Coverage::Tail,
            };
            let mut conversations = Conversations::new(&log.facts, rules, coverage).finally();
            let mut out = EventSink::new(measure);
            self.decode(log, (&files, &Extract::from(&files, first)), &mut out)?;
            conversations.take_in(out.entries)?;
            let main = conversations.conversation(Conversation::Main);
            if first > 0 && main.meta.title.is_none() {
                main.meta.prompt = self.prompt(log, &files)?;
            }
            if first == 0 || conversations.suffice(size as u64, &SEARCHED_MESSAGES) {
                return Ok(Reading::new(conversations, self.cursor(log, rules)));
            }
            size = size.saturating_mul(MESSAGES_GROWTH);
        }
    }

    fn usage(&self, log: &LogFile, give: &mut OnEntry<'_>) -> io::Result<()> {
        let files = self.files()?;
        let extract = Extract {
            longest_part: self.spec.usage_part_bytes,
            ..Extract::from(&files, 0)
        };
        let mut out = EventSink::for_usage();
        self.decode(log, (&files, &extract), &mut out)?;
        out.entries.into_iter().for_each(give);
        Ok(())
    }

    fn entries(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        give: &mut dyn FnMut(Vec<Entry>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        self.document.entries(log, measure, give)
    }
}
