//! Databases: the agents that they belong to, and their sessions.

use super::{FileFormat, Scanner, Walk};
use crate::bytes::source::file_system::Location;
use crate::database::Database;
use crate::log::{LogFile, facts_of, problem};
use crate::store::rows::SessionRows;
use formats::database::DatabaseSpec;
use formats::{Format, StoreKind};
use model::lists::sessions::{FileFacts, FileId};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::Arc;

impl Scanner {
    /// Returns the format whose tables a database has. If there are several, its name counts.
    pub(super) fn database_format(&self, at: &Location, head: &[u8]) -> Option<FileFormat> {
        if !at.system.is_here() {
            return None;
        }
        let path = &at.path;
        let fits = |format: &&&'static Format| match format.store(head) {
            Some(StoreKind::Database(spec)) => Database::new(at, spec, &self.clock).fits(),
            _ => false,
        };
        let is_named = |format: &&&'static Format| {
            let claim = format.claims(path);
            claim.is_some_and(|claim| matches!(claim.store, StoreKind::Database(_)))
        };
        let all = || self.formats.iter();
        let named = all().filter(is_named).find(fits);
        // If none fits, there is something wrong with it: the agent whose name it has is the one to ask.
        let format = named
            .or_else(|| all().find(fits))
            .or_else(|| all().find(is_named))?;
        Some((*format, format.store(head)))
    }

    fn database(
        &mut self,
        format: &'static Format,
        at: &Location,
        spec: &'static DatabaseSpec,
    ) -> Arc<Database> {
        let key = (format.id, at.path.to_path_buf());
        let clock = &self.clock;
        let new = || Arc::new(Database::new(at, spec, clock));
        Arc::clone(self.databases.entry(key).or_insert_with(new))
    }
}

impl Walk<'_> {
    /// Adds the sessions of a database.
    pub(super) fn add_database(
        &mut self,
        at: &Location,
        file: FileId,
        format: &'static Format,
        spec: &'static DatabaseSpec,
    ) {
        let path = &at.path;
        if !at.system.is_here() {
            return self.problem(path, REMOTE_DATABASE.to_owned());
        }
        let database = self.scanner.database(format, at, spec);
        let (sessions, error) = database.sessions();
        if let Some(due) = database.due() {
            self.found.locked.push((Arc::clone(path), due));
        }
        match error.map(|e| (e.kind(), e)) {
            // Gone since, or at work: the next walk will see.
            Some((io::ErrorKind::NotFound | io::ErrorKind::WouldBlock, _)) | None => {}
            Some((_, e)) => self.problem(path, problem::unreadable(&e, "read it")),
        }
        // Writes to the database are writes to its only session.
        let of_all = match sessions.len() {
            1 => database.modified(),
            _ => None,
        };
        self.found
            .files
            .extend(sessions.values().map(|session| LogFile {
                facts: FileFacts {
                    id: Some(session.id.to_string()),
                    parent: session.parent.as_deref().map(ToOwned::to_owned),
                    modified: session.stamp.modified().or(of_all),
                    ..facts_of(format, session_id(file, &session.id), Arc::clone(path))
                },
                system: Arc::clone(&at.system),
                format,
                store: Arc::new(SessionRows::new(&database, &session.id)),
                sidecar: None,
            }));
    }
}

/// The reason for which a database in another file system is not read.
const REMOTE_DATABASE: &str = "a database can only be read on its own machine";

/// Returns the id of a session of a database.
fn session_id(database: FileId, session: &str) -> FileId {
    let mut hasher = DefaultHasher::new();
    (database.0, session).hash(&mut hasher);
    FileId(hasher.finish())
}
