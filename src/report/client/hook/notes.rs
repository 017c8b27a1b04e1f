//! Notes what compactions did, before and after them.

use super::Call;
use crate::client::line::LineSession;
use crate::client::line::values::plain;
use integrations::agent::Agent;
use integrations::hook_notes::{CLOCKS, HookCompaction, HookNotes, HookSize};
use jiff::Timestamp;
use model::outlook::compaction::{Compaction, compactions};
use model::session::{PastReset, Session};
use model::{LeaveReason, Source};
use render::item::label;
use render::number::{counted, short, tokens};

impl Call<'_> {
    pub(super) fn before_compaction(&mut self) {
        self.keep_said();
        let mut noted = self.noted();
        let of_agent = self.event.size.map(|used| HookSize {
            used,
            known: 0,
            own_count: None,
            is_agents: true,
        });
        noted.begin(HookCompaction {
            at: (self.context.now)(),
            cause: self.cause(),
            before: of_agent,
            ended: None,
            after: None,
        });
        // Its cause is noted even if there is no time to read the log.
        self.save(&noted);
        let Some(shown) = self.shown(&mut noted) else {
            return;
        };
        // Cursor logs none.
        if self.event.agent != Agent::Cursor {
            noted.settle(newest(&shown.session).and_then(|reset| reset.at), true);
        }
        if let Some(last) = noted.compactions.last_mut() {
            last.before = last.before.or_else(|| Some(size(&shown)));
        }
        self.save(&noted);
    }

    /// Returns a sentence on the compaction. Some agents log a compaction only later: then the next prompt has the
    /// sentence.
    pub(super) fn after_compaction(&mut self) -> Option<String> {
        let mut noted = self.noted();
        noted.end((self.context.now)(), &self.cause());
        self.save(&noted);
        let shown = self.shown(&mut noted)?;
        let done = end(&mut noted, &shown, self.event.agent);
        self.save(&noted);
        done
    }

    fn cause(&self) -> String {
        self.event.cause.clone().unwrap_or_default()
    }
}

/// Returns a sentence on the events that were missed since the last answer. They count as reported afterwards.
pub(super) fn missed(noted: &mut HookNotes) -> Option<String> {
    let missed = std::mem::take(&mut noted.missed);
    let events = counted(missed, "event");
    (missed > 0).then(|| format!("ctxgauge: {events} missed, since the hook took too long"))
}

/// Completes what is noted of the last compaction, once the log has it. Returns it as a sentence.
pub(super) fn end(noted: &mut HookNotes, shown: &LineSession, agent: Agent) -> Option<String> {
    let newest = newest(&shown.session);
    if agent == Agent::GeminiCli {
        noted.settle(newest.and_then(|reset| reset.at), false);
    }
    let earlier = noted.compactions.iter().rev().nth(1);
    let earlier = earlier.and_then(|earlier| earlier.ended);
    let last = noted.compactions.last_mut()?;
    if last.after.is_some() || last.ended.is_none() && agent.has_hook_after_compaction() {
        return None;
    }
    let began = last.at - CLOCKS;
    let is_its = |at: Timestamp| at >= began && Some(at) > earlier;
    let reset = newest.filter(|reset| reset.at.is_some_and(is_its))?;
    let done = compactions(&shown.session).pop()?;
    last.ended = last.ended.or(reset.at);
    last.after = Some(match size_after(&shown.session, reset, &done) {
        Some((used, source)) if !is_newest(&shown.session, reset) => HookSize {
            used,
            known: if source.is_known() { used } else { 0 },
            own_count: None,
            is_agents: source == Source::Agent,
        },
        _ => size(shown),
    });
    Some(sentence(&shown.session, reset, &done, &last.cause))
}

/// Returns true if nothing was sent since a compaction.
fn is_newest(session: &Session, reset: &PastReset) -> bool {
    reset.request >= session.requests().len()
}

/// Returns the size after a compaction. It is the size of the context as long as nothing was sent since, because the
/// agent's own number may be of something else.
fn size_after(session: &Session, reset: &PastReset, done: &Compaction) -> Option<(u64, Source)> {
    if is_newest(session, reset) {
        Some((session.context().used, Source::Estimated))
    } else {
        done.after
    }
}

fn newest(session: &Session) -> Option<&PastReset> {
    let (reset, _) = session.newest_reset()?;
    (reset.gone == LeaveReason::Compaction).then_some(reset)
}

/// Returns the size of a context as its log has it.
fn size(shown: &LineSession) -> HookSize {
    let context = shown.session.context();
    HookSize {
        used: context.used,
        known: context.known,
        own_count: context.own.map(|own| own.tokens),
        is_agents: false,
    }
}

/// Returns a sentence on a compaction.
fn sentence(session: &Session, reset: &PastReset, done: &Compaction, cause: &str) -> String {
    let about = |size: u64, source: Source| {
        let about = if source.is_known() { "" } else { "~" };
        format!("{about}{}", tokens(size))
    };
    let before = about(reset.before, reset.before_source);
    let after = size_after(session, reset, done)
        .map(|(after, source)| format!(" to {}", about(after, source)));
    let left = counted(done.left_items as u64, "item");
    let largest = done.largest.first().map(|(ix, size, _)| {
        let label = label(&session.items()[*ix]).into_owned();
        format!(", the largest {} {}", plain(&label), short(*size))
    });
    let cause = match cause {
        "" => String::new(),
        cause => format!(" ({})", plain(cause)),
    };
    format!(
        "ctxgauge: compacted{cause}: from {before}{}; {left} left the context{}",
        after.unwrap_or_default(),
        largest.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::testing::Log;
    use model::{Kind, Role};

    #[test]
    fn a_compaction_is_a_sentence() {
        let log = Log::new()
            .item("1", Role::Tool, Kind::ToolResult, 40_000)
            .item("2", Role::User, Kind::Text, 400);
        let log = log.reset(LeaveReason::Compaction, "auto", 75_074);
        let done = compactions(&log.session).pop().unwrap();
        let said = sentence(&log.session, &log.session.resets()[0], &done, "auto");
        assert!(
            said.starts_with("ctxgauge: compacted (auto): from ~75.1k to ~"),
            "{said}"
        );
        assert!(
            said.contains("2 items left the context, the largest"),
            "{said}"
        );
    }
}
