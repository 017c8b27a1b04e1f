//! Folders of parts that several sessions share, since their messages have the same id: storages that were made public
//! may have one word in the place of many ids. Each of their files is opened once to see whose it is.

use super::listing::{json_files, names};
use crate::source::file_system::{Entry, Kind, Location};
use crate::source::{LARGEST, Stamp};
use crate::sync::lock;
use formats::TreeSpec;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// More parts than a message has: the folder may be that of several.
const MANY: usize = 64;

/// The folders that were found to have many files, with whose they are.
#[derive(Default)]
pub struct Owners(Mutex<HashMap<PathBuf, Arc<SharedFolder>>>);

/// A folder of many files.
struct SharedFolder {
    /// Its stamp: whose a file is does not change while it is there.
    folder: Stamp,
    /// The names of files, by the session that they name.
    by_session: HashMap<Box<str>, Vec<OsString>>,
    /// Those that name none.
    others: Vec<OsString>,
}

impl Owners {
    /// Returns the files in a folder that are a session's, in the order of their names; where there are many, none of
    /// those that name another session as their own. The path of the folder is one that [leads out of
    /// nothing](files::resolve_beside).
    pub(super) fn parts(
        &self,
        log: &Location,
        spec: &TreeSpec,
        folder: &Path,
        session: &str,
    ) -> io::Result<Vec<(Entry, Stamp)>> {
        let known = lock(&self.0).get(folder).cloned();
        let known = match known {
            Some(known) => known,
            None => {
                let parts = json_files(log, folder)?;
                if parts.len() <= MANY {
                    return Ok(parts);
                }
                self.look(log, spec, folder)?
            }
        };
        let now = log.at(folder).stamp_of_any();
        let known = match now {
            Ok(now) if now == known.folder => known,
            _ => self.look(log, spec, folder)?,
        };
        let own = known.by_session.get(session).into_iter().flatten();
        let mut names: Vec<&OsString> = own.chain(&known.others).collect();
        names.sort();
        let stamped = names.into_iter().filter_map(|name| {
            // One that is gone since makes another list.
            let stamp = log.at(folder.join(name)).stamp_of_any().ok()?;
            let name = name.clone();
            let kind = Kind::File;
            Some((Entry { name, kind }, stamp))
        });
        Ok(stamped.collect())
    }

    /// Looks into all files of a folder, and remembers whose they are.
    fn look(
        &self,
        log: &Location,
        spec: &TreeSpec,
        folder: &Path,
    ) -> io::Result<Arc<SharedFolder>> {
        let stamp = log.at(folder).stamp_of_any()?;
        let mut shared = SharedFolder {
            folder: stamp,
            by_session: HashMap::new(),
            others: Vec::new(),
        };
        for name in names(log, folder)? {
            let read = log.system.read_listed(folder, Path::new(&name), LARGEST);
            let part = match read {
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                read => read?.0,
            };
            match (spec.owner)(&part) {
                Some(owner) => shared
                    .by_session
                    .entry(owner.into())
                    .or_default()
                    .push(name),
                None => shared.others.push(name),
            }
        }
        let shared = Arc::new(shared);
        if stamp.is_sure() {
            lock(&self.0).insert(folder.to_path_buf(), Arc::clone(&shared));
        }
        Ok(shared)
    }
}
