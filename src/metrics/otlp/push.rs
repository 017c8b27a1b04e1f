//! Pushes numbers and compactions by their schedules, until the program ends.

use super::answer::Answer;
use super::client::Connection;
use super::compactions::Compactions;
use super::messages::{Part, logs, metrics};
use super::schedule::Schedule;
use super::settings::{Settings, Target};
use super::starts::Starts;
use crate::followed::{Change, Followed, Pusher};
use crate::own::PushCounts;
use ingest::sync::lock;
use jiff::Timestamp;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::sleep;

/// The sessions of a request. Its size is that of their labels: 0.5 MB for common ones, and below 20 MB for any.
const SESSIONS: usize = 100;
/// The time after which the numbers are pushed first: until then, the logs of the active sessions are read whole.
const FIRST: Duration = Duration::from_secs(5);
/// The time for which compactions are collected.
const COLLECTED: Duration = Duration::from_secs(1);
/// The most sentences that are printed of a receiver. It may say another one each time.
const MOST_SAID: usize = 10;
/// A wait that is ended by something else.
const LONG: Duration = Duration::from_secs(86_400);

/// How far the reading threads are.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    is_scanned: bool,
    is_ended: bool,
}

/// The state that both kinds of data share.
struct Pushed {
    followed: Arc<Followed>,
    settings: Settings,
    counts: Arc<PushCounts>,
    compactions: Arc<Mutex<Compactions>>,
    begun: Timestamp,
    clock: Instant,
}

/// Watches the sessions, and returns what pushes their numbers until the program ends.
pub fn push(
    followed: &Arc<Followed>,
    settings: Settings,
) -> impl Future<Output = ()> + Send + use<> {
    let now = followed.clock();
    let begun = now();
    let counts = Arc::<PushCounts>::default();
    let naming = followed.naming().clone();
    let compactions = Arc::new(Mutex::new(Compactions::new(naming, begun)));
    let (progress, progress_of_metrics) = watch::channel(Progress::default());
    let clock = Instant::now();
    let pushed = Pushed {
        followed: Arc::clone(followed),
        counts: Arc::clone(&counts),
        compactions: Arc::clone(&compactions),
        begun,
        clock,
        settings,
    };
    let has_logs = pushed.settings.logs.is_some();
    followed.attach(Pusher {
        counts,
        on_change: Box::new(move |change| match change {
            Change::File(sessions, file) if has_logs => {
                let mut compactions = lock(&compactions);
                if compactions.look(sessions, file, now(), clock.elapsed()) {
                    progress.send_modify(|_| ());
                }
            }
            Change::File(..) => {}
            Change::Scanned => progress.send_modify(|progress| progress.is_scanned = true),
            Change::Ended => progress.send_modify(|progress| progress.is_ended = true),
        }),
    });
    let progress_of_logs = progress_of_metrics.clone();
    async move {
        tokio::join!(
            pushed.metrics(progress_of_metrics),
            pushed.logs(progress_of_logs)
        );
    }
}

/// The sentences about a receiver that were printed.
#[derive(Default)]
struct Said(Vec<String>);

impl Pushed {
    async fn metrics(&self, mut progress: watch::Receiver<Progress>) {
        let Some(target) = &self.settings.metrics else {
            return;
        };
        let mut schedule: Option<Schedule> = None;
        let (mut starts, mut said) = (Starts::default(), Said::default());
        loop {
            let Progress {
                is_scanned,
                is_ended,
            } = *progress.borrow_and_update();
            if is_scanned && schedule.is_none() {
                let every = self.settings.every;
                schedule = Some(Schedule::new(
                    every,
                    self.clock.elapsed() + every.min(FIRST),
                ));
            }
            let Some(schedule) = schedule.as_mut().filter(|of| !is_ended || !of.is_failing())
            else {
                if is_ended || progress.changed().await.is_err() {
                    return;
                }
                continue;
            };
            if is_ended || schedule.due() <= self.clock.elapsed() {
                let answer = self.send_metrics(target, &mut starts, &mut said).await;
                self.note(schedule, &answer);
            }
            if is_ended {
                return;
            }
            let left = schedule.due().saturating_sub(self.clock.elapsed());
            tokio::select! {
                changed = progress.changed() => if changed.is_err() { return },
                () = sleep(left) => {}
            }
        }
    }

    /// Sends the numbers of this moment. They are not kept: after a failure, those of a later moment are sent.
    async fn send_metrics(&self, target: &Target, starts: &mut Starts, said: &mut Said) -> Answer {
        let snapshot = self.followed.snapshot();
        let starts = starts.of(&snapshot.sessions, snapshot.at);
        let sessions: Vec<_> = snapshot.sessions.iter().zip(starts).collect();
        let mut connection = Connection::new(target);
        let mut begun = Some(self.begun);
        // The program's own numbers are there without sessions too.
        let parts = sessions.chunks(SESSIONS);
        let alone = sessions.is_empty().then_some([].as_slice());
        let mut last = Answer::Refused { why: String::new() };
        for sessions in parts.chain(alone) {
            let part = Part {
                snapshot: &snapshot,
                sessions,
                begun: begun.take(),
            };
            let (body, points) = metrics(target.encoding, &self.settings.resource, &part);
            last = connection.send(body, self.followed.clock()).await;
            self.count(target, &last, points, said);
            if matches!(last, Answer::Later { .. }) {
                break;
            }
        }
        last
    }

    async fn logs(&self, mut progress: watch::Receiver<Progress>) {
        let Some(target) = &self.settings.logs else {
            return;
        };
        let mut schedule = Schedule::new(COLLECTED, Duration::ZERO);
        let mut said = Said::default();
        loop {
            let is_ended = progress.borrow_and_update().is_ended;
            let (next, settles_at) = {
                let mut compactions = lock(&self.compactions);
                compactions.settle((!is_ended).then(|| self.clock.elapsed()));
                let (waiting, dropped) = compactions.counts();
                self.counts.waiting.store(waiting, Ordering::Relaxed);
                PushCounts::add(&self.counts.dropped, dropped);
                (compactions.next(), compactions.settles_at())
            };
            if is_ended && (next.is_empty() || schedule.is_failing()) {
                return;
            }
            let is_due = is_ended || schedule.due() <= self.clock.elapsed();
            if !next.is_empty() && is_due {
                let body = logs(target.encoding, &self.settings.resource, &next);
                let answer = Connection::new(target)
                    .send(body, self.followed.clock())
                    .await;
                self.count(target, &answer, next.len() as u64, &mut said);
                self.note(&mut schedule, &answer);
                if !matches!(answer, Answer::Later { .. }) {
                    lock(&self.compactions).remove(next.len());
                }
                continue;
            }
            let due = (!next.is_empty()).then_some(schedule.due());
            let until = [settles_at, due].into_iter().flatten().min();
            let left = until.map(|until| until.saturating_sub(self.clock.elapsed()));
            tokio::select! {
                changed = progress.changed() => if changed.is_err() { return },
                () = sleep(left.unwrap_or(LONG)) => {}
            }
        }
    }

    fn note(&self, schedule: &mut Schedule, answer: &Answer) {
        let now = self.clock.elapsed();
        match answer {
            Answer::Later { wish, .. } => schedule.failed(now, *wish, chance()),
            Answer::Taken { .. } | Answer::Refused { .. } => schedule.done(now),
        }
    }

    /// Counts what became of a request with so many data points or log records, and prints what is new about the receiver.
    fn count(&self, target: &Target, answer: &Answer, size: u64, said: &mut Said) {
        let counts = &self.counts;
        let (what, why) = match answer {
            Answer::Taken {
                rejected,
                said,
                is_malformed,
            } => {
                PushCounts::add(&counts.sent, 1);
                PushCounts::add(&counts.rejected, *rejected);
                PushCounts::add(&counts.malformed, (*is_malformed).into());
                match (is_malformed, said) {
                    (true, _) => ("answers as no receiver of OTLP does", String::new()),
                    (false, Some(said)) => ("does not take everything", said.clone()),
                    (false, None) => return,
                }
            }
            Answer::Refused { why } => {
                PushCounts::add(&counts.failed, 1);
                PushCounts::add(&counts.rejected, size);
                ("refuses what is sent", why.clone())
            }
            Answer::Later {
                why, is_malformed, ..
            } => {
                PushCounts::add(&counts.failed, 1);
                PushCounts::add(&counts.malformed, (*is_malformed).into());
                ("takes nothing, and is tried again", why.clone())
            }
        };
        let why = if why.is_empty() {
            why
        } else {
            format!(": {why}")
        };
        if let Some(line) = said.first_time(format!("{} {what}{why}", target.endpoint)) {
            self.followed.note(line);
        }
    }
}

impl Said {
    /// Returns a sentence if it was not printed yet.
    fn first_time(&mut self, sentence: String) -> Option<String> {
        let Said(said) = self;
        if said.len() >= MOST_SAID || said.contains(&sentence) {
            return None;
        }
        said.push(sentence.clone());
        Some(sentence)
    }
}

/// Returns a number from 0 to 1 by chance.
fn chance() -> f64 {
    // The keys of the standard library's hash tables come from the system's random numbers.
    RandomState::new().hash_one(0) as f64 / u64::MAX as f64
}
