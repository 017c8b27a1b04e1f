//! The random number of this machine with which ids of sessions are hashed. Without it, somebody who knows an id could look
//! for it in the store; with it, the names stay the same from run to run.

use anyhow::{Context, Result};
use files::own;
use model::event::Key;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::Path;

/// The characters of a salt.
const LEN: usize = 32;
/// The most bytes of its file.
const MOST: u64 = 1 << 10;

/// A salt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salt(String);

impl Salt {
    /// Returns a salt for this run alone.
    pub fn random() -> Salt {
        // The keys of the standard library's hash tables come from the system's random numbers.
        let state = RandomState::new();
        Salt(
            (0..2)
                .map(|n| format!("{:016x}", state.hash_one(n)))
                .collect(),
        )
    }

    /// Returns the salt of this machine, which is kept in a file that only the user may read. The first use makes it.
    ///
    /// # Errors
    ///
    /// If the file is there and cannot be read, or cannot be made.
    pub fn of_machine(path: &Path) -> Result<Salt> {
        let what = || {
            format!(
                "could not keep the salt of session names in {}",
                path.display()
            )
        };
        if let Some(kept) = Salt::kept(path).with_context(what)? {
            return Ok(kept);
        }
        let Salt(new) = Salt::random();
        let write = |file: &mut File| file.write_all(new.as_bytes());
        // Another of us may just have made one too: all use the first.
        own::create_with(path, write).with_context(what)?;
        if let Some(kept) = Salt::kept(path).with_context(what)? {
            return Ok(kept);
        }
        // Something else is there. One of us at a time looks at it and replaces it; where files cannot be locked, all do.
        let held = own::open(path).with_context(what)?;
        let _ = held.lock();
        if let Ok(Some(kept)) = Salt::kept(path) {
            return Ok(kept);
        }
        own::replace(path, write).with_context(what)?;
        Ok(Salt(new))
    }

    /// Returns the salt in a file; `None`: there is none, or something else.
    fn kept(path: &Path) -> std::io::Result<Option<Salt>> {
        let text = match own::read_text(path, MOST) {
            Ok(text) => text,
            Err(error) if files::is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let is_salt = text.len() == LEN && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(is_salt.then_some(Salt(text)))
    }

    /// Returns the name of what these parts identify.
    pub(crate) fn name(&self, parts: &[String; 4]) -> String {
        let [a, b, c, d] = parts;
        format!("{:016x}", Key::of_parts(&[&self.0, a, b, c, d]).get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::Barrier;
    use std::thread;

    #[test]
    fn it_is_made_once_and_for_the_user_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/metrics-salt");
        let salt = Salt::of_machine(&path).unwrap();
        assert_eq!(Salt::of_machine(&path).unwrap(), salt);
        assert_ne!(Salt::random(), salt);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        // Half a salt is none.
        fs::write(&path, "12").unwrap();
        assert_ne!(Salt::of_machine(&path).unwrap(), salt);
    }

    #[test]
    fn first_uses_at_once_have_one_salt() {
        const USES: usize = 16;
        for round in 0..50 {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("state/metrics-salt");
            if round % 2 == 1 {
                fs::create_dir(path.parent().unwrap()).unwrap();
                fs::write(&path, "half a salt").unwrap();
            }
            let together = Barrier::new(USES);
            let salts: Vec<Salt> = thread::scope(|scope| {
                let uses: Vec<_> = (0..USES)
                    .map(|_| {
                        scope.spawn(|| {
                            together.wait();
                            Salt::of_machine(&path).unwrap()
                        })
                    })
                    .collect();
                uses.into_iter().map(|one| one.join().unwrap()).collect()
            });
            assert!(salts.iter().all(|salt| *salt == salts[0]), "{salts:?}");
        }
    }

    #[test]
    fn names_differ_by_salt_and_by_session() {
        let parts = |id: &str| ["codex", "/a/log.jsonl", id, ""].map(str::to_owned);
        let (one, other) = (Salt::random(), Salt::random());
        assert_eq!(one.name(&parts("x")), one.name(&parts("x")));
        assert_ne!(one.name(&parts("x")), one.name(&parts("y")));
        assert_ne!(one.name(&parts("x")), other.name(&parts("x")));
    }
}
