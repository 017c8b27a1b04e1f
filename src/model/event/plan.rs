//! The limits of a plan: how much of its five hours or its week is used, and by which session.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The most limits that are kept of a session.
const MOST_LIMITS: usize = 4;

/// A limit of a plan, as the provider reported it last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanLimit {
    /// The length of its window, in minutes.
    pub minutes: u32,
    /// The used part, in hundredths of a percent.
    pub used: u32,
    /// The time at which the window ends; `None`: not reported.
    pub resets_at: Option<Timestamp>,
    /// The part that was used between the reports of this session in this window, in hundredths of a percent: by it, and
    /// by others at the same time.
    pub by_session: u32,
}

/// The limits of a plan, in the order in which they were reported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanLimits(Vec<PlanLimit>);

impl PlanLimit {
    /// Returns a limit of which so much is used, in percent; `None`: the numbers cannot be true.
    pub fn new(minutes: u64, percent: f64, resets_at: Option<Timestamp>) -> Option<PlanLimit> {
        let minutes = u32::try_from(minutes).ok().filter(|minutes| *minutes > 0)?;
        (0.0..=MOST_PERCENT).contains(&percent).then(|| PlanLimit {
            minutes,
            used: (percent * 100.0).round() as u32,
            resets_at,
            by_session: 0,
        })
    }

    /// Returns the used part, in percent.
    pub fn percent(&self) -> f64 {
        f64::from(self.used) / 100.0
    }

    /// Returns the part that was used between the reports of the session, in percent.
    pub fn percent_by_session(&self) -> f64 {
        f64::from(self.by_session) / 100.0
    }

    /// Returns true if its window has not ended yet.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.resets_at.is_none_or(|at| at > now)
    }

    /// Returns this report with what the session used until then.
    fn after(self, before: PlanLimit) -> PlanLimit {
        let more = self.used.saturating_sub(before.used);
        let by_session = if self.is_of_window(&before) {
            before.by_session.saturating_add(more)
        } else {
            0
        };
        PlanLimit { by_session, ..self }
    }

    /// Returns true if both are of one window. The end of a window is reported with an error of seconds.
    fn is_of_window(&self, before: &PlanLimit) -> bool {
        match (self.resets_at, before.resets_at) {
            (Some(at), Some(before)) => {
                let apart = at.duration_since(before).unsigned_abs().as_secs();
                apart < u64::from(self.minutes) * 30
            }
            _ => self.used >= before.used,
        }
    }
}

/// More than 100 is possible where more can be bought.
const MOST_PERCENT: f64 = 1_000.0;

impl PlanLimits {
    /// Takes in a newer report. What it does not name stays.
    pub fn report(&mut self, new: &[PlanLimit]) {
        for limit in new {
            let known = self.0.iter().position(|it| it.minutes == limit.minutes);
            if let Some(ix) = known {
                self.0[ix] = limit.after(self.0[ix]);
            } else if self.0.len() < MOST_LIMITS {
                self.0.push(*limit);
            }
        }
    }

    /// Returns the limits.
    pub fn all(&self) -> &[PlanLimit] {
        &self.0
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(percent: f64, resets: i64) -> PlanLimit {
        let resets = Timestamp::from_second(1_795_000_000 + resets).ok();
        PlanLimit::new(300, percent, resets).unwrap()
    }

    fn after(reports: &[PlanLimit]) -> (f64, f64) {
        let mut limits = PlanLimits::default();
        reports.iter().for_each(|report| limits.report(&[*report]));
        let [limit] = limits.all() else {
            panic!("one limit");
        };
        (limit.percent(), limit.percent_by_session())
    }

    #[test]
    fn a_session_used_what_came_between_its_reports() {
        assert_eq!(after(&[limit(25.0, 0)]), (25.0, 0.0));
        // The end of the window differs by seconds.
        assert_eq!(after(&[limit(25.0, 0), limit(27.5, 6)]), (27.5, 2.5));
        // A correction takes nothing back.
        let corrected = [limit(25.0, 0), limit(27.0, 0), limit(26.0, 0)];
        assert_eq!(after(&corrected), (26.0, 2.0));
    }

    #[test]
    fn a_new_window_begins_again() {
        let next = 5 * 3_600;
        assert_eq!(after(&[limit(25.0, 0), limit(90.0, next)]), (90.0, 0.0));
        let two = [limit(25.0, 0), limit(3.0, next), limit(5.0, next)];
        assert_eq!(after(&two), (5.0, 2.0));
        let undated = |percent| PlanLimit::new(300, percent, None).unwrap();
        assert_eq!(after(&[undated(90.0), undated(4.0)]), (4.0, 0.0));
    }

    #[test]
    fn what_cannot_be_true_is_no_limit() {
        for percent in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(PlanLimit::new(300, percent, None), None, "{percent}");
        }
        assert_eq!(PlanLimit::new(0, 5.0, None), None);
        assert_eq!(PlanLimit::new(u64::MAX, 5.0, None), None);
        let mut limits = PlanLimits::default();
        let many = (1..100).filter_map(|minutes| PlanLimit::new(minutes, 5.0, None));
        limits.report(&many.collect::<Vec<_>>());
        assert_eq!(limits.all().len(), MOST_LIMITS);
        let far = |at| PlanLimit::new(300, 5.0, Some(at)).unwrap();
        let mut limits = PlanLimits::default();
        for at in [Timestamp::MIN, Timestamp::MAX, Timestamp::MIN] {
            limits.report(&[far(at)]);
        }
        assert_eq!(limits.all(), [far(Timestamp::MIN)]);
    }
}
