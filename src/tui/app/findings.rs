//! The findings of the session on screen, and how old they are.

use super::ItemId;
use super::items::item_id;
use jiff::{SignedDuration, Timestamp};
use model::lists::sessions::{FileId, SessionKey};
use model::session::{ItemIx, Session};
use model::why::{Finding, FindingPlace};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// The time between two looks at a session that grows.
pub(super) const PAUSE: SignedDuration = SignedDuration::from_secs(5);

/// A session whose findings are asked for, with those that need its texts, and its log.
pub type FindingsRequest = (SessionKey, Arc<PathBuf>);

/// The kind and the subject of a finding.
pub type FindingId = (&'static str, Box<str>);

/// The findings of a session, or why its log could not be read.
pub type FindingsResult = Result<Vec<Finding>, String>;

/// Said of a place that a rewritten log has lost.
pub(crate) const GONE: &str = "the log no longer has it";

/// A finding on screen.
#[derive(Debug)]
pub(crate) struct ListedFinding {
    /// The finding itself.
    pub(crate) finding: Finding,
    /// The item at each place. A log that is rewritten may move or lose it.
    items: Vec<Option<ItemId>>,
}

/// The state of the texts of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum TextsRead {
    /// They were not read, or are being read.
    #[default]
    No,
    /// They were read.
    Yes,
    /// They could not be read, and why.
    Failed(String),
}

/// The numbers that change when a session grows: its items, its requests, the time of its newest record.
pub(super) type Extent = (usize, usize, Option<Timestamp>);

/// The findings of the session on screen.
#[derive(Debug, Default)]
pub(crate) struct KnownFindings {
    pub(super) of: Option<SessionKey>,
    /// All that was found, the dearest first.
    pub(crate) found: Vec<Rc<ListedFinding>>,
    /// Shows whether those are among it that need texts.
    pub(crate) texts: TextsRead,
    /// The session when it was last looked at; `None`: it was not.
    pub(super) seen: Option<Extent>,
    /// The time from which on it may be looked at again.
    pub(super) again: Timestamp,
    /// The session whose texts are being read, as it was when that began.
    pub(super) reading: Option<(SessionKey, Extent)>,
}

impl KnownFindings {
    /// Returns true if a session of this extent is to be looked at.
    pub(super) fn is_due(&self, extent: Extent, now: Timestamp) -> bool {
        // A clock that was set back must not put it off.
        let waits = now < self.again && self.again <= now + PAUSE;
        self.seen.is_none_or(|seen| seen != extent && !waits)
    }

    /// Notes that a log was read again: any of its texts may be another.
    pub(super) fn note_reread(&mut self, file: FileId) {
        let is_of_it = self.of.is_some_and(|key| key.file == file);
        let read = self.reading.as_mut().map(|(_, extent)| extent);
        let looks = self.seen.iter_mut().chain(read);
        looks
            .filter(|_| is_of_it)
            .for_each(|extent| *extent = Extent::default());
    }

    /// Takes these as all that was found.
    pub(super) fn set(&mut self, session: &Session, findings: Vec<Finding>) {
        let item = |place: &FindingPlace| match *place {
            FindingPlace::Request(_) => None,
            FindingPlace::Item(ix) => session.items().get(ix).map(item_id),
        };
        let listed = |finding: Finding| ListedFinding {
            items: finding.places.iter().map(item).collect(),
            finding,
        };
        self.found = findings.into_iter().map(listed).map(Rc::new).collect();
    }
}

impl ListedFinding {
    /// Returns its identity across looks.
    pub(crate) fn id(&self) -> FindingId {
        (self.finding.kind.name(), self.finding.about.clone())
    }

    /// Returns a place as it is now; `None`: the log no longer has it.
    pub(crate) fn place(&self, session: &Session, nth: usize) -> Option<FindingPlace> {
        let ix = match *self.finding.places.get(nth)? {
            FindingPlace::Item(ix) => ix,
            FindingPlace::Request(ix) => {
                let is_there = ix < session.requests().len();
                return is_there.then_some(FindingPlace::Request(ix));
            }
        };
        let (id, items) = ((*self.items.get(nth)?)?, session.items());
        let is_it = |ix: &ItemIx| items.get(*ix).is_some_and(|item| item_id(item) == id);
        let ix = std::iter::once(ix).chain(0..items.len()).find(is_it)?;
        Some(FindingPlace::Item(ix))
    }
}

/// Returns the extent of a session.
pub(super) fn extent(session: &Session) -> Extent {
    let (items, requests) = (session.items().len(), session.requests().len());
    (items, requests, session.updated_at)
}
