//! The user's alerts: when to send one, and how.

use crate::values::threshold::Threshold;
use serde::Deserialize;

/// The conditions of alerts and their channels. Alerts are off unless something is set.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(try_from = "Row")]
pub struct Alerts {
    /// Shares of the trigger, each above 0 and up to 1, the smallest first: a context that grows past one
    /// raises an alert.
    pub shares: Vec<f64>,
    /// An alert is raised when this many requests or fewer are left until the next compaction.
    pub requests_left: Option<u64>,
    /// An alert is raised this many minutes before the session compacts because nobody types.
    pub minutes_left: Option<u64>,
    /// An item of this size or more raises an alert.
    pub item: Option<Threshold>,
    /// A rebuilt cache for which so much was read anew, or more, raises an alert.
    pub rebuild: Option<Threshold>,
    /// The channels; the screen by default.
    pub notify: Vec<Channel>,
    /// A program to run and its arguments; empty: none. The facts are in its environment; no shell is
    /// involved.
    pub command: Vec<String>,
}

/// The way in which an alert reaches the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// A line on the screen.
    Screen,
    /// The terminal's bell.
    Bell,
    /// A desktop notification as iTerm2 began it, `OSC 9`.
    Osc9,
    /// One as rxvt-unicode began it, `OSC 777`.
    Osc777,
    /// One as kitty began it, `OSC 99`.
    Osc99,
}

/// The distance by which a context must fall below a share, as a share of the trigger, before growing past it is
/// reported again: estimates move up and down. For small shares, half of the share is enough.
pub const CLEAR_FALL: f64 = 0.05;

/// Returns true if a context that fills `now` of its trigger has grown past a share that is not among the reported ones.
/// `reported` gets those that it is past, and loses those that it has clearly fallen below.
pub fn grows_past(shares: &[f64], now: f64, reported: &mut Vec<f64>) -> bool {
    reported.retain(|share| now >= (share - CLEAR_FALL).max(share / 2.0));
    let before = reported.len();
    let past = shares.iter().filter(|share| now >= **share);
    let new: Vec<f64> = past.copied().filter(|it| !reported.contains(it)).collect();
    reported.extend(new);
    reported.len() > before
}

impl Alerts {
    /// Returns true if any alert is set.
    pub fn are_on(&self) -> bool {
        let is_left = self.requests_left.or(self.minutes_left).is_some();
        !self.shares.is_empty() || is_left || self.item.or(self.rebuild).is_some()
    }
}

/// The section of the configuration file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default)]
    share: ShareList,
    requests_left: Option<u64>,
    minutes_left: Option<u64>,
    item: Option<Threshold>,
    rebuild: Option<Threshold>,
    notify: Option<Vec<Channel>>,
    #[serde(default)]
    command: Vec<String>,
}

/// Shares of the trigger in the configuration: one or several.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a share of the trigger, above 0 and up to 1 (0.8 is 80 %), or a list of such shares"
)]
pub enum ShareList {
    /// One.
    One(f64),
    /// Several.
    Several(Vec<f64>),
}

impl ShareList {
    /// Returns all of them, each once, the smallest first; `None`: one is not above 0 and up to 1.
    pub fn in_order(self) -> Option<Vec<f64>> {
        let mut shares = match self {
            ShareList::One(share) => vec![share],
            ShareList::Several(shares) => shares,
        };
        let are_shares = shares.iter().all(|share| *share > 0.0 && *share <= 1.0);
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        are_shares.then_some(shares)
    }
}

impl Default for ShareList {
    fn default() -> ShareList {
        ShareList::Several(Vec::new())
    }
}

impl TryFrom<Row> for Alerts {
    type Error = &'static str;

    fn try_from(row: Row) -> Result<Alerts, Self::Error> {
        let Some(shares) = row.share.in_order() else {
            return Err(
                "each `share` of [alerts] is a share of the trigger, above 0 and up to 1: 0.8 is 80 %",
            );
        };
        if row
            .command
            .first()
            .is_some_and(|program| program.trim().is_empty())
        {
            return Err(
                "the `command` of [alerts] begins with a program: [\"notify-send\", \"…\"]",
            );
        }
        let alerts = Alerts {
            shares,
            requests_left: row.requests_left,
            minutes_left: row.minutes_left,
            item: row.item,
            rebuild: row.rebuild,
            notify: row.notify.unwrap_or_else(|| vec![Channel::Screen]),
            command: row.command,
        };
        if !alerts.are_on() {
            return Err(
                "[alerts] sets no alert: set `share`, `requests_left`, `minutes_left`, `item` or `rebuild`",
            );
        }
        Ok(alerts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_share_is_reported_once_until_the_context_is_smaller() {
        let mut reported = Vec::new();
        let shares = [0.5, 0.7, 0.72, 0.69, 0.71, 0.95, 0.97, 0.3, 0.93];
        let new = shares.map(|share| grows_past(&[0.7, 0.9], share, &mut reported));
        assert_eq!(
            new,
            [false, true, false, false, false, true, false, false, true]
        );
        // Half of a small share.
        let new =
            [0.04, 0.03, 0.04, 0.01, 0.04].map(|share| grows_past(&[0.04], share, &mut reported));
        assert_eq!(new, [true, false, false, false, true]);
    }
}
