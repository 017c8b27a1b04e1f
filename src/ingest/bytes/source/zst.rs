//! Files that were compressed with Zstandard, read as if they were not.
//!
//! They are decoded as they are read, in bounded memory; going back further than `HELD_BYTES` starts again. Nothing
//! is written anywhere. Such files belong to sessions that were idle for days, and never grow.

mod frames;

use super::Stamp;
use crate::bytes::source::file_system::Location;
use crate::bytes::source::{Bytes, CHUNK, Open, Positioned, ReadAt};
use crate::bytes::sync::lock;
use frames::Frames;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Mutex;

/// The extension of compressed files.
const EXTENSION: &str = "zst";
/// The most bytes that a file may become, and the most for each of its own: lines of JSON shrink to between a
/// fifth and a hundredth.
const LARGEST_CONTENT: u64 = 8 << 30;
const LARGEST_RATIO: u64 = 10_000;
/// The number of the bytes decoded last that are held: the next reading begins before the place where the last one
/// ended, by a chunk and a block of hashes at most.
const HELD_BYTES: usize = CHUNK + (64 << 10);

/// Returns true if the file at a path is compressed, by its name.
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext == EXTENSION)
}

/// A compressed file.
pub struct Zst {
    at: Location,
    /// The file's stamp, and the number of bytes that it became at that time.
    len: Mutex<Option<(Stamp, u64)>>,
}

impl Zst {
    /// Returns the file at a path.
    pub fn new(at: &Location) -> Zst {
        Zst {
            at: at.clone(),
            len: Mutex::default(),
        }
    }

    /// Returns the bytes that the file becomes.
    fn len(&self, stamp: Stamp) -> io::Result<u64> {
        let mut held = lock(&self.len);
        match *held {
            Some((seen, len)) if seen == stamp => Ok(len),
            _ => {
                let most = LARGEST_CONTENT.min(stamp.len.saturating_mul(LARGEST_RATIO));
                let all = DecoderPosition::begin(&self.at)?.decoder;
                let len = io::copy(&mut all.take(most + 1), &mut io::sink())?;
                if len > most {
                    return Err(io::Error::other("it is too large when it is decompressed"));
                }
                *held = Some((stamp, len)).filter(|_| stamp.is_sure());
                Ok(len)
            }
        }
    }
}

impl Open for Zst {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let stamp = self.at.stamp_of_any()?;
        let len = self.len(stamp)?;
        let bytes = ZstReader {
            file: self.at.clone(),
            len,
            running: None,
        };
        Ok((Box::new(Positioned::new(bytes)), Stamp { len, ..stamp }))
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.at.stamp_of_any()
    }

    fn is_one_file(&self) -> bool {
        true
    }

    fn is_streamed(&self) -> bool {
        true
    }
}

/// A decoder on its way through a file.
struct DecoderPosition {
    decoder: Frames,
    /// The first byte that it has not decoded.
    next: u64,
    /// The bytes before that, [`HELD_BYTES`] of them or more, up to twice as many.
    past: Vec<u8>,
}

impl DecoderPosition {
    fn begin(at: &Location) -> io::Result<DecoderPosition> {
        Ok(DecoderPosition {
            decoder: Frames::begin(at.open()?.0)?,
            next: 0,
            past: Vec::new(),
        })
    }

    /// Returns true if the bytes from `at` on can be read.
    fn reaches(&self, at: u64) -> bool {
        at + self.past.len() as u64 >= self.next
    }

    /// Reads from `at`, which it reaches; 0: there are no more.
    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        while self.next < at {
            let mut skipped = [0; 8 << 10];
            let most = usize::try_from(at - self.next)
                .unwrap_or(usize::MAX)
                .min(skipped.len());
            if self.decode(&mut skipped[..most])? == 0 {
                return Ok(0);
            }
        }
        let back = usize::try_from(self.next - at).unwrap_or(usize::MAX);
        if back == 0 {
            return self.decode(buffer);
        }
        let held = &self.past[self.past.len().saturating_sub(back)..];
        let read = held.len().min(buffer.len());
        buffer[..read].copy_from_slice(&held[..read]);
        Ok(read)
    }

    fn decode(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.next += read as u64;
        self.past.extend_from_slice(&buffer[..read]);
        if self.past.len() > 2 * HELD_BYTES {
            self.past.drain(..self.past.len() - HELD_BYTES);
        }
        Ok(read)
    }
}

/// The bytes of a compressed file.
struct ZstReader {
    file: Location,
    len: u64,
    running: Option<DecoderPosition>,
}

impl ReadAt for ZstReader {
    fn size(&self) -> u64 {
        self.len
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let most = left.min(buffer.len());
        if most == 0 {
            return Ok(0);
        }
        let mut running = match self.running.take().filter(|it| it.reaches(offset)) {
            Some(running) => running,
            None => DecoderPosition::begin(&self.file)?,
        };
        let read = running.read(offset, &mut buffer[..most])?;
        self.running = Some(running);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::lines::Progress;
    use crate::bytes::source;
    use crate::discover::Scanner;
    use crate::discover::roots::SearchRoot;
    use crate::log::reader::read_whole;
    use crate::log::{LogFile, NewEntries};
    use crate::store::lines::LineLog;
    use crate::testing::toy_log;
    use agents::builtin::codex::CODEX;
    use model::event::ByLength;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::cell::Cell;
    use std::fs;
    use std::io::SeekFrom;
    use std::sync::Arc;

    thread_local! {
        /// Bytes that this thread has decoded.
        pub(crate) static DECODED: Cell<u64> = const { Cell::new(0) };
    }

    fn compressed(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    fn file(bytes: &[u8]) -> (tempfile::TempDir, Zst) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl.zst");
        fs::write(&path, bytes).unwrap();
        (dir, Zst::new(&Location::here(path)))
    }

    #[test]
    fn it_reads_like_the_file_that_it_was() {
        let text: Vec<u8> = (0..90_000_u32)
            .flat_map(|n| n.to_string().into_bytes())
            .collect();
        let (_dir, file) = file(&compressed(&text));
        let (mut bytes, stamp) = file.open().unwrap();
        assert_eq!(stamp.len, text.len() as u64);
        for at in [0, 200_000, 200_001, 7, text.len() - 3, text.len()] {
            let mut read = Vec::new();
            bytes.seek(SeekFrom::Start(at as u64)).unwrap();
            (&mut bytes).take(5_000).read_to_end(&mut read).unwrap();
            assert_eq!(read, &text[at..text.len().min(at + 5_000)]);
        }
        assert!(
            bytes
                .seek(SeekFrom::End(1 - (text.len() as i64) - 9))
                .is_err()
        );
    }

    #[test]
    fn all_frames_are_read_and_what_is_none_is_an_error() {
        let whole = |bytes: &[u8]| {
            let (_dir, file) = file(bytes);
            let mut text = Vec::new();
            let (mut bytes, stamp) = file.open()?;
            bytes.read_to_end(&mut text)?;
            assert_eq!(stamp.len, text.len() as u64);
            Ok::<_, io::Error>(String::from_utf8(text).unwrap())
        };
        let (one, two, none) = (compressed(b"one\n"), compressed(b"two\n"), compressed(b""));
        let skippable = |len: u8| {
            let content = vec![7; usize::from(len)];
            [&[0x5e, 0x2a, 0x4d, 0x18, len, 0, 0, 0][..], &content].concat()
        };
        let all = [
            &skippable(3),
            &one,
            &none,
            &skippable(0),
            &skippable(200),
            &two,
        ];
        let all = all.map(Vec::as_slice).concat();
        assert_eq!(whole(&all).unwrap(), "one\ntwo\n");
        assert_eq!(whole(&none).unwrap(), "");
        for rest in [&b"7"[..], b"more text", &two[..9], &skippable(9)[..12]] {
            let why = whole(&[&one, rest].concat()).unwrap_err();
            assert!(!why.to_string().is_empty(), "{rest:?}");
        }
        let text = b"log\n".repeat(70_000);
        let pieces: Vec<u8> = text.chunks(9_999).flat_map(compressed).collect();
        assert_eq!(whole(&pieces).unwrap().as_bytes(), text);
    }

    #[test]
    fn what_is_broken_or_grows_beyond_measure_is_an_error() {
        let whole = compressed(&b"{\"type\":\"session_meta\"}\n".repeat(400));
        for broken in [&whole[..whole.len() / 2], &whole[4..], b""] {
            assert!(file(broken).1.open().is_err());
        }
        // 64 MiB of zeros in 2 KiB.
        let bomb = compressed(&vec![0; 64 << 20]);
        assert!(file(&bomb).1.open().is_err());
    }

    /// A compressed log of the toy format, long since written, and its length.
    fn toy(lines: u64) -> (tempfile::TempDir, LogFile, u64) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl.zst");
        let line = format!("{{\"toy\":7}}\n{{\"say\":\"{}\"}}\n", "words ".repeat(300));
        let text = line.repeat(usize::try_from(lines).unwrap());
        fs::write(&path, compressed(text.as_bytes())).unwrap();
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(long_ago).unwrap();
        assert!(Stamp::of(&path).unwrap().is_sure());
        let plain = dir.path().join("log.toy");
        fs::write(&plain, "{\"toy\":1}\n").unwrap();
        let store = LineLog::new(source::file(&Location::here(path)));
        let log = LogFile {
            store: Arc::new(store),
            ..toy_log(&plain)
        };
        (dir, log, text.len() as u64)
    }

    #[test]
    fn a_long_log_is_decompressed_about_once_and_not_for_each_megabyte_of_it() {
        let (_dir, log, len) = toy(6_000);
        assert!(len > 10 << 20, "ten batches");
        let decoded = |read: &dyn Fn()| {
            let before = DECODED.get();
            read();
            DECODED.get() - before
        };
        // Once for its length, once for its lines.
        let whole = decoded(&|| {
            let sessions = read_whole(&log, &ByLength, &Arc::default()).unwrap();
            assert_eq!(sessions[0].1.requests().len(), 6_000);
        });
        assert!(whole <= 2 * len + (1 << 20), "{whole} of {len}");
        let followed = decoded(&|| {
            let mut cursor = log.store.cursor(&log, &Arc::default());
            let mut entries = 0;
            loop {
                match cursor.more(&ByLength).unwrap() {
                    NewEntries::Batch(more) => entries += more.len(),
                    NewEntries::Entries(more) => break entries += more.len(),
                    _ => panic!("nobody wrote"),
                }
            }
            assert_eq!(entries, 3 * 6_000);
        });
        assert!(followed <= len + (1 << 20), "{followed} of {len}");
        let epoch = decoded(&|| {
            let mut reading = log.store.epoch(&log, &Arc::default()).unwrap();
            while reading.step(&ByLength, &mut || true).unwrap() == Progress::More {}
        });
        assert!(epoch <= len + (1 << 20), "{epoch} of {len}");
    }

    #[test]
    fn an_idle_session_is_found_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let log = include_bytes!("../../fixtures/codex/usage-record/log.jsonl");
        let name = "rollout-2026-11-20T10-00-00-77777777-7777-7777-8777-777777777777.jsonl.zst";
        fs::write(dir.path().join(name), compressed(log)).unwrap();
        for root in [
            SearchRoot::Usual(&CODEX, dir.path().to_path_buf()),
            SearchRoot::Given(dir.path().to_path_buf()),
            SearchRoot::Given(dir.path().join(name)),
        ] {
            let found = Scanner::new(vec![root], vec![&CODEX], |_| None).look();
            let log = found.files.first().expect("one log");
            let session = read_whole(log, &ByLength, &Arc::default())
                .unwrap()
                .remove(0)
                .1;
            assert_eq!(session.context().known, 9_220);
            assert_eq!(session.meta.version.as_deref(), Some("0.169.0"));
        }
    }
}
