//! Files that were compressed with Zstandard, read as if they were not.
//!
//! They are decoded as they are read, in bounded memory; to go back is to begin anew. Nothing is written
//! anywhere. Such files are of sessions that were idle for days, and never grow.

use super::Stamp;
use super::bytes::{Bytes, Open, sought};
use crate::files;
use crate::ingest::lock;
use ruzstd::decoding::StreamingDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The extension of such files.
const EXTENSION: &str = "zst";
/// The most bytes that a decoder holds: 8 MiB is the most that `zstd` uses unless it is told otherwise.
const WINDOW: u64 = 32 << 20;
/// The most bytes that a file may become, and the most for each of its own: lines of JSON become a fifth
/// to a hundredth.
const LARGEST: u64 = 8 << 30;
const RATIO: u64 = 10_000;

/// Whether the file at a path is compressed, by its name.
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext == EXTENSION)
}

/// A compressed file.
pub struct Zst {
    path: Arc<PathBuf>,
    /// The file as it was, and the bytes that it then became.
    len: Mutex<Option<(Stamp, u64)>>,
}

impl Zst {
    /// The file at a path.
    pub fn new(path: &Arc<PathBuf>) -> Zst {
        Zst {
            path: Arc::clone(path),
            len: Mutex::default(),
        }
    }

    /// The bytes that the file becomes.
    fn len(&self, stamp: Stamp) -> io::Result<u64> {
        let mut held = lock(&self.len);
        match *held {
            Some((seen, len)) if seen == stamp => Ok(len),
            _ => {
                let most = LARGEST.min(stamp.len.saturating_mul(RATIO));
                let len = io::copy(&mut decoder(&self.path)?.take(most + 1), &mut io::sink())?;
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
        let stamp = Stamp::of(&self.path)?;
        let len = self.len(stamp)?;
        let bytes = Decoded {
            path: Arc::clone(&self.path),
            len,
            at: 0,
            decoder: None,
        };
        Ok((Box::new(bytes), Stamp { len, ..stamp }))
    }

    fn stamp(&self) -> io::Result<Stamp> {
        Stamp::of(&self.path)
    }

    fn is_one_file(&self) -> bool {
        true
    }
}

type Decoder = StreamingDecoder<BufReader<File>, ruzstd::decoding::FrameDecoder>;

fn decoder(path: &Path) -> io::Result<Decoder> {
    let file = BufReader::new(files::open(path)?);
    let decoder = StreamingDecoder::new_with_max_window_size(file, WINDOW);
    decoder.map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why.to_string()))
}

/// The bytes of a compressed file.
struct Decoded {
    path: Arc<PathBuf>,
    len: u64,
    at: u64,
    /// A decoder, and the first byte that it has not decoded.
    decoder: Option<(u64, Decoder)>,
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.len.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let most = left.min(buffer.len());
        if most == 0 {
            return Ok(0);
        }
        let (next, mut decoder) = match self.decoder.take() {
            Some((next, decoder)) if next <= self.at => (next, decoder),
            _ => (0, decoder(&self.path)?),
        };
        io::copy(&mut (&mut decoder).take(self.at - next), &mut io::sink())?;
        let read = decoder.read(&mut buffer[..most])?;
        self.at += read as u64;
        self.decoder = Some((self.at, decoder));
        Ok(read)
    }
}

impl Seek for Decoded {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = sought(to, self.at, self.len)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::codex::CODEX;
    use crate::ingest::discover::Scanner;
    use crate::ingest::reader::read_whole;
    use crate::ingest::roots::SearchRoot;
    use crate::model::event::ByLength;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::fs;

    fn compressed(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    fn file(bytes: &[u8]) -> (tempfile::TempDir, Zst) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl.zst");
        fs::write(&path, bytes).unwrap();
        (dir, Zst::new(&Arc::new(path)))
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
    fn what_is_broken_or_grows_beyond_measure_is_an_error() {
        let whole = compressed(&b"{\"type\":\"session_meta\"}\n".repeat(400));
        for broken in [&whole[..whole.len() / 2], &whole[4..], b""] {
            assert!(file(broken).1.open().is_err());
        }
        // 64 MiB of zeros in 2 KiB.
        let bomb = compressed(&vec![0; 64 << 20]);
        assert!(file(&bomb).1.open().is_err());
    }

    #[test]
    fn an_idle_session_is_found_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let log = include_bytes!("../../../tests/fixtures/codex/usage-record/log.jsonl");
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
