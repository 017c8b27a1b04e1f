//! The signs before numbers that may differ once more of a log is read and counted. All faces take them from here, so
//! that none shows a number as sure that another one does not.

use model::Source;
use model::lists::gauge::SessionGauge;
use model::session::Coverage;

/// Before a number that may differ either way.
pub const ABOUT: &str = "~";
/// Before a number that may be less.
pub const AT_MOST: &str = "≤";
/// Before a number that may be more.
pub const AT_LEAST: &str = "≥";
/// Before a part of a known sum.
const PART: &str = "≈";

/// The signs of a session's numbers; empty: a report on the whole log shows the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signs {
    /// Of the size of the context.
    pub size: &'static str,
    /// Of its share of the trigger or the window.
    pub share: &'static str,
    /// Of what is left before the trigger or the end of the window.
    pub left: &'static str,
    /// Of the window.
    pub window: &'static str,
    /// Of the trigger.
    pub trigger: &'static str,
    /// Of the requests that are left: earlier epochs and the texts of items change them.
    pub requests: &'static str,
}

impl Signs {
    /// Returns the signs of a session.
    pub fn of(gauge: &SessionGauge) -> Signs {
        Signs::with(gauge, gauge.limits().is_end_provisional())
    }

    /// Returns the signs of a session that was read back to its last reset, for a line that has no room for a sign at
    /// every limit: earlier records change the limit only of a session whose agent does not follow its rule.
    pub fn of_epoch(gauge: &SessionGauge) -> Signs {
        let is_read = gauge.coverage > Coverage::Tail;
        Signs::with(gauge, !is_read && gauge.limits().is_end_provisional())
    }

    fn with(gauge: &SessionGauge, is_end_open: bool) -> Signs {
        let limits = gauge.limits();
        let about = |is_provisional| if is_provisional { ABOUT } else { "" };
        let of_end = about(!gauge.is_final || is_end_open);
        // An agent's own count may be larger than the end of its log shows.
        let is_least = limits.trigger.is_some() && !gauge.is_own_count_whole;
        let [share, left] = if is_least {
            [AT_LEAST, AT_MOST]
        } else {
            [of_end, of_end]
        };
        Signs {
            size: about(!gauge.is_final),
            share,
            left,
            window: about(is_end_open && limits.is_window_provisional),
            trigger: about(is_end_open && limits.is_trigger_provisional),
            requests: about(
                gauge.coverage != Coverage::Whole || !gauge.is_final || limits.trigger.is_none(),
            ),
        }
    }
}

/// Returns the sign before the size of an item. `is_counted` is false where lengths stand for the tokens of texts: then
/// its part of a known sum is a guess.
pub fn of_item(source: Source, is_counted: bool) -> &'static str {
    match source {
        Source::Reported | Source::Derived => "",
        Source::Shared if is_counted => PART,
        Source::Shared | Source::Estimated | Source::Agent => ABOUT,
    }
}
