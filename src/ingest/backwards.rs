//! Reads a log from its end: as much as a gauge needs, or back to the last reset.

use super::bytes::{Bytes, Open};
use super::discover::LogFile;
use super::lines::{CHUNK, Lines, OnLine, Step};
use super::reader::{Fold, Follower, Pass, Progress, Unmeasured, decode};
use super::tail::Cursor;
use crate::agents::StoreKind;
use crate::model::Gone;
use crate::model::event::{Entry, Event, Lane, Measure, Sink};
use crate::model::session::Coverage;
use crate::model::window::Rules;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The first piece of a file's end that is read. Each next one is [`GROWTH`] times as long.
const FIRST: u64 = 64 << 10;
const GROWTH: u64 = 4;
/// So much of a file's end is held, so that growing reads only what is missing; of more, it is read
/// again as it streams by.
const HELD: u64 = 4 << 20;
/// Where a report's own output may not be logged at all: no further than this for it.
const FOR_OUTPUT: u64 = 4 << 20;
/// No further than this for a report.
const FOR_REPORT: u64 = 64 << 20;
/// So much of a file that holds several sessions is read at once: all of most of them.
const FOR_SEVERAL: u64 = 16 << 20;
/// The file's beginning, for its facts.
const HEAD: u64 = 32 << 10;
/// A first line may be longer than that: instructions stand in it.
const LONG_HEAD: u64 = 1 << 20;
/// Read at once in search of the last reset.
const BLOCK: u64 = 1 << 20;

/// Reads the end of a log, as far back as its gauge needs.
pub fn tail(log: &LogFile, measure: &dyn Measure, rules: &Arc<Rules>) -> io::Result<Pass> {
    if log.store == StoreKind::Document {
        return document(log, measure, rules);
    }
    let (mut file, stamp) = log.open()?;
    let len = stamp.len;
    let mut held: Vec<u8> = Vec::new();
    let several = log.format.holds_several;
    let mut size = if several { FOR_SEVERAL } else { FIRST };
    let mut head: Option<Vec<Entry>> = None;
    loop {
        let start = len.saturating_sub(size);
        let mut fold = Fold::new(log, rules, Coverage::Tail);
        if start > 0 {
            // Whose facts would they be?
            if head.is_none() && !several {
                head = Some(head_facts(log, &mut file)?);
            }
            fold.apply(head.iter().flatten().cloned());
        } else {
            fold.cover(Coverage::Whole);
        }
        let mut informed = log.informed();
        let mut lines = Lines::at(start, u64::from(start == 0), size.min(len));
        let mut out = Sink::new(measure);
        informed.tell_state(&mut out);
        let deliver: &mut OnLine<'_> = &mut |place, line| {
            // What stands before the first newline is the end of a line, or nothing.
            if start == 0 || place.offset > start {
                decode(informed.decoder.as_mut(), place, line, &mut out);
                fold.apply(out.entries.drain(..));
            }
            ControlFlow::Continue(())
        };
        if size <= HELD {
            prepend(&mut file, start, len, &mut held)?;
            let mut source = held.as_slice();
            while let Step::Read(_) = lines.step(&mut source, deliver)? {}
        } else {
            held = Vec::new();
            file.seek(SeekFrom::Start(start))?;
            let mut source = (&mut file).take(len - start);
            while let Step::Read(_) = lines.step(&mut source, deliver)? {}
        }
        if start == 0 || is_enough(&mut fold, size) {
            let mut cursor = Cursor::start();
            if start > 0 && lines.offset() == start {
                // All of the end is one unfinished line, and nobody knows where it begins: the
                // follower will read the file from its beginning.
                fold = Fold::new(log, rules, Coverage::Whole);
                informed = log.informed();
            } else {
                cursor.read_up_to(&mut file, stamp, &lines)?;
            }
            return Ok(Pass::new(fold, Follower::lines(log, cursor, informed)));
        }
        size = size.saturating_mul(GROWTH);
    }
}

/// Whether the gauge stands: the newest report and its own output are there.
fn is_enough(fold: &mut Fold, size: u64) -> bool {
    let main = fold.lane(Lane::Main);
    match main.anchor().map(|anchor| anchor.key) {
        Some(key) => {
            size >= FOR_OUTPUT
                || main
                    .items()
                    .iter()
                    .rev()
                    .any(|item| item.output_of == Some(key))
        }
        // After a reset, no report holds.
        None => size >= FOR_REPORT || (!main.resets().is_empty() && !main.requests().is_empty()),
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

/// What the first lines tell of the session.
fn head_facts(log: &LogFile, file: &mut Bytes) -> io::Result<Vec<Entry>> {
    let mut decoder = log.format.decoder();
    let mut out = Sink::new(&Unmeasured);
    file.seek(SeekFrom::Start(0))?;
    let mut source = file.take(HEAD);
    let mut lines = Lines::at(0, 1, HEAD);
    let deliver: &mut OnLine<'_> = &mut |place, line| {
        decode(decoder.as_mut(), place, line, &mut out);
        ControlFlow::Continue(())
    };
    while let Step::Read(_) = lines.step(&mut source, deliver)? {}
    if lines.offset() == 0 {
        source.set_limit(LONG_HEAD - HEAD);
        while let Step::Read(_) = lines.step(&mut source, deliver)? {
            if lines.offset() > 0 {
                break;
            }
        }
    }
    out.entries
        .retain(|entry| matches!(entry.event, Event::Meta(_)));
    Ok(out.entries)
}

/// A reading from the last reset to the end; from the beginning where there is none.
pub fn epoch(log: &LogFile, rules: &Arc<Rules>) -> io::Result<Pass> {
    if log.store == StoreKind::Document || log.format.holds_several {
        return Ok(Pass::whole(log, rules));
    }
    let (mut file, _) = log.open()?;
    let Some(start) = last_reset(log, &mut file)? else {
        return Ok(Pass::whole(log, rules));
    };
    if start == 0 {
        return Ok(Pass::whole(log, rules));
    }
    let mut fold = Fold::new(log, rules, Coverage::Epoch);
    fold.apply(head_facts(log, &mut file)?);
    let follower = Follower::lines(log, Cursor::at(start, 0), log.informed());
    Ok(Pass::new(fold, follower))
}

/// Where the line of the last reset begins.
fn last_reset(log: &LogFile, file: &mut Bytes) -> io::Result<Option<u64>> {
    let marks: Vec<&[u8]> = log
        .format
        .reset_marks
        .iter()
        .map(|mark| mark.as_bytes())
        .collect();
    let longest = marks.iter().map(|mark| mark.len()).max().unwrap_or(0) as u64;
    let mut block = Vec::new();
    // Marks that begin before `end` have not been looked at.
    let mut end = file.seek(SeekFrom::End(0))?;
    while end > 0 && longest > 0 {
        let start = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        (&mut *file)
            .take(end - start + longest - 1)
            .read_to_end(&mut block)?;
        let before = usize::try_from(end - start).unwrap_or(usize::MAX);
        let found = marks.iter().filter_map(|mark| {
            let upto = (before + mark.len() - 1).min(block.len());
            memchr::memmem::rfind(&block[..upto], mark)
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

/// Where the line begins that `at` is in; `before` are the bytes before `at` that are at hand.
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

/// Whether the line that begins here resets the main conversation: its mark may stand in any text.
fn resets(log: &LogFile, file: &mut Bytes, line: u64) -> io::Result<bool> {
    let mut decoder = log.format.decoder();
    let mut out = Sink::new(&Unmeasured);
    file.seek(SeekFrom::Start(line))?;
    let mut lines = Lines::at(line, 0, CHUNK as u64);
    let deliver: &mut OnLine<'_> = &mut |place, line| {
        decode(decoder.as_mut(), place, line, &mut out);
        ControlFlow::Break(())
    };
    while let Step::Read(_) = lines.step(file, deliver)? {}
    Ok(out.entries.iter().any(|entry| {
        let resets = match &entry.event {
            Event::Reset(_) => true,
            Event::Retain { cause, .. } => *cause == Gone::Compaction,
            _ => false,
        };
        resets && entry.lane == Lane::Main
    }))
}

/// A document has no end that could be read alone. One that is half written is not there yet
/// ([`io::ErrorKind::WouldBlock`]): what was known of it holds.
fn document(log: &LogFile, measure: &dyn Measure, rules: &Arc<Rules>) -> io::Result<Pass> {
    let mut pass = Pass::whole(log, rules);
    match pass.step(measure, &mut || false)? {
        Progress::Done => Ok(pass),
        _ => Err(io::ErrorKind::WouldBlock.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::discover::Scanner;
    use super::super::reader::{More, Sessions, read_whole};
    use super::super::roots::SearchRoot;
    use super::super::testing::toy_log;
    use super::*;
    use crate::model::event::ByLength;
    use crate::model::session::Session;
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

        fn tail(&self) -> (Sessions, Follower) {
            tail(&self.log(), &ByLength, &self.rules).unwrap().finish()
        }

        fn whole(&self) -> Sessions {
            read_whole(&self.log(), &ByLength, &self.rules).unwrap()
        }

        fn epoch(&self) -> Sessions {
            let mut pass = epoch(&self.log(), &self.rules).unwrap();
            while pass.step(&ByLength, &mut || true).unwrap() != Progress::Done {}
            pass.finish().0
        }
    }

    fn main(sessions: &Sessions) -> &Session {
        &sessions
            .iter()
            .find(|(lane, _)| *lane == Lane::Main)
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
        assert_eq!(main(&sessions).items()[0].place.line, 2);
    }

    #[test]
    fn a_tail_grows_until_it_has_a_report() {
        for behind in [10_000, 100_000, 900_000, 6_000_000] {
            let mut text = "{\"cwd\":\"/home/p/proj\"}\n".to_owned();
            for _ in 0..(behind / 50_000 + 1) {
                text.push_str(&say(200_000));
            }
            text.push_str("{\"toy\":100}\n");
            for _ in 0..(behind / 10_000) {
                text.push_str(&say(10_000));
            }
            let case = Case::new(&text);
            let (sessions, mut follower) = case.tail();
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
            let More::Entries(entries) = follower.more(&ByLength).unwrap() else {
                panic!("restart")
            };
            assert_eq!(entries.len(), 2);
        }
    }

    #[test]
    fn sessions_of_one_file_are_told_by_its_beginning() {
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
        let format = crate::agents::by_id("request-log").unwrap();
        let found = Scanner::new(vec![SearchRoot::Given(path)], vec![format], |_| None).look();
        let log = &found.files[0];
        let rules = Arc::default();
        for pass in [tail(log, &ByLength, &rules), epoch(log, &rules)] {
            let mut pass = pass.unwrap();
            while pass.step(&ByLength, &mut || false).unwrap() != Progress::Done {}
            let (sessions, _) = pass.finish();
            let told = sessions.iter().map(|(_, session)| {
                let id = session.meta.id.as_deref().unwrap();
                (id, session.anchor().unwrap().prompt)
            });
            assert_eq!(told.collect::<Vec<_>>(), [("first", 7), ("late", 139)]);
        }
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
            // The mark, raw, in a line that is none.
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
        let (sessions, mut follower) = tail(&log, &ByLength, &rules).unwrap().finish();
        assert_eq!(main(&sessions).anchor().unwrap().prompt, 5);
        // Half written: not taken for what it is.
        std::fs::write(&path, "[{\"toy\":5},{\"to").unwrap();
        let error = follower.more(&ByLength).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        let mut pass = Pass::whole(&log, &rules);
        assert_eq!(
            pass.step(&ByLength, &mut || false).unwrap(),
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
        let More::Anew(sessions) = follower.more(&ByLength).unwrap() else {
            panic!("it was rewritten");
        };
        assert_eq!(main(&sessions).unreadable, 1);
        assert!(matches!(follower.more(&ByLength).unwrap(), More::Entries(e) if e.is_empty()));
    }
}
