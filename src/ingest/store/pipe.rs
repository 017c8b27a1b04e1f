//! Logs that come through a pipe: their bytes can be read once, from the beginning to the end.

use super::document;
use crate::bytes::lines::{Lines, OnLine, Step};
use crate::bytes::source::file_system::Local;
use crate::bytes::source::{BOM, CHUNK, HEAD, Stamp, read_some};
use crate::bytes::sync::lock;
use crate::log::conversations::{Conversations, decode};
use crate::log::event::IngestEvent;
use crate::log::problem;
use crate::log::{Cursor, LogEnd, LogFile, NewEntries, Store, facts_of, file_id};
use formats::{Decoder, Format, StoreKind, facts};
use jiff::Timestamp;
use model::event::{EventSink, Measure};
use model::lists::sessions::{FileFacts, Update};
use model::lists::text::TextRequest;
use model::session::Coverage;
use model::window::Rules;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokens::Counter;

/// The path that means standard input.
pub const STDIN: &str = "-";

/// The reason for which a text cannot be shown.
pub(crate) const NO_TEXT: &str =
    "it came through a pipe, which cannot be read twice: save the log to a file and open that";

/// The bytes of a pipe, and their format if the user named it.
pub struct PipeInput {
    /// The bytes.
    pub source: Box<dyn Read + Send>,
    /// The format, whatever the bytes are; `None`: it is recognised.
    pub format: Option<&'static Format>,
}

/// Returns the pipe that the user names by a path: standard input by `-`. `None`: there is none at this path.
///
/// # Errors
///
/// [`io::ErrorKind::TimedOut`] if nobody writes to it.
pub fn named(path: &Path, format: Option<&'static Format>) -> io::Result<Option<PipeInput>> {
    let source: Box<dyn Read + Send> = if path == Path::new(STDIN) {
        Box::new(io::stdin())
    } else if files::is_pipe(path) {
        files::open_pipe(path)?
    } else {
        return Ok(None);
    };
    Ok(Some(PipeInput { source, format }))
}

/// Recognises a log by the first bytes of its stream, or says why it has none of these formats.
pub fn recognise(
    piped: PipeInput,
    formats: &[&'static Format],
) -> io::Result<Result<LogFile, String>> {
    let PipeInput { mut source, format } = piped;
    let mut head = Vec::new();
    let mut chunk = vec![0; HEAD];
    let format = loop {
        let read = read_some(&mut source, &mut chunk)?;
        head.extend_from_slice(&chunk[..read]);
        let text = head.strip_prefix(BOM).unwrap_or(&head);
        // A named format too needs the first line, to know whether it is a document.
        let is_enough = read == 0 || head.len() >= HEAD || head.contains(&b'\n');
        if let Some(format) = format.filter(|_| is_enough) {
            break format;
        }
        let mut asked = formats.iter().filter(|_| format.is_none());
        if let Some(format) = asked.find(|format| format.recognise(text)) {
            break *format;
        }
        if read == 0 || head.len() >= HEAD {
            return Ok(Err(facts::refusal(formats, text)));
        }
    };
    let path = Path::new(STDIN);
    let text = head.strip_prefix(BOM).unwrap_or(&head);
    let kind = format.store(text).unwrap_or(StoreKind::Lines);
    if let StoreKind::Database(_) = kind {
        let why = "a database cannot be read from a pipe: name its file";
        return Ok(Err(why.to_owned()));
    }
    let pipe = Pipe {
        kind,
        source: Mutex::new(Box::new(io::Cursor::new(head).chain(source))),
    };
    Ok(Ok(LogFile {
        facts: FileFacts {
            modified: Some(Timestamp::now()),
            ..facts_of(format, file_id(path), Arc::new(path.to_path_buf()))
        },
        system: Arc::new(Local),
        format,
        store: Arc::new(pipe),
        sidecar: None,
    }))
}

type Stream = Box<dyn Read + Send>;

/// A pipe, until a cursor takes its bytes.
struct Pipe {
    kind: StoreKind,
    source: Mutex<Stream>,
}

impl Store for Pipe {
    fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::exact((0, 0)))
    }

    fn head(&self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn cursor(&self, log: &LogFile, _: &Arc<Rules>) -> Box<dyn Cursor> {
        let mut source = lock(&self.source);
        let source = std::mem::replace(&mut *source, Box::new(io::empty()));
        match self.kind {
            StoreKind::Document => Box::new(PipedDocument {
                source,
                format: log.format,
            }),
            _ => Box::new(PipedLines {
                source,
                lines: Lines::at(0, 1, CHUNK as u64),
                decoder: log.format.decoder(),
            }),
        }
    }

    fn text(&self, _: &LogFile, _: TextRequest) -> io::Result<String> {
        Err(io::Error::other(NO_TEXT))
    }
}

struct PipedLines {
    source: Stream,
    lines: Lines,
    decoder: Box<dyn Decoder>,
}

impl Cursor for PipedLines {
    /// Reads from the pipe. Bytes cannot be read again, so it pauses only between two reads.
    fn read(
        &mut self,
        measure: &dyn Measure,
        _: LogEnd,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<NewEntries> {
        let mut out = EventSink::new(measure);
        let mut is_paused = false;
        loop {
            let deliver: &mut OnLine<'_> = &mut |place, line| {
                decode(self.decoder.as_mut(), place, line, &mut out);
                is_paused |= pause(place.length());
                ControlFlow::Continue(())
            };
            if self.lines.step(&mut self.source, deliver)? == Step::End {
                self.lines.finish(deliver);
                return Ok(NewEntries::Entries(out.entries));
            }
            if is_paused {
                return Ok(NewEntries::Batch(out.entries));
            }
        }
    }
}

struct PipedDocument {
    source: Stream,
    format: &'static Format,
}

impl Cursor for PipedDocument {
    fn read(
        &mut self,
        measure: &dyn Measure,
        _: LogEnd,
        _: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<NewEntries> {
        let mut out = EventSink::new(measure);
        let document = document::bytes(&mut self.source, 0)?;
        if !document.is_empty() {
            document::decode(self.format, &document, &mut out);
        }
        Ok(NewEntries::Entries(out.entries))
    }
}

/// Follows a pipe until it ends. Its texts cannot be read again, so they are counted at once.
pub fn follow(
    piped: PipeInput,
    formats: &[&'static Format],
    counter: &Counter,
    rules: &Arc<Rules>,
    mut give: impl FnMut(IngestEvent) -> ControlFlow<()>,
) {
    let read = recognise(piped, formats).and_then(|log| match log {
        Ok(log) => read(&log, counter, rules, &mut give),
        Err(why) => Err(io::Error::other(why)),
    });
    if let Err(e) = read {
        let what = match e.kind() {
            io::ErrorKind::Other => e.to_string(),
            _ => problem::unreadable(&e, "read the pipe"),
        };
        let path = PathBuf::from(STDIN);
        let _ = give(IngestEvent::Problem { path, what });
    }
}

fn read(
    log: &LogFile,
    counter: &Counter,
    rules: &Arc<Rules>,
    give: &mut dyn FnMut(IngestEvent) -> ControlFlow<()>,
) -> io::Result<()> {
    let file = log.facts.file;
    let mut sessions = Conversations::new(&log.facts, rules, Coverage::Whole).into_sessions();
    for (_, session) in &mut sessions {
        session.is_counted = true;
    }
    let found = Update::Found(Box::new(log.facts.clone()));
    let rebuilt = Update::Rebuilt { file, sessions };
    if give(found.into()).is_break() || give(rebuilt.into()).is_break() {
        return Ok(());
    }
    let mut cursor = log.store.cursor(log, rules);
    loop {
        // The bytes of one read of the pipe are passed on at once.
        let (entries, is_last) = match cursor.read(counter, LogEnd::Open, &mut |_| true)? {
            NewEntries::Batch(entries) => (entries, false),
            NewEntries::Entries(entries) => (entries, true),
            NewEntries::Rewritten(_) | NewEntries::Restart => return Ok(()),
        };
        let is_empty = entries.is_empty();
        let appended = Update::Appended { file, entries };
        if (!is_empty && give(appended.into()).is_break()) || is_last {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::reader::read_whole;
    use crate::testing::TOY;
    use model::event::ByLength;

    fn piped(source: &'static [u8]) -> PipeInput {
        PipeInput {
            source: Box::new(source),
            format: None,
        }
    }

    #[test]
    fn a_piped_log_is_recognised_and_read() {
        let text: &[u8] = b"{\"toy\":100}\n{\"say\":\"hello\"}\n{\"toy\":200}";
        let log = recognise(piped(text), &[&TOY]).unwrap().unwrap();
        assert_eq!(log.facts.path.as_path(), Path::new("-"));
        let sessions = read_whole(&log, &ByLength, &Arc::default()).unwrap();
        let session = &sessions[0].1;
        assert_eq!(session.requests().len(), 2);
        assert_eq!(session.coverage, Coverage::Whole);
        assert_eq!(session.anchor().unwrap().place.line(), 3);
    }

    #[test]
    fn other_streams_are_refused_with_a_reason() {
        let why = |source| recognise(piped(source), &[&TOY]).unwrap().err().unwrap();
        assert!(why(&b"hello\n"[..]).contains("not JSON"));
        assert!(why(&[b'x'; HEAD]).contains("not JSON"));
        assert!(why(&b""[..]).contains("empty"));
    }

    #[test]
    fn a_forced_one_is_read_whatever_it_holds() {
        let text: &[u8] = b"hello\n{\"say\":\"you\"}\n";
        let forced = PipeInput {
            format: Some(&TOY),
            ..piped(text)
        };
        let log = recognise(forced, &[]).unwrap().unwrap();
        let sessions = read_whole(&log, &ByLength, &Arc::default()).unwrap();
        assert_eq!(sessions[0].1.unreadable, 1);
        assert_eq!(sessions[0].1.items().len(), 1);
    }
}
