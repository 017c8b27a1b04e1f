//! Reads a log from its end: as much as a gauge needs, or back to the last reset.

use super::beginning;
use super::line_cursor::LineCursor;
use crate::bytes::lines::marks::Marks;
use crate::bytes::lines::position::Position;
use crate::bytes::lines::{Lines, OnLine};
use crate::bytes::source::{Bytes, CHUNK, Open, Stamp};
use crate::log::conversations::{Conversations, decode};
use crate::log::reach::Reach;
use crate::log::{LogFile, Reading, Recent};
use crate::sidecar::DecoderWithSidecar;
use model::LeaveReason;
use model::event::{Conversation, Entry, Event, EventSink, Measure, Meta, Unmeasured};
use model::session::Coverage;
use model::values::prompt::prompt_of;
use model::window::Rules;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::sync::Arc;

const PIECE_GROWTH: u64 = 4;
/// The bytes of a file's end that are held, so that a larger piece reads only what is missing; a piece larger than this
/// is streamed.
const HELD_BYTES: u64 = 4 << 20;
/// The first piece of a file with several sessions: all of most such files.
const SEVERAL_SESSIONS_PIECE: u64 = 16 << 20;
/// The size of the file's beginning, which is read for its facts.
const HEAD_BYTES: u64 = 64 << 10;
/// The bytes of a log's beginning in which the first prompt is searched: some agents write 90 kB of instructions before
/// it.
const PROMPT_BYTES: u64 = 256 << 10;
/// A first line may be longer than that, since it may contain instructions.
const LONG_HEAD_BYTES: u64 = 1 << 20;
/// The part of a log's end that shows how long its records are, in bytes.
const SAMPLE_BYTES: u64 = 256 << 10;
/// The number of bytes read at once in search of the last reset.
const BLOCK_BYTES: u64 = 1 << 20;

/// Reads the end of a log, as far back as its gauge needs.
pub fn tail(
    source: &Arc<dyn Open>,
    log: &LogFile,
    measure: &dyn Measure,
    rules: &Arc<Rules>,
    reach: Reach,
) -> io::Result<Reading> {
    let (file, stamp) = source.open()?;
    let mut searched = reach.searched;
    if stamp.len <= reach.small {
        searched.before = stamp.len;
    }
    let mut size = if log.format.recognition.holds_several {
        SEVERAL_SESSIONS_PIECE
    } else {
        reach.first
    };
    let mut end = TailReader {
        source,
        log,
        measure,
        rules,
        reach,
        file,
        stamp,
        held: Vec::new(),
        head: None,
    };
    loop {
        size = end.with_usage(size)?;
        let mut piece = end.decode(size)?;
        if piece.start == 0 || piece.conversations.suffice(size, &searched) {
            return end.finish(piece);
        }
        size = size.saturating_mul(PIECE_GROWTH);
    }
}

/// The end of a log, of which larger and larger pieces are read.
struct TailReader<'a> {
    source: &'a Arc<dyn Open>,
    log: &'a LogFile,
    measure: &'a dyn Measure,
    rules: &'a Arc<Rules>,
    reach: Reach,
    file: Bytes,
    stamp: Stamp,
    /// The bytes of the newest piece, unless it is streamed.
    held: Vec<u8>,
    /// The facts in the first lines, once they were read.
    head: Option<Vec<Entry>>,
}

/// A piece of a log's end that was decoded.
struct Piece {
    start: u64,
    lines: Lines,
    decoder: DecoderWithSidecar,
    conversations: Conversations,
}

impl TailReader<'_> {
    /// Returns the size of the next piece that is worth decoding. One without a usage report is of no use for a gauge.
    fn with_usage(&mut self, mut size: u64) -> io::Result<u64> {
        let marks = Marks::new(self.log.format.usage_marks);
        let len = self.stamp.len;
        while size <= HELD_BYTES {
            let start = len.saturating_sub(size);
            prepend(&mut self.file, start, len, &mut self.held)?;
            if start == 0 || marks.are_in(&self.held) || size >= self.reach.searched.report {
                break;
            }
            size = size.saturating_mul(PIECE_GROWTH);
        }
        Ok(size)
    }

    /// Decodes the last bytes.
    fn decode(&mut self, size: u64) -> io::Result<Piece> {
        let len = self.stamp.len;
        let start = len.saturating_sub(size);
        let coverage = match start {
            0 => Coverage::Whole,
            _ => Coverage::Tail,
        };
        let mut conversations = Conversations::new(&self.log.facts, self.rules, coverage);
        if self.reach.is_final {
            conversations = conversations.finally();
        }
        let mut decoder = self.log.decoder();
        if start > 0 {
            let head = self.head()?;
            conversations.apply(head.iter().cloned());
            conversations.skip_to_end();
            skip_to_end(&mut decoder, head.iter());
        }
        let mut lines = Lines::at(start, u64::from(start == 0), size.min(len));
        let mut out = EventSink::new(self.measure);
        decoder.read_state(&mut out);
        let deliver: &mut OnLine<'_> = &mut |place, line| {
            // Before the first newline there is the end of a line, or nothing.
            if start == 0 || place.offset() > start {
                decode(decoder.decoder.as_mut(), place, line, &mut out);
                conversations.apply(out.entries.drain(..));
            }
            // The rest would be read for nothing.
            if conversations.check_records().is_err() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        if size <= HELD_BYTES {
            lines.read_bytes(&self.held, deliver);
        } else {
            self.held = Vec::new();
            self.file.seek(SeekFrom::Start(start))?;
            lines.read_all(&mut (&mut self.file).take(len - start), deliver)?;
        }
        if lines.offset == len {
            decoder.decoder.read_end(&mut out);
            conversations.apply(out.entries.drain(..));
        }
        conversations.check_records()?;
        Ok(Piece {
            start,
            lines,
            decoder,
            conversations,
        })
    }

    /// Returns the facts in the first lines. Where there are several sessions, they may be about any of them.
    fn head(&mut self) -> io::Result<&[Entry]> {
        let head = match self.head.take() {
            Some(head) => head,
            None if self.log.format.recognition.holds_several => Vec::new(),
            None => head_facts(self.log, &mut self.file)?,
        };
        Ok(self.head.insert(head))
    }

    /// Returns a reading that goes on after a piece.
    fn finish(mut self, piece: Piece) -> io::Result<Reading> {
        let Piece {
            start,
            lines,
            mut decoder,
            mut conversations,
        } = piece;
        let mut position = Position::start();
        if start > 0 && lines.offset == start {
            // The end is one unfinished line whose beginning is not known: the cursor will
            // read the file from its beginning. So far, nothing of it was read.
            conversations = Conversations::new(&self.log.facts, self.rules, Coverage::Tail);
            decoder = self.log.decoder();
        } else if !self.reach.is_final || lines.offset < self.stamp.len {
            position.read_up_to(&mut self.file, self.stamp, start, &lines)?;
        }
        if start > 0 && !self.log.format.recognition.holds_several {
            let main = conversations.conversation(Conversation::Main);
            let file = &mut self.file;
            beginning::read_if_missing(main, self.log, file, self.measure, self.rules)?;
        }
        let cursor = LineCursor::new(self.source, position, decoder);
        Ok(Reading::new(conversations, Box::new(cursor)))
    }
}

/// Makes `held` the file's bytes from `start` to `len`, reading only those that are missing.
fn prepend(file: &mut Bytes, start: u64, len: u64, held: &mut Vec<u8>) -> io::Result<()> {
    let missing = (len - start).saturating_sub(held.len() as u64);
    let mut grown = Vec::with_capacity(usize::try_from(len - start).unwrap_or(0));
    file.seek(SeekFrom::Start(start))?;
    file.take(missing).read_to_end(&mut grown)?;
    grown.extend_from_slice(held);
    *held = grown;
    Ok(())
}

/// Returns the facts about the session in the first lines, its first prompt among them.
fn head_facts(log: &LogFile, file: &mut Bytes) -> io::Result<Vec<Entry>> {
    let mut decoder = log.format.decoder();
    let mut out = EventSink::for_names();
    file.seek(SeekFrom::Start(0))?;
    let mut source = file.take(0);
    let mut lines = Lines::at(0, 1, HEAD_BYTES);
    let mut read = 0;
    let mut prompt = None;
    for (limit, is_last) in [
        (HEAD_BYTES, false),
        (PROMPT_BYTES, false),
        (LONG_HEAD_BYTES, true),
    ] {
        // Beyond its usual size only what is missing is looked for: a prompt, and at last a first line.
        if prompt.is_some() || (is_last && lines.offset > 0) {
            break;
        }
        source.set_limit(limit - read);
        read = limit;
        let deliver: &mut OnLine<'_> = &mut |place, line| {
            decode(decoder.as_mut(), place, line, &mut out);
            ControlFlow::Continue(())
        };
        lines.read_all(&mut source, deliver)?;
        prompt = prompt_of(&out.entries);
    }
    let mut entries = out.entries;
    entries.retain(|entry| matches!(entry.event, Event::Meta(_)));
    let main = entries
        .iter_mut()
        .rev()
        .find(|entry| entry.conversation == Conversation::Main);
    if let Some(Event::Meta(facts)) = main.map(|entry| &mut entry.event) {
        facts.prompt = prompt;
    }
    Ok(entries)
}

/// Passes on to a decoder that only the end of its log is read, and what these entries of its beginning say of the main
/// session.
fn skip_to_end<'e>(decoder: &mut DecoderWithSidecar, head: impl Iterator<Item = &'e Entry>) {
    let mut facts = Meta::default();
    for entry in head.filter(|entry| entry.conversation == Conversation::Main) {
        if let Event::Meta(meta) = &entry.event {
            facts.id = facts.id.or_else(|| meta.id.clone());
            facts.parent = facts.parent.or_else(|| meta.parent.clone());
        }
    }
    decoder.decoder.skip_to_end(&facts);
}

/// Returns a reading from the last reset to the end; from the beginning if there was no reset.
pub fn epoch(source: &Arc<dyn Open>, log: &LogFile, rules: &Arc<Rules>) -> io::Result<Reading> {
    if log.format.recognition.holds_several {
        return Ok(Reading::whole(log, rules));
    }
    let (mut file, _) = source.open()?;
    // A search from the end would read all of it again for each block.
    if source.is_streamed() {
        return Ok(Reading::whole(log, rules));
    }
    match last_reset(log, &mut file, 0)?.filter(|start| *start > 0) {
        Some(start) => from_reset(source, log, rules, (file, start)),
        None => Ok(Reading::whole(log, rules)),
    }
}

/// Returns a reading of the last epochs, to be read once: as many as begin in about the last records, or else the
/// newest one, if it begins in the last bytes. `None`: it began before.
pub fn epochs_within(
    source: &Arc<dyn Open>,
    log: &LogFile,
    rules: &Arc<Rules>,
    recent: Recent,
) -> io::Result<Option<Reading>> {
    if log.format.recognition.holds_several || source.is_streamed() {
        return Ok(None);
    }
    let (mut file, stamp) = source.open()?;
    let len = stamp.len;
    let near = recent.records.saturating_mul(record_bytes(&mut file, len)?);
    let before = |most: u64| len.saturating_sub(most.min(recent.bytes));
    let mut start = None;
    if before(near) > 0 {
        start = match first_reset(log, &mut file, before(near))? {
            None => last_reset(log, &mut file, before(recent.bytes))?,
            first => first,
        };
    }
    match start {
        Some(start) if start > 0 => {
            let reading = from_reset(source, log, rules, (file, start))?;
            Ok(Some(reading.finally()))
        }
        _ => Ok((before(recent.bytes) == 0).then(|| Reading::once(log, rules))),
    }
}

/// Returns the mean length of the records at a log's end, in bytes, at least 1.
fn record_bytes(file: &mut Bytes, len: u64) -> io::Result<u64> {
    let start = len.saturating_sub(SAMPLE_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut sample = Vec::new();
    file.take(SAMPLE_BYTES).read_to_end(&mut sample)?;
    let lines = memchr::memchr_iter(b'\n', &sample).count() as u64;
    Ok((sample.len() as u64 / lines.max(1)).max(1))
}

/// Returns a reading from the reset whose line begins at `start`.
fn from_reset(
    source: &Arc<dyn Open>,
    log: &LogFile,
    rules: &Arc<Rules>,
    (mut file, start): (Bytes, u64),
) -> io::Result<Reading> {
    let mut conversations = Conversations::new(&log.facts, rules, Coverage::Epoch);
    let head = head_facts(log, &mut file)?;
    let mut decoder = log.decoder();
    skip_to_end(&mut decoder, head.iter());
    conversations.apply(head);
    conversations.skip_to_end();
    let cursor = LineCursor::new(source, Position::at(start, 0), decoder);
    Ok(Reading::new(conversations, Box::new(cursor)))
}

/// Returns the first byte of the line of the last reset whose mark is not before `least`.
fn last_reset(log: &LogFile, file: &mut Bytes, least: u64) -> io::Result<Option<u64>> {
    let marks = log.format.reset_marks;
    let longest = marks.iter().map(|mark| mark.len()).max().unwrap_or(0) as u64;
    let mut block = Vec::new();
    // Marks that begin before `end` have not been looked at.
    let mut end = file.seek(SeekFrom::End(0))?;
    while end > least && longest > 0 {
        let start = end.saturating_sub(BLOCK_BYTES).max(least);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        (&mut *file)
            .take(end - start + longest - 1)
            .read_to_end(&mut block)?;
        let before = usize::try_from(end - start).unwrap_or(usize::MAX);
        let found = marks.iter().filter_map(|mark| {
            let upto = (before + mark.len() - 1).min(block.len());
            memchr::memmem::rfind(&block[..upto], mark.as_bytes())
        });
        match found.max() {
            None => end = start,
            Some(at) => {
                let line = line_start(file, start + at as u64, &block[..at])?;
                if resets(log, file, line)? {
                    return Ok(Some(line));
                }
                end = line;
            }
        }
    }
    Ok(None)
}

/// Returns the first byte of the line of the first reset that begins after `least`.
fn first_reset(log: &LogFile, file: &mut Bytes, least: u64) -> io::Result<Option<u64>> {
    let marks = log.format.reset_marks;
    let longest = marks.iter().map(|mark| mark.len()).max().unwrap_or(0);
    let mut block = Vec::new();
    // Marks that begin before `start` have been looked at.
    let mut start = least;
    if longest == 0 {
        return Ok(None);
    }
    loop {
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        (&mut *file).take(BLOCK_BYTES).read_to_end(&mut block)?;
        let found = marks
            .iter()
            .filter_map(|mark| memchr::memmem::find(&block, mark.as_bytes()));
        match found.min() {
            Some(at) => {
                let line = line_start(file, start + at as u64, &block[..at])?;
                if line > least && resets(log, file, line)? {
                    return Ok(Some(line));
                }
                start += at as u64 + 1;
            }
            None if (block.len() as u64) < BLOCK_BYTES => return Ok(None),
            // A mark may go on in the next block.
            None => start += (block.len() - longest + 1) as u64,
        }
    }
}

/// Returns the first byte of the line that contains `at`; `before` are the bytes before `at` that were read.
fn line_start(file: &mut Bytes, at: u64, before: &[u8]) -> io::Result<u64> {
    if let Some(newline) = memchr::memrchr(b'\n', before) {
        return Ok(at - (before.len() - newline - 1) as u64);
    }
    let mut end = at - before.len() as u64;
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(CHUNK as u64);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        (&mut *file).take(end - start).read_to_end(&mut block)?;
        if let Some(newline) = memchr::memrchr(b'\n', &block) {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Returns true if the line that begins here resets the main conversation. Its mark alone shows nothing, since it may
/// occur in any text.
fn resets(log: &LogFile, file: &mut Bytes, line: u64) -> io::Result<bool> {
    let mut decoder = log.format.decoder();
    decoder.skip_to_end(&Meta::default());
    let mut out = EventSink::new(&Unmeasured);
    file.seek(SeekFrom::Start(line))?;
    let mut lines = Lines::at(line, 0, CHUNK as u64);
    let deliver: &mut OnLine<'_> = &mut |place, line| {
        decode(decoder.as_mut(), place, line, &mut out);
        ControlFlow::Break(())
    };
    lines.read_all(file, deliver)?;
    Ok(out.entries.iter().any(|entry| {
        let resets = match &entry.event {
            Event::Reset(_) => true,
            Event::Retain { cause, .. } => *cause == LeaveReason::Compaction,
            _ => false,
        };
        resets && entry.conversation == Conversation::Main
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::lines::Progress;
    use crate::discover::Scanner;
    use crate::discover::roots::SearchRoot;
    use crate::log::conversations::LogSessions;
    use crate::log::reader::read_whole;
    use crate::log::{Cursor, NewEntries};
    use crate::testing::followed::read_to_end;
    use crate::testing::toy_log;
    use model::event::ByLength;
    use model::session::Session;
    use std::io::Write;
    use std::path::PathBuf;

    struct Case {
        _dir: tempfile::TempDir,
        path: PathBuf,
        rules: Arc<Rules>,
    }

    impl Case {
        fn new(text: &str) -> Case {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("log.toy");
            std::fs::write(&path, text).unwrap();
            Case {
                _dir: dir,
                path,
                rules: Arc::default(),
            }
        }

        fn log(&self) -> LogFile {
            toy_log(&self.path)
        }

        fn tail(&self) -> (LogSessions, Box<dyn Cursor>) {
            let log = self.log();
            let reading = log
                .store
                .tail(&log, &ByLength, &self.rules, Reach::SCREEN)
                .unwrap();
            reading.finish()
        }

        fn whole(&self) -> LogSessions {
            read_whole(&self.log(), &ByLength, &self.rules).unwrap()
        }

        fn epoch(&self) -> LogSessions {
            let log = self.log();
            let begin = || log.store.epoch(&log, &self.rules).unwrap();
            read_to_end(begin).finish().0
        }
    }

    fn main(sessions: &LogSessions) -> &Session {
        &sessions
            .iter()
            .find(|(conversation, _)| *conversation == Conversation::Main)
            .unwrap()
            .1
    }

    fn say(bytes: usize) -> String {
        format!("{{\"say\":\"{}\"}}\n", "word ".repeat(bytes / 5))
    }

    #[test]
    fn a_short_file_is_read_whole() {
        let case = Case::new("{\"cwd\":\"/p\"}\n{\"toy\":100}\n{\"say\":\"x\"}\n");
        let (sessions, _) = case.tail();
        assert_eq!(main(&sessions).coverage, Coverage::Whole);
        assert_eq!(main(&sessions).context(), main(&case.whole()).context());
        assert_eq!(main(&sessions).items()[0].place.line(), 2);
    }

    #[test]
    fn a_tail_grows_until_it_has_all_of_a_report() {
        for behind in [10_000, 100_000, 900_000, 6_000_000] {
            let mut text = "{\"cwd\":\"/home/p/proj\"}\n".to_owned();
            for _ in 0..(behind / 50_000 + 1) {
                text.push_str(&say(200_000));
            }
            text.push_str("{\"toy\":90}\n{\"toy\":100}\n");
            for _ in 0..(behind / 10_000) {
                text.push_str(&say(10_000));
            }
            let case = Case::new(&text);
            let (sessions, mut cursor) = case.tail();
            let (tail, whole) = (main(&sessions), case.whole());
            assert_eq!(tail.project(), "proj", "from the head");
            assert_eq!(tail.anchor().unwrap().prompt, 100, "{behind}");
            assert_eq!(tail.context().known, main(&whole).context().known);
            assert_eq!(tail.context().used, main(&whole).context().used);
            assert_eq!(tail.coverage, Coverage::Tail, "{behind}");

            // And it goes on from there.
            let mut file = std::fs::OpenOptions::new()
                .append(true)
                .open(&case.path)
                .unwrap();
            file.write_all(b"{\"toy\":200}\n").unwrap();
            let NewEntries::Entries(entries) = cursor.more(&ByLength).unwrap() else {
                panic!("restart")
            };
            assert_eq!(entries.len(), 2);
        }
    }

    #[test]
    fn a_log_that_ends_with_a_compaction_begins_as_it_did() {
        let mut text = "{\"cwd\":\"/p\"}\n".to_owned() + &say(2_000) + "{\"toy\":21000}\n";
        for n in 1..=20 {
            text += &say(40_000);
            text += &format!("{{\"toy\":{}}}\n", 21_000 + n * 8_000);
        }
        text += "{\"reset\":1}\n";
        text += &say(500);
        let case = Case::new(&text);
        let (sessions, _) = case.tail();
        let (tail, whole) = (main(&sessions).context(), main(&case.whole()).context());
        assert_eq!(main(&sessions).coverage, Coverage::Tail);
        assert!(whole.used > 20_000, "{whole:?}");
        assert_eq!((tail.known, tail.used), (0, whole.used));
        assert!(tail.high < whole.used * 3 / 2, "{tail:?}");
    }

    #[test]
    fn facts_about_sessions_of_one_file_are_in_its_beginning() {
        let line = |session: &str, n: u64| {
            format!(
                "{{\"session_id\":\"{session}\",\"request\":{{\"model\":\"m\",\"messages\":\
                 [{{\"role\":\"user\",\"content\":\"{}\"}},\
                 {{\"role\":\"assistant\",\"content\":\"words of {session}\"}}]}},\"response\":{{\"id\":\"chatcmpl-{session}-{n:09}\",\
                 \"choices\":[],\"usage\":{{\"prompt_tokens\":{n},\"completion_tokens\":1}}}}}}\n",
                "word ".repeat(2_000)
            )
        };
        let late = (100..140).map(|n| line("late", n));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("requests.jsonl");
        std::fs::write(&path, line("first", 7) + &late.collect::<String>()).unwrap();
        let format = agents::by_id("request-log").unwrap();
        let found = Scanner::new(vec![SearchRoot::Given(path)], vec![format], |_| None).look();
        let log = &found.files[0];
        let rules = Arc::default();
        let tail = || {
            log.store
                .tail(log, &ByLength, &rules, Reach::SCREEN)
                .unwrap()
        };
        let epoch = || log.store.epoch(log, &rules).unwrap();
        for sessions in [read_to_end(tail), read_to_end(epoch)] {
            let (sessions, _) = sessions.finish();
            let found = sessions.iter().map(|(_, session)| {
                let id = session.meta.id.as_deref().unwrap();
                (id, session.anchor().unwrap().prompt)
            });
            assert_eq!(found.collect::<Vec<_>>(), [("first", 7), ("late", 139)]);
        }
    }

    #[test]
    fn the_last_epochs_are_read_from_the_first_reset_that_is_near() {
        let epoch = |n: u64| format!("{{\"toy\":{n}}}\n{}{{\"reset\":1}}\n", say(2_000));
        let text: String = ["{\"cwd\":\"/p\"}\n".to_owned()]
            .into_iter()
            .chain((1..=20).map(epoch))
            .chain(["{\"toy\":99}\n".to_owned()])
            .collect();
        let case = Case::new(&text);
        let log = case.log();
        let resets = |records: u64, bytes: u64| {
            let recent = Recent { records, bytes };
            let within = || log.store.epochs_within(&log, &case.rules, recent).unwrap();
            within().map(|_| {
                let sessions = read_to_end(|| within().unwrap()).finish().0;
                let session = main(&sessions);
                assert_eq!(session.anchor().unwrap().prompt, 99);
                (session.resets().len(), session.coverage)
            })
        };
        assert_eq!(resets(1, 20), None);
        assert_eq!(resets(1, 1_000), Some((1, Coverage::Epoch)));
        assert_eq!(resets(0, 5_000), Some((1, Coverage::Epoch)));
        assert_eq!(resets(6, 5_000), Some((2, Coverage::Epoch)));
        assert_eq!(resets(100, 5_000), Some((3, Coverage::Epoch)));
        assert_eq!(resets(100, 1 << 20), Some((20, Coverage::Whole)));
    }

    #[test]
    fn a_tail_that_is_one_unfinished_line() {
        let case = Case::new(&format!(
            "{{\"toy\":1}}\n{{\"say\":\"{}",
            "x".repeat(300_000)
        ));
        let (sessions, _) = case.tail();
        assert_eq!(main(&sessions).anchor().unwrap().prompt, 1);
    }

    #[test]
    fn junk_and_nothing() {
        for text in ["", "\n\n\n", "\0\u{1}\u{2}junk", &"x".repeat(100_000)] {
            let case = Case::new(text);
            let (sessions, _) = case.tail();
            assert!(main(&sessions).anchor().is_none());
            assert!(main(&case.epoch()).items().is_empty());
        }
        let whole = Case::new("junk\n\u{0}\nlast").whole();
        assert_eq!(main(&whole).unreadable, 3);
    }

    #[test]
    fn an_epoch_begins_at_the_last_reset_that_is_one() {
        for padding in [10, 50_000, 1_048_000, 3_000_000] {
            let quote = format!("{{\"say\":\"{} \\\"reset\\\" no\"}}\n", "y".repeat(padding));
            // The raw mark in a line that was not elided.
            let mark = "{\"say\":\"z\",\"reset\":0}\n";
            let text = [
                "{\"cwd\":\"/p\"}\n",
                "{\"toy\":1}\n{\"reset\":1}\n{\"toy\":2}\n",
                &quote,
                "{\"reset\":1}\n",
                &quote,
                mark,
                "{\"toy\":3}\n",
                mark,
            ]
            .concat();
            let case = Case::new(&text);
            let (epoch, whole) = (case.epoch(), case.whole());
            assert_eq!(main(&epoch).coverage, Coverage::Epoch);
            assert_eq!(main(&epoch).resets().len(), 1);
            assert_eq!(main(&epoch).requests().len(), 1);
            assert_eq!(main(&epoch).context().known, main(&whole).context().known);
            assert_eq!(main(&epoch).context().used, main(&whole).context().used);
            assert_eq!(main(&epoch).project(), "p");
        }
        let none = Case::new("{\"toy\":1}\n{\"toy\":2}\n").epoch();
        assert_eq!(main(&none).coverage, Coverage::Whole);
        assert_eq!(main(&none).requests().len(), 2);
    }

    #[test]
    fn a_document_is_read_whole_or_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("d.toys");
        std::fs::write(&path, "[{\"toy\":5}]").unwrap();
        let log = toy_log(&path);
        let rules = Arc::default();
        let reading = log
            .store
            .tail(&log, &ByLength, &rules, Reach::SCREEN)
            .unwrap();
        let (sessions, mut cursor) = reading.finish();
        assert_eq!(main(&sessions).anchor().unwrap().prompt, 5);
        // Half written: not taken for what it is.
        std::fs::write(&path, "[{\"toy\":5},{\"to").unwrap();
        let error = cursor.more(&ByLength).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        let mut reading = Reading::whole(&log, &rules);
        assert_eq!(
            reading.step(&ByLength, &mut || false).unwrap(),
            Progress::Restart
        );
        // Nobody goes on: it is what it is.
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        std::fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(old)
            .unwrap();
        assert_eq!(
            main(&read_whole(&log, &ByLength, &rules).unwrap()).unreadable,
            1
        );
        let NewEntries::Rewritten(conversations) = cursor.more(&ByLength).unwrap() else {
            panic!("it was rewritten");
        };
        assert_eq!(main(&conversations.into_sessions()).unreadable, 1);
        assert!(matches!(cursor.more(&ByLength).unwrap(), NewEntries::Entries(e) if e.is_empty()));
    }
}
