//! The cost of the items of a prompt together: how much of the unexplained part of its report goes to them.

use crate::Source;
use crate::history::Item;
use crate::sizes::calibration::Calibration;

/// Returns the cost of the items of a delta together: `rest` tokens of it are left for `items` items, and `sum` is
/// their estimate. Where more came than was logged, the excess is unlogged text. Where less did, something left the
/// context without a record of it.
pub(super) fn cost_in_delta(
    calibration: &Calibration,
    rest: i128,
    sum: f64,
    items: usize,
    is_whole: bool,
) -> (u64, Source) {
    let is_single = items == 1;
    let scale = rest as f64 / sum.max(1.0);
    let is_open = is_single
        && calibration.is_open()
        && (1.0 / UNPROVEN_FACTOR..UNPROVEN_FACTOR).contains(&scale);
    let fits = is_open || fits(calibration, rest, sum, items, is_whole);
    match u64::try_from(rest) {
        Ok(rest) if fits && is_single => (rest, Source::Derived),
        Ok(rest) if fits => (rest, Source::Shared),
        _ => (sum.round() as u64, Source::Shared),
    }
}

/// Adds the part of `rest` that the estimates of a delta's items do not explain: it belongs to the items of
/// which the log contains only a part.
pub(super) fn give_excess_to_partial_items<'i>(
    estimates: &mut [f64],
    items: impl Iterator<Item = &'i Item>,
    rest: i128,
) {
    let excess = rest as f64 - estimates.iter().sum::<f64>();
    let all = items.zip(estimates);
    let partial: Vec<&mut f64> = all
        .filter(|(item, _)| item.size.partial)
        .map(|(_, estimate)| estimate)
        .collect();
    let share = excess.max(0.0) / partial.len() as f64;
    partial.into_iter().for_each(|estimate| *estimate += share);
}

/// Returns the part of `room`, the unexplained part of the first report, that goes to its items.
pub(super) fn cost_in_first_prompt(room: u64, sum: f64, is_whole: bool) -> u64 {
    if is_whole && room as f64 <= sum * MOST_EXCESS {
        room
    } else {
        (sum.round() as u64).min(room)
    }
}

/// Returns true if a delta is as near its estimate as the error of that allows. Where all of a prompt is logged,
/// nothing else explains an excess.
pub(super) fn fits(
    calibration: &Calibration,
    rest: i128,
    sum: f64,
    items: usize,
    is_whole: bool,
) -> bool {
    let tolerance = calibration.tolerance(sum, items);
    let most = if is_whole { sum * MOST_EXCESS } else { sum };
    (sum * LEAST_SHARE - tolerance..=most + tolerance).contains(&(rest as f64))
}

/// Returns true if items cost so little that something else has left the context.
pub(super) fn lacks_items(calibration: &Calibration, rest: i128, sum: f64, items: usize) -> bool {
    (rest as f64) < sum * LEAST_SHARE - calibration.tolerance(sum, items)
}

/// The factor by which a single item may differ from its estimate until reports have shown whether the prior fits.
const UNPROVEN_FACTOR: f64 = 2.0;

/// The smallest share of their estimates that items are believed to have cost. Below it, something
/// else has left the context.
const LEAST_SHARE: f64 = 0.5;

/// The largest multiple of their estimates that the items of a request are believed to have cost, where the log
/// contains all that it held.
const MOST_EXCESS: f64 = 3.0;
