//! Hashes of what was read of a log, block by block, to notice that it was rewritten, wherever and however that was
//! done.
//!
//! A log that was written to without becoming longer is compared whole. One that has grown, which is looked at many
//! times a second, is compared at its beginning, at its end and in `SAMPLED_BLOCKS` blocks in turn: a line that is
//! rewritten in the middle, with the same length, between two looks between which the log grows too, is noticed
//! when it is that block's turn, or when the log is next written to without growing.

use crate::bytes::source::Bytes;
use std::io::{self, Read, Seek, SeekFrom};
use xxhash_rust::xxh3::xxh3_64;

/// The size of a block in bytes. 8 bytes are held for each.
const BLOCK_BYTES: usize = 16 << 10;
/// The number of bytes at the file's beginning that are compared although reading began after them.
const HEAD_BYTES: u64 = 1 << 10;
/// The number of blocks that are compared at each look, in turn, as the log grows.
const SAMPLED_BLOCKS: usize = 3;
/// The bytes of an end that are hashed after it was read by other means.
const HASHED_TAIL: u64 = 1 << 20;

/// The part of the bytes that were read which is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The piece after the last whole block, which is needed to go on: nothing was written.
    Rest,
    /// That, the beginning, the last block and some others.
    Some,
    /// All of it.
    All,
}

/// Hashes of the bytes from where reading began to where it ended.
#[derive(Debug, Clone, Default)]
pub struct Blocks {
    origin: u64,
    pub(super) end: u64,
    whole: Vec<u64>,
    /// The hash of what follows the last whole block.
    rest: u64,
    /// The hash of the file's first bytes.
    head: u64,
    /// Bytes before `origin` were read that are not hashed.
    is_partial: bool,
    /// The next block to compare.
    turn: usize,
}

impl Blocks {
    /// Returns the blocks of a log whose reading begins here, and of which nothing has been read.
    pub fn at(origin: u64) -> Blocks {
        Blocks {
            origin,
            end: origin,
            ..Blocks::default()
        }
    }

    /// Returns the blocks of a log of which everything from `start` to `end` was read by other means.
    pub fn over(file: &mut Bytes, start: u64, end: u64) -> io::Result<Blocks> {
        let origin = start.max(end.saturating_sub(HASHED_TAIL));
        let mut blocks = Blocks::at(origin);
        blocks.is_partial = origin > start;
        file.seek(SeekFrom::Start(origin))?;
        let mut source = HashingReader::new(file, Vec::new());
        io::copy(&mut (&mut source).take(end - origin), &mut io::sink())?;
        let hashed = source.hashed;
        blocks.seal(file, end, hashed)?;
        Ok(blocks)
    }

    /// Compares what was read with what the file contains now. Returns the bytes after the last whole block, with
    /// which [`HashingReader`] continues; `None`: something differs.
    ///
    /// The file is read in the order of its bytes.
    pub fn compare(&mut self, file: &mut Bytes, check: Check) -> io::Result<Option<Vec<u8>>> {
        if check == Check::All && self.is_partial {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(BLOCK_BYTES);
        if check != Check::Rest {
            let head = self.head_len();
            if head > 0 && read_at(file, 0, head, &mut bytes)? != self.head {
                return Ok(None);
            }
            for block in self.chosen(check) {
                let at = self.origin + (block * BLOCK_BYTES) as u64;
                if read_at(file, at, BLOCK_BYTES, &mut bytes)? != self.whole[block] {
                    return Ok(None);
                }
            }
        }
        let rest = usize::try_from(self.end - self.whole_end()).unwrap_or(0);
        let is_same = rest == 0 || read_at(file, self.whole_end(), rest, &mut bytes)? == self.rest;
        bytes.truncate(rest);
        Ok(is_same.then_some(bytes))
    }

    /// Returns the most bytes that a comparison reads.
    pub fn cost(&self, check: Check) -> u64 {
        let all = self.end - self.origin + HEAD_BYTES;
        match check {
            Check::All => all,
            Check::Rest | Check::Some => {
                all.min(((SAMPLED_BLOCKS + 3) * BLOCK_BYTES) as u64 + HEAD_BYTES)
            }
        }
    }

    /// Returns the blocks to compare, in order.
    fn chosen(&mut self, check: Check) -> Vec<usize> {
        let n = self.whole.len();
        if check == Check::All || n <= SAMPLED_BLOCKS + 2 {
            return (0..n).collect();
        }
        let turn = self.turn;
        self.turn = (turn + SAMPLED_BLOCKS) % n;
        let in_turn = (turn..turn + SAMPLED_BLOCKS).map(|block| block % n);
        let mut chosen: Vec<usize> = in_turn.chain([0, n - 1]).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Notes that reading went on and ended at `end`. Bytes that were hashed beyond it do not count.
    pub fn seal(&mut self, file: &mut Bytes, end: u64, hashed: BlockHashes) -> io::Result<()> {
        let is_first = self.end == self.origin;
        let BlockHashes { whole, mut piece } = hashed;
        let all = self.whole.len() + whole.len();
        let known = (end.saturating_sub(self.origin)) / BLOCK_BYTES as u64;
        let known = usize::try_from(known).unwrap_or(all).min(all);
        let at = self.origin + (known * BLOCK_BYTES) as u64;
        let rest = usize::try_from(end.saturating_sub(at)).unwrap_or(0);
        let rest = match piece.get(..rest).filter(|_| known == all) {
            Some(rest) => xxh3_64(rest),
            None => read_at(file, at, rest, &mut piece)?,
        };
        if is_first && self.head_len() > 0 {
            self.head = read_at(file, 0, self.head_len(), &mut piece)?;
        }
        self.whole.extend(whole);
        self.whole.truncate(known);
        (self.end, self.rest) = (end, rest);
        Ok(())
    }

    fn whole_end(&self) -> u64 {
        self.origin + (self.whole.len() * BLOCK_BYTES) as u64
    }

    fn head_len(&self) -> usize {
        usize::try_from(self.origin.min(HEAD_BYTES)).unwrap_or(0)
    }
}

/// Returns the hash of bytes of the file, and the bytes; of fewer, if it ends before.
fn read_at(file: &mut Bytes, at: u64, len: usize, bytes: &mut Vec<u8>) -> io::Result<u64> {
    bytes.clear();
    file.seek(SeekFrom::Start(at))?;
    file.take(len as u64).read_to_end(bytes)?;
    Ok(xxh3_64(bytes))
}

/// Hashes of what was read on.
pub struct BlockHashes {
    whole: Vec<u64>,
    /// The bytes after the last whole block.
    piece: Vec<u8>,
}

/// Hashes what is read through it.
pub struct HashingReader<'s> {
    source: &'s mut dyn Read,
    /// The hash so far.
    pub hashed: BlockHashes,
}

impl<'s> HashingReader<'s> {
    /// Reads from the place where reading ended; `piece` is what follows the last whole block before it.
    pub fn new(source: &'s mut dyn Read, piece: Vec<u8>) -> HashingReader<'s> {
        let whole = Vec::new();
        let hashed = BlockHashes { whole, piece };
        HashingReader { source, hashed }
    }
}

impl BlockHashes {
    fn take_in(&mut self, mut bytes: &[u8]) {
        if !self.piece.is_empty() {
            let missing = (BLOCK_BYTES - self.piece.len()).min(bytes.len());
            self.piece.extend_from_slice(&bytes[..missing]);
            bytes = &bytes[missing..];
            if self.piece.len() < BLOCK_BYTES {
                return;
            }
            self.whole.push(xxh3_64(&self.piece));
            self.piece.clear();
        }
        let blocks = bytes.chunks_exact(BLOCK_BYTES);
        self.piece.extend_from_slice(blocks.remainder());
        self.whole.extend(blocks.map(xxh3_64));
    }
}

impl Read for HashingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        self.hashed.take_in(&buffer[..n]);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Open;
    use proptest::prelude::*;

    fn blocks(text: &[u8], path: &std::path::PathBuf) -> (Bytes, Blocks) {
        std::fs::write(path, text).unwrap();
        (path.open().unwrap().0, Blocks::at(0))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn pieces_do_not_matter_and_no_changed_byte_is_missed(
            len in 0..5 * BLOCK_BYTES,
            cuts in prop::collection::vec((0..6 * BLOCK_BYTES, 0..6 * BLOCK_BYTES), 0..6),
            at in 0..5 * BLOCK_BYTES,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("log");
            let mut text: Vec<u8> = (0..len).map(|n| (n * 7 + n / 251) as u8).collect();
            let (mut file, mut hashed) = blocks(&text, &path);
            // Read in pieces, of which a part counts.
            for (read, counts) in cuts.into_iter().chain([(usize::MAX, usize::MAX)]) {
                let piece = hashed.compare(&mut file, Check::Rest).unwrap().unwrap();
                let end = hashed.end;
                file.seek(SeekFrom::Start(end)).unwrap();
                let mut source = HashingReader::new(&mut file, piece);
                let n = io::copy(&mut (&mut source).take(read as u64), &mut io::sink()).unwrap();
                let news = source.hashed;
                hashed.seal(&mut file, end + n.min(counts as u64), news).unwrap();
            }
            let end = len as u64;
            prop_assert_eq!(hashed.end, end);
            for check in [Check::Rest, Check::Some, Check::All] {
                prop_assert!(hashed.compare(&mut file, check).unwrap().is_some());
            }
            if len > 0 {
                text[at % len] ^= 1;
                std::fs::write(&path, &text).unwrap();
                prop_assert!(hashed.compare(&mut file, Check::All).unwrap().is_none());
                // In turn, all blocks are looked at.
                let in_turn = (0..2).all(|_| hashed.compare(&mut file, Check::Some).unwrap().is_some());
                prop_assert!(!in_turn);
            }
        }
    }

    #[test]
    fn an_end_that_was_read_by_other_means() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let text = vec![b'x'; 3 << 20];
        let (mut file, _) = blocks(&text, &path);
        for (start, is_whole) in [(0, false), (5, false), (2 << 20, true)] {
            let mut late = Blocks::over(&mut file, start, text.len() as u64).unwrap();
            assert!(late.compare(&mut file, Check::Some).unwrap().is_some());
            let all = late.compare(&mut file, Check::All).unwrap();
            assert_eq!(all.is_some(), is_whole, "{start}");
        }
    }
}
