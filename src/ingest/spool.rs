//! Logs that come through a pipe: they cannot be sought in, and nothing tells how long they are.

use super::discover::{HEAD, LogFile, file_id};
use super::lines::{CHUNK, Lines, OnLine, Step};
use super::reader::{Fold, decode, read_stream};
use crate::agents::{Decoder, Format, StoreKind, facts};
use crate::model::event::{Entry, Measure, Sink};
use crate::model::fleet::{FileFacts, Update};
use crate::model::session::Coverage;
use crate::model::window::Rules;
use crate::tokens::Counter;
use jiff::Timestamp;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The path that stands for standard input.
pub const STDIN: &str = "-";

/// A stream whose format is known.
pub struct Spool {
    /// What it is.
    pub log: LogFile,
    /// All of its bytes.
    pub source: Box<dyn Read + Send>,
}

/// What comes through a pipe, and whose log it is, where the user has said it.
pub struct Piped {
    /// Its bytes.
    pub source: Box<dyn Read + Send>,
    /// Whose it is, whatever it holds; `None`: its first bytes tell.
    pub format: Option<&'static Format>,
}

/// Recognises a log by the first bytes of its stream, or says why it is none of these formats.
pub fn recognise(piped: Piped, formats: &[&'static Format]) -> io::Result<Result<Spool, String>> {
    let Piped { mut source, format } = piped;
    let mut head = Vec::new();
    let mut chunk = vec![0; HEAD];
    let format = loop {
        let read = match source.read(&mut chunk) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        head.extend_from_slice(&chunk[..read]);
        // Of a forced one, too, a whole first line tells the store.
        let is_enough = read == 0 || head.len() >= HEAD || head.contains(&b'\n');
        if let Some(format) = format.filter(|_| is_enough) {
            break format;
        }
        let mut asked = formats.iter().filter(|_| format.is_none());
        if let Some(format) = asked.find(|format| format.recognise(&head)) {
            break *format;
        }
        if read == 0 || head.len() >= HEAD {
            return Ok(Err(facts::refusal(formats, &head)));
        }
    };
    let store = format.store(&head).unwrap_or(StoreKind::Lines);
    let path = Path::new(STDIN);
    Ok(Ok(Spool {
        log: LogFile {
            facts: FileFacts {
                file: file_id(path),
                agent: format.id,
                label: format.label,
                path: Arc::new(PathBuf::from(path)),
                id: None,
                parent: None,
                len: 0,
                modified: Some(Timestamp::now()),
            },
            format,
            store,
            folder: None,
            neighbours: None,
        },
        source: Box::new(io::Cursor::new(head).chain(source)),
    }))
}

/// Gives the entries of a stream, as many at once as one read brings, until it ends or `give` has
/// enough.
pub fn each_batch(
    source: &mut dyn Read,
    mut decoder: Box<dyn Decoder>,
    measure: &dyn Measure,
    give: &mut dyn FnMut(Vec<Entry>) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut lines = Lines::at(0, 1, CHUNK as u64);
    loop {
        let mut out = Sink::new(measure);
        let deliver: &mut OnLine<'_> = &mut |place, line| {
            decode(decoder.as_mut(), place, line, &mut out);
            ControlFlow::Continue(())
        };
        let step = lines.step(source, deliver)?;
        if step == Step::End {
            let _ = lines.finish(deliver);
        }
        if !out.entries.is_empty() && give(out.entries).is_break() {
            return Ok(());
        }
        if step == Step::End {
            return Ok(());
        }
    }
}

/// Follows a stream until it ends. Its text cannot be read again, so it is counted right away.
pub(super) fn follow(
    piped: Piped,
    formats: &[&'static Format],
    counter: &Counter,
    rules: &Arc<Rules>,
    mut give: impl FnMut(Update) -> ControlFlow<()>,
) {
    let problem = |what: String| Update::Problem {
        path: PathBuf::from(STDIN),
        what,
    };
    let mut spool = match recognise(piped, formats) {
        Ok(Ok(spool)) => spool,
        Ok(Err(why)) => {
            let _ = give(problem(why));
            return;
        }
        Err(e) => {
            let _ = give(problem(super::problem::unreadable(
                &e,
                "read standard input",
            )));
            return;
        }
    };
    let file = spool.log.facts.file;
    if give(Update::Found(Box::new(spool.log.facts.clone()))).is_break() {
        return;
    }
    let read = if spool.log.store == StoreKind::Document {
        read_stream(&mut spool.source, &spool.log, counter, rules).map(|sessions| {
            let _ = give(Update::Rebuilt { file, sessions });
        })
    } else {
        let sessions = Fold::new(&spool.log, rules, Coverage::Whole).into_sessions();
        if give(Update::Rebuilt { file, sessions }).is_break() {
            return;
        }
        let decoder = spool.log.format.decoder();
        each_batch(&mut spool.source, decoder, counter, &mut |entries| {
            give(Update::Appended { file, entries })
        })
    };
    if let Err(e) = read {
        let _ = give(problem(super::problem::unreadable(
            &e,
            "read standard input",
        )));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::TOY;
    use super::*;
    use crate::model::event::ByLength;

    fn piped(source: &'static [u8]) -> Piped {
        Piped {
            source: Box::new(source),
            format: None,
        }
    }

    #[test]
    fn a_piped_log_is_recognised_and_read() {
        let text: &[u8] = b"{\"toy\":100}\n{\"say\":\"hello\"}\n{\"toy\":200}";
        let mut spool = recognise(piped(text), &[&TOY]).unwrap().unwrap();
        assert_eq!(spool.log.facts.path.as_path(), Path::new("-"));
        let sessions =
            read_stream(&mut spool.source, &spool.log, &ByLength, &Arc::default()).unwrap();
        let session = &sessions[0].1;
        assert_eq!(session.requests().len(), 2);
        assert_eq!(session.coverage, Coverage::Whole);
        assert_eq!(session.anchor().unwrap().place.line, 3);
    }

    #[test]
    fn other_streams_are_not_and_are_told_why() {
        let why = |source| recognise(piped(source), &[&TOY]).unwrap().err().unwrap();
        assert!(why(&b"hello\n"[..]).contains("toy (no first line"));
        assert!(why(&[b'x'; HEAD]).contains("no JSON"));
        assert!(why(&b""[..]).contains("empty"));
    }

    #[test]
    fn a_forced_one_is_read_whatever_it_holds() {
        let text: &[u8] = b"hello\n{\"say\":\"you\"}\n";
        let forced = Piped {
            format: Some(&TOY),
            ..piped(text)
        };
        let mut spool = recognise(forced, &[]).unwrap().unwrap();
        let sessions =
            read_stream(&mut spool.source, &spool.log, &ByLength, &Arc::default()).unwrap();
        assert_eq!(sessions[0].1.unreadable, 1);
        assert_eq!(sessions[0].1.items().len(), 1);
    }
}
