//! Folders that may be somebody else's, such as the root of a container's file system.
//!
//! A link in there is resolved as in a system that has this root: an absolute path is one below the root. So no link
//! leads out. The parts of a path are resolved one by one with the standard library, since the real path is needed
//! besides: lists compare it, and SQLite opens it.
//!
//! A real path has no links when it is returned. Somebody who writes there can put one into it before it is used. A file
//! that is opened by [`open_itself`](super::open_itself) is not reached by a link in its own place even then; a folder
//! above it may be.

use super::{leads_out, or_current_folder, platform};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The most links on the way to a file, as on Linux.
const MOST_LINKS: usize = 40;

/// A folder out of which no link leads.
#[derive(Debug)]
pub struct Root {
    named: PathBuf,
    real: PathBuf,
}

/// A part of a path that is to be resolved.
enum Part {
    Root,
    Up,
    Name(OsString),
}

impl Root {
    /// Returns the folder at a path. Links on the way to it are followed.
    ///
    /// # Errors
    ///
    /// If it is not there.
    pub fn of(folder: &Path) -> io::Result<Root> {
        let named = or_current_folder(folder);
        let number = |path: &Path| fs::metadata(path).map(|meta| platform::file_number(&meta));
        let real = fs::canonicalize(named)?;
        // The root of a process in another namespace, `/proc/PID/root`, is a link to `/` by its text alone.
        let is_it = number(&real)? == number(named)?;
        Ok(Root {
            real: if is_it { real } else { named.to_path_buf() },
            named: folder.to_path_buf(),
        })
    }

    /// Returns the rest of a path that begins with the folder, by its name or its real path.
    pub fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let mut roots = [&self.named, &self.real].into_iter();
        roots.find_map(|root| path.strip_prefix(root).ok())
    }

    /// Returns the real path of what is at a path in the folder.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] if the path is elsewhere, or a link leads out and to nothing inside;
    /// [`io::ErrorKind::NotFound`] if nothing is there.
    pub fn real(&self, path: &Path) -> io::Result<PathBuf> {
        let mut rest = parts(self.below(path).ok_or_else(leads_out)?);
        let mut real = self.real.clone();
        let (mut links, mut is_from_root) = (0, false);
        while let Some(part) = rest.pop() {
            match part {
                Part::Root => real.clone_from(&self.real),
                Part::Up if real == self.real => return Err(leads_out()),
                Part::Up => _ = real.pop(),
                Part::Name(name) => {
                    real.push(name);
                    let meta = fs::symlink_metadata(&real);
                    if !meta.map_err(|e| absent(e, is_from_root))?.is_symlink() {
                        continue;
                    }
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(io::Error::other(
                            "there are too many links on the way to it",
                        ));
                    }
                    let target = fs::read_link(&real)?;
                    real.pop();
                    is_from_root |= target.has_root();
                    // A link may name what is inside by its path outside.
                    let inside = self.below(&target).filter(|_| target.has_root());
                    rest.extend(parts(inside.unwrap_or(&target)));
                    rest.extend(inside.map(|_| Part::Root));
                }
            }
        }
        Ok(real)
    }
}

/// Returns the real path of what is at a path in a folder, as [`Root::real`].
///
/// # Errors
///
/// As [`Root::of`] and [`Root::real`].
pub fn within(folder: &Path, path: &Path) -> io::Result<PathBuf> {
    Root::of(folder)?.real(path)
}

/// Returns the parts of a path, the last one first.
fn parts(path: &Path) -> Vec<Part> {
    let part = |part| match part {
        Component::Normal(name) => Some(Part::Name(OsString::from(name))),
        Component::ParentDir => Some(Part::Up),
        Component::RootDir => Some(Part::Root),
        Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(part).collect()
}

/// Returns the error of what is not there. A link that names it from the root was made outside.
fn absent(error: io::Error, is_from_root: bool) -> io::Error {
    if is_from_root && super::is_absent(&error) {
        leads_out()
    } else {
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_are_resolved_below_the_root_and_end() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let (named, real) = (dir.join("named"), dir.join("merged"));
        fs::create_dir_all(real.join("data/logs")).unwrap();
        fs::write(real.join("data/logs/a"), "").unwrap();
        fs::write(dir.join("outside"), "").unwrap();
        symlink(&real, &named).unwrap();
        let root = Root::of(&named).unwrap();
        let link = |to: &str, name: &str| symlink(to, real.join(name)).unwrap();
        let outside = dir.join("outside");
        let inside = real.join("data/logs").display().to_string();
        for (to, name, leads) in [
            ("/data/logs", "absolute", Some("data/logs")),
            ("data/../data/./logs", "relative", Some("data/logs")),
            (&*inside, "by_path_outside", Some("data/logs")),
            (
                "/absolute/../logs/a",
                "through_another",
                Some("data/logs/a"),
            ),
            ("/", "to_the_root", Some("")),
            ("../outside", "up", None),
            ("/../outside", "up_from_the_root", None),
            (outside.to_str().unwrap(), "out", None),
            ("around", "around", None),
        ] {
            link(to, name);
            let resolved = root.real(&named.join(name)).ok();
            assert_eq!(resolved, leads.map(|to| real.join(to)), "{name}");
        }
        let kind = |path: &str| root.real(&named.join(path)).unwrap_err().kind();
        assert_eq!(kind("out"), io::ErrorKind::InvalidInput);
        assert_eq!(
            kind("absolute/../../../outside"),
            io::ErrorKind::InvalidInput
        );
        assert_eq!(kind("data/none"), io::ErrorKind::NotFound);
        assert_eq!(
            root.real(&real.join("absolute/a")).unwrap(),
            real.join("data/logs/a")
        );
        assert!(root.real(&outside).is_err());
    }
}
