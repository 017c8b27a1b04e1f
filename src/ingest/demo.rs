//! The built-in demo: two invented logs, played as if two agents were writing them.

mod marks;

use super::lines::Line;
use super::problem::GONE;
use crate::agents::builtin::claude_code::CLAUDE_CODE;
use crate::agents::builtin::codex::CODEX;
use crate::agents::format::Format;
use crate::ingest::delivery::Delivery;
use crate::ingest::lanes::decode;
use crate::ingest::sync::spawn;
use crate::ingest::worker::job::{Origin, TextJob, do_job};
use crate::model::event::{Entry, Lane, Measure, Place, Sink};
use crate::model::fleet::{FileFacts, FileId, Update};
use crate::model::session::{Coverage, Session};
use crate::model::window::Rules;
use crate::tokens::Counter;
use jiff::{SignedDuration, Timestamp};
use marks::expand;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The logs: format, path, text with marks (see [`expand`]).
static LOGS: [(&Format, &str, &str); 2] = [
    (
        &CLAUDE_CODE,
        "demo/claude-code.jsonl",
        include_str!("../../assets/demo/claude-code.jsonl"),
    ),
    (
        &CODEX,
        "demo/codex.jsonl",
        include_str!("../../assets/demo/codex.jsonl"),
    ),
];

/// One in so many lines is written when the demo starts, so that there are gauges at once.
const WRITTEN: usize = 3;
/// Seconds of log time played in one second.
const PACE: i32 = 12;
/// The pause at the end before the demo starts again.
const REST: Duration = Duration::from_secs(5);

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
    rules: Arc<Rules>,
    counter: Arc<Counter>,
    sink: impl FnMut(Delivery) -> ControlFlow<()> + Send + 'static,
) -> io::Result<()> {
    spawn("demo", move || {
        let steps = steps(counter.as_ref());
        play(&steps, &rules, &mut std::thread::sleep, sink)
    })
    .map(drop)
}

/// Whether a file belongs to the demo.
pub fn holds(file: FileId) -> bool {
    usize::try_from(file.0).is_ok_and(|log| log < LOGS.len())
}

/// Reads the text of an item in the demo's logs, on a thread of its own.
pub fn read_text(
    job: TextJob,
    sink: impl FnOnce(Delivery) -> ControlFlow<()> + Send + 'static,
) -> io::Result<()> {
    let wanted = job.request();
    let line = usize::try_from(wanted.file.0)
        .ok()
        .and_then(|log| LOGS.get(log))
        .and_then(|(format, _, text)| {
            let number = wanted.place.line;
            let line = text
                .lines()
                .nth(usize::try_from(number).ok()?.checked_sub(1)?)?;
            Some((*format, expand(line, number)))
        });
    let origin = match line {
        Some((format, line)) => Origin::Line(format, line.into_bytes()),
        None => Origin::None(GONE.to_owned()),
    };
    let read = move || do_job(job, origin).map_or(ControlFlow::Continue(()), sink);
    spawn("text", read).map(drop)
}

fn play(
    steps: &[Step],
    rules: &Arc<Rules>,
    wait: &mut dyn FnMut(Duration),
    mut sink: impl FnMut(Delivery) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (written, live) = steps.split_at(steps.len() / WRITTEN);
    let mut is_announced = false;
    loop {
        let mut clock = written.last().map_or(Timestamp::UNIX_EPOCH, |step| step.at);
        let behind = Timestamp::now().duration_since(clock);
        for (log, (format, ..)) in LOGS.iter().enumerate() {
            let mut session = Session::new(format.id, Arc::clone(rules));
            session.coverage = Coverage::Whole;
            sink(found(log, 0).into())?;
            let rebuilt = Update::Rebuilt {
                file: file(log),
                sessions: vec![(Lane::Main, session)],
            };
            sink(rebuilt.into())?;
        }
        for step in written {
            write(step, step.at.saturating_add(behind).ok(), &mut sink)?;
        }
        if !is_announced {
            is_announced = true;
            sink(Update::InitialScanDone.into())?;
            sink(Update::CaughtUp.into())?;
        }
        for step in live {
            let pause: SignedDuration = step.at.duration_since(clock) / PACE;
            clock = step.at;
            wait(pause.unsigned_abs());
            write(step, Some(Timestamp::now()), &mut sink)?;
        }
        wait(REST);
    }
}

/// Sends a line as if it had been written at this time.
fn write(
    step: &Step,
    at: Option<Timestamp>,
    sink: &mut impl FnMut(Delivery) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let now = |entry: &Entry| Entry {
        at,
        ..entry.clone()
    };
    sink(found(step.log, step.len).into())?;
    let appended = Update::Appended {
        file: file(step.log),
        entries: step.entries.iter().map(now).collect(),
    };
    sink(appended.into())
}

fn file(log: usize) -> FileId {
    FileId(log as u64)
}

fn found(log: usize, len: u64) -> Update {
    let (format, path, _) = LOGS[log];
    Update::Found(Box::new(FileFacts {
        file: file(log),
        agent: format.id,
        label: format.label,
        path: Arc::new(PathBuf::from(path)),
        id: None,
        parent: None,
        len,
        modified: Some(Timestamp::now()),
    }))
}

/// Both logs, read line by line, in the order of their time stamps.
fn steps(measure: &dyn Measure) -> Vec<Step> {
    let mut steps = Vec::new();
    for (log, (format, _, text)) in LOGS.iter().enumerate() {
        let mut decoder = format.decoder();
        let (mut offset, mut clock) = (0, Timestamp::UNIX_EPOCH);
        for (line, number) in text.lines().zip(1..) {
            let line = expand(line, number);
            let len = line.len() as u64;
            let place = Place {
                line: number,
                offset,
                len,
            };
            let mut out = Sink::new(measure);
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
    use crate::config;
    use crate::model::Role;
    use crate::model::event::Event;
    use crate::model::text::TextRequest;
    use crate::waiting::wait_for;
    use std::collections::BTreeMap;
    use std::sync::mpsc::TryRecvError;

    /// The sessions as one whole play leaves them, and how long it took.
    fn played() -> (Vec<Session>, Duration) {
        let rules = Arc::new(config::rules().unwrap());
        let steps = steps(&Counter::new());
        let mut sessions = BTreeMap::new();
        let (mut have_gauges, mut took) = (None, Duration::ZERO);
        let mut wait = |pause| took += pause;
        let flow = play(&steps, &rules, &mut wait, |delivery| {
            let Delivery::Fleet(update) = delivery else {
                return ControlFlow::Continue(());
            };
            match update {
                Update::Rebuilt {
                    file,
                    sessions: new,
                } => {
                    if new.iter().any(|_| sessions.contains_key(&file)) {
                        return ControlFlow::Break(()); // it begins anew
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
        for step in steps(&crate::model::event::ByLength) {
            assert!(!step.entries.is_empty());
            for entry in step.entries {
                assert!(
                    !matches!(entry.event, Event::Unreadable(_)),
                    "{}: {entry:?}",
                    LOGS[step.log].1
                );
            }
        }
    }

    #[test]
    fn a_play_takes_about_a_minute_and_shows_a_compaction_each() {
        let (sessions, took) = played();
        assert!((60..=75).contains(&took.as_secs()), "{took:?}");
        assert_eq!(sessions.len(), LOGS.len());
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
                read_text(TextJob::Page(wanted), sink).unwrap();
                let Ok(Delivery::Text(page)) = updates.recv() else {
                    panic!("no text of {item:?}");
                };
                let text = page.text.unwrap_or_else(|e| panic!("{item:?}: {e}"));
                assert!(text.bytes >= u64::from(item.size.bytes));
            }
        }
        assert!(!holds(FileId(LOGS.len() as u64)));
    }

    #[test]
    fn it_ends_when_the_receiver_is_gone() {
        let (sender, ended) = std::sync::mpsc::channel();
        let sink = move |_| {
            let _ = sender.send(());
            ControlFlow::Break(())
        };
        start(Arc::default(), Arc::default(), sink).unwrap();
        wait_for("update", || ended.try_recv());
        wait_for("end", || match ended.try_recv() {
            Err(TryRecvError::Disconnected) => Ok(()),
            other => Err(format!("{other:?}")),
        });
    }
}
