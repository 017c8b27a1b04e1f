//! A position in a growing log of lines: reads what was appended, and notices when the log is no longer
//! the one that was read before.

use super::blocks::{Blocks, Check, HashingReader};
use crate::bytes::lines::{Lines, OnLine, Progress, Step};
use crate::bytes::source::{Bytes, CHUNK, Open, Stamp, read_some};
use std::io::{self, Read, Seek, SeekFrom};

/// The place at which reading continues.
#[derive(Debug, Clone)]
pub struct Position {
    /// The offset after the last newline that was delivered.
    offset: u64,
    /// The number of the line that begins there; 0: not known.
    number: u64,
    /// The file's stamp when it was last read.
    seen: Option<Stamp>,
    /// True if a write since would show in the stamp.
    sure: bool,
    /// Hashes of what was read, to notice a rewritten file.
    blocks: Blocks,
    /// There is no newline between `offset` and here: a line in many pieces is not read again and again.
    scanned: u64,
    /// The number of bytes that may be read again until that line ends.
    again: u64,
    /// True if all was to be compared, and was not.
    owes_all: bool,
    end: End,
}

/// While a line is unfinished, each look compares what is before it, and may search it from its beginning. That may
/// read this many bytes, and as many as were appended; beyond, it is done when the line ends.
const REREAD_BYTES: u64 = 1 << 20;

/// The state of the file's end at this position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// There may be more lines.
    Open,
    /// All was read; the bytes after `offset`, if any, are not a complete line yet.
    Drained,
    /// A last line without its newline was delivered.
    Cut,
}

impl Position {
    /// Returns the position at the file's beginning.
    pub fn start() -> Position {
        Position::at(0, 1)
    }

    /// Returns the position at a line's first byte, with the line's number (0: not known).
    pub fn at(offset: u64, number: u64) -> Position {
        Position {
            offset,
            number,
            seen: None,
            sure: false,
            blocks: Blocks::at(offset),
            scanned: offset,
            again: REREAD_BYTES,
            owes_all: false,
            end: End::Open,
        }
    }

    /// Returns true if the file ended, when it was last read, in a line without its newline.
    pub fn is_inside_line(&self) -> bool {
        self.end == End::Drained && self.seen.is_some_and(|seen| seen.len > self.offset)
    }

    /// Records that everything from `start` up to the end of `lines` was read from an open file by other means.
    pub fn read_up_to(
        &mut self,
        file: &mut Bytes,
        stamp: Stamp,
        start: u64,
        lines: &Lines,
    ) -> io::Result<()> {
        self.blocks = Blocks::over(file, start, lines.offset)?;
        self.drained(stamp, lines);
        Ok(())
    }

    fn drained(&mut self, stamp: Stamp, lines: &Lines) {
        if lines.offset > self.offset {
            self.again = REREAD_BYTES;
        }
        self.offset = lines.offset;
        self.number = lines.number;
        self.scanned = self.offset + lines.length;
        self.see(stamp);
        self.end = End::Drained;
    }

    fn see(&mut self, stamp: Stamp) {
        self.seen = Some(stamp);
        self.sure = stamp.is_sure();
    }

    /// Delivers the complete lines that have not been delivered yet. [`Progress::More`]: the receiver stopped.
    pub fn read_more(&mut self, log: &dyn Open, deliver: &mut OnLine<'_>) -> io::Result<Progress> {
        self.read_until(log, deliver, &|| false)
    }

    /// Like [`Position::read_more`], but stops once there is enough; see [`Lines::read_until`].
    pub fn read_until(
        &mut self,
        log: &dyn Open,
        deliver: &mut OnLine<'_>,
        is_enough: &dyn Fn() -> bool,
    ) -> io::Result<Progress> {
        let Some((mut file, stamp)) = self.open(log)? else {
            return Ok(Progress::Restart);
        };
        if self.end != End::Open && self.seen == Some(stamp) && self.sure {
            return Ok(Progress::Done);
        }
        if self.is_piece_of_many(stamp) {
            if stamp.len == self.scanned {
                // The stamp stays the old one, so that all is compared when nobody has written for some time.
                self.owes_all |= self.seen != Some(stamp);
                return Ok(Progress::Done);
            }
            if !self.finds_newline(&mut file, stamp.len)? {
                self.see(stamp);
                return Ok(Progress::Done);
            }
        }
        let Some(piece) = self.holds(&mut file, stamp)? else {
            return Ok(Progress::Restart);
        };
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
        let last = self.lines(&mut file, stamp, (piece, false), deliver, is_enough)?;
        if last == Step::Stopped {
            self.scanned = self.offset;
            self.end = End::Open;
            return Ok(Progress::More);
        }
        Ok(Progress::Done)
    }

    /// Delivers everything, a last line without its newline too, as [`crate::bytes::lines::Line::Unfinished`]
    /// where it is not whole. For files nobody is writing to.
    pub fn finish(&mut self, log: &dyn Open, deliver: &mut OnLine<'_>) -> io::Result<Progress> {
        let mut read = Progress::More;
        while read == Progress::More {
            read = self.read_more(log, deliver)?;
        }
        if read == Progress::Restart || !self.is_inside_line() {
            return Ok(read);
        }
        let Some((mut file, stamp)) = self.open(log)? else {
            return Ok(Progress::Restart);
        };
        let Some(piece) = self.holds(&mut file, stamp)? else {
            return Ok(Progress::Restart);
        };
        self.lines(&mut file, stamp, (piece, true), deliver, &|| false)?;
        Ok(Progress::Done)
    }

    /// Opens the log; `None`: it is another one, or shorter than what was read.
    fn open(&self, log: &dyn Open) -> io::Result<Option<(Bytes, Stamp)>> {
        let (file, stamp) = log.open()?;
        let same = self.seen.is_none_or(|seen| seen.is_same_file(stamp));
        Ok((same && stamp.len >= self.offset).then_some((file, stamp)))
    }

    /// Returns true if the last line of the file has come in so many pieces that a comparison of the bytes read before
    /// would read more than came. The line may seem to be written to without being longer: a write shows in the time
    /// before it does in the length.
    fn is_piece_of_many(&mut self, stamp: Stamp) -> bool {
        let Some(appended) = stamp.len.checked_sub(self.scanned) else {
            return false;
        };
        if !self.is_inside_line() {
            return false;
        }
        let is_longer = appended > 0;
        let check = if self.owes_all || (!is_longer && self.seen != Some(stamp)) {
            Check::All
        } else {
            Check::Some
        };
        let search = if is_longer {
            0
        } else {
            self.scanned - self.offset
        };
        let cost = search + self.blocks.cost(check);
        let left = self.again.saturating_add(appended);
        let left_after = left.checked_sub(cost);
        self.again = left_after.unwrap_or(left);
        left_after.is_none()
    }

    /// Checks that the bytes read before are still there, and that a last line without a newline has ended since,
    /// rather than continued. Returns the bytes that the hashes continue with; `None`: the check fails.
    fn holds(&mut self, file: &mut Bytes, stamp: Stamp) -> io::Result<Option<Vec<u8>>> {
        let Some(seen) = self.seen else {
            return Ok(Some(Vec::new()));
        };
        let owes_all = std::mem::take(&mut self.owes_all);
        let check = if owes_all || (seen != stamp && stamp.len <= seen.len) {
            Check::All
        } else if seen == stamp && self.end == End::Open && self.sure {
            Check::Rest
        } else {
            Check::Some
        };
        let Some(piece) = self.blocks.compare(file, check)? else {
            return Ok(None);
        };
        if self.end == End::Cut {
            let mut next = Vec::with_capacity(2);
            file.seek(SeekFrom::Start(self.offset))?;
            file.take(2).read_to_end(&mut next)?;
            let skip = match &next[..] {
                [] => return Ok(Some(piece)),
                [b'\n', ..] => 1,
                b"\r\n" => 2,
                _ => return Ok(None),
            };
            self.offset += skip;
            self.scanned = self.offset;
            self.end = End::Open;
        }
        Ok(Some(piece))
    }

    fn finds_newline(&mut self, file: &mut Bytes, len: u64) -> io::Result<bool> {
        file.seek(SeekFrom::Start(self.scanned))?;
        let mut source = file.take(len.saturating_sub(self.scanned));
        let mut chunk = vec![0; CHUNK.min(source.limit() as usize)];
        loop {
            let n = read_some(&mut source, &mut chunk)?;
            if n == 0 {
                return Ok(false);
            }
            if memchr::memchr(b'\n', &chunk[..n]).is_some() {
                return Ok(true);
            }
            self.scanned += n as u64;
        }
    }

    /// Delivers the lines from here on, and at a settled end a last line without its newline. `piece` is what the
    /// hashes continue with.
    fn lines(
        &mut self,
        file: &mut Bytes,
        stamp: Stamp,
        (piece, is_settled): (Vec<u8>, bool),
        deliver: &mut OnLine<'_>,
        is_enough: &dyn Fn() -> bool,
    ) -> io::Result<Step> {
        let rest = stamp.len.saturating_sub(self.offset);
        let mut lines = Lines::at(self.offset, self.number, rest);
        let hashed = self.blocks.end;
        file.seek(SeekFrom::Start(hashed))?;
        let mut source = HashingReader::new(file, piece);
        // The newline after a last line that was delivered without it.
        let gap = self.offset.saturating_sub(hashed);
        io::copy(&mut (&mut source).take(gap), &mut io::sink())?;
        let last = lines.read_until(&mut (&mut source).take(rest), deliver, is_enough)?;
        let is_cut = is_settled && lines.length > 0;
        if is_settled {
            lines.finish(deliver);
        }
        let hashed = source.hashed;
        self.blocks.seal(file, lines.offset, hashed)?;
        self.drained(stamp, &lines);
        if is_cut {
            self.end = End::Cut;
        }
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::lines::Line;
    use model::event::Place;
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
            if finish {
                self.cursor.finish(&self.path, deliver).unwrap()
            } else {
                self.cursor.read_more(&self.path, deliver).unwrap()
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
        assert_eq!(log.seen[2].0, Place::new(3, 6, 1));
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
        assert_eq!(log.seen[2].0, Place::new(3, 16, 7));
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
        assert_eq!(log.seen[1].0, Place::new(0, end + 9, 7));
    }

    #[test]
    fn stopping_and_going_on() {
        let mut log = Log::new(b"1\n2\n3\n");
        let mut seen = Vec::new();
        let mut rounds = 0;
        loop {
            rounds += 1;
            let outcome = log.cursor.read_more(&log.path, &mut |place, _| {
                seen.push(place.line());
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
