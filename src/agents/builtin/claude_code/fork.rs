//! Sub-agents that are forks: their log begins with `fork-context-ref`, which names the session whose context they
//! inherit, and its last record. Their own first record has no parent. The default in `-p`, the SDK and the desktop
//! program since October 2026; seen in logs of 2.1.220.

use super::wire::Record;
use decode::lenient::{self, LostFields};
use formats::{ChainSpec, End, StoreKind};
use model::event::{Event, EventSink, Key, Parent};
use std::path::{Path, PathBuf};

/// The type of the record.
pub(super) const KIND: &str = "fork-context-ref";

pub(super) static CHAIN: ChainSpec = ChainSpec {
    base,
    is_base: |file, id| file.strip_suffix(".jsonl") == Some(id),
    folders: |log| session_folder(log).into_iter().collect(),
    is_same: |_, _| false,
    reset_mark: "",
};

/// Returns the kind of store of a log, by its first bytes.
pub(super) fn store(head: &[u8]) -> Option<StoreKind> {
    let first = head.split(|byte| *byte == b'\n').next()?;
    Some(match memchr::memmem::find(first, KIND.as_bytes()) {
        Some(_) => StoreKind::Chain(&CHAIN),
        None => StoreKind::Lines,
    })
}

fn base(line: &[u8]) -> Option<(String, End)> {
    memchr::memmem::find(line, KIND.as_bytes())?;
    let line = std::str::from_utf8(line).ok()?;
    let record = lenient::parse::<Record<'_>>(line, &LostFields::default()).ok()?;
    let value = record.parent_last_uuid.boxed()?.into();
    let session = record.parent_session_id.boxed()?;
    let end = End::After {
        field: "uuid",
        value,
    };
    (record.kind.get() == Some(KIND)).then_some((session.into(), end))
}

/// Returns the folder of the session's log: `<session>/subagents/agent-<id>.jsonl` is beside it. A log that was moved
/// is beside it itself.
fn session_folder(log: &Path) -> Option<PathBuf> {
    let folder = log.ancestors().find(|folder| folder.ends_with("subagents"));
    let folder = folder.map_or(log.parent(), |folder| folder.ancestors().nth(2));
    folder.map(Path::to_path_buf)
}

/// The history that a fork inherits.
#[derive(Debug)]
pub(super) struct Fork {
    /// The last record of it.
    last: Option<Key>,
    is_read: bool,
    /// True if the fork's own records have begun.
    has_begun: bool,
}

impl Fork {
    pub(super) fn new(record: &Record<'_>) -> Fork {
        Fork {
            last: record.parent_last_uuid.key(),
            is_read: false,
            has_begun: false,
        }
    }

    /// Notes a record that is inherited.
    pub(super) fn note(&mut self, key: Option<Key>) {
        self.is_read |= key.is_some() && key == self.last;
    }

    /// Returns the parent of an own record that names none: the first one continues what is inherited.
    pub(super) fn parent(&mut self, out: &mut EventSink<'_>) -> Parent {
        if std::mem::replace(&mut self.has_begun, true) {
            return Parent::Root;
        }
        match self.last.filter(|_| self.is_read) {
            Some(last) => Parent::Key(last),
            None => {
                out.emit(Event::BeginningMissing);
                Parent::Root
            }
        }
    }
}
