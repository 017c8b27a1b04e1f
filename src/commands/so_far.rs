//! Bytes that come as long as somebody writes: what has come so far can be taken before the end.

use ingest::bytes::sync::lock;
use std::io::{self, Read, Write};
use std::mem;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// The bytes of a source that came so far.
pub(super) struct SoFar {
    bytes: Shared,
    /// Gets the end of the source.
    pub(super) end: Receiver<io::Result<u64>>,
}

impl SoFar {
    /// Begins to read a source, on a thread of its own, which ends with the source or with the process.
    pub(super) fn read(mut source: impl Read + Send + 'static) -> io::Result<SoFar> {
        let bytes = Shared::default();
        let mut into = bytes.clone();
        let (send, end) = sync_channel(1);
        thread::Builder::new().spawn(move || send.send(io::copy(&mut source, &mut into)))?;
        Ok(SoFar { bytes, end })
    }

    /// Takes what came so far.
    pub(super) fn take(&self) -> Vec<u8> {
        mem::take(&mut lock(&self.bytes.0))
    }
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
