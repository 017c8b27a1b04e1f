//! Moves back and forth in the session on screen, by step or as time passes.

use super::{App, Pace};
use jiff::Timestamp;
use jiff::civil::Time;
use model::event::Place;
use model::outlook::jumps::Jump;
use model::session::replay::{Step, Timeline};
use render::{jump, text};
use std::time::Duration;

/// The longest pause between two records that is replayed, in seconds of the log's time.
const LONGEST_PAUSE: f64 = 10.0;
/// The pause between two records of a log without times, in seconds of its time.
const DEFAULT_PAUSE: f64 = 1.0;
/// The least time between two frames of a replay, in seconds.
const FRAME_SECONDS: f64 = 0.04;

/// The speed of a replay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// A multiple of the speed at which the log was written, with long pauses shortened.
    Log(f64),
    /// A number of requests in each second, or of records where no request was reported.
    Requests(f64),
}

impl Speed {
    /// All speeds, the slowest first.
    pub const ALL: [Speed; 11] = [
        Speed::Log(1.0),
        Speed::Log(2.0),
        Speed::Log(4.0),
        Speed::Log(10.0),
        Speed::Log(30.0),
        Speed::Log(100.0),
        Speed::Log(300.0),
        Speed::Log(1000.0),
        Speed::Requests(2.0),
        Speed::Requests(10.0),
        Speed::Requests(50.0),
    ];

    /// Returns the speed as text: `30×`, `10 requests/s`.
    pub fn name(self, pace: Pace) -> String {
        match (self, pace) {
            (Speed::Log(times), _) => format!("{times}×"),
            (Speed::Requests(n), Pace::Requests) => format!("{n} requests/s"),
            (Speed::Requests(n), Pace::Records) => format!("{n} records/s"),
        }
    }
}

/// A replay of the session on screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Replay {
    /// The moment on screen; `None`: live.
    pub cursor: Option<Position>,
    /// The time at which its last step was played; `None`: it is paused.
    pub playing: Option<Timestamp>,
    /// The index of its speed in [`Speed::ALL`].
    pub speed: usize,
}

/// The moment of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// The first moment, even while the log is not read from its start yet.
    Start,
    /// This moment, with the place of its record. The number is valid while the session only grows; after a
    /// reread of the log the place finds the moment again, though several moments may share one.
    At(usize, Place),
}

impl Default for Replay {
    fn default() -> Replay {
        Replay {
            cursor: None,
            playing: None,
            speed: 4,
        }
    }
}

impl Replay {
    /// Returns true if the screen shows another moment than the newest.
    pub fn is_on(&self) -> bool {
        self.cursor.is_some()
    }

    /// Returns the moment it shows.
    pub(super) fn moment(&self, timeline: &Timeline) -> usize {
        match self.cursor {
            None => timeline.end(),
            Some(Position::Start) => 0,
            Some(Position::At(at, place)) => match timeline.moment(at) {
                Some(there) if there.place == place => at,
                _ => timeline.at_place(place),
            },
        }
    }

    /// Returns the speed at which it plays.
    pub fn speed(&self) -> Speed {
        Speed::ALL[self.speed.min(Speed::ALL.len() - 1)]
    }
}

impl App {
    /// Returns the moment on screen; `None`: no session is.
    pub fn moment(&self) -> Option<usize> {
        let page = self.shown.page.as_ref()?;
        Some(self.ui.replay.moment(&page.timeline))
    }

    /// Goes to a moment; the last one is live.
    pub(super) fn go_to(&mut self, moment: usize) {
        let Some(page) = &self.shown.page else {
            return;
        };
        let timeline = &page.timeline;
        self.ui.replay.cursor = match timeline.moment(moment) {
            Some(there) if moment < timeline.end() => Some(Position::At(moment, there.place)),
            _ => None,
        };
        self.stale();
    }

    /// Goes to a moment, and pauses the replay there. The result of the last action is about another moment.
    pub(super) fn jump_to(&mut self, moment: usize) {
        self.notices.remove_info();
        self.ui.replay.playing = None;
        self.go_to(moment);
    }

    /// Returns the step to the left or right, and of a replay by requests.
    pub(super) fn usual_step(&self) -> Step {
        let page = self.shown.page.as_ref();
        page.map_or(Step::Request, |page| page.steps.pace.step())
    }

    /// Goes where a step leads, back if `by` is negative, or to the log's end in that direction. Without a compaction in
    /// that direction a step to one leads nowhere.
    pub(super) fn move_by(&mut self, step: Step, by: isize) {
        let (Some(page), Some(from)) = (&self.shown.page, self.moment()) else {
            return;
        };
        let timeline = &page.timeline;
        let (there, end, way) = if by < 0 {
            (timeline.previous(step, from), 0, "before")
        } else {
            (timeline.next(step, from), timeline.end(), "after")
        };
        match there {
            None if step == Step::Reset => {
                self.notify(format!("no compaction {way} this point"));
            }
            there => self.jump_to(there.unwrap_or(end)),
        }
    }

    /// Goes to the largest jump, from there to the next largest, and from the last to the largest again.
    pub(super) fn go_to_next_jump(&mut self) {
        let on_screen = self.moment().filter(|_| self.ui.replay.is_on());
        let Some(page) = &self.shown.page else {
            return;
        };
        let moment = |jump: &Jump| jump.moment(&page.timeline);
        let here = page
            .jumps
            .iter()
            .position(|jump| on_screen.is_some() && moment(jump) == on_screen);
        let next = here.map_or(0, |here| here + 1);
        self.go_to_jump(if next < page.jumps.len() { next } else { 0 });
    }

    /// Returns the columns for the name of a part of a jump, of which a line has several.
    pub(super) fn name_columns(&self) -> usize {
        usize::from(self.ui.size.0 / 3).clamp(16, 60)
    }

    /// Goes to a jump, counted from the largest, and says what came with it.
    pub(super) fn go_to_jump(&mut self, rank: usize) {
        let found = self.shown.page.as_ref().and_then(|page| {
            let session = self.sessions.get(page.key)?;
            let jump = page.jumps.get(rank)?;
            let all = page.jumps.len();
            let line = format!("jump {} of {all}: {}: ", rank + 1, jump::growth(jump));
            let room = self.notice_columns().saturating_sub(text::width(&line));
            let names = self.name_columns();
            let line = line + &jump::parts_in(session, &page.calls, jump, names, room);
            Some((jump.moment(&page.timeline)?, line))
        });
        match found {
            Some((there, line)) => {
                self.jump_to(there);
                self.notify(line);
            }
            None => self.notify("the context never grew between two counts".to_owned()),
        }
    }

    /// Goes to a request, `#50` or `50`, or to the next time of a day, `19:10`.
    ///
    /// # Errors
    ///
    /// Returns the reason for which there is no such moment.
    pub(super) fn go_to_typed(&mut self, typed: &str) -> Result<(), String> {
        let (Some(page), Some(from)) = (&self.shown.page, self.moment()) else {
            return Ok(());
        };
        let timeline = &page.timeline;
        let there = if let Ok(number) = typed.trim_start_matches('#').parse::<usize>() {
            let request = number.checked_sub(1);
            let all = self
                .sessions
                .get(page.key)
                .map_or(0, |it| it.requests().len());
            let there = request.and_then(|request| timeline.of_request(request));
            there.ok_or_else(|| format!("the log has the requests #1 to #{all}"))?
        } else {
            let time = ["%H:%M:%S", "%H:%M"].into_iter();
            let mut time = time.filter_map(|form| Time::strptime(form, typed).ok());
            let time = time.next().ok_or("neither a request nor a time")?;
            let mut all = (from + 1..timeline.len()).chain(1..=from);
            let is_reached = |moment: &usize| self.reaches(timeline, *moment, time);
            let there = all.find(is_reached);
            there.ok_or_else(|| format!("nothing was logged before and after {typed}"))?
        };
        self.jump_to(there);
        Ok(())
    }

    /// Returns true if a moment is the first since this time of its day, by the user's clock.
    fn reaches(&self, timeline: &Timeline, moment: usize, time: Time) -> bool {
        let at = |moment: usize| timeline.moment(moment).and_then(|it| it.at);
        let reached = || {
            let (before, at) = (at(moment.checked_sub(1)?)?, at(moment)?);
            let day = at.to_zoned(self.zone.clone()).date();
            let then = day.to_datetime(time).to_zoned(self.zone.clone()).ok()?;
            Some(before < then.timestamp() && then.timestamp() <= at)
        };
        reached().unwrap_or(false)
    }

    /// Ends the replay.
    pub(super) fn go_live(&mut self) {
        self.ui.replay.cursor = None;
        self.ui.replay.playing = None;
        self.stale();
    }

    /// Plays from the start, as soon as the log is read from there.
    pub(super) fn play_from_start(&mut self) {
        self.ui.replay.cursor = Some(Position::Start);
        self.ui.replay.playing = Some(self.now);
        self.stale();
    }

    /// Plays or pauses; live, it plays from the start.
    pub(super) fn play_or_pause(&mut self) {
        match (self.ui.replay.cursor, self.ui.replay.playing) {
            (None, _) => self.play_from_start(),
            (_, None) => self.ui.replay.playing = Some(self.now),
            (_, Some(_)) => self.ui.replay.playing = None,
        }
    }

    /// Moves the speed by `by` steps.
    pub(super) fn change_speed(&mut self, by: isize) {
        let replay = &mut self.ui.replay;
        let speed = replay.speed.saturating_add_signed(by);
        replay.speed = speed.min(Speed::ALL.len() - 1);
        replay.playing = replay.playing.map(|_| self.now);
    }

    /// Moves a playing replay to where it should be by now.
    pub(super) fn play_on(&mut self) {
        let Some(since) = self.ui.replay.playing else {
            return;
        };
        let Some(mut at) = self.moment() else {
            return;
        };
        let page = self.shown.page.as_ref();
        let session = page.and_then(|page| self.sessions.get(page.key));
        if self.ui.replay.cursor == Some(Position::Start)
            && session.is_some_and(|session| !session.has_beginning())
        {
            self.ui.replay.playing = Some(self.now);
            return;
        }
        if self.next_moment(at).is_none() {
            return self.go_live();
        }
        let mut left = self.now.duration_since(since).as_secs_f64().max(0.0);
        let mut moved = false;
        while let Some((next, wait)) = self.next_moment(at)
            && wait <= left
        {
            left -= wait;
            at = next;
            moved = true;
        }
        if moved {
            let passed = jiff::SignedDuration::try_from_secs_f64(left).unwrap_or_default();
            self.ui.replay.playing = Some(self.now.checked_sub(passed).unwrap_or(self.now));
            self.go_to(at);
            if self.ui.replay.cursor.is_none() {
                self.ui.replay.playing = None;
            }
        }
    }

    /// Returns the time until a playing replay moves on; `None`: none plays.
    pub(super) fn next_step(&self) -> Option<Duration> {
        let since = self.ui.replay.playing?;
        let (_, wait) = self.next_moment(self.moment()?)?;
        let passed = self.now.duration_since(since).as_secs_f64();
        Some(Duration::from_secs_f64((wait - passed).max(FRAME_SECONDS)))
    }

    /// Returns the moment after one, and the seconds until it.
    fn next_moment(&self, at: usize) -> Option<(usize, f64)> {
        let timeline = &self.shown.page.as_ref()?.timeline;
        match self.ui.replay.speed() {
            Speed::Log(times) => {
                let (here, there) = (timeline.moment(at)?, timeline.moment(at + 1)?);
                let gap = match (here.at, there.at) {
                    (Some(here), Some(there)) => there.duration_since(here).as_secs_f64(),
                    _ => DEFAULT_PAUSE,
                };
                Some((at + 1, gap.clamp(0.0, LONGEST_PAUSE) / times))
            }
            Speed::Requests(n) => {
                let next = timeline
                    .next(self.usual_step(), at)
                    .or_else(|| (at < timeline.end()).then(|| timeline.end()))?;
                Some((next, 1.0 / n))
            }
        }
    }
}
