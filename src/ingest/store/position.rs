//! A position in a growing log of lines: reads what was appended, and notices when the log is no longer
//! the one that was read before.

use super::Stamp;
use super::bytes::{Bytes, Open};
use crate::ingest::lines::{CHUNK, Lines, OnLine, Step};
use crate::ingest::reader::Progress;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes at the file's beginning that are remembered by hash.
const HEAD: u64 = 1 << 10;
/// Bytes before the cursor that are remembered by hash.
const BEFORE: u64 = 4 << 10;
/// Where reading continues.
#[derive(Debug, Clone)]
pub struct Position {
    /// After the last newline that was delivered.
    offset: u64,
    /// The number of the line that begins there; 0: not known.
    number: u64,
    /// The file as it was when last read.
    seen: Option<Stamp>,
    /// Whether a write since would show in the stamp.
    sure: bool,
    seal: Seal,
    /// There is no newline between `offset` and here: a line in many pieces is not read again and again.
    scanned: u64,
    end: End,
}

/// How the file ended at this position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// There may be more lines.
    Open,
    /// All was read; the bytes after `offset`, if any, are not a complete line yet.
    Drained,
    /// A last line without its newline was delivered.
    Cut,
}

/// Hashes of what was read, to notice a rewritten file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Seal {
    end: u64,
    head: u64,
    before: u64,
}

impl Seal {
    fn of(file: &mut Bytes, end: u64) -> io::Result<Seal> {
        let head = hash(file, 0, end.min(HEAD))?;
        let from = end.saturating_sub(BEFORE);
        Ok(Seal {
            end,
            head,
            before: if from == 0 && end <= HEAD {
                head
            } else {
                hash(file, from, end - from)?
            },
        })
    }
}

fn hash(file: &mut Bytes, from: u64, len: u64) -> io::Result<u64> {
    let mut bytes = [0; BEFORE as usize];
    let bytes = &mut bytes[..usize::try_from(len).unwrap_or(0).min(BEFORE as usize)];
    file.seek(SeekFrom::Start(from))?;
    let mut hasher = DefaultHasher::new();
    match file.read_exact(bytes) {
        Ok(()) => hasher.write(bytes),
        // Shorter than it was: another hash, thus a rewrite.
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => hasher.write_u64(u64::MAX),
        Err(e) => return Err(e),
    }
    Ok(hasher.finish())
}

impl Position {
    /// At the file's beginning.
    pub fn start() -> Position {
        Position::at(0, 1)
    }

    /// At a line's first byte, with the line's number (0: not known).
    pub fn at(offset: u64, number: u64) -> Position {
        Position {
            offset,
            number,
            seen: None,
            sure: false,
            seal: Seal::default(),
            scanned: offset,
            end: End::Open,
        }
    }

    /// The first byte that was not delivered.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the file, as it was when last read, ends in a line without its newline.
    pub fn is_inside_line(&self) -> bool {
        self.end == End::Drained && self.seen.is_some_and(|seen| seen.len > self.offset)
    }

    /// Records that everything up to the end of `lines` was read from an open file by other means.
    pub fn read_up_to(&mut self, file: &mut Bytes, stamp: Stamp, lines: &Lines) -> io::Result<()> {
        self.offset = lines.offset();
        self.number = lines.number();
        self.scanned = self.offset + lines.partial();
        self.seal = Seal::of(file, self.offset)?;
        self.see(stamp);
        self.end = End::Drained;
        Ok(())
    }

    fn see(&mut self, stamp: Stamp) {
        self.seen = Some(stamp);
        self.sure = stamp.is_sure();
    }

    /// Delivers the complete lines that have not been delivered yet. [`Progress::More`]: the receiver stopped.
    pub fn read_more(&mut self, log: &dyn Open, deliver: &mut OnLine<'_>) -> io::Result<Progress> {
        let Some((mut file, stamp)) = self.open(log)? else {
            return Ok(Progress::Restart);
        };
        if self.end != End::Open && self.seen == Some(stamp) && self.sure {
            return Ok(Progress::Done);
        }
        if !self.holds(&mut file)? {
            return Ok(Progress::Restart);
        }
        if self.end == End::Cut {
            // Nothing follows the last line yet.
            self.see(stamp);
            return Ok(Progress::Done);
        }
        // Written to, but not longer: the piece of a line may be another one.
        if stamp.len <= self.scanned {
            self.scanned = self.offset;
        }
        if self.scanned > self.offset && !self.finds_newline(&mut file, stamp.len)? {
            self.see(stamp);
            self.end = End::Drained;
            return Ok(Progress::Done);
        }
        let (lines, last) = self.lines(&mut file, stamp.len, deliver)?;
        self.read_up_to(&mut file, stamp, &lines)?;
        if last == Step::Stopped {
            self.scanned = self.offset;
            self.end = End::Open;
            return Ok(Progress::More);
        }
        Ok(Progress::Done)
    }

    /// Delivers everything, a last line without its newline too, as [`crate::ingest::lines::Line::Unfinished`]
    /// where it is not whole. For files nobody is writing to.
    pub fn finish(&mut self, log: &dyn Open, deliver: &mut OnLine<'_>) -> io::Result<Progress> {
        loop {
            match self.read_more(log, deliver)? {
                Progress::More => {}
                Progress::Done => break,
                Progress::Restart => return Ok(Progress::Restart),
            }
        }
        if !self.is_inside_line() {
            return Ok(Progress::Done);
        }
        let Some((mut file, stamp)) = self.open(log)? else {
            return Ok(Progress::Restart);
        };
        let (mut lines, _) = self.lines(&mut file, stamp.len, deliver)?;
        let cut = lines.partial() > 0;
        let _ = lines.finish(deliver);
        self.read_up_to(&mut file, stamp, &lines)?;
        if cut {
            self.end = End::Cut;
        }
        Ok(Progress::Done)
    }

    /// Opens the log; `None`: it is another one, or shorter than what was read.
    fn open(&self, log: &dyn Open) -> io::Result<Option<(Bytes, Stamp)>> {
        let (file, stamp) = log.open()?;
        let same = self.seen.is_none_or(|seen| seen.version == stamp.version);
        Ok((same && stamp.len >= self.offset).then_some((file, stamp)))
    }

    /// Whether what was read is still there, and whether a last line without a newline has ended since,
    /// rather than continued.
    fn holds(&mut self, file: &mut Bytes) -> io::Result<bool> {
        if self.seen.is_none() {
            return Ok(true);
        }
        if Seal::of(file, self.seal.end)? != self.seal {
            return Ok(false);
        }
        if self.end == End::Cut {
            let mut next = [0; 2];
            file.seek(SeekFrom::Start(self.offset))?;
            let n = file.read(&mut next)?;
            let skip = match &next[..n] {
                [] => return Ok(true),
                [b'\n', ..] => 1,
                b"\r\n" => 2,
                _ => return Ok(false),
            };
            self.offset += skip;
            self.scanned = self.offset;
            self.end = End::Open;
        }
        Ok(true)
    }

    fn finds_newline(&mut self, file: &mut Bytes, len: u64) -> io::Result<bool> {
        file.seek(SeekFrom::Start(self.scanned))?;
        let mut source = file.take(len.saturating_sub(self.scanned));
        let mut chunk = vec![0; CHUNK.min(source.limit() as usize)];
        loop {
            let n = source.read(&mut chunk)?;
            if n == 0 {
                return Ok(false);
            }
            if memchr::memchr(b'\n', &chunk[..n]).is_some() {
                return Ok(true);
            }
            self.scanned += n as u64;
        }
    }

    /// Delivers the lines from here on, in a log of `len` bytes.
    fn lines(
        &self,
        file: &mut Bytes,
        len: u64,
        deliver: &mut OnLine<'_>,
    ) -> io::Result<(Lines, Step)> {
        let rest = len.saturating_sub(self.offset);
        let mut lines = Lines::at(self.offset, self.number, rest);
        file.seek(SeekFrom::Start(self.offset))?;
        let last = lines.read_all(&mut file.take(rest), deliver)?;
        Ok((lines, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::lines::Line;
    use crate::model::event::Place;
    use proptest::prelude::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::ops::ControlFlow;
    use std::path::PathBuf;

    struct Log {
        _dir: tempfile::TempDir,
        path: PathBuf,
        cursor: Position,
        seen: Vec<(Place, String)>,
    }

    impl Log {
        fn new(text: &[u8]) -> Log {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("log.jsonl");
            fs::write(&path, text).unwrap();
            Log {
                _dir: dir,
                path,
                cursor: Position::start(),
                seen: Vec::new(),
            }
        }

        fn append(&self, bytes: &[u8]) {
            let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
            file.write_all(bytes).unwrap();
        }

        fn go(&mut self, finish: bool) -> Progress {
            let seen = &mut self.seen;
            let deliver: &mut OnLine<'_> = &mut |place, line| {
                seen.push((
                    place,
                    match line {
                        Line::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                        other => format!("{other:?}"),
                    },
                ));
                ControlFlow::Continue(())
            };
            match finish {
                true => self.cursor.finish(&self.path, deliver).unwrap(),
                false => self.cursor.read_more(&self.path, deliver).unwrap(),
            }
        }

        fn more(&mut self) -> Progress {
            self.go(false)
        }

        fn lines(&self) -> Vec<&str> {
            self.seen.iter().map(|(_, line)| line.as_str()).collect()
        }
    }

    #[test]
    fn a_line_in_two_pieces_waits_for_its_end() {
        let mut log = Log::new(b"1\n2");
        assert_eq!(log.more(), Progress::Done);
        assert_eq!(log.lines(), ["1"]);
        assert!(log.cursor.is_inside_line());
        log.append(b"2");
        assert_eq!(log.more(), Progress::Done);
        assert_eq!(log.cursor.scanned, 4);
        log.append(b"2\n3\n");
        assert_eq!(log.more(), Progress::Done);
        assert_eq!(log.lines(), ["1", "222", "3"]);
        assert_eq!(
            log.seen[2].0,
            Place {
                line: 3,
                offset: 6,
                len: 1
            }
        );
        assert!(!log.cursor.is_inside_line());
    }

    #[test]
    fn truncated_replaced_rewritten() {
        let text = b"{\"a\":1}\n{\"b\":2}\n";
        // Truncated.
        let mut log = Log::new(text);
        log.more();
        fs::write(&log.path, b"{}\n").unwrap();
        assert_eq!(log.more(), Progress::Restart);
        // Truncated and already longer again.
        let mut log = Log::new(text);
        log.more();
        fs::write(&log.path, b"{\"c\":3}\n{\"d\":4}\n{\"e\":5}\n").unwrap();
        assert_eq!(log.more(), Progress::Restart);
        // Replaced by a file with the same beginning.
        let mut log = Log::new(text);
        log.more();
        let other = log.path.with_extension("new");
        fs::write(&other, [&text[..], b"{}\n"].concat()).unwrap();
        fs::rename(&other, &log.path).unwrap();
        assert_eq!(log.more(), Progress::Restart);
        // The last lines rewritten in place.
        let mut log = Log::new(text);
        log.more();
        fs::write(&log.path, b"{\"a\":1}\n{\"x\":2}\n").unwrap();
        assert_eq!(log.more(), Progress::Restart);
        // Only appended to.
        let mut log = Log::new(text);
        log.more();
        log.append(b"{}\n");
        assert_eq!(log.more(), Progress::Done);
        assert_eq!(log.lines().len(), 3);
        // Gone.
        fs::remove_file(&log.path).unwrap();
        assert!(
            log.cursor
                .read_more(&log.path, &mut |_, _| ControlFlow::Continue(()))
                .is_err()
        );
    }

    #[test]
    fn a_last_line_without_newline() {
        let mut log = Log::new(b"{\"a\":1}\n{\"b\":2}");
        assert_eq!(log.go(true), Progress::Done);
        assert_eq!(log.lines(), ["{\"a\":1}", "{\"b\":2}"]);
        assert_eq!(log.go(true), Progress::Done);
        let touched = OpenOptions::new().write(true).open(&log.path).unwrap();
        touched
            .set_modified(std::time::SystemTime::UNIX_EPOCH)
            .unwrap();
        assert_eq!(log.more(), Progress::Done);
        log.append(b"\n{\"c\":3}\n");
        assert_eq!(log.more(), Progress::Done);
        assert_eq!(log.lines()[2..], ["{\"c\":3}"]);
        assert_eq!(
            log.seen[2].0,
            Place {
                line: 3,
                offset: 16,
                len: 7
            }
        );
        // It was not whole, and goes on.
        let mut log = Log::new(b"{\"a\":");
        assert_eq!(log.go(true), Progress::Done);
        assert_eq!(log.lines(), ["Unfinished"]);
        log.append(b"1}\n");
        assert_eq!(log.more(), Progress::Restart);
    }

    #[test]
    fn a_piece_of_a_line_that_is_taken_back() {
        let mut log = Log::new(b"1\nabcdef");
        log.more();
        let file = OpenOptions::new().write(true).open(&log.path).unwrap();
        file.set_len(2).unwrap();
        log.append(b"x\nyz\n");
        assert_eq!(log.more(), Progress::Done);
        assert_eq!(log.lines(), ["1", "x", "yz"]);
    }

    #[test]
    fn beyond_4_gib() {
        let mut log = Log::new(b"");
        let file = OpenOptions::new().write(true).open(&log.path).unwrap();
        let end = (5_u64 << 30) + 7;
        file.set_len(end).unwrap();
        log.append(b"\n{\"a\":1}\n");
        log.cursor = Position::at(end + 1, 0);
        assert_eq!(log.more(), Progress::Done);
        log.append(b"{\"b\":2}\n");
        assert_eq!(log.more(), Progress::Done);
        assert_eq!(
            log.seen[1].0,
            Place {
                line: 0,
                offset: end + 9,
                len: 7
            }
        );
    }

    #[test]
    fn stopping_and_going_on() {
        let mut log = Log::new(b"1\n2\n3\n");
        let mut seen = Vec::new();
        let mut rounds = 0;
        loop {
            rounds += 1;
            let outcome = log.cursor.read_more(&log.path, &mut |place, _| {
                seen.push(place.line);
                ControlFlow::Break(())
            });
            if outcome.unwrap() == Progress::Done {
                break;
            }
        }
        assert_eq!(seen, [1, 2, 3]);
        assert_eq!(rounds, 4);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_tears_give_the_same_lines(
            text in "([a-z{}\"é漢]{0,20}(\n|\r\n)){1,12}[a-z]{0,5}",
            tears in prop::collection::vec(0_usize..10_000, 0..8),
        ) {
            let bytes = text.as_bytes();
            let mut whole = Log::new(bytes);
            whole.go(true);
            let mut cuts: Vec<usize> = tears.iter().map(|cut| cut % (bytes.len() + 1)).collect();
            cuts.sort_unstable();
            cuts.push(bytes.len());
            let mut log = Log::new(b"");
            let mut from = 0;
            for cut in cuts {
                log.append(&bytes[from..cut]);
                from = cut;
                prop_assert_eq!(log.more(), Progress::Done);
            }
            log.go(true);
            prop_assert_eq!(log.seen, whole.seen);
        }
    }
}
