//! Determines the format of a file: by its name in an agent's own folder, elsewhere by its first bytes.

use super::{FileFormat, Scanner, Walk};
use crate::bytes::source::file_system::{Location, Stat};
use crate::bytes::source::{self, head};
use crate::database;
use crate::discover::roots::SearchRoot;
use crate::log::problem;
use formats::database::MAGIC;
use formats::{Claim, Format, Standing, StoreKind, facts};
use std::io;
use std::path::Path;

/// The extensions of files in given folders that are looked into, besides files with an agent's names.
const LOG_EXTENSIONS: [&str; 6] = ["jsonl", "ndjson", "json", "yaml", "db", "sqlite"];

impl Scanner {
    /// Returns the kind of store of a file of this format, by its first bytes. Databases are remembered.
    pub(super) fn forced(
        &mut self,
        format: &'static Format,
        at: &Location,
        len: u64,
    ) -> io::Result<FileFormat> {
        let path = &*at.path;
        if let Some((_, Some(seen))) = self.opened.get(path) {
            return Ok(*seen);
        }
        let head = head_of(at)?;
        let seen = (format, format.store(&head));
        if let (_, Some(StoreKind::Database(_))) = seen {
            self.opened.insert(path.to_path_buf(), (len, Some(seen)));
        }
        Ok(seen)
    }

    /// Returns true if a file begins as a log of this format does. The result is remembered.
    pub(super) fn recognise_as(
        &mut self,
        format: &'static Format,
        at: &Location,
        len: u64,
    ) -> io::Result<bool> {
        if let Some((seen, verdict)) = self.opened.get(&*at.path)
            && (*seen == len || verdict.is_some())
        {
            return Ok(verdict.is_some());
        }
        let head = head_of(at)?;
        let verdict = format
            .recognise(&head)
            .then(|| (format, format.store(&head)));
        self.opened.insert(at.path.to_path_buf(), (len, verdict));
        Ok(verdict.is_some())
    }

    /// Returns the format by a file's first bytes, remembered.
    pub(super) fn recognise(&mut self, at: &Location, len: u64) -> io::Result<Option<FileFormat>> {
        let path = &*at.path;
        // Writes to a database do not show in its own length at once.
        let len = len + database::log_bytes(path);
        if let Some((seen, verdict)) = self.opened.get(path)
            && (*seen == len || verdict.is_some())
        {
            return Ok(*verdict);
        }
        let head = head_of(at)?;
        let verdict = if head.starts_with(MAGIC) {
            self.database_format(at, &head)
        } else {
            let mut formats = self.formats.iter();
            let format = formats
                .find(|format| format.recognise(&head))
                .map(|format| {
                    let mut kin = self.formats.iter().filter(|other| other.is_related(format));
                    kin.find(|kin| kin.claims(path).is_some()).unwrap_or(format)
                });
            format.map(|format| (*format, format.store(&head)))
        };
        self.opened.insert(path.to_path_buf(), (len, verdict));
        Ok(verdict)
    }
}

impl Walk<'_> {
    /// Returns the claim on a file in an agent's own folder whose name says nothing; `None`: it is no log.
    pub(super) fn settle(
        &mut self,
        format: &'static Format,
        claim: Claim,
        path: &Path,
        stat: &Stat,
    ) -> Option<Claim> {
        let recognised = self
            .scanner
            .recognise_as(format, &self.at(path), stat.stamp.len);
        match recognised {
            Ok(is_log) => is_log.then(|| claim.standing(Standing::Log)),
            // Gone since: the next walk will not see it.
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => {
                self.problem(path, problem::unreadable(&e, "read it"));
                None
            }
        }
    }

    /// Returns the standing of a file beside an agent's logs, by its name: an archive, or a copy.
    pub(super) fn standing(&self, path: &Path) -> Option<Standing> {
        let claims = self.claims(path).into_iter();
        let mut standings = claims.map(|(_, claim)| claim.standing);
        standings.find(|standing| matches!(standing, Standing::Archive | Standing::Copy))
    }

    /// Returns true if a file in a folder that the user named may be a log, by its name.
    pub(super) fn is_named_as_log(&self, path: &Path) -> bool {
        let is_log = |ext| LOG_EXTENSIONS.iter().any(|log| ext == *log);
        path.extension().is_some_and(is_log) || !self.claims(path).is_empty()
    }

    /// Returns the format of a file that the user named, and what is known of it by its path; or why there is none. The
    /// content counts before the name. A file in which an agent keeps its logs is of that agent: a variable names it,
    /// whatever it is called.
    pub(super) fn named_file(
        &mut self,
        root: &SearchRoot,
        path: &Path,
        len: u64,
    ) -> io::Result<Result<(&'static Format, Claim), String>> {
        let at = self.at(path);
        let own = root.agent();
        let recognised = match root.forced().or(own) {
            Some(format) => Some(self.scanner.forced(format, &at, len)?),
            None => self.scanner.recognise(&at, len)?,
        };
        if let Some((format, store)) = recognised {
            let claim = claim_of(format, path, store);
            let standing = own.map_or(Standing::Log, |_| claim.standing);
            return Ok(Ok((format, claim.standing(standing))));
        }
        // A name with an id is specific enough, if the content is like that of any log; another name says nothing.
        let head = head_of(&at)?;
        let formats = &self.scanner.formats;
        let mut claims = self.claims(path).into_iter();
        let claimed = claims
            .find(|(format, claim)| claim.id.is_some() && facts::can_be(format, formats, &head))
            .filter(|_| facts::other_encoding(&head).is_none());
        Ok(claimed.ok_or_else(|| facts::refusal(&self.scanner.formats, &head)))
    }

    pub(super) fn claims(&self, path: &Path) -> Vec<(&'static Format, Claim)> {
        let formats = self.scanner.formats.iter();
        formats
            .filter_map(|format| Some((*format, format.claims(path).filter(is_file)?)))
            .collect()
    }
}

/// Returns true if a path is claimed as a file.
pub(super) fn is_file(claim: &Claim) -> bool {
    !claim.store.is_folder()
}

/// Returns the claim on the path of a log whose format is known, with the store by its bytes if they show it.
pub(super) fn claim_of(format: &Format, path: &Path, store: Option<StoreKind>) -> Claim {
    let claim = format
        .claims(path)
        .filter(is_file)
        .unwrap_or_else(|| Claim {
            store: match path.extension() {
                Some(ext) if ["json", "yaml", "yml"].iter().any(|e| ext == *e) => {
                    StoreKind::Document
                }
                _ => StoreKind::Lines,
            },
            ..Claim::LINES
        });
    Claim {
        store: store.unwrap_or(claim.store),
        ..claim
    }
}

/// Returns the first bytes of a log, decompressed if need be.
fn head_of(at: &Location) -> io::Result<Vec<u8>> {
    head(&*source::file(at))
}
