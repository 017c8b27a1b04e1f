//! A sidecar that is a database, whose rows are about single requests.

use super::Extent;
use crate::bytes::clock::Clock;
use crate::bytes::source::Stamp;
use crate::bytes::source::file_system::Location;
use crate::bytes::sync::lock;
use crate::database::Database;
use formats::{SidecarDatabase, SidecarRecord};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use xxhash_rust::xxh3::xxh3_64;

/// The database of the logs in one folder.
pub(super) struct SidecarRows {
    database: Database,
    log: Location,
    path: PathBuf,
    of: &'static SidecarDatabase,
    sessions: Mutex<HashMap<Box<str>, SessionRows>>,
}

/// The rows of a session as far as they were read.
#[derive(Default)]
struct SessionRows {
    /// The session when all of them were.
    seen: Option<Stamp>,
    rows: u64,
    /// A hash of the last, to notice another database in the place of this one.
    last: Option<u64>,
    records: Vec<SidecarRecord>,
    /// The number of times that they were read again from the first.
    readings: u64,
}

impl SidecarRows {
    /// Returns the database of this log, if there can be one.
    pub(super) fn new(
        of: &'static SidecarDatabase,
        log: &Location,
        clock: &Clock,
    ) -> Option<SidecarRows> {
        let path = (of.path)(&log.path)?;
        Some(SidecarRows {
            database: Database::new(&log.at(path.clone()), &of.spec, clock),
            log: log.clone(),
            path,
            of,
            sessions: Mutex::default(),
        })
    }

    /// Calls `give` with the present records of a session. A database that cannot be read has those that it
    /// had, one that is gone has none.
    pub(super) fn records(
        &self,
        session: &str,
        give: &mut dyn FnMut(&[SidecarRecord]),
        extent: &mut Extent,
    ) {
        let inside = self.log.system.beside(&self.log.path, &self.path);
        if inside.is_err_and(|e| e.kind() != io::ErrorKind::NotFound) {
            return;
        }
        let (listed, _) = self.database.sessions();
        let found = if self.of.holds_one {
            listed.values().next()
        } else {
            listed.get(session)
        };
        let Some((id, now)) = found.map(|session| (&*session.id, session.stamp)) else {
            return;
        };
        let mut sessions = lock(&self.sessions);
        let rows = sessions.entry(session.into()).or_default();
        if rows.seen != Some(now) && rows.read_on(&self.database, id, self.of.read) {
            rows.seen = Some(now);
        }
        give(&rows.records);
        extent.records += rows.records.len();
        extent.readings += rows.readings;
    }
}

impl SessionRows {
    /// Reads the rows that have come; whether all could be read.
    fn read_on(
        &mut self,
        database: &Database,
        session: &str,
        read: fn(&[u8]) -> Option<SidecarRecord>,
    ) -> bool {
        let mut is_same = self.last.is_none();
        let mut last = self.last;
        let mut new = Vec::new();
        let mut count = 0;
        let skip = self.rows - u64::from(last.is_some());
        let outcome = database.lines(session, skip, &mut |line| {
            let hash = xxh3_64(line.as_bytes());
            // The first line is the last that was read.
            if !is_same && count == 0 && last == Some(hash) {
                is_same = true;
                return;
            }
            last = Some(hash);
            count += 1;
            new.extend(read(line.as_bytes()));
        });
        if outcome.is_err() {
            return false;
        }
        if !is_same {
            *self = SessionRows {
                readings: self.readings + 1,
                ..SessionRows::default()
            };
            return self.read_on(database, session, read);
        }
        self.last = last;
        self.rows += count;
        self.records.append(&mut new);
        true
    }
}
