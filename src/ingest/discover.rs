//! Finds logs by walking folders; looks into a file only if its name does not identify its format.

mod copies;
mod databases;
mod kinds;
mod links;
mod notes;
pub(crate) mod origin;
mod reach;
pub mod registry;
mod repositories;
pub mod roots;
pub mod settings;
pub mod which;

use self::links::{LinkedFile, Links, UnfollowedLinks};
use crate::bytes::clock::Clock;
use crate::bytes::source::Stamp;
use crate::bytes::source::file_system::{Entry, FileSystem, Kind, Local, Location, Stat};
use crate::database::{self, Database};
use crate::discover::roots::SearchRoot;
use crate::log::{LogFile, Store, facts_of, id_in, id_of_real};
use crate::sidecar::SidecarStore;
use crate::{log::problem, store};
use copies::Copies;
use files::paths::Env;
use formats::{Claim, Format, Standing, StoreKind};
use kinds::{claim_of, is_file};
use model::lists::sessions::{FileFacts, FileId};
use reach::Reach;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The result of a walk.
#[derive(Default)]
pub struct ScanResult {
    /// The logs, the newest first.
    pub files: Vec<LogFile>,
    /// The logs that agents have put away: no sessions, but their cost counts.
    pub archives: Vec<LogFile>,
    /// The paths that could not be read, and what to do about each.
    pub problems: Vec<(PathBuf, String)>,
    /// Files in given folders that look like logs but have no known format.
    pub unrecognised: u64,
    /// The folders that were looked into below the roots that are polled.
    pub folders: Vec<PathBuf>,
    /// Databases that were not looked at, since they are locked or were looked at a moment before, and when to look
    /// again.
    pub locked: Vec<(Arc<PathBuf>, Instant)>,
}

/// Looks for logs, again and again; remembers what it has looked into.
pub struct Scanner {
    /// The places that are searched.
    pub roots: Vec<SearchRoot>,
    formats: Vec<&'static Format>,
    env: Env,
    clock: Clock,
    /// Files that were recognised by their bytes, or not, at that length.
    opened: HashMap<PathBuf, (u64, Option<FileFormat>)>,
    /// The name that counts, for each file with several.
    links: Links,
    /// Logs of sessions of which another log is the session.
    copies: Copies,
    /// Databases, by agent and path.
    databases: HashMap<(&'static str, PathBuf), Arc<Database>>,
    /// Folders that are logs, by agent and path.
    folders: HashMap<(&'static str, PathBuf), Arc<dyn Store>>,
    /// Sidecar files, by agent and folder.
    sidecars: HashMap<(&'static str, Option<PathBuf>), Arc<SidecarStore>>,
    /// The roots of which the system gives no notice.
    pub(super) polled: Vec<PathBuf>,
    /// Gets each root before it is looked below.
    pub(super) announce: Box<dyn Fn(&Path) + Send>,
}

/// The format of a file and what it is kept in, by its first bytes.
type FileFormat = (&'static Format, Option<StoreKind>);

/// A folder that is a log.
type FolderLog = (&'static Format, Claim, Arc<dyn Store>);

/// One walk.
struct Walk<'s> {
    scanner: &'s mut Scanner,
    found: ScanResult,
    folders: HashSet<PathBuf>,
    files: HashSet<FileId>,
    /// Files that have several names.
    linked: Vec<LinkedFile>,
    /// The file system of the root that is walked.
    system: Arc<dyn FileSystem>,
    /// The real path of the root.
    real_root: PathBuf,
    /// Links that are not followed.
    unfollowed: UnfollowedLinks,
    reach: Reach,
}

impl Scanner {
    /// Looks below these roots for logs of these formats. `env` has the variables that name more of them.
    pub fn new(
        roots: Vec<SearchRoot>,
        formats: Vec<&'static Format>,
        env: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static,
    ) -> Scanner {
        Scanner {
            roots,
            formats,
            env: Env::from(env),
            clock: Clock::default(),
            opened: HashMap::new(),
            links: Links::default(),
            copies: Copies::default(),
            databases: HashMap::new(),
            folders: HashMap::new(),
            sidecars: HashMap::new(),
            polled: Vec::new(),
            announce: Box::new(|_| ()),
        }
    }

    /// Replaces the clock by one that a test moves.
    #[cfg(test)]
    pub fn with_clock(self, clock: &Clock) -> Scanner {
        let clock = clock.clone();
        Scanner { clock, ..self }
    }

    fn sidecar(&mut self, format: &'static Format, log: &Location) -> Option<Arc<SidecarStore>> {
        let spec = format.beside.sidecar?;
        let key = (format.id, (spec.folder)(&log.path));
        let (env, clock) = (self.env.clone(), self.clock.clone());
        let new = || {
            // The environment is that of this machine.
            let named = spec
                .env
                .filter(|_| log.system.is_here())
                .and_then(|name| env.get(name));
            Arc::new(SidecarStore::new(
                spec,
                log,
                named.map(PathBuf::from),
                &clock,
            ))
        };
        Some(Arc::clone(self.sidecars.entry(key).or_insert_with(new)))
    }

    /// Returns everything that is there now.
    pub fn look(&mut self) -> ScanResult {
        self.walk(None)
    }

    /// Returns what is at or below a path, if that is in one of the places.
    pub fn scan_below(&mut self, path: &Path) -> ScanResult {
        // Writes to the files beside a database are writes to it.
        let database = database::owner(path).filter(|database| database.exists());
        self.walk(Some(database.as_deref().unwrap_or(path)))
    }

    fn walk(&mut self, only: Option<&Path>) -> ScanResult {
        let roots = self.roots.clone();
        let mut walk = Walk::new(self);
        for root in &roots {
            let path = match only {
                Some(path) if path.starts_with(root.path()) => path,
                Some(_) => continue,
                None => root.path(),
            };
            (walk.scanner.announce)(path);
            walk.system = root.system();
            walk.real_root = walk.system.real(root.path()).unwrap_or_default();
            walk.reach.begin();
            walk.enter(root, path);
            walk.report_unfollowed();
        }
        let (mut found, linked) = (walk.found, walk.linked);
        let others = self.links.others(linked, only.is_none());
        for logs in [&mut found.files, &mut found.archives] {
            logs.retain(|log| !others.contains(&*log.facts.path));
        }
        let copies = Copies::among(&found.files);
        found.archives.extend(copies.take_from(&mut found.files));
        if only.is_none() {
            self.copies = copies;
        } else {
            // The log that counts may be elsewhere.
            let segments = self.copies.take_from(&mut found.files);
            found.archives.extend(segments);
        }
        found.files.sort_unstable_by(|a, b| {
            let newest = b.facts.modified.cmp(&a.facts.modified);
            let [a, b] = [a, b].map(|log| (&log.facts.path, &log.facts.id));
            newest.then_with(|| a.cmp(&b))
        });
        found
    }

    /// Returns the log that the folder at this path is, if it is one. In an agent's own folder its name is enough.
    fn folder(&mut self, root: &SearchRoot, at: &Location) -> io::Result<Option<FolderLog>> {
        let path = &*at.path;
        let own = root.agent();
        let formats = own.as_ref().map_or(&self.formats[..], std::slice::from_ref);
        for format in formats {
            let claim = format.claims(path);
            let Some(claim) = claim.filter(|claim| claim.store.is_folder()) else {
                continue;
            };
            let key = (format.id, path.to_path_buf());
            if let Some(folder) = self.folders.get(&key) {
                return Ok(Some((*format, claim, Arc::clone(folder))));
            }
            let Some(folder) = store::open(claim.store, at) else {
                continue;
            };
            let head = match folder.head() {
                // Gone since, or at work: the next walk will see.
                Err(e)
                    if matches!(
                        e.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::WouldBlock
                    ) =>
                {
                    continue;
                }
                head => head?,
            };
            if !head.is_empty() && (own.is_some() || format.recognise(&head)) {
                self.folders.insert(key, Arc::clone(&folder));
                return Ok(Some((*format, claim, folder)));
            }
        }
        Ok(None)
    }
}

impl<'s> Walk<'s> {
    fn new(scanner: &'s mut Scanner) -> Walk<'s> {
        Walk {
            scanner,
            found: ScanResult::default(),
            folders: HashSet::new(),
            files: HashSet::new(),
            linked: Vec::new(),
            system: Arc::new(Local),
            real_root: PathBuf::new(),
            unfollowed: UnfollowedLinks::default(),
            reach: Reach::default(),
        }
    }

    fn at(&self, path: &Path) -> Location {
        Location {
            system: Arc::clone(&self.system),
            path: Arc::new(path.to_path_buf()),
        }
    }

    fn problem(&mut self, path: &Path, what: String) {
        self.found.problems.push((path.to_path_buf(), what));
    }

    fn enter(&mut self, root: &SearchRoot, path: &Path) {
        let named = root.names(path);
        let stat = match self.system.stat(path) {
            Ok(stat) => stat,
            Err(e) if files::is_absent(&e) && !named => return,
            Err(e) => return self.problem(path, problem::unreadable(&e, "look at it")),
        };
        if named && self.system.is_here() && files::is_pipe(path) {
            return self.problem(path, problem::UNREADABLE_PIPE.to_owned());
        }
        if let Ok(real) = self.system.real(path)
            && self.leads_out(root, path, &real)
        {
            return;
        }
        if stat.kind == Kind::Folder {
            let Ok(real) = self.system.real(path) else {
                return;
            };
            self.folder(root, path, real, 0);
        } else if self.record(root, path) {
            // It is part of a log that is a folder: that log is meant.
        } else if root.path() == path {
            match self.named_file(root, path, stat.stamp.len) {
                Ok(Ok((format, claim))) => {
                    self.linked.extend(LinkedFile::of(path, &stat, true));
                    let file = id_in(&*self.system, path);
                    self.add(path, file, format, claim, stat.stamp, None);
                }
                Ok(Err(why)) => self.problem(path, why),
                Err(e) => self.problem(path, problem::unreadable(&e, "read it")),
            }
        } else {
            let file = id_in(&*self.system, path);
            self.file(root, path, file, || Ok(stat));
        }
    }

    fn folder(&mut self, root: &SearchRoot, path: &Path, real: PathBuf, depth: usize) {
        if self.folders.contains(&real) {
            return;
        }
        let is_anything = root.agent().is_none() || !self.is_below_root(&real);
        if let Err(why) = self.reach.enter(depth, is_anything) {
            return why.map_or((), |why| self.problem(path, why));
        }
        self.folders.insert(real.clone());
        if self
            .scanner
            .polled
            .iter()
            .any(|polled| polled == root.path())
        {
            self.found.folders.push(path.to_path_buf());
        }
        match self.scanner.folder(root, &self.at(path)) {
            Ok(None) => {}
            Ok(Some(log)) => return self.add_folder(path, id_of_real(&real), log),
            Err(e) => return self.problem(path, problem::unreadable(&e, "read it")),
        }
        let entries = match self.system.list(path) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return,
            Err(e) => return self.problem(path, problem::unreadable(&e, "list this folder")),
        };
        for entry in entries.flatten() {
            self.entry(root, path, &entry, &real, depth);
        }
    }

    /// Adds the log that this file is a part of, if there is one.
    fn record(&mut self, root: &SearchRoot, path: &Path) -> bool {
        let Ok(real) = self.system.real(path) else {
            return false;
        };
        let (Some(folder), Some(name)) = (real.parent(), real.file_name().and_then(|n| n.to_str()))
        else {
            return false;
        };
        let formats = self.scanner.formats.iter();
        let mut claims = formats.filter_map(|format| format.claims(folder));
        if !claims.any(|claim| claim.store.has_part(name)) {
            return false;
        }
        // If the watcher names the file, the folder is shown by its path there.
        let named = path.parent().filter(|_| !root.names(path));
        let shown = named.unwrap_or(folder).to_path_buf();
        match self.scanner.folder(root, &self.at(&shown)) {
            Ok(None) => return false,
            Ok(Some(log)) => self.add_folder(&shown, id_of_real(folder), log),
            Err(e) => self.problem(&shown, problem::unreadable(&e, "read it")),
        }
        true
    }

    fn add_folder(&mut self, path: &Path, file: FileId, (format, claim, folder): FolderLog) {
        match folder.stamp() {
            Ok(stamp) => self.add(path, file, format, claim, stamp, Some(folder)),
            // Gone since: the next walk will not see it.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => self.problem(path, problem::unreadable(&e, "list this folder")),
        }
    }

    /// Looks at something in a folder, whose real path is `real`.
    fn entry(
        &mut self,
        root: &SearchRoot,
        folder: &Path,
        entry: &Entry,
        real: &Path,
        depth: usize,
    ) {
        let path = folder.join(&entry.name);
        match entry.kind {
            Kind::File => {
                let system = Arc::clone(&self.system);
                let id = id_of_real(&real.join(&entry.name));
                self.file(root, &path, id, || system.stat(&path));
            }
            Kind::Folder => {
                if !root.is_flat() && entry.name != ".git" && entry.name != "node_modules" {
                    self.folder(root, &path, real.join(&entry.name), depth + 1);
                }
            }
            Kind::Link => self.link(root, &path, depth),
            Kind::Other => {}
        }
    }

    fn link(&mut self, root: &SearchRoot, path: &Path, depth: usize) {
        let real = match self.system.real(path) {
            Ok(real) => real,
            Err(e) if e.kind() == io::ErrorKind::InvalidInput => return self.unfollowed.add(path),
            Err(_) => return,
        };
        let is_named_as_log = self.is_named_as_log(path);
        let Ok(stat) = self.system.stat(&real) else {
            return;
        };
        match stat.kind {
            Kind::Folder if !root.is_flat() && !self.leads_out(root, path, &real) => {
                self.folder(root, path, real, depth + 1);
            }
            Kind::File if !(is_named_as_log && self.leads_out(root, path, &real)) => {
                self.file(root, path, id_of_real(&real), || Ok(stat));
            }
            _ => {}
        }
    }

    /// Takes in a file in a folder: by its name in an agent's own, by its bytes elsewhere.
    fn file(
        &mut self,
        root: &SearchRoot,
        path: &Path,
        id: FileId,
        stat: impl FnOnce() -> io::Result<Stat>,
    ) {
        let (format, claim, stat) = match root.agent() {
            Some(format) => {
                let claim = format.claims(path).filter(is_file);
                let Some(claim) = claim else { return };
                // Gone since: the next walk will not see it.
                let Ok(stat) = stat() else { return };
                let claim = match claim.standing {
                    Standing::Perhaps => match self.settle(format, claim, path, &stat) {
                        Some(claim) => claim,
                        None => return,
                    },
                    _ => claim,
                };
                (format, claim, stat)
            }
            // Outside of an agent's own folders a name means little: most logs are `*.jsonl`.
            None => {
                if !self.is_named_as_log(path) {
                    return;
                }
                let Ok(stat) = stat() else { return };
                let len = stat.stamp.len;
                match self.scanner.recognise(&self.at(path), len) {
                    Ok(Some((format, store))) => {
                        let claim = claim_of(format, path, store);
                        let standing = self.standing(path).unwrap_or(Standing::Log);
                        (format, claim.standing(standing), stat)
                    }
                    Ok(None) => {
                        self.found.unrecognised += u64::from(len > 0);
                        return;
                    }
                    // Gone since: the next walk will not see it.
                    Err(e) if e.kind() == io::ErrorKind::NotFound => return,
                    Err(e) => return self.problem(path, problem::unreadable(&e, "read it")),
                }
            }
        };
        let is_log = |log: &PathBuf| self.system.has(log);
        let is_copy = claim.standing == Standing::Copy;
        if !is_copy && !claim.superseded_by.as_ref().is_some_and(is_log) {
            self.linked.extend(LinkedFile::of(path, &stat, false));
            self.add(path, id, format, claim, stat.stamp, None);
        }
    }

    fn add(
        &mut self,
        path: &Path,
        file: FileId,
        format: &'static Format,
        claim: Claim,
        stamp: Stamp,
        store: Option<Arc<dyn Store>>,
    ) {
        self.reach.found();
        if !self.files.insert(file) {
            return;
        }
        let at = self.at(path);
        if let StoreKind::Database(spec) = claim.store {
            return self.add_database(&at, file, format, spec);
        }
        let Some(store) = store.or_else(|| store::open(claim.store, &at)) else {
            return;
        };
        let sidecar = self.scanner.sidecar(format, &at);
        let is_archive = claim.standing == Standing::Archive;
        let logs = if is_archive {
            &mut self.found.archives
        } else {
            &mut self.found.files
        };
        logs.push(LogFile {
            facts: FileFacts {
                id: claim.id,
                parent: claim.parent,
                len: stamp.len,
                modified: stamp.modified(),
                ..facts_of(format, file, at.path)
            },
            system: at.system,
            format,
            store,
            sidecar,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::reach::MOST_DEPTH;
    use super::*;
    use crate::log::file_id;
    use crate::log::reader::first_records;
    use crate::testing::TOY;
    use agents::builtin::gemini_cli::GEMINI_CLI;
    use agents::builtin::kimi::KIMI;
    use model::event::ByLength;
    use std::fs;

    fn look(roots: Vec<SearchRoot>) -> ScanResult {
        Scanner::new(roots, vec![&TOY], |_| None).look()
    }

    fn names(found: &ScanResult) -> Vec<String> {
        let name = |log: &LogFile| {
            let name = log.facts.path.file_name().unwrap();
            name.to_string_lossy().into_owned()
        };
        let mut names: Vec<_> = found.files.iter().map(name).collect();
        names.sort();
        names
    }

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn what_a_resumed_session_leaves_is_no_session() {
        let dir = tempfile::tempdir().unwrap();
        let chats = dir.path().join("tmp/shop/chats");
        let id = "8f513296-aba2-4f46-9bd7-c0555f2a40cd";
        let head = format!(
            r#"{{"sessionId":"{id}","projectHash":"p","startTime":"2026-11-23T12:25:39Z","kind":"main"}}"#
        );
        let said = r#"{"id":"u1","timestamp":"2026-11-23T12:25:40Z","type":"user","content":[{"text":"Hello"}]}"#;
        put(
            &chats.join("session-2026-11-23T12-25-8f513296.jsonl"),
            &format!("{head}\n{said}\n"),
        );
        put(
            &chats.join("session-2026-11-23T12-26-8f513296.jsonl"),
            &format!("{head}\n"),
        );
        let roots = vec![SearchRoot::Usual(&GEMINI_CLI, dir.path().join("tmp"))];
        let found = Scanner::new(roots, vec![&GEMINI_CLI], |_| None).look();
        assert_eq!(names(&found), ["session-2026-11-23T12-25-8f513296.jsonl"]);
    }

    #[test]
    fn usual_places_by_name_alone() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("logs");
        put(&root.join("a/one.toy"), "junk");
        put(&root.join("a/one/sub.toy"), "");
        put(&root.join("notes.jsonl"), "{\"toy\":1}\n");
        let found = look(vec![
            SearchRoot::Usual(&TOY, root.clone()),
            SearchRoot::Usual(&TOY, dir.path().join("absent")),
        ]);
        assert_eq!(names(&found), ["one.toy", "sub.toy"]);
        assert!(found.problems.is_empty());
        assert_eq!(
            found.files[0].facts.file,
            file_id(&found.files[0].facts.path)
        );
    }

    #[test]
    fn the_folders_in_a_flat_place_are_not_entered() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join("one.toy"), "");
        put(&dir.path().join("below/two.toy"), "");
        let found = look(vec![SearchRoot::Flat(&TOY, dir.path().to_path_buf())]);
        assert_eq!(names(&found), ["one.toy"]);
    }

    #[test]
    fn of_two_files_that_tell_the_same_the_better_one_is_read_unless_the_other_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("sessions");
        let old = "{\"role\":\"_checkpoint\",\"id\":0}\n";
        put(&root.join("p/both/context.jsonl"), old);
        put(
            &root.join("p/both/wire.jsonl"),
            "{\"type\":\"metadata\",\"protocol_version\":\"1.8\"}\n",
        );
        put(&root.join("p/old/context.jsonl"), old);
        let look = |root| Scanner::new(vec![root], vec![&KIMI], |_| None).look();
        for root in [
            SearchRoot::Usual(&KIMI, root.clone()),
            SearchRoot::Given(root.clone()),
        ] {
            assert_eq!(names(&look(root)), ["context.jsonl", "wire.jsonl"]);
        }
        let named = look(SearchRoot::Given(root.join("p/both/context.jsonl")));
        assert_eq!(names(&named), ["context.jsonl"]);
    }

    #[test]
    fn given_folders_and_files_by_their_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            put(&dir.path().join(name), text);
            dir.path().join(name)
        };
        file("x/a.toy", "{\"toy\":1}\n");
        file("x/empty.toy", "");
        file("x/not-one.toy", "hello");
        file("x/b.jsonl", "{\"toy\":1}\n");
        file("x/c.jsonl", "{\"other\":1}\n");
        file("x/readme.md", "{\"toy\":1}\n");
        let found = look(vec![SearchRoot::Given(dir.path().to_path_buf())]);
        assert_eq!(names(&found), ["a.toy", "b.jsonl"]);
        assert_eq!(found.unrecognised, 2);

        let odd = file("named-oddly", "{\"toy\":1}\n");
        let other = file("other.txt", "hello");
        let absent = dir.path().join("absent");
        let empty = dir.path().join("x/empty.toy");
        let given = [odd, other.clone(), absent.clone(), empty].map(SearchRoot::Given);
        let found = look(given.to_vec());
        assert_eq!(names(&found), ["named-oddly"]);
        assert_eq!(found.problems.len(), 3);
        assert_eq!(found.problems[0].0, other);
        assert!(
            found.problems[0].1.contains("its first line is not JSON"),
            "{}",
            found.problems[0].1
        );
        assert!(found.problems[2].1.contains("it is empty"));
        assert_eq!(found.problems[1].0, absent);
        assert!(
            found.problems[1].1.contains("no such"),
            "{}",
            found.problems[1].1
        );
    }

    #[test]
    fn bytes_tell_how_a_file_is_read_whatever_it_is_called() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join("lines.json"), "{\"toy\":1}\n{\"toy\":2}\n");
        put(&dir.path().join("notes.txt"), "{\"toy\":\n 1}\n");
        let given =
            ["lines.json", "notes.txt"].map(|name| SearchRoot::Given(dir.path().join(name)));
        let found = look(given.to_vec());
        let entries = found.files.iter().map(|log| {
            let entries = first_records(log, &ByLength, 9).unwrap();
            (log.facts.len, entries.len())
        });
        let entries: HashMap<u64, usize> = entries.collect();
        // Two requests in two lines; one document that cannot be read.
        assert_eq!(entries, HashMap::from([(20, 4), (12, 1)]));
    }

    #[test]
    fn a_forced_file_is_read_whatever_it_holds_and_a_folder_as_ever() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("other.jsonl");
        put(&path, "hello\n");
        let found = look(vec![SearchRoot::Forced(&TOY, path.clone())]);
        assert_eq!(names(&found), ["other.jsonl"]);
        let found = look(vec![SearchRoot::Forced(&TOY, dir.path().to_path_buf())]);
        assert_eq!((found.files.len(), found.unrecognised), (0, 1));
        let mut scanner = Scanner::new(
            vec![SearchRoot::Forced(&TOY, path.clone())],
            vec![&TOY],
            |_| None,
        );
        assert_eq!(names(&scanner.scan_below(&path)), ["other.jsonl"]);
    }

    #[test]
    fn a_file_that_was_empty_is_looked_into_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        put(&path, "");
        let mut scanner = Scanner::new(
            vec![SearchRoot::Given(dir.path().to_path_buf())],
            vec![&TOY],
            |_| None,
        );
        assert!(scanner.look().files.is_empty());
        put(&path, "{\"toy\":1}\n");
        assert_eq!(names(&scanner.look()), ["a.jsonl"]);
        assert_eq!(names(&scanner.scan_below(&path)), ["a.jsonl"]);
        assert!(scanner.scan_below(Path::new("/elsewhere")).files.is_empty());
    }

    #[test]
    fn a_copy_in_the_archive_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        let (now, archive) = (dir.path().join("now"), dir.path().join("archive"));
        put(&now.join("s.toy"), "{}\n");
        put(&archive.join("s.toy"), "{}\n{}\n");
        put(&archive.join("other.toy"), "{}\n");
        let found = look(vec![
            SearchRoot::Usual(&TOY, now),
            SearchRoot::Usual(&TOY, archive.clone()),
        ]);
        assert_eq!(names(&found), ["other.toy", "s.toy"]);
        let kept = found.files.iter().find(|log| log.facts.len == 6).unwrap();
        assert_eq!(*kept.facts.path, archive.join("s.toy"));
    }

    #[test]
    fn folders_that_are_too_deep_are_said_to_be_so_once() {
        let dir = tempfile::tempdir().unwrap();
        let deepest = (0..MOST_DEPTH).fold(dir.path().to_path_buf(), |path, _| path.join("d"));
        for name in ["x", "y"] {
            fs::create_dir_all(deepest.join(name)).unwrap();
            fs::write(deepest.join(name).join("below.toy"), "{\"toy\":1}").unwrap();
        }
        fs::write(deepest.join("one.toy"), "{\"toy\":1}").unwrap();
        let found = look(vec![SearchRoot::Given(dir.path().to_path_buf())]);
        assert_eq!(names(&found), ["one.toy"]);
        let [(path, what)] = &found.problems[..] else {
            panic!("{:?}", found.problems);
        };
        assert_eq!(path.parent(), Some(&*deepest));
        assert!(what.contains("name a folder closer"), "{what}");
        let found = look(vec![SearchRoot::Given(path.clone())]);
        assert_eq!(names(&found), ["below.toy"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("logs");
        put(&root.join("a/one.toy"), "");
        symlink(&root, root.join("a/loop")).unwrap();
        symlink(root.join("a/one.toy"), root.join("again.toy")).unwrap();
        symlink(dir.path().join("nowhere"), root.join("broken.toy")).unwrap();
        let linked = dir.path().join("link");
        symlink(&root, &linked).unwrap();
        assert_eq!(look(vec![SearchRoot::Usual(&TOY, root)]).files.len(), 1);
        assert_eq!(look(vec![SearchRoot::Usual(&TOY, linked)]).files.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_folder_around_an_agents_own_is_not_followed_and_one_elsewhere_is_not_for_ever() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("home/logs");
        put(&root.join("a/one.toy"), "");
        put(&dir.path().join("home/other.toy"), "");
        symlink("/", root.join("all")).unwrap();
        symlink(dir.path().join("home"), root.join("a/home")).unwrap();
        // Another disk.
        put(&dir.path().join("disk/two.toy"), "");
        symlink(dir.path().join("disk"), root.join("disk")).unwrap();
        let found = look(vec![SearchRoot::Usual(&TOY, root)]);
        assert_eq!(names(&found), ["one.toy", "two.toy"]);
        assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
    }

    #[test]
    fn what_vanishes_between_the_listing_and_the_look_at_it_is_no_problem() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let files = ["a.jsonl", "b.toy", "c.toys", "below/d.toy"];
        files
            .iter()
            .for_each(|name| put(&at(name), "{\"toy\":1}\n"));
        put(&at("talk/parts/part-1.json"), "{\"toy\":1}");
        let database = rusqlite::Connection::open(at("all.talks")).unwrap();
        database.execute_batch("CREATE TABLE talk(id)").unwrap();
        drop(database);
        let listed: Vec<Entry> = Local.list(dir.path()).unwrap().flatten().collect();
        let stat = Local.stat(&at("a.jsonl")).unwrap();
        for entry in &listed {
            let path = dir.path().join(&entry.name);
            if entry.kind == Kind::Folder {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        let folder = dir.path().to_path_buf();
        for root in [
            SearchRoot::Given(folder.clone()),
            SearchRoot::Usual(&TOY, folder.clone()),
        ] {
            let mut scanner = Scanner::new(vec![root.clone()], vec![&TOY], |_| None);
            let mut walk = Walk::new(&mut scanner);
            for (n, entry) in (1..).zip(&listed) {
                walk.entry(&root, &folder, entry, &folder, 0);
                // It vanishes a moment later.
                let path = folder.join(&entry.name);
                walk.file(&root, &path, FileId(n), || Ok(stat));
            }
            let parts = at("talk/parts");
            walk.folder(&root, &parts, parts.clone(), 1);
            assert_eq!(walk.found.problems, []);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_without_permission_is_a_problem() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let closed = dir.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
        let found = look(vec![SearchRoot::Usual(&TOY, dir.path().to_path_buf())]);
        let is_root = fs::read_dir(&closed).is_ok();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        if !is_root {
            assert_eq!(found.problems.len(), 1);
            assert_eq!(found.problems[0].0, closed);
        }
    }

    #[test]
    fn a_chat_and_its_transcript_are_one_session() {
        let home = tempfile::tempdir().unwrap();
        let id = "c0000000-0000-4000-8000-000000000001";
        let chat = home.path().join("chats/f/c/store.db");
        let transcript = home
            .path()
            .join(format!("projects/p/agent-transcripts/{id}.jsonl"));
        for path in [&chat, &transcript] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        let sql = include_str!("fixtures/cursor/chat_with_own_sizes/log.sql");
        let writer = rusqlite::Connection::open(&chat).unwrap();
        writer.execute_batch(sql).unwrap();
        drop(writer);
        std::fs::write(
            &transcript,
            "{\"role\":\"user\",\"message\":{\"content\":[]}}\n",
        )
        .unwrap();
        let root = SearchRoot::Usual(&agents::builtin::cursor::CURSOR, home.path().to_path_buf());
        let found = Scanner::new(vec![root], vec![], |_| None).look().files;
        assert_eq!(found.len(), 1);
        assert!(found[0].facts.path.ends_with("store.db"));
    }
}
