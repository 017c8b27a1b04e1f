//! The built-in demo: two invented logs, played as if two agents were writing them.

mod marks;

use crate::bytes::lines::Line;
use crate::bytes::sync::spawn;
use crate::log::conversations::decode;
use crate::log::event::IngestEvent;
use crate::log::facts_of;
use crate::log::problem::LOG_GONE;
use crate::worker::job::{Origin, TextJob, do_job};
use formats::Format;
use jiff::{SignedDuration, Timestamp};
use marks::expand;
use model::event::{Conversation, Entry, EventSink, Measure, Place};
use model::lists::sessions::{FileFacts, FileId, Update};
use model::session::{Coverage, Session};
use model::window::Rules;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokens::Counter;

/// One of the demo's logs.
#[derive(Clone, Copy)]
pub struct Log {
    format: &'static Format,
    /// The path that is shown.
    path: &'static str,
    /// The log, with marks (see [`expand`]).
    text: &'static str,
}

#[cfg(feature = "testing")]
impl Log {
    /// Returns the log as an agent would have written it.
    pub fn expanded(&self) -> String {
        let lines = (1..).zip(self.text.lines());
        lines
            .map(|(number, line)| expand(line, number) + "\n")
            .collect()
    }
}

/// Returns the demo's logs, with their formats by id.
pub fn logs(by_id: impl Fn(&str) -> Option<&'static Format>) -> Arc<[Log]> {
    let logs = assets::DEMO.iter().filter_map(|log| {
        let format = by_id(log.format)?;
        Some(Log {
            format,
            path: log.path,
            text: log.text,
        })
    });
    logs.collect()
}

/// One in this many lines is written when the demo starts, so that there are gauges at once.
const WRITTEN_SHARE: usize = 3;
/// Seconds of log time played in one second.
const PLAYED_SECONDS: i32 = 12;
/// The pause at the end before the demo starts again.
const RESTART_PAUSE: Duration = Duration::from_secs(5);

/// A line that is written, with its entries.
struct Step {
    log: usize,
    /// When, by the logs' common clock.
    at: Timestamp,
    /// The log's length with it, in bytes.
    len: u64,
    entries: Vec<Entry>,
}

/// Plays the demo on a thread of its own, again and again, until `sink` breaks.
pub fn start(
    logs: Arc<[Log]>,
    rules: Arc<Rules>,
    counter: Arc<Counter>,
    sink: impl FnMut(IngestEvent) -> ControlFlow<()> + Send + 'static,
) -> io::Result<()> {
    spawn("demo", move || {
        let steps = steps(&logs, counter.as_ref());
        play(&logs, &steps, &rules, &mut std::thread::sleep, sink)
    })
    .map(drop)
}

/// Returns true if a file belongs to the demo.
pub fn holds(file: FileId) -> bool {
    usize::try_from(file.0).is_ok_and(|log| log < assets::DEMO.len())
}

/// Reads the text of an item in the demo's logs, on a thread of its own.
pub fn read_text(
    logs: &[Log],
    job: TextJob,
    sink: impl FnOnce(IngestEvent) -> ControlFlow<()> + Send + 'static,
) -> io::Result<()> {
    let wanted = job.request();
    let line = usize::try_from(wanted.file.0)
        .ok()
        .and_then(|log| logs.get(log))
        .and_then(|log| {
            let number = wanted.place.line();
            let line = log
                .text
                .lines()
                .nth(usize::try_from(number).ok()?.checked_sub(1)?)?;
            Some((log.format, expand(line, number)))
        });
    let origin = match line {
        Some((format, line)) => Origin::Line(format, line.into_bytes()),
        None => Origin::None(LOG_GONE.to_owned()),
    };
    let read = move || do_job(job, origin).map_or(ControlFlow::Continue(()), sink);
    spawn("text", read).map(drop)
}

fn play(
    logs: &[Log],
    steps: &[Step],
    rules: &Arc<Rules>,
    wait: &mut dyn FnMut(Duration),
    mut sink: impl FnMut(IngestEvent) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (written, live) = steps.split_at(steps.len() / WRITTEN_SHARE);
    let mut is_announced = false;
    loop {
        let mut clock = written.last().map_or(Timestamp::UNIX_EPOCH, |step| step.at);
        let behind = Timestamp::now().duration_since(clock);
        for (log, played) in logs.iter().enumerate() {
            let mut session = Session::new(played.format.id, Arc::clone(rules));
            (session.coverage, session.is_counted) = (Coverage::Whole, true);
            sink(found(log, played, 0).into())?;
            let rebuilt = Update::Rebuilt {
                file: file(log),
                sessions: vec![(Conversation::Main, session)],
            };
            sink(rebuilt.into())?;
        }
        for step in written {
            write(logs, step, step.at.saturating_add(behind).ok(), &mut sink)?;
        }
        if !is_announced {
            is_announced = true;
            sink(Update::InitialScanDone.into())?;
            sink(Update::CaughtUp.into())?;
        }
        for step in live {
            let pause: SignedDuration = step.at.duration_since(clock) / PLAYED_SECONDS;
            clock = step.at;
            wait(pause.unsigned_abs());
            write(logs, step, Some(Timestamp::now()), &mut sink)?;
        }
        wait(RESTART_PAUSE);
    }
}

/// Sends a line as if it had been written at this time.
fn write(
    logs: &[Log],
    step: &Step,
    at: Option<Timestamp>,
    sink: &mut impl FnMut(IngestEvent) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let now = |entry: &Entry| Entry {
        at,
        ..entry.clone()
    };
    if let Some(log) = logs.get(step.log) {
        sink(found(step.log, log, step.len).into())?;
    }
    let appended = Update::Appended {
        file: file(step.log),
        entries: step.entries.iter().map(now).collect(),
    };
    sink(appended.into())
}

fn file(log: usize) -> FileId {
    FileId(log as u64)
}

fn found(number: usize, log: &Log, len: u64) -> Update {
    let path = Arc::new(PathBuf::from(log.path));
    Update::Found(Box::new(FileFacts {
        len,
        modified: Some(Timestamp::now()),
        ..facts_of(log.format, file(number), path)
    }))
}

/// Returns both logs, read line by line, in the order of their time stamps.
fn steps(logs: &[Log], measure: &dyn Measure) -> Vec<Step> {
    let mut steps = Vec::new();
    for (log, Log { format, text, .. }) in logs.iter().enumerate() {
        let mut decoder = format.decoder();
        let (mut offset, mut clock) = (0, Timestamp::UNIX_EPOCH);
        for (line, number) in text.lines().zip(1..) {
            let line = expand(line, number);
            let len = line.len() as u64;
            let place = Place::new(number, offset, len);
            let mut out = EventSink::new(measure);
            decode(
                decoder.as_mut(),
                place,
                Line::Bytes(line.as_bytes()),
                &mut out,
            );
            offset += len + 1;
            clock = out.entries.iter().find_map(|e| e.at).unwrap_or(clock);
            steps.push(Step {
                log,
                at: clock,
                len: offset,
                entries: out.entries,
            });
        }
    }
    steps.sort_by_key(|step| step.at);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use files::waiting::wait_for;
    use model::Role;
    use model::event::Event;
    use model::lists::text::TextRequest;
    use std::collections::BTreeMap;
    use std::sync::mpsc::TryRecvError;

    /// The sessions as one whole play leaves them, and how long it took.
    fn played() -> (Vec<Session>, Duration) {
        let rules: Rules = toml::from_str(assets::MODELS).unwrap();
        let rules = Arc::new(rules.listing(assets::CATALOGUE));
        let logs = logs(agents::by_id);
        let steps = steps(&logs, &Counter::new());
        let mut sessions = BTreeMap::new();
        let (mut have_gauges, mut took) = (None, Duration::ZERO);
        let mut wait = |pause| took += pause;
        let flow = play(&logs, &steps, &rules, &mut wait, |event| {
            let IngestEvent::Update(update) = event else {
                return ControlFlow::Continue(());
            };
            match update {
                Update::Rebuilt {
                    file,
                    sessions: new,
                } => {
                    if new.iter().any(|_| sessions.contains_key(&file)) {
                        return ControlFlow::Break(()); // it begins again
                    }
                    sessions.extend(new.into_iter().map(|(_, session)| (file, session)));
                }
                Update::Appended { file, entries } => {
                    let session = sessions.get_mut(&file).expect("it was rebuilt first");
                    entries.into_iter().for_each(|entry| session.apply(entry));
                }
                Update::InitialScanDone => {
                    have_gauges = Some(sessions.values().all(|s: &Session| s.anchor().is_some()));
                }
                _ => {}
            }
            ControlFlow::Continue(())
        });
        assert_eq!(flow, ControlFlow::Break(()));
        assert_eq!(have_gauges, Some(true), "there are gauges at once");
        (sessions.into_values().collect(), took)
    }

    #[test]
    fn every_line_is_read() {
        let logs = logs(agents::by_id);
        for step in steps(&logs, &model::event::ByLength) {
            assert!(!step.entries.is_empty());
            for entry in step.entries {
                assert!(
                    !matches!(entry.event, Event::Unreadable(_)),
                    "{}: {entry:?}",
                    logs[step.log].path
                );
            }
        }
    }

    #[test]
    fn a_play_takes_about_a_minute_and_shows_a_compaction_each() {
        let (sessions, took) = played();
        assert!((60..=75).contains(&took.as_secs()), "{took:?}");
        assert_eq!(sessions.len(), assets::DEMO.len());
        for session in sessions {
            let [reset] = session.resets() else {
                panic!("{}: {:?}", session.agent, session.resets());
            };
            // Before the log shows a compaction: window - 33,000, and 0.9 of the raw window.
            let trigger = match session.agent {
                "claude-code" => 167_000,
                _ => 244_800,
            };
            assert_eq!(reset.cause.name(), "auto");
            assert!(reset.before >= trigger, "{} < {trigger}", reset.before);
            let before = &session.requests()[reset.request - 1];
            assert!(before.prompt < trigger, "it was not late");
            assert!(session.requests().len() > reset.request + 3, "it goes on");
            assert_eq!(session.project(), "teashop");
            assert!(session.context().roles.iter().all(|role| role.tokens > 0));
            let largest = session.items().iter().filter(|i| i.role == Role::Tool);
            assert!(largest.map(|i| i.size.local).max() > Some(15_000));
        }
    }

    #[test]
    fn what_is_reported_fits_the_texts() {
        for session in played().0 {
            let mut errors: Vec<f64> = session
                .requests()
                .iter()
                .filter_map(|r| {
                    let error = r.predicted?.tokens.abs_diff(r.prompt);
                    Some(error as f64 / r.prompt as f64)
                })
                .collect();
            errors.sort_by(f64::total_cmp);
            let p95 = errors[errors.len() * 95 / 100];
            assert!(p95 < 0.03, "{}: p95 {p95}", session.agent);
            let last = session.requests().last().expect("requests");
            assert_eq!(
                session.context().known,
                last.prompt + last.output.expect("a real output")
            );
        }
    }

    #[test]
    fn every_text_can_be_read() {
        let logs = logs(agents::by_id);
        let (sender, updates) = std::sync::mpsc::channel();
        for (log, session) in played().0.iter().enumerate() {
            for item in session.items() {
                let Some(wanted) = TextRequest::of(file(log), item) else {
                    continue;
                };
                assert!(holds(wanted.file));
                let sender = sender.clone();
                let sink = move |update| {
                    let _ = sender.send(update);
                    ControlFlow::Continue(())
                };
                read_text(&logs, TextJob::Page(wanted), sink).unwrap();
                let Ok(IngestEvent::Text(page)) = updates.recv() else {
                    panic!("no text of {item:?}");
                };
                let text = page.text.unwrap_or_else(|e| panic!("{item:?}: {e}"));
                assert!(text.bytes >= u64::from(item.size.bytes));
            }
        }
        assert!(!holds(FileId(assets::DEMO.len() as u64)));
    }

    #[test]
    fn it_ends_when_the_receiver_is_gone() {
        let (sender, ended) = std::sync::mpsc::channel();
        let sink = move |_| {
            let _ = sender.send(());
            ControlFlow::Break(())
        };
        start(logs(agents::by_id), Arc::default(), Arc::default(), sink).unwrap();
        wait_for("update", || ended.try_recv());
        wait_for("end", || match ended.try_recv() {
            Err(TryRecvError::Disconnected) => Ok(()),
            other => Err(format!("{other:?}")),
        });
    }
}
