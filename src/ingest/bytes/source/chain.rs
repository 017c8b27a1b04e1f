//! A log that continues another one: its first line names a file and how much of it comes before the
//! lines that follow. That file may itself continue another.
//!
//! It is read as one log: its first line, what it inherits, the rest of it. What is inherited is found by
//! name, in the agent's own folders and the log's.

use super::Stamp;
use crate::bytes::source::file_system::{Kind, Location};
use crate::bytes::source::{self, Bytes, Open, Positioned, ReadAt, read_some};
use crate::bytes::sync::lock;
use formats::{ChainSpec, End};
use memchr::memmem;
use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use xxhash_rust::xxh3::xxh3_64;

/// The longest first line that is searched, in bytes.
const LONGEST_FIRST_LINE: u64 = 1 << 20;
/// The most logs in a chain; a longer one is cut at its beginning.
const LONGEST_CHAIN: usize = 32;
/// The most of reverted turns that are read, in bytes.
const MOST_REVERTED: u64 = 16 << 20;
/// The most folders that are searched for one file.
const MOST_FOLDERS: usize = 20_000;

/// A log that may continue another one.
pub struct Chain {
    at: Location,
    spec: &'static ChainSpec,
    own: Arc<dyn Open>,
    inherited: Mutex<Option<InheritedContent>>,
}

/// The content that a log inherits.
#[derive(Clone)]
struct InheritedContent {
    /// The log when this was looked for; `None`: a write since would not show in its stamp.
    seen: Option<Stamp>,
    /// The hash of its first line.
    hash: u64,
    /// The length of the log's first line, its newline included.
    first: u64,
    parts: Arc<[Part]>,
    /// True if its first line names a file that it continues, found or not.
    names_base: bool,
}

/// A piece of another file.
struct Part {
    source: Arc<dyn Open>,
    from: u64,
    to: u64,
}

impl Chain {
    /// Returns the log at a path.
    pub fn new(at: &Location, spec: &'static ChainSpec) -> Chain {
        Chain {
            at: at.clone(),
            spec,
            own: source::file(at),
            inherited: Mutex::default(),
        }
    }

    /// Returns the content that the log inherits. It is looked for once, and again if the first line of the log is
    /// another one.
    fn inherited(&self, own: &mut Bytes, stamp: Stamp) -> io::Result<Option<InheritedContent>> {
        let mut held = lock(&self.inherited);
        if held.as_ref().is_some_and(|held| held.seen == Some(stamp)) {
            return Ok(held.clone());
        }
        let seen = Some(stamp).filter(Stamp::is_sure);
        match (first_line(own)?, &mut *held) {
            (None, held) => *held = None,
            (Some(line), Some(held)) if xxh3_64(&line) == held.hash => held.seen = seen,
            (Some(line), held) => {
                let mut visited = vec![self.at.path.to_path_buf()];
                *held = Some(InheritedContent {
                    seen,
                    hash: xxh3_64(&line),
                    first: line.len() as u64,
                    names_base: (self.spec.base)(&line).is_some(),
                    parts: self.before(&self.at.path, &line, &mut visited).into(),
                });
            }
        }
        Ok(held.clone())
    }

    /// Returns the parts before the second line of the log at `path`, of which this is the first. A file that is not
    /// there, or no longer whole, leaves nothing.
    fn before(&self, path: &Path, line: &[u8], seen: &mut Vec<PathBuf>) -> Vec<Part> {
        let mut part = || {
            let (name, end) = (self.spec.base)(line)?;
            let base = self.find(path, &name)?;
            if seen.len() > LONGEST_CHAIN || seen.contains(&base) {
                return None;
            }
            seen.push(base.clone());
            let source = source::file(&self.at.at(base.clone()));
            let (mut bytes, stamp) = source.open().ok()?;
            let first = first_line(&mut bytes).ok()??;
            let end = match end {
                End::At(end) => end,
                End::After { field, value } => end_of_line(&mut bytes, field, &value).ok()??,
            };
            let middle = (first.len() as u64).min(end);
            if stamp.len < end {
                return None;
            }
            let mut parts = vec![Part {
                source: Arc::clone(&source),
                from: 0,
                to: middle,
            }];
            let is_same = (self.spec.is_same)(line, &first);
            let reverted = is_same.then(|| self.reverted(&mut bytes, end, stamp.len));
            let end = end + reverted.unwrap_or(Ok(0)).ok()?;
            parts.extend(self.before(&base, &first, seen));
            parts.push(Part {
                source,
                from: middle,
                to: end,
            });
            Some(parts)
        };
        part().unwrap_or_default()
    }

    /// Returns the length of what was reverted between these places, or 0 where it cannot be taken back, is too much or is
    /// not complete.
    fn reverted(&self, bytes: &mut Bytes, from: u64, to: u64) -> io::Result<u64> {
        let len = to.saturating_sub(from);
        let mut rest = Vec::new();
        if (1..=MOST_REVERTED).contains(&len) {
            bytes.seek(SeekFrom::Start(from))?;
            bytes.take(len).read_to_end(&mut rest)?;
        }
        let has_reset = || memmem::find(&rest, self.spec.reset_mark.as_bytes()).is_some();
        let is_read = rest.ends_with(b"\n") && !has_reset();
        Ok(if is_read { rest.len() as u64 } else { 0 })
    }

    /// Returns the file of this name in the folders of the log at `log`. Links are not followed.
    fn find(&self, log: &Path, name: &str) -> Option<PathBuf> {
        let mut folders: VecDeque<PathBuf> = (self.spec.folders)(log).into();
        let system = &self.at.system;
        let mut visited = 0;
        while let Some(folder) = folders.pop_front() {
            visited += 1;
            if visited > MOST_FOLDERS {
                return None;
            }
            let Ok(folder) = system.beside(log, &folder) else {
                continue;
            };
            for entry in system.list(&folder).into_iter().flatten().flatten() {
                let is_base = |file: &str| (self.spec.is_base)(file, name);
                match entry.kind {
                    Kind::Folder => folders.push_back(folder.join(entry.name)),
                    Kind::File if entry.name.to_str().is_some_and(is_base) => {
                        return Some(folder.join(entry.name));
                    }
                    _ => {}
                }
            }
        }
        None
    }
}

impl Open for Chain {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let (mut own, stamp) = self.own.open()?;
        let inherited = self.inherited(&mut own, stamp)?;
        let Some(inherited) = inherited.filter(|i| !i.parts.is_empty()) else {
            own.seek(SeekFrom::Start(0))?;
            return Ok((own, stamp));
        };
        let between: u64 = inherited.parts.iter().map(|part| part.to - part.from).sum();
        let len = stamp.len + between;
        let joined = JoinedBytes {
            own,
            inherited,
            between,
            len,
            opened: None,
        };
        Ok((Box::new(Positioned::new(joined)), Stamp { len, ..stamp }))
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.own.stamp()
    }

    fn is_one_file(&self) -> bool {
        let held = lock(&self.inherited);
        held.as_ref().is_some_and(|held| !held.names_base)
    }

    fn is_streamed(&self) -> bool {
        let held = lock(&self.inherited);
        let mut parts = held.iter().flat_map(|held| held.parts.iter());
        self.own.is_streamed() || parts.any(|part| part.source.is_streamed())
    }
}

/// Returns the first line with its newline; `None`: it is not complete yet, or too long.
fn first_line(bytes: &mut Bytes) -> io::Result<Option<Vec<u8>>> {
    bytes.seek(SeekFrom::Start(0))?;
    let mut line = Vec::new();
    let mut source = bytes.take(LONGEST_FIRST_LINE);
    let mut chunk = [0; 16 << 10];
    loop {
        let read = read_some(&mut source, &mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        if let Some(at) = memchr::memchr(b'\n', &chunk[..read]) {
            line.extend_from_slice(&chunk[..=at]);
            return Ok(Some(line));
        }
        line.extend_from_slice(&chunk[..read]);
    }
}

/// Returns the end of the first line that has a field with a value, a string without escapes; `None`: no complete line
/// has it.
fn end_of_line(bytes: &mut Bytes, field: &str, value: &str) -> io::Result<Option<u64>> {
    let value = format!("\"{value}\"");
    let name = format!("\"{field}\"");
    // The bytes that a chunk leaves unsearched: a field that may go on in the next one.
    let longest = name.len() + value.len() + MOST_SPACES;
    let is_named = |before: &[u8]| {
        let before = before.trim_ascii_end().strip_suffix(b":");
        before.is_some_and(|before| before.trim_ascii_end().ends_with(name.as_bytes()))
    };
    bytes.seek(SeekFrom::Start(0))?;
    let (mut start, mut window) = (0, Vec::new());
    let mut is_found = false;
    let mut chunk = vec![0; 64 << 10];
    loop {
        let read = read_some(bytes, &mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        window.extend_from_slice(&chunk[..read]);
        let mut from = 0;
        if !is_found {
            let mut places = memmem::find_iter(&window, value.as_bytes());
            match places.find(|at| is_named(&window[..*at])) {
                Some(at) => (is_found, from) = (true, at),
                None => from = window.len().saturating_sub(longest),
            }
        }
        if is_found && let Some(at) = memchr::memchr(b'\n', &window[from..]) {
            return Ok(Some(start + (from + at + 1) as u64));
        }
        if is_found {
            from = window.len();
        }
        start += from as u64;
        window.drain(..from);
    }
}

/// The most spaces around the colon of a field.
const MOST_SPACES: usize = 64;

/// The bytes of a log with what it inherits.
struct JoinedBytes {
    own: Bytes,
    inherited: InheritedContent,
    /// The number of bytes that are inherited.
    between: u64,
    len: u64,
    /// The part that was read last.
    opened: Option<OpenPart>,
}

/// A part that is open.
struct OpenPart {
    /// Its place among the parts.
    ix: usize,
    bytes: Bytes,
}

impl ReadAt for JoinedBytes {
    fn size(&self) -> u64 {
        self.len
    }

    /// Reads in the file that the offset is in.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || offset >= self.len {
            return Ok(0);
        }
        let InheritedContent { first, parts, .. } = &self.inherited;
        let (from, most) = match offset.checked_sub(*first) {
            None => (offset, first - offset),
            Some(within) if within >= self.between => (offset - self.between, self.len - offset),
            Some(within) => return read_part(parts, within, &mut self.opened, buffer),
        };
        let most = usize::try_from(most)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        self.own.seek(SeekFrom::Start(from))?;
        self.own.read(&mut buffer[..most])
    }
}

fn read_part(
    parts: &[Part],
    mut within: u64,
    opened: &mut Option<OpenPart>,
    buffer: &mut [u8],
) -> io::Result<usize> {
    for (ix, part) in parts.iter().enumerate() {
        let len = part.to - part.from;
        if within >= len {
            within -= len;
            continue;
        }
        let bytes = match opened {
            Some(open) if open.ix == ix => &mut open.bytes,
            slot => {
                let (bytes, _) = part.source.open()?;
                &mut slot.insert(OpenPart { ix, bytes }).bytes
            }
        };
        let most = usize::try_from(len - within)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        bytes.seek(SeekFrom::Start(part.from + within))?;
        return match bytes.read(&mut buffer[..most])? {
            // It was cut short: what there is now will be read from its beginning.
            0 => Err(io::ErrorKind::WouldBlock.into()),
            read => Ok(read),
        };
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::lines::Progress;
    use crate::discover::Scanner;
    use crate::discover::roots::SearchRoot;
    use crate::log::reader::{each_usage, read_whole};
    use crate::log::{Cursor, LogFile, NewEntries, Reading};
    use agents::builtin::codex::CODEX;
    use model::event::{ByLength, Event};
    use std::fs;
    use std::io::Write;

    const A: &str = "aaaaaaaa-1111-7111-8111-111111111111";
    const B: &str = "bbbbbbbb-2222-7222-8222-222222222222";
    const C: &str = "cccccccc-3333-7333-8333-333333333333";

    /// The three rollouts of a fork of a fork, below a home of Codex.
    fn home() -> (tempfile::TempDir, [PathBuf; 3]) {
        let home = tempfile::tempdir().unwrap();
        let case = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/fixtures/codex/fork-by-reference");
        let file = |folder: &str, name: String, from: String| {
            let folder = home.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            let path = folder.join(name);
            fs::copy(case.join(from), &path).unwrap();
            path
        };
        let names = [("10-00-00", A), ("10-02-00", B), ("10-04-00", C)]
            .map(|(time, id)| format!("rollout-2026-11-20T{time}-{id}.jsonl"));
        let [a, b, c] = names;
        let paths = [
            file("archived_sessions", a.clone(), a),
            file("sessions/2026/11/20", b.clone(), b),
            file("sessions/2026/11/21", c, "log.jsonl".into()),
        ];
        (home, paths)
    }

    fn found(home: &Path) -> Vec<LogFile> {
        let roots = ["sessions", "archived_sessions"]
            .map(|folder| SearchRoot::Usual(&CODEX, home.join(folder)));
        let mut files = Scanner::new(roots.to_vec(), vec![&CODEX], |_| None)
            .look()
            .files;
        files.sort_by_key(|log| log.facts.path.file_name().map(ToOwned::to_owned));
        files
    }

    fn prompts(log: &LogFile) -> Vec<u64> {
        let mut sessions = read_whole(log, &ByLength, &Arc::default()).unwrap();
        let session = sessions.remove(0).1;
        session.requests().iter().map(|r| r.prompt).collect()
    }

    fn text(log: &LogFile) -> String {
        let chain = Chain::new(
            &log.location(),
            log.format.claims(&log.facts.path).and_then(spec).unwrap(),
        );
        let mut text = String::new();
        chain.open().unwrap().0.read_to_string(&mut text).unwrap();
        text
    }

    fn spec(claim: formats::Claim) -> Option<&'static ChainSpec> {
        match claim.store {
            formats::StoreKind::Chain(spec) => Some(spec),
            _ => None,
        }
    }

    #[test]
    fn a_fork_of_a_fork_is_read_with_all_that_it_inherits() {
        let (home, _paths) = home();
        let logs = found(home.path());
        assert_eq!(logs.len(), 3);
        assert_eq!(prompts(&logs[0]), [9_000, 9_280, 9_310]);
        assert_eq!(prompts(&logs[1]), [9_000, 9_280, 9_340]);
        assert_eq!(prompts(&logs[2]), [9_000, 9_280, 9_340, 9_430]);
        // Its id is its own, and what it inherits is billed where it took place.
        let sessions = read_whole(&logs[2], &ByLength, &Arc::default()).unwrap();
        assert_eq!(sessions[0].1.meta.id.as_deref(), Some(C));
        let mut billed = Vec::new();
        each_usage(&logs[2], &mut |entry| {
            if let Event::Usage(usage) = entry.event {
                billed.push(usage.billed.input);
            }
        })
        .unwrap();
        assert_eq!(
            billed.iter().filter(|n| **n > 0).collect::<Vec<_>>(),
            [&9_430, &9_430]
        );
    }

    #[test]
    fn every_byte_can_be_sought() {
        let (home, _paths) = home();
        let log = &found(home.path())[2];
        let whole = text(log);
        let chain = Chain::new(
            &log.location(),
            log.format.claims(&log.facts.path).and_then(spec).unwrap(),
        );
        let (mut bytes, stamp) = chain.open().unwrap();
        assert_eq!(stamp.len, whole.len() as u64);
        for at in (0..whole.len()).rev().step_by(7) {
            let mut rest = Vec::new();
            bytes.seek(SeekFrom::Start(at as u64)).unwrap();
            (&mut bytes).take(9).read_to_end(&mut rest).unwrap();
            assert_eq!(rest, &whole.as_bytes()[at..whole.len().min(at + 9)]);
        }
        assert!(bytes.seek(SeekFrom::End(-(1 << 40))).is_err());
    }

    #[test]
    fn a_base_that_is_gone_cut_or_the_log_itself_leaves_nothing() {
        let (home, [a, b, c]) = home();
        let own = fs::read_to_string(&c).unwrap();
        let base = fs::read(&b).unwrap();
        fs::write(&b, &base[..base.len() - 9]).unwrap();
        assert_eq!(text(&found(home.path())[2]), own);
        fs::write(&b, &base).unwrap();
        fs::remove_file(&a).unwrap();
        assert_eq!(prompts(found(home.path()).last().unwrap()), [9_340, 9_430]);
        // Two that name each other.
        let line = String::from_utf8(base).unwrap().replace(A, C);
        fs::write(&b, line).unwrap();
        assert_eq!(prompts(found(home.path()).last().unwrap()), [9_340, 9_430]);
        fs::remove_file(&b).unwrap();
        assert_eq!(text(&found(home.path())[0]), own);
    }

    #[test]
    fn a_first_line_that_is_replaced_in_place_inherits_what_it_names_now() {
        let (home, [_, _, c]) = home();
        let log = found(home.path()).remove(2);
        let mut cursor = log.store.cursor(&log, &Arc::default());
        cursor.finish(&ByLength).unwrap();
        let own = fs::read_to_string(&c).unwrap();
        let rest = own.find('\n').unwrap();
        let first = own[..rest].replace(B, "dddddddd-2222-7222-8222-222222222222");
        assert_ne!(first, own[..rest]);
        fs::write(&c, format!("{first}{}", &own[rest..])).unwrap();
        let restarts = |cursor: &mut Box<dyn Cursor>| {
            matches!(cursor.finish(&ByLength), Ok(NewEntries::Restart))
        };
        assert!(restarts(&mut cursor), "it inherits nothing now");
        assert_eq!(prompts(&log), [9_430]);
        let mut cursor = log.store.cursor(&log, &Arc::default());
        cursor.finish(&ByLength).unwrap();
        fs::write(&c, own).unwrap();
        assert!(restarts(&mut cursor), "and the same as at first");
        assert_eq!(prompts(&log), [9_000, 9_280, 9_340, 9_430]);
    }

    #[test]
    fn a_base_that_vanishes_between_two_reads_is_looked_for_again_and_adds_nothing() {
        let (home, [a, b, _]) = home();
        let log = found(home.path()).remove(2);
        assert_eq!(prompts(&log).len(), 4);
        fs::remove_file(a).unwrap();
        fs::remove_file(b).unwrap();
        let read = Reading::whole(&log, &Arc::default()).step(&ByLength, &mut || false);
        // Nothing of the log itself is shown as if it were all.
        assert!(!matches!(read, Ok(Progress::Done)));
    }

    #[test]
    fn it_is_followed_as_it_grows() {
        let (home, [_, _, c]) = home();
        let log = found(home.path()).remove(2);
        let mut cursor = log.store.cursor(&log, &Arc::default());
        let before = cursor.finish(&ByLength);
        assert!(
            matches!(before, Ok(crate::log::NewEntries::Entries(entries)) if !entries.is_empty())
        );
        let mut file = fs::OpenOptions::new().append(true).open(c).unwrap();
        writeln!(file, "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"more\"}}}}").unwrap();
        match cursor.finish(&ByLength).unwrap() {
            crate::log::NewEntries::Entries(entries) => assert_eq!(entries.len(), 1),
            _ => panic!("it was only appended to"),
        }
    }

    /// Returns the billed input of each response of a log.
    fn billed(log: &LogFile) -> Vec<u64> {
        let mut billed = Vec::new();
        each_usage(log, &mut |entry| {
            if let Event::Usage(usage) = entry.event {
                billed.push(usage.billed.input);
            }
        })
        .unwrap();
        billed.dedup();
        billed
    }

    #[test]
    fn a_thread_that_was_resumed_after_a_rewind_is_one_session_and_pays_for_all_of_it() {
        let (home, [a, b, c]) = home();
        fs::remove_file(b).unwrap();
        let text = fs::read_to_string(a).unwrap();
        // Without its second turn.
        let end = text.find(r#","ordinal":12,"#).unwrap();
        let end = text[..end].rfind('\n').unwrap() + 1;
        let base = format!(
            r#""history_base":{{"thread_id":"{A}","end_ordinal_exclusive":12,"end_byte_offset":{end}}}"#
        );
        let own = fs::read_to_string(&c).unwrap().replace(C, A);
        let (before, rest) = own.split_once(r#""history_base":"#).unwrap();
        let (_, rest) = rest.split_once('}').unwrap();
        let own = format!("{before}{base}{rest}").replacen(r#""ordinal":21"#, r#""ordinal":12"#, 1);
        let name = format!("rollout-2026-11-20T11-00-00-{A}_{C}.jsonl");
        fs::write(c.with_file_name(name), own).unwrap();
        fs::remove_file(c).unwrap();
        let roots = ["sessions", "archived_sessions"]
            .map(|folder| SearchRoot::Usual(&CODEX, home.path().join(folder)));
        let found = Scanner::new(roots.to_vec(), vec![&CODEX], |_| None).look();
        let [session] = &found.files[..] else {
            panic!("{} sessions", found.files.len());
        };
        assert_eq!(prompts(session), [9_000, 9_280, 9_430]);
        assert_eq!(billed(session), [9_000, 9_280, 9_430]);
        // The turn that was taken back was paid for.
        let [segment] = &found.archives[..] else {
            panic!("{} segments", found.archives.len());
        };
        assert_eq!(billed(segment), [9_000, 9_280, 9_310]);
    }

    #[test]
    fn the_newest_rollout_of_a_thread_is_the_live_one() {
        let (home, [_, b, _]) = home();
        let reverted = format!("rollout-2026-11-22T09-00-00-{B}_{A}.jsonl");
        fs::copy(&b, home.path().join("sessions").join(&reverted)).unwrap();
        let names = || -> Vec<String> {
            let name = |log: LogFile| {
                log.facts
                    .path
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            };
            found(home.path()).into_iter().map(name).collect()
        };
        assert_eq!(names().len(), 3);
        assert!(names().contains(&reverted));
        // An archived copy, compressed: the plain one is at least as new.
        let name = format!("{reverted}.zst");
        fs::write(home.path().join("archived_sessions").join(name), b"").unwrap();
        assert!(names().contains(&reverted));
    }
}
