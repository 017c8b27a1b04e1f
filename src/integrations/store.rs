//! Keeps data about sessions in a folder.
//!
//! Each session has a small file of its own, so that programs that run at once need no lock: a file is replaced as a
//! whole. Only the user may read them. The [`MOST_SESSIONS`] newest are kept.

use files::own;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use xxhash_rust::xxh3::xxh3_64;

/// The most sessions that are kept; beyond, those go that were written longest ago.
pub const MOST_SESSIONS: usize = 1_000;
/// The largest file, in bytes.
const LARGEST_FILE: u64 = 32 << 10;
/// The age from which on an unchanged file is written again, so that a session in use is not the oldest.
const REFRESH_AGE: Duration = Duration::from_secs(24 * 3600);

/// The data that is kept of a session.
pub trait Entry: Serialize + DeserializeOwned + PartialEq {
    /// Returns the agent's id, and the session's.
    fn whose(&self) -> (&str, &str);
}

/// Returns the name of the file of a session. An id is not used as a name: it may be anything.
fn name(agent: &str, session: &str) -> String {
    let hash = xxh3_64(format!("{agent}\0{session}").as_bytes());
    format!("{hash:016x}.json")
}

/// Reads the data that is kept of a session; `None`: there is none that can be read.
pub fn load<T: Entry>(folder: &Path, agent: &str, session: &str) -> Option<T> {
    read(&folder.join(name(agent, session)), agent, session)
}

fn read<T: Entry>(path: &Path, agent: &str, session: &str) -> Option<T> {
    let text = own::read_text(path, LARGEST_FILE).ok()?;
    let kept: T = serde_json::from_str(&text).ok()?;
    // Two ids may have one hash.
    (kept.whose() == (agent, session)).then_some(kept)
}

/// Keeps this of its session. Nothing is written if that is what is kept already.
///
/// # Errors
///
/// If it cannot be written.
pub fn save<T: Entry>(folder: &Path, kept: &T) -> io::Result<()> {
    let (agent, session) = kept.whose();
    let path = folder.join(name(agent, session));
    let known: Option<T> = read(&path, agent, session);
    let is_new = known.is_none();
    if known.as_ref() == Some(kept) && !is_older(&path, REFRESH_AGE) {
        return Ok(());
    }
    let bytes = serde_json::to_vec(kept).map_err(io::Error::other)?;
    own::replace(&path, |file| file.write_all(&bytes))?;
    if is_new {
        prune(folder);
    }
    Ok(())
}

fn is_older(path: &Path, age: Duration) -> bool {
    let written = fs::symlink_metadata(path)
        .and_then(|meta| meta.modified())
        .ok();
    let since = written.and_then(|at| at.elapsed().ok());
    since.is_some_and(|since| since > age)
}

/// Removes the oldest files beyond the most that are kept, and what was left unfinished. Others may do so at once: what is
/// gone is gone.
fn prune(folder: &Path) {
    own::sweep(folder);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let kept: Vec<DirEntry> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_name))
        .collect();
    if kept.len() <= MOST_SESSIONS {
        return;
    }
    let mut dated: Vec<(Option<SystemTime>, PathBuf)> = kept
        .into_iter()
        .map(|entry| {
            let written = entry.metadata().and_then(|meta| meta.modified()).ok();
            (written, entry.path())
        })
        .collect();
    dated.sort();
    let over = dated.len() - MOST_SESSIONS;
    for (_, path) in dated.into_iter().take(over) {
        let _ = fs::remove_file(path);
    }
}

/// Returns true if a file is one of ours.
fn is_name(file: &str) -> bool {
    let hash = file.strip_suffix(".json");
    hash.is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// A reader of the data of many sessions. Each file is read again only when it has changed.
#[derive(Debug)]
pub struct Reader<T> {
    folder: Option<PathBuf>,
    /// The files that there are, by their names; `None`: not looked yet.
    names: Option<HashMap<String, Option<Arc<T>>>>,
    /// The time at which each file that was read was written, its length and its data.
    read: HashMap<String, (SystemTime, u64, Option<Arc<T>>)>,
}

impl<T: Entry> Reader<T> {
    /// Reads from this folder; `None`: nothing is kept.
    pub fn new(folder: Option<PathBuf>) -> Reader<T> {
        Reader {
            folder,
            names: None,
            read: HashMap::new(),
        }
    }

    /// Makes every file be looked at again.
    pub fn look_again(&mut self) {
        self.names = None;
    }

    /// Returns the data that is kept of a session; `None`: there is none that can be read.
    pub fn of(&mut self, agent: &str, session: &str) -> Option<Arc<T>> {
        let folder = self.folder.as_deref()?;
        let names = self.names.get_or_insert_with(|| list(folder));
        let name = name(agent, session);
        let seen = names.get_mut(&name)?;
        if seen.is_none() {
            let path = folder.join(&name);
            let meta = files::look_at_itself(&path).ok()?;
            let stamp = (meta.modified().ok()?, meta.len());
            let known = self.read.get(&name).filter(|it| (it.0, it.1) == stamp);
            let kept = match known {
                Some((_, _, kept)) => kept.clone(),
                None => read(&path, agent, session).map(Arc::new),
            };
            self.read.insert(name, (stamp.0, stamp.1, kept.clone()));
            *seen = kept;
        }
        seen.clone()
    }
}

fn list<T>(folder: &Path) -> HashMap<String, Option<Arc<T>>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // Others may have put more files there.
    let ours = names.filter(|name| is_name(name)).take(2 * MOST_SESSIONS);
    ours.map(|name| (name, None)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_record::{ClientRecord, folder};
    use std::thread;

    fn said(session: &str, window: u64) -> ClientRecord {
        ClientRecord {
            agent: "claude-code".to_owned(),
            session: session.to_owned(),
            window: Some(window),
            model: Some("claude-opus-5[1m]".to_owned()),
            ..ClientRecord::default()
        }
    }

    #[test]
    fn what_was_said_is_there_and_for_the_user_alone() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(&dir.path().join("state"));
        assert_eq!(load::<ClientRecord>(&folder, "claude-code", "a"), None);
        save(&folder, &said("a", 200_000)).unwrap();
        save(&folder, &said("a", 1_000_000)).unwrap();
        assert_eq!(
            load(&folder, "claude-code", "a"),
            Some(said("a", 1_000_000))
        );
        assert_eq!(load::<ClientRecord>(&folder, "cursor", "a"), None);
        let files: Vec<_> = fs::read_dir(&folder).unwrap().flatten().collect();
        assert_eq!(files.len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&files[0].path()), 0o600);
            assert_eq!(mode(&folder), 0o700);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_read_and_what_it_leads_to_stays() {
        let dir = tempfile::tempdir().unwrap();
        let [own, other] = ["own", "other"].map(|name| dir.path().join(name));
        save(&other, &said("a", 7_000)).unwrap();
        fs::create_dir(&own).unwrap();
        let path = own.join(name("claude-code", "a"));
        let theirs = other.join(path.file_name().unwrap());
        std::os::unix::fs::symlink(theirs, &path).unwrap();
        assert_eq!(load::<ClientRecord>(&own, "claude-code", "a"), None);
        assert!(
            Reader::<ClientRecord>::new(Some(own.clone()))
                .of("claude-code", "a")
                .is_none()
        );
        save(&own, &said("a", 8_000)).unwrap();
        for (folder, window) in [(&own, 8_000), (&other, 7_000)] {
            assert_eq!(load(folder, "claude-code", "a"), Some(said("a", window)));
        }
    }

    #[test]
    fn nothing_is_written_again_that_is_there() {
        let dir = tempfile::tempdir().unwrap();
        save(dir.path(), &said("a", 7_000)).unwrap();
        let path = dir.path().join(name("claude-code", "a"));
        let written = |path: &Path| {
            let meta = fs::metadata(path).unwrap();
            #[cfg(unix)]
            return std::os::unix::fs::MetadataExt::ino(&meta);
            #[cfg(not(unix))]
            meta.modified().unwrap()
        };
        let before = written(&path);
        save(dir.path(), &said("a", 7_000)).unwrap();
        assert_eq!(written(&path), before);
        save(dir.path(), &said("a", 8_000)).unwrap();
        assert_ne!(written(&path), before);
    }

    #[test]
    fn the_oldest_go() {
        let dir = tempfile::tempdir().unwrap();
        let start = SystemTime::now() - Duration::from_secs(100_000);
        for n in 0..MOST_SESSIONS as u64 + 20 {
            let file = fs::File::create(dir.path().join(format!("{n:016x}.json"))).unwrap();
            file.set_modified(start + Duration::from_secs(n)).unwrap();
        }
        fs::write(dir.path().join("notes.txt"), "not ours").unwrap();
        save(dir.path(), &said("new", 9_000)).unwrap();
        let left = list::<ClientRecord>(dir.path());
        assert_eq!(left.len(), MOST_SESSIONS);
        assert!(left.contains_key(&name("claude-code", "new")));
        assert!(!left.contains_key(&format!("{:016x}.json", 3)));
        assert!(dir.path().join("notes.txt").exists());
    }

    #[test]
    fn many_at_once_leave_whole_files() {
        let dir = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for n in 0..16_u64 {
                let folder = dir.path();
                scope.spawn(move || {
                    for turn in 0..20 {
                        let session = format!("s{}", n % 4);
                        save(folder, &said(&session, 2_000 + n * 100 + turn)).unwrap();
                        assert!(load::<ClientRecord>(folder, "claude-code", &session).is_some());
                    }
                });
            }
        });
        let files = fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(files, 4, "nothing unfinished is left");
    }

    #[test]
    fn a_reader_sees_what_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = Reader::new(Some(dir.path().to_path_buf()));
        let window = |reader: &mut Reader<ClientRecord>| {
            reader.of("claude-code", "a").and_then(|kept| kept.window)
        };
        assert_eq!(window(&mut reader), None);
        save(dir.path(), &said("a", 7_000)).unwrap();
        assert_eq!(window(&mut reader), None, "it has looked");
        reader.look_again();
        assert_eq!(window(&mut reader), Some(7_000));
        save(dir.path(), &said("a", 80_000)).unwrap();
        reader.look_again();
        assert_eq!(window(&mut reader), Some(80_000));
        fs::write(dir.path().join(name("claude-code", "a")), "{").unwrap();
        reader.look_again();
        assert_eq!(window(&mut reader), None);
        assert_eq!(
            Reader::<ClientRecord>::new(None).of("claude-code", "a"),
            None
        );
    }
}
