//! Memory for what is read at once: each thread keeps that of its last reading, which is neither requested nor cleared
//! for each log.

use crate::bytes::source::CHUNK;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};

thread_local! {
    static KEPT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Memory for some bytes. What is in it at first is of no use.
#[derive(Debug)]
pub(super) struct Chunk {
    memory: Vec<u8>,
    len: usize,
}

impl Chunk {
    /// Returns memory for so many bytes, [`CHUNK`] at most.
    pub(super) fn new(len: usize) -> Chunk {
        let len = len.min(CHUNK);
        let mut memory = KEPT.take();
        if memory.len() < len {
            memory.resize(len, 0);
        }
        Chunk { memory, len }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        KEPT.set(std::mem::take(&mut self.memory));
    }
}

impl Deref for Chunk {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.len]
    }
}

impl DerefMut for Chunk {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[..self.len]
    }
}
