//! The state of a log, and what its stamp says about it.

use crate::bytes::source::{SETTLED, Stamp};
use crate::discover::settings::SettingsOwner;
use crate::log::{LogFile, id_in};
use crate::worker::state::State;
use crate::worker::whole::LogContent;
use model::session::Coverage;
use model::values::process_activity::ProcessActivity;
use model::window::Overrides;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Each further part of a log of this size, in bytes, adds [`SETTLED`] to the time that it takes to settle.
const SETTLING_BYTES: u64 = 16 << 20;

/// The state of a file.
pub(super) struct TrackedFile {
    pub(super) log: LogFile,
    pub(super) state: State,
    /// The log's stamp when it was last looked at.
    pub(super) stamp: Option<Stamp>,
    /// True if a write since would show in the stamp.
    pub(super) is_stamp_sure: bool,
    /// The part of it that was read.
    pub(super) read: Coverage,
    /// The part of it that was read with exact counts.
    pub(super) counted: Coverage,
    /// True if it has no usage report, so that its size is estimated.
    pub(super) unreported: bool,
    pub(super) missing_since: Option<Instant>,
    /// True if the last look at everything did not find it.
    pub(super) is_passed_over: bool,
    /// Not to be read before: it failed, or is being rewritten.
    pub(super) not_before: Option<Instant>,
    /// The session whose settings hold for it.
    pub(super) settings_owner: SettingsOwner,
    /// The agent's settings when last looked at.
    pub(super) overrides: Arc<Overrides>,
    /// The activity of its session's process, if there is one.
    pub(super) running: Option<ProcessActivity>,
}

impl TrackedFile {
    /// Returns a log of which nothing was read.
    pub(super) fn found(log: LogFile) -> TrackedFile {
        TrackedFile {
            log,
            state: State::Found,
            stamp: None,
            is_stamp_sure: false,
            read: Coverage::Unread,
            counted: Coverage::Unread,
            unreported: false,
            missing_since: None,
            is_passed_over: false,
            not_before: None,
            settings_owner: SettingsOwner::default(),
            overrides: Overrides::none(),
            running: None,
        }
    }

    /// Notes what is shown of its sessions from now on.
    pub(super) fn note(&mut self, shown: &LogContent) {
        let main = shown.main();
        self.read = main.map_or(Coverage::Unread, |(_, coverage)| coverage);
        self.settings_owner = SettingsOwner::of(main.map(|(meta, _)| meta));
        self.unreported = shown.is_unreported();
    }

    /// Returns true if only summaries of its sessions are held.
    pub(super) fn is_summarised(&self) -> bool {
        matches!(self.state, State::Summarised(_))
    }

    /// Returns true if this stamp may belong to another file: by its number, or because it differs though nothing was
    /// written.
    pub(super) fn is_of_other(&self, stamp: Stamp) -> bool {
        let facts = |stamp: Stamp| (stamp.len, stamp.modified);
        self.stamp.is_some_and(|seen| {
            let is_written = facts(seen) != facts(stamp);
            seen != stamp && !(seen.is_same_file(stamp) && is_written)
        })
    }
}

/// Returns true if the path of a log leads to another file now: a link was put in its place.
pub(super) fn leads_elsewhere(log: &LogFile) -> bool {
    let facts = &log.facts;
    !log.is_one_of_several()
        && log.system.stat(&facts.path).is_ok()
        && id_in(&*log.system, &facts.path) != facts.file
}

/// Returns the time after the last write from which on an incomplete record at the end of a log of this many bytes
/// counts as final. If more of it is written, the log is read again. This must not happen to a long log every few
/// seconds.
pub(super) fn settles_after(len: u64) -> Duration {
    SETTLED * u32::try_from(1 + len / SETTLING_BYTES).unwrap_or(u32::MAX)
}
