//! Reads the size at which a session began, where its log is read from a later record on: after a compaction, its next
//! prompt begins with as much.

use crate::bytes::lines::{Lines, OnLine};
use crate::bytes::source::Bytes;
use crate::log::LogFile;
use crate::log::conversations::{Conversations, decode};
use model::event::{Conversation, EventSink, Measure};
use model::session::{Coverage, Session};
use model::window::Rules;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The bytes in which the first usage report is searched: some agents write all tools before it.
const SEARCHED: u64 = 1 << 20;

/// Reads a log up to its first usage report, if its main session was compacted and no prompt shows yet what it has of its
/// beginning. That is the tokens of the first prompt that are not part of the conversation.
///
/// # Errors
///
/// If the log cannot be read.
pub(super) fn read_if_missing(
    main: &mut Session,
    log: &LogFile,
    file: &mut Bytes,
    measure: &dyn Measure,
    rules: &Arc<Rules>,
) -> io::Result<()> {
    if main.anchor().is_some() || main.resets().is_empty() {
        return Ok(());
    }
    let mut decoder = log.decoder();
    let mut out = EventSink::new(measure);
    let mut conversations = Conversations::new(&log.facts, rules, Coverage::Whole).finally();
    file.seek(SeekFrom::Start(0))?;
    let deliver: &mut OnLine<'_> = &mut |place, line| {
        decode(decoder.decoder.as_mut(), place, line, &mut out);
        conversations.apply(out.entries.drain(..));
        let first = conversations.conversation(Conversation::Main);
        if first.requests().is_empty() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    Lines::at(0, 1, SEARCHED).read_all(&mut file.take(SEARCHED), deliver)?;
    let first = conversations.conversation(Conversation::Main);
    first.catch_up();
    if let Some(tokens) = first.beginning() {
        main.set_beginning(tokens);
    }
    Ok(())
}
