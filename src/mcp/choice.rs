//! The choice of a session, what it rests on and what makes it uncertain.

use ingest::log::LogFile;
use model::event::Conversation;

/// The longest id in a note, in characters.
const LONGEST_ID: usize = 64;

/// The log that is asked about.
pub(crate) struct Choice {
    pub(crate) log: LogFile,
    /// The conversation in that log.
    pub(crate) conversation: Conversation,
    /// The way in which it was found.
    pub(crate) found_by: &'static str,
    pub(crate) grounds: Grounds,
    /// The reason why it is uncertain; `None`: it is certain.
    pub(crate) note: Option<String>,
}

/// The grounds of a choice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grounds {
    /// The user or the call names the session.
    Named,
    /// The client that started the server has this session: a sub-agent of it may ask, or one that has taken its place.
    Client,
    /// It is the newest of its folder.
    Newest,
}

impl Choice {
    pub(crate) fn of(log: &LogFile, found_by: &'static str, grounds: Grounds) -> Choice {
        Choice {
            log: log.clone(),
            conversation: Conversation::Main,
            found_by,
            grounds,
            note: None,
        }
    }

    /// Returns the choice with weaker grounds: the client may have another session by now.
    pub(crate) fn of_any(&self) -> Choice {
        Choice::of(&self.log, self.found_by, Grounds::Newest)
    }
}

/// Returns the note on two sessions that may both be the one that asks.
pub(crate) fn either(id: Option<String>, other: Option<String>) -> String {
    let [id, other] = [id, other].map(shortened);
    format!(
        "sessions {id} and {other} of this folder are both at work, and this client does not say which of them asks: this \
         is {id}, which was written last"
    )
}

/// Returns the note on a session that may have replaced the one that a variable names.
pub(crate) fn newer(id: Option<String>) -> String {
    let id = shortened(id);
    format!(
        "session {id} of this project was written later: after /clear or /resume it may be the one"
    )
}

/// Cuts an id of any length for a note.
fn shortened(id: Option<String>) -> String {
    id.unwrap_or_default().chars().take(LONGEST_ID).collect()
}
