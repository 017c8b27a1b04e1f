//! Sums up the listed sessions, and those of the selected group.

use super::listed::nearness;
use super::{App, ListLine, Nearness};
use jiff::{SignedDuration, Timestamp};
use model::cost::spending::{Spending, SpendingSince};
use model::lists::gauge::SessionGauge;
use model::lists::sessions::SessionKey;
use model::session::Coverage;

/// The least time between two sums that are made for updates only.
const SUM_INTERVAL: SignedDuration = SignedDuration::from_millis(100);

/// The sums of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Tokens in their contexts that were reported.
    pub known: u64,
    /// Tokens in them that are estimated.
    pub estimated: u64,
    /// The number of sessions that are near their trigger.
    pub near: usize,
    /// The number of sessions that need the user.
    pub needs: usize,
    /// The session with the largest context.
    pub largest: Option<SessionKey>,
    /// The newest activity.
    pub active: Option<Timestamp>,
    /// The cost since the user's day began.
    pub today: Spending,
    /// True if something that was written today was not read yet.
    pub is_today_partial: bool,
}

impl App {
    /// Sums up the listed sessions. Those in folded groups count too.
    pub(super) fn add_up(&mut self) {
        self.stale.totals |= self.is_old(self.shown.summed_at);
        if self.stale.totals && !self.waits(self.shown.summed_at, SUM_INTERVAL) {
            self.stale.totals = false;
            self.shown.summed_at = Some(self.now);
            let all = self.shown.matching.len() == self.shown.listed_of;
            let listed = self.sessions.gauges();
            let listed = listed.filter(|(key, _)| all || self.shown.matching.contains(key));
            self.shown.totals = self.sum_of(listed);
            self.shown.group_totals = None;
        }
        let of = self.shown.group_totals.map(|(group, _)| group);
        if let Some(ListLine::Group(group)) = self.selected_line()
            && of != Some(group.id)
        {
            let keys = group.keys.iter();
            let gauges = keys.filter_map(|key| Some((*key, self.sessions.gauge(*key)?)));
            self.shown.group_totals = Some((group.id, self.sum_of(gauges)));
        }
    }

    fn sum_of<'s>(&self, sessions: impl Iterator<Item = (SessionKey, &'s SessionGauge)>) -> Totals {
        let mut totals = Totals::default();
        let midnight = self.midnight();
        let mut today = SpendingSince::new(midnight);
        let mut largest = 0;
        for (key, gauge) in sessions {
            if gauge.coverage == Coverage::Unread {
                continue;
            }
            let context = &gauge.context;
            totals.known = totals.known.saturating_add(context.known);
            totals.estimated = totals.estimated.saturating_add(context.estimated);
            totals.near += usize::from(nearness(gauge) != Nearness::Calm);
            let active = self.sessions.activity_of(key);
            totals.active = totals.active.max(active);
            totals.needs += usize::from(self.need_of(key, gauge, active).is_some());
            if context.used > largest {
                largest = context.used;
                totals.largest = Some(key);
            }
            match &gauge.spending {
                Some(spending) => today.add(spending),
                None => totals.is_today_partial |= active >= Some(midnight),
            }
        }
        totals.today = today.sum;
        totals
    }

    /// Returns the beginning of the user's day.
    fn midnight(&self) -> Timestamp {
        let now = self.now.to_zoned(self.zone.clone());
        now.start_of_day()
            .map_or(self.now, |midnight| midnight.timestamp())
    }

    /// Returns the sums of the selected group; `None`: no group is selected.
    pub fn group_totals(&self) -> Option<Totals> {
        let ListLine::Group(group) = self.selected_line()? else {
            return None;
        };
        let (_, totals) = self.shown.group_totals.filter(|(of, _)| *of == group.id)?;
        Some(totals)
    }
}
