//! Takes in the sessions of other machines, for lines for people.

use super::{State, Stream};
use anyhow::Result;
use hosts::Event;
use hosts::host::SCHEME;
use ingest::IngestEvent;
use jiff::Timestamp;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

impl Stream {
    /// Takes in what another machine has sent. Only lines for people show it.
    pub fn take_host(&self, event: Event, now: Instant) -> ControlFlow<()> {
        let event = match event {
            Event::Update(update) => update.into(),
            Event::Said(host, what) => {
                let path = PathBuf::from(format!("{SCHEME}{host}"));
                let state = self.lock();
                let away = state.sessions.host_away(host.name());
                // Why it does not answer has a line of its own.
                if away.is_some_and(|away| *away.why == *what) {
                    return ControlFlow::Continue(());
                }
                IngestEvent::Problem { path, what }
            }
        };
        self.take(event, now)
    }
}

impl State {
    /// Writes whether other machines answer, once all is written of what they have sent.
    pub(super) fn write_hosts(&mut self, at: Timestamp, to: &mut Vec<u8>) -> Result<()> {
        let hosts = std::mem::take(&mut self.hosts);
        let Some(plain) = &mut self.plain else {
            return Ok(());
        };
        for host in hosts {
            match self.sessions.host_away(&host) {
                Some(away) => plain.away(&host, &away.why, at, to)?,
                None => plain.begin(&self.sessions, Some(&host), at, to)?,
            }
        }
        Ok(())
    }
}
