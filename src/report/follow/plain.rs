//! Changes of sessions as lines for people: for a screen reader, a slow line or a pipe. A line is written only for what is
//! worth a word, and never again for the same.

use crate::output::text::in_charset;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::Role;
use model::cost::calls::Calls;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::{Activity, SessionKey, Sessions};
use model::session::Session;
use model::values::threshold::Threshold;
use render::ascii::Charset;
use render::item::label;
use render::number::{counted, percent, short, tokens};
use render::sure::{Signs, of_item};
use render::text::{cut, inert, one_line, shortened};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

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
    /// The machines of which all sessions were found; `None` is this one. Nothing is said of a session before.
    begun: BTreeSet<Option<Arc<str>>>,
}

/// The facts that were said of a session.
#[derive(Debug, Default)]
struct Said {
    /// The step of the percentage that was said last.
    step: u64,
    /// The newest compaction or clear, by its place.
    reset: Option<u64>,
    /// The time of the newest record when the session was first looked at. Compactions before it are no news, also if the
    /// size that they left is read later.
    found: Option<Timestamp>,
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
            begun: BTreeSet::new(),
        }
    }

    /// Writes how many sessions there are on this machine or another one, and a line for each that is live. From now on
    /// their changes are written.
    pub(super) fn begin(
        &mut self,
        sessions: &Sessions,
        host: Option<&Arc<str>>,
        now: Timestamp,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let is_new = self.begun.insert(host.cloned());
        let before = match host {
            Some(host) if !is_new => {
                return self.line(now, &format!("{host} answers again"), to);
            }
            Some(host) => format!("{host}: "),
            None => String::new(),
        };
        let mut rows = sessions.recent();
        let is_run = |key| {
            sessions
                .gauge(key)
                .is_some_and(|it| sessions.is_compaction_run(it))
        };
        rows.retain(|row| sessions.host(row.key) == host && !is_run(row.key));
        let live = rows
            .iter()
            .filter(|row| sessions.live(row.key, now).is_some());
        let live: Vec<SessionKey> = live.map(|row| row.key).collect();
        let all = counted(rows.len() as u64, "session");
        let text = format!("{before}{all}, {} at work", live.len());
        self.line(now, &text, to)?;
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

    /// Writes that another machine does not answer. Nothing is said of its sessions until it does.
    pub(super) fn away(
        &self,
        host: &str,
        why: &str,
        now: Timestamp,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        self.line(
            now,
            &format!("{host} does not answer: {}", one_line(why)),
            to,
        )
    }

    /// Writes a line for each change of a session that is worth one.
    pub(super) fn session(
        &mut self,
        sessions: &Sessions,
        key: SessionKey,
        now: Timestamp,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let gauge = sessions.gauge(key);
        let Some(gauge) = gauge.filter(|gauge| !sessions.is_compaction_run(gauge)) else {
            return Ok(());
        };
        let is_new = !self.said.contains_key(&key);
        let said = self.said.entry(key).or_default();
        // More of a log may be read without anything new in it.
        let before = std::mem::replace(&mut said.newest, gauge.updated_at);
        let has_news = is_new || gauge.updated_at > before;
        let mut lines: Vec<String> = Vec::new();
        if is_new {
            said.found = gauge.updated_at;
        }
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
        if self.begun.contains(&sessions.host(key).cloned()) {
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
        writeln!(to, "{}", in_charset(line.into(), self.charset))
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
            let item = &items[*ix];
            let is_large = oversized.is_reached(session.tokens(*ix).0, window);
            item.role == Role::Tool && item.in_context() && is_large
        });
        let new: Vec<usize> = new.collect();
        let largest = *new.iter().max_by_key(|ix| session.tokens(**ix).0)?;
        let (size, source) = session.tokens(largest);
        let sign = of_item(source, gauge.is_counted);
        let item = &items[largest];
        let mut what = one_line(&label(item)).into_owned();
        if let Some(call) = Calls::of_item(session, largest).subject(session, item) {
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
        let is_said = self.reset.replace(reset.id) == Some(reset.id);
        if is_said || (reset.at.is_some() && reset.at < self.found) {
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
        let _ = write!(text, ", {}{}", signs.requests, forecast.requests_left());
    }
    text
}

#[cfg(test)]
mod tests;
