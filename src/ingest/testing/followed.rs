//! Logs that are read and followed as the program does it: what must be read again is read again. No test demands what a
//! single step of a reading comes to.

use crate::bytes::lines::Progress;
use crate::log::conversations::{Conversations, LogSessions};
use crate::log::reach::Reach;
use crate::log::{Cursor, LogFile, NewEntries, Reading};
use files::waiting::wait_for;
use model::event::ByLength;
use model::window::Rules;
use std::io;
use std::sync::Arc;

/// Reads to the end in the smallest steps, from the beginning again whenever that is asked for.
pub fn read_to_end(mut begin: impl FnMut() -> Reading) -> Reading {
    wait_for("end of the log", || {
        let mut reading = begin();
        loop {
            match reading.step(&ByLength, &mut || true).unwrap() {
                Progress::More => {}
                Progress::Done => return Ok(reading),
                Progress::Restart => return Err("it is to be read again"),
            }
        }
    })
}

/// Reads a log from its beginning to its end.
pub fn open(log: &LogFile, rules: &Arc<Rules>) -> (LogSessions, Box<dyn Cursor>) {
    read_to_end(|| Reading::whole(log, rules)).finish()
}

/// Reads the end of a log, as the screens do first.
pub fn tail(log: &LogFile) -> Reading {
    let reading = log
        .store
        .tail(log, &ByLength, &Arc::default(), Reach::SCREEN);
    reading.unwrap()
}

/// A log that is followed.
pub struct FollowedLog {
    pub log: LogFile,
    pub cursor: Box<dyn Cursor>,
    /// How often it was read again from its beginning.
    pub restarts: u32,
    rules: Arc<Rules>,
    conversations: Conversations,
}

impl FollowedLog {
    /// Reads what there is of a log.
    pub fn begin(log: &LogFile, rules: &Arc<Rules>) -> FollowedLog {
        let (conversations, cursor) = read_to_end(|| Reading::whole(log, rules)).into_parts();
        FollowedLog {
            log: log.clone(),
            cursor,
            restarts: 0,
            rules: Arc::clone(rules),
            conversations,
        }
    }

    /// Its sessions as they are now.
    pub fn sessions(&self) -> LogSessions {
        self.conversations.clone().into_sessions()
    }

    /// The prompts of its main session.
    pub fn prompts(&self) -> Vec<u64> {
        let sessions = self.sessions();
        let requests = sessions[0].1.requests();
        requests.iter().map(|request| request.prompt).collect()
    }

    /// Reads what has come.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] while it is being rewritten.
    pub fn go_on(&mut self) -> io::Result<()> {
        while self.take(|cursor| cursor.more(&ByLength))? {}
        Ok(())
    }

    /// Reads what has come, an incomplete last record too: nobody goes on writing.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if it may still be written to.
    pub fn finish(&mut self) -> io::Result<()> {
        while self.take(|cursor| cursor.finish(&ByLength))? {}
        Ok(())
    }

    /// Takes in what is read. Returns true if there may be more.
    fn take(
        &mut self,
        read: impl FnOnce(&mut Box<dyn Cursor>) -> io::Result<NewEntries>,
    ) -> io::Result<bool> {
        match read(&mut self.cursor)? {
            NewEntries::Batch(entries) => self.conversations.apply(entries),
            NewEntries::Entries(entries) => {
                self.conversations.apply(entries);
                return Ok(false);
            }
            NewEntries::Rewritten(conversations) => {
                self.conversations = conversations;
                return Ok(false);
            }
            NewEntries::Restart => {
                let restarts = self.restarts + 1;
                *self = FollowedLog::begin(&self.log, &self.rules);
                self.restarts = restarts;
            }
        }
        Ok(true)
    }
}
