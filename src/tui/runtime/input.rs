//! The terminal's events, read by a task of their own.
//!
//! Polling crossterm's stream without need is expensive: while its thread waits for the terminal, each poll yields the
//! processor up to seven times before it gives up, and on a busy machine each yield may take milliseconds. The event
//! loop wakes for every batch of updates, this task only for events.

use crossterm::event::{Event, EventStream};
use futures_core::Stream;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinHandle;

/// The number of events that may wait to be handled; further ones wait in the terminal.
const WAITING_EVENTS: usize = 64;

/// The events of the terminal, until [`Input::end`].
pub(super) struct Input {
    events: Receiver<io::Result<Event>>,
    reads: JoinHandle<()>,
}

impl Input {
    /// Begins to read. Needs a runtime.
    pub(super) fn begin() -> Input {
        let (sender, events) = channel(WAITING_EVENTS);
        let reads = tokio::spawn(async move {
            let mut stream = EventStream::new();
            while let Some(event) = poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)).await {
                if sender.send(event).await.is_err() {
                    return;
                }
            }
        });
        Input { events, reads }
    }

    /// Returns the next event; `None`: the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<io::Result<Event>> {
        self.events.recv().await
    }

    /// Reads no more, so that another program may.
    pub(super) async fn end(self) {
        self.reads.abort();
        // It was aborted.
        let _ = self.reads.await;
    }
}
