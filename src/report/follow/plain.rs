//! Changes of sessions as lines for people: for a screen reader, a slow line or a pipe. A line is written only for what is
//! worth a word, and never again for the same.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::Role;
use model::calls::Calls;
use model::gauge::SessionGauge;
use model::session::Session;
use model::sessions::{Activity, SessionKey, Sessions};
use model::threshold::Threshold;
use render::ascii::{Charset, in_ascii};
use render::item::label;
use render::number::{counted, percent, short, tokens};
use render::sure::{Signs, of_item};
use render::text::{cut, inert, one_line, shortened};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// A line is written for each so many percent of the trigger, or of the window where no trigger is known.
const STEP: u64 = 5;
/// The most columns of a title, and of what a tool was called with.
const TITLE_COLUMNS: usize = 48;

/// The lines of a stream for people: their look, and what they have said.
#[derive(Debug)]
pub struct PlainLines {
    /// The zone of the user's clock.
    pub zone: TimeZone,
    /// The characters of the lines.
    pub charset: Charset,
    /// Results from this size on have a line.
    pub oversized: Threshold,
    said: HashMap<SessionKey, Said>,
    /// True once all logs were found: what a session was before is not said.
    is_begun: bool,
}

/// The facts that were said of a session.
#[derive(Debug, Default)]
struct Said {
    /// The step of the percentage that was said last.
    step: u64,
    /// The newest compaction or clear, by its place.
    reset: Option<u64>,
    /// The number of items that were looked at; `None`: the session was not held in memory.
    items: Option<usize>,
    activity: Option<Activity>,
    /// The time of the newest record.
    newest: Option<Timestamp>,
}

impl PlainLines {
    /// Creates lines of which none was written.
    pub fn new(zone: TimeZone, charset: Charset, oversized: Threshold) -> PlainLines {
        PlainLines {
            zone,
            charset,
            oversized,
            said: HashMap::new(),
            is_begun: false,
        }
    }

    /// Writes how many sessions there are, and a line for each that is live.
    pub(super) fn begin(
        &mut self,
        sessions: &Sessions,
        now: Timestamp,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        self.is_begun = true;
        let rows = sessions.recent();
        let live = rows
            .iter()
            .filter(|row| sessions.live(row.key, now).is_some());
        let live: Vec<SessionKey> = live.map(|row| row.key).collect();
        let all = counted(rows.len() as u64, "session");
        self.line(now, &format!("{all}, {} at work", live.len()), to)?;
        for key in live {
            let Some(gauge) = sessions.gauge(key) else {
                continue;
            };
            let waits = sessions.live(key, now) == Some(Activity::Waiting);
            let waits = if waits { ", waits for you" } else { "" };
            let text = format!("{}{waits}", size(gauge));
            self.of_session(sessions, key, now, &text, to)?;
        }
        Ok(())
    }

    /// Writes a line for each change of a session that is worth one.
    pub(super) fn session(
        &mut self,
        sessions: &Sessions,
        key: SessionKey,
        now: Timestamp,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let Some(gauge) = sessions.gauge(key) else {
            return Ok(());
        };
        let is_new = !self.said.contains_key(&key);
        let said = self.said.entry(key).or_default();
        // More of a log may be read without anything new in it.
        let before = std::mem::replace(&mut said.newest, gauge.updated_at);
        let has_news = is_new || gauge.updated_at > before;
        let mut lines: Vec<String> = Vec::new();
        if let Some(session) = sessions.get(key) {
            lines.extend(said.large(session, gauge, self.oversized));
        }
        let compacted = said.compaction(gauge);
        let has_reset = compacted.is_some();
        lines.extend(compacted);
        lines.extend(said.step(gauge, is_new || has_reset));
        if is_new {
            // All that it says of its past is no news.
            let is_child = gauge.meta.parent.is_some();
            let what = if is_child {
                "a sub-agent begins"
            } else {
                "begins"
            };
            lines = vec![format!("{what}: {}", size(gauge))];
        } else if !has_news {
            lines.clear();
        }
        let activity = sessions.live(key, now);
        let is_waiting = activity == Some(Activity::Waiting);
        if is_waiting && said.activity != activity && gauge.meta.parent.is_none() {
            lines.push(format!("waits for you at {}", size(gauge)));
        }
        said.activity = activity;
        if self.is_begun {
            for line in lines {
                self.of_session(sessions, key, now, &line, to)?;
            }
        }
        Ok(())
    }

    fn of_session(
        &self,
        sessions: &Sessions,
        key: SessionKey,
        now: Timestamp,
        text: &str,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let name = sessions.name(key);
        let mut who = one_line(&name).into_owned();
        let title = sessions.title(key).filter(|title| *title != name);
        if let Some(title) = title {
            let _ = write!(who, " \"{}\"", cut(&one_line(&title), TITLE_COLUMNS));
        }
        let agent = sessions.facts(key).map_or("", |facts| facts.label);
        self.line(now, &format!("{agent} {who}: {text}"), to)
    }

    fn line(&self, now: Timestamp, text: &str, to: &mut dyn Write) -> io::Result<()> {
        let at = now.to_zoned(self.zone.clone());
        let line = format!("{} {}", at.strftime("%H:%M:%S"), inert(text));
        match self.charset {
            Charset::Unicode => writeln!(to, "{line}"),
            Charset::Ascii => writeln!(to, "{}", in_ascii(&line, crate::text::ascii)),
        }
    }
}

impl Said {
    /// Returns a line on new results that are large, the largest of them by name.
    fn large(
        &mut self,
        session: &Session,
        gauge: &SessionGauge,
        oversized: Threshold,
    ) -> Option<String> {
        let items = session.items();
        let from = self.items.replace(items.len())?;
        let window = gauge.limits().window;
        let new = (from.min(items.len())..items.len()).filter(|ix| {
            let item = items.at(*ix);
            let is_large = oversized.is_reached(session.tokens(*ix).0, window);
            item.role() == Role::Tool && item.in_context() && is_large
        });
        let new: Vec<usize> = new.collect();
        let largest = *new.iter().max_by_key(|ix| session.tokens(**ix).0)?;
        let (size, source) = session.tokens(largest);
        let sign = of_item(source, gauge.is_counted);
        let item = items.at(largest);
        let mut what = one_line(&label(&item)).into_owned();
        if let Some(call) = Calls::of_item(session, largest).subject(session, &item) {
            let _ = write!(what, " {}", shortened(&call, TITLE_COLUMNS));
        }
        let more = match new.len() {
            1 => String::new(),
            n => format!(", and {} more", n - 1),
        };
        Some(format!(
            "a large result: {what} {sign}{}{more}",
            tokens(size)
        ))
    }

    /// Returns a line on a compaction or clear that was not said yet, once it is known what it left.
    fn compaction(&mut self, gauge: &SessionGauge) -> Option<String> {
        let reset = gauge.newest_reset?;
        let after = reset.after?;
        if self.reset.replace(reset.id) == Some(reset.id) {
            return None;
        }
        let verb = if reset.is_compaction {
            "compacted"
        } else {
            "cleared"
        };
        let sign = if reset.is_reported { "" } else { "~" };
        let (before, after) = (tokens(reset.before), tokens(after));
        Some(format!("{verb}: {before} before, {sign}{after} after"))
    }

    /// Returns a line if the context has passed a step since the last one, up or down.
    fn step(&mut self, gauge: &SessionGauge, is_said: bool) -> Option<String> {
        let limits = gauge.limits();
        if limits.ends {
            return None;
        }
        let (filled, end) = gauge.context.filled(limits);
        let step = percent(filled, end)? / STEP;
        let before = std::mem::replace(&mut self.step, step);
        // A size just below a step that goes back and forth is not said again and again.
        if step + 1 == before {
            self.step = before;
        }
        let is_passed = step > before || step + 1 < before;
        (is_passed && !is_said).then(|| size(gauge))
    }
}

/// Returns the size of the context in words: `83% of 167k trigger, 28.4k left`.
fn size(gauge: &SessionGauge) -> String {
    let limits = gauge.limits();
    let (filled, end) = gauge.context.filled(limits);
    let signs = Signs::of(gauge);
    let Some(share) = percent(filled, end).filter(|_| gauge.context.used > 0) else {
        return "nothing sent yet".to_owned();
    };
    let mut text = format!(
        "{}{share}% of {} {}",
        signs.share,
        short(end),
        limits.end_name()
    );
    match end.saturating_sub(filled) {
        0 if limits.trigger.is_some() => text.push_str(", at the trigger"),
        left => {
            let _ = write!(text, ", {}{} left", signs.left, tokens(left));
        }
    }
    if let Ok(forecast) = gauge.forecast_then()
        && !forecast.is_now()
    {
        let [_, median, _] = forecast.requests.rounded();
        let _ = write!(text, ", about {}", counted(median, "request"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Kind;
    use model::event::Conversation;
    use model::session::Coverage;
    use model::sessions::{FileFacts, FileId, Update};
    use model::testing::Log;
    use std::path::PathBuf;
    use std::sync::Arc;

    fn key() -> SessionKey {
        SessionKey {
            file: FileId(1),
            conversation: Conversation::Main,
        }
    }

    /// Returns what is said after this state of the session.
    fn said(lines: &mut PlainLines, sessions: &mut Sessions, log: Log) -> Vec<String> {
        let mut session = log.session;
        session.coverage = Coverage::Whole;
        session.set_window(Some(100_000));
        let file = FileId(1);
        sessions.apply(Update::Found(Box::new(FileFacts {
            file,
            agent: "codex",
            label: "codex",
            commands: model::sessions::Commands::NONE,
            path: Arc::new(PathBuf::from("a.jsonl")),
            id: None,
            parent: None,
            len: 0,
            modified: None,
            host: None,
        })));
        sessions.apply(Update::Rebuilt {
            file,
            sessions: vec![(Conversation::Main, session)],
        });
        let mut out = Vec::new();
        let now = "2026-11-28T16:31:05Z".parse().unwrap();
        lines.session(sessions, key(), now, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_what_is_worth_a_word_is_said_and_only_once() {
        let mut lines = PlainLines::new(TimeZone::UTC, Charset::Ascii, Threshold::Tokens(8_000));
        lines.is_begun = true;
        let mut sessions = Sessions::new(Arc::default());
        let log = || {
            Log::new()
                .timed()
                .item("1", Role::User, Kind::Text, 20_000)
                .report(20_000)
        };
        let mut said = |log: Log| said(&mut lines, &mut sessions, log);
        let first = said(log());
        assert_eq!(first.len(), 1, "{first:?}");
        assert!(first[0].starts_with("16:31:05 codex "), "{first:?}");
        assert!(
            first[0].contains("begins: ") && first[0].contains("40%"),
            "{first:?}"
        );
        // Nothing new, and less than a step.
        assert!(said(log()).is_empty());
        let small = || {
            log()
                .item("2", Role::Tool, Kind::ToolResult, 1_000)
                .report(21_000)
        };
        assert!(said(small()).is_empty());
        let large = || {
            small()
                .item("3", Role::Tool, Kind::ToolResult, 9_000)
                .report(30_000)
        };
        let lines = said(large());
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(
            lines[0].contains("a large result: ") && lines[1].contains("60%"),
            "{lines:?}"
        );
        assert!(lines.iter().all(|line| line.is_ascii()), "{lines:?}");
        let compacted = || large().compact(30_000).report(6_000);
        let lines = said(compacted());
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].contains("compacted: 30.0k before, 6.0k after"),
            "{lines:?}"
        );
        assert!(said(compacted()).is_empty());
    }
}
