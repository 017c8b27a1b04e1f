//! Links: hard ones, which give a file several names, of which one counts; and symbolic ones that lead out of a
//! folder.

use super::Walk;
use crate::bytes::source::file_system::{FileSystem, Local, Stat};
use crate::discover::roots::SearchRoot;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A device, and a file on it.
type Number = (u64, u64);

/// One name of a file that has several.
pub(super) struct LinkedFile {
    file: Number,
    path: PathBuf,
    /// True if the user named it.
    is_named: bool,
}

impl LinkedFile {
    /// Returns the file with its number; `None`: it has no other name.
    pub(super) fn of(path: &Path, stat: &Stat, is_named: bool) -> Option<LinkedFile> {
        Some(LinkedFile {
            file: number(stat)?,
            path: path.to_path_buf(),
            is_named,
        })
    }
}

/// The names that count, as long as they are names of the same file: a session does not change its name because
/// another link was made.
#[derive(Default)]
pub(super) struct Links(HashMap<Number, PathBuf>);

impl Links {
    /// Returns those of these names that do not count. `is_all`: these are the names of all logs.
    pub(super) fn others(&mut self, linked: Vec<LinkedFile>, is_all: bool) -> HashSet<PathBuf> {
        let mut files: HashMap<Number, Vec<LinkedFile>> = HashMap::new();
        for link in linked {
            files.entry(link.file).or_default().push(link);
        }
        if is_all {
            self.0.retain(|file, _| files.contains_key(file));
        }
        let mut others = HashSet::new();
        for (file, links) in files {
            let known = self.0.get(&file);
            let is_still = |path: &&PathBuf| {
                let stat = Local.stat(path).ok();
                stat.and_then(|stat| number(&stat)) == Some(file)
            };
            let first = links
                .iter()
                .min_by_key(|link| (!link.is_named, &link.path))
                .map(|link| link.path.clone());
            let Some(counts) = known.filter(is_still).cloned().or(first) else {
                continue;
            };
            let names = links.into_iter().map(|link| link.path);
            others.extend(names.filter(|path| *path != counts));
            self.0.insert(file, counts);
        }
        others
    }
}

/// Returns the number of a file that has several names.
fn number(stat: &Stat) -> Option<Number> {
    stat.has_other_names.then_some(stat.stamp.version)
}

/// Links that are not followed.
#[derive(Default)]
pub(super) struct UnfollowedLinks {
    count: u64,
    first: PathBuf,
}

impl UnfollowedLinks {
    pub(super) fn add(&mut self, path: &Path) {
        if self.count == 0 {
            self.first = path.to_path_buf();
        }
        self.count += 1;
    }
}

impl Walk<'_> {
    /// Returns true if a link in a folder that the user named leads out of it: that folder may be somebody else's. An
    /// agent's own folders are the user's, who may have linked their content; but a link to a folder around them, such
    /// as `/`, is of no use.
    pub(super) fn leads_out(&mut self, root: &SearchRoot, path: &Path, real: &Path) -> bool {
        let leads_out = match root.agent() {
            Some(_) => self.real_root != real && self.real_root.starts_with(real),
            None => !self.is_below_root(real),
        };
        if leads_out {
            self.unfollowed.add(path);
        }
        leads_out
    }

    /// Returns true if a real path is below the folder that is searched.
    pub(super) fn is_below_root(&self, real: &Path) -> bool {
        real.starts_with(&self.real_root)
    }

    pub(super) fn report_unfollowed(&mut self) {
        let UnfollowedLinks { count, first } = std::mem::take(&mut self.unfollowed);
        if count > 0 {
            let what = format!(
                "a link that leads out of the folder that is looked into is not followed ({count} such links): \
                 name what it leads to"
            );
            self.problem(&first, what);
        }
    }
}
