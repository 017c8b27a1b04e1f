//! Computes the names of projects. A project is a folder; two folders of the same name are two projects.

use crate::values::names::contains;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The separators of the parts of a path, whatever the system that the log is from.
const SEPARATORS: [char; 2] = ['/', '\\'];

/// The project of a working directory that is not the project's folder itself: a worktree, or a folder that the agent
/// changed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The working directory that this is about.
    pub cwd: Box<str>,
    /// The project's folder.
    pub folder: Box<str>,
}

/// The folders of projects. Each is called by as much of the end of its path as no other one has.
#[derive(Debug, Clone, Default)]
pub struct Projects {
    /// The number of sessions in each folder.
    folders: HashMap<Box<str>, usize>,
    /// For each end of a path, the number of folders that have it.
    ends: HashMap<Box<str>, usize>,
}

impl Projects {
    /// Adds the folder of a session; empty: it has none.
    pub fn add(&mut self, folder: &str) {
        let sessions = self.folders.entry(folder.into()).or_default();
        *sessions += 1;
        if *sessions == 1 {
            for end in ends(folder) {
                *self.ends.entry(end.into()).or_default() += 1;
            }
        }
    }

    /// Takes the folder of a session back.
    pub fn remove(&mut self, folder: &str) {
        let Some(sessions) = self.folders.get_mut(folder) else {
            return;
        };
        *sessions -= 1;
        if *sessions > 0 {
            return;
        }
        self.folders.remove(folder);
        for end in ends(folder) {
            if let Some(folders) = self.ends.get_mut(end) {
                *folders -= 1;
                if *folders == 0 {
                    self.ends.remove(end);
                }
            }
        }
    }

    /// Returns the name of the project of a folder. Of a folder that was not added, it is the last part.
    pub fn name<'f>(&self, folder: &'f str) -> &'f str {
        let is_its_own = |end: &&str| self.ends.get(*end).is_none_or(|folders| *folders == 1);
        ends(folder).find(is_its_own).unwrap_or(folder)
    }
}

/// Returns a folder without the separators at its end.
pub(crate) fn trimmed(folder: &str) -> &str {
    folder.trim_end_matches(SEPARATORS)
}

/// Returns the last part of a folder's path.
pub fn last_part(folder: &str) -> &str {
    folder.rsplit(SEPARATORS).next().unwrap_or_default()
}

/// Returns true if a project is one that the user named by a part of its name, in any case; with a separator, by a part
/// of its path.
pub fn is_named(folder: &str, by: &str) -> bool {
    let of = if by.contains(SEPARATORS) {
        folder
    } else {
        last_part(folder)
    };
    contains(of, &by.to_lowercase())
}

/// Returns the ends of a path, from its last part to the whole.
fn ends(folder: &str) -> impl Iterator<Item = &str> {
    let after = folder.rmatch_indices(SEPARATORS);
    let after = after.map(|(at, separator)| &folder[at + separator.len()..]);
    after.chain(Some(folder)).filter(|end| !end.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projects(folders: &[&str]) -> Projects {
        let mut projects = Projects::default();
        folders.iter().for_each(|folder| projects.add(folder));
        projects
    }

    #[test]
    fn projects_are_called_by_as_much_of_the_path_as_it_takes() {
        let folders = [
            "/home/ada/one/web",
            "/home/ada/two/web",
            "/srv/two/web",
            "/home/ada/shop",
            "/web",
            r"C:\two\blog",
            "/one/blog",
        ];
        let mut projects = projects(&folders);
        projects.add("/home/ada/shop");
        let names = |projects: &Projects| folders.map(|folder| projects.name(folder).to_owned());
        assert_eq!(
            names(&projects),
            [
                "one/web",
                "ada/two/web",
                "srv/two/web",
                "shop",
                "/web",
                r"two\blog",
                "one/blog"
            ]
        );
        for folder in ["/srv/two/web", "/web", "/home/ada/shop"] {
            projects.remove(folder);
        }
        projects.remove("/never/added");
        let names = names(&projects);
        assert_eq!(names[1], "two/web");
        projects.remove("/home/ada/one/web");
        assert_eq!(projects.name(folders[1]), "web");
        assert_eq!(projects.name(""), "");
    }

    #[test]
    fn a_folder_in_the_folder_of_its_name_is_another_project() {
        let projects = projects(&["/a/web", "/b/a/web"]);
        assert_eq!(projects.name("/a/web"), "/a/web");
        assert_eq!(projects.name("/b/a/web"), "b/a/web");
    }

    #[test]
    fn projects_are_named_by_a_part_of_their_name_or_path() {
        let is_named = |by| is_named("/home/ada/One/Web", by);
        assert!(is_named("we") && is_named("one/we") && is_named(""));
        assert!(!is_named("ada") && !is_named("two/web"));
    }
}
