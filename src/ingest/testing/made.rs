//! A log that is in no file: made of pieces that may be far larger than memory, and that counts how it is read
//! and can fail.

use super::TOY;
use crate::bytes::source::file_system::Local;
use crate::bytes::source::{Bytes, Open, Positioned, ReadAt, Stamp};
use crate::log::{LogFile, Store};
use crate::store::lines::LineLog;
use formats::Claim;
use model::lists::sessions::{Commands, FileFacts, FileId};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

/// A fault of a read.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    None,
    /// It returns this many bytes at most.
    Short(usize),
    Error(io::ErrorKind),
}

/// A log of lines.
#[derive(Clone, Default)]
pub struct MadeLog(Arc<Mutex<Content>>);

type Faults = Box<dyn FnMut() -> Fault + Send>;

#[derive(Default)]
struct Content {
    /// Bytes, and how often they are repeated.
    pieces: Vec<(Vec<u8>, u64)>,
    writes: u64,
    faults: Option<Faults>,
    /// When it seems to be written, whenever that was.
    dated: Option<SystemTime>,
    /// Why it cannot be opened.
    refusal: Option<&'static str>,
    /// The error of each attempt to open it, though its stamp can be seen.
    shut: Option<fn() -> io::Error>,
    opened: u64,
    stats: u64,
    read: u64,
}

impl Content {
    fn len(&self) -> u64 {
        self.pieces
            .iter()
            .map(|(bytes, n)| bytes.len() as u64 * n)
            .sum()
    }

    fn stamp(&self) -> Stamp {
        let stamp = Stamp::made(self.len(), self.writes);
        match self.dated {
            Some(dated) => stamp.dated(dated),
            None => stamp,
        }
    }

    fn copy(&self, mut at: u64, out: &mut [u8]) -> usize {
        let mut copied = 0;
        for (bytes, n) in &self.pieces {
            let size = bytes.len() as u64;
            let end = size * n;
            while at < end && copied < out.len() {
                let from = (at % size) as usize;
                let n = (bytes.len() - from).min(out.len() - copied);
                out[copied..copied + n].copy_from_slice(&bytes[from..from + n]);
                copied += n;
                at += n as u64;
            }
            at = at.saturating_sub(end);
            if copied == out.len() {
                break;
            }
        }
        copied
    }
}

impl MadeLog {
    pub fn new(text: &str) -> MadeLog {
        let made = MadeLog::default();
        made.append(text);
        made
    }

    pub fn append(&self, text: &str) {
        self.append_many(text, 1);
    }

    /// Appends a text this many times, without holding all of it.
    pub fn append_many(&self, text: &str, times: u64) {
        let mut content = self.content();
        content.pieces.push((text.as_bytes().to_vec(), times));
        content.writes += 1;
    }

    /// Puts a text in another one's place, wherever that is written.
    pub fn rewrite(&self, from: &str, to: &str) {
        assert_eq!(from.len(), to.len());
        let mut content = self.content();
        for (bytes, _) in &mut content.pieces {
            let text = String::from_utf8(std::mem::take(bytes)).unwrap();
            *bytes = text.replace(from, to).into_bytes();
        }
        content.writes += 1;
    }

    /// Takes back what was appended last.
    pub fn take_back(&self, text: &str) {
        let mut content = self.content();
        let mut missing = text.len();
        while missing > 0 {
            let (bytes, _) = content.pieces.pop().unwrap();
            missing -= bytes.len();
        }
        content.writes += 1;
    }

    /// The time of writing changes, and nothing else.
    pub fn touch(&self) {
        self.content().writes += 1;
    }

    /// A line of at least this many bytes.
    pub fn append_long_line(&self, bytes: u64) {
        const PIECE: usize = 1 << 20;
        self.append("{\"say\":\"");
        self.append_many(
            &"word ".repeat(PIECE / 5),
            bytes / (PIECE as u64 / 5 * 5) + 1,
        );
        self.append("\"}\n");
    }

    pub fn fail(&self, faults: impl FnMut() -> Fault + Send + 'static) {
        self.content().faults = Some(Box::new(faults));
    }

    /// It is dated so from now on.
    pub fn date(&self, at: SystemTime) {
        self.content().dated = Some(at);
    }

    /// It cannot be opened from now on, or can again.
    pub fn refuse(&self, why: Option<&'static str>) {
        let mut content = self.content();
        content.refusal = why;
        content.writes += 1;
    }

    /// It cannot be opened from now on, or can again. Its stamp does not show that.
    pub fn shut(&self, error: Option<fn() -> io::Error>) {
        self.content().shut = error;
    }

    /// How often it was opened.
    pub fn opened(&self) -> u64 {
        self.content().opened
    }

    /// How often its stamp was looked at.
    pub fn stats(&self) -> u64 {
        self.content().stats
    }

    /// Bytes that were read of it.
    pub fn read(&self) -> u64 {
        self.content().read
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap()
    }

    pub fn log(&self) -> LogFile {
        self.log_in(Arc::new(LineLog::new(Arc::new(self.clone()))))
    }

    fn log_in(&self, store: Arc<dyn Store>) -> LogFile {
        let len = self.content().len();
        LogFile {
            facts: FileFacts {
                file: FileId(7),
                agent: TOY.id,
                label: TOY.label,
                commands: Commands::NONE,
                path: Arc::default(),
                id: Some("made".to_owned()),
                parent: Claim::LINES.parent,
                len,
                modified: None,
                host: None,
            },
            system: Arc::new(Local),
            format: &TOY,
            store,
            sidecar: None,
        }
    }
}

impl Open for MadeLog {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let mut content = self.content();
        content.opened += 1;
        if let Some(error) = content.shut {
            return Err(error());
        }
        if let Some(why) = content.refusal {
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        let stamp = content.stamp();
        drop(content);
        let made = self.clone();
        Ok((Box::new(Positioned::new(MadeBytes { made })), stamp))
    }

    fn stamp(&self) -> io::Result<Stamp> {
        let mut content = self.content();
        content.stats += 1;
        Ok(content.stamp())
    }
}

struct MadeBytes {
    made: MadeLog,
}

impl ReadAt for MadeBytes {
    fn size(&self) -> u64 {
        self.made.content().len()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut content = self.made.content();
        let most = match content.faults.as_mut().map_or(Fault::None, |fault| fault()) {
            Fault::None => buffer.len(),
            Fault::Short(most) => most.min(buffer.len()),
            Fault::Error(kind) => return Err(kind.into()),
        };
        let n = content.copy(offset, &mut buffer[..most]);
        content.read += n as u64;
        Ok(n)
    }
}
