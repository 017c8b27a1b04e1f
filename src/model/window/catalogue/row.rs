//! A row of the table, as it is read.

use super::super::price::{LongPrices, PriceRow, Prices};
use crate::event::Surcharges;
use serde::Serialize;
use std::collections::BTreeMap;

/// More tokens than any window has.
pub(super) const MOST_TOKENS: u64 = 1_000_000_000;

/// Agents whose own lists are among the sources: they go by the window where a row has no other one of theirs.
const WITH_LISTS: [&str; 2] = ["claude-code", "pi"];

/// The limits of a model at a provider, in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The window.
    pub window: u64,
    /// The largest prompt, where it is smaller.
    pub input: Option<u64>,
    /// The largest output.
    pub output: Option<u64>,
    /// The windows that agents choose themselves, by the agent's id.
    pub clients: BTreeMap<Box<str>, u64>,
}

impl Listed {
    /// Returns the most tokens that an agent can use.
    pub fn window_for(&self, agent: &str) -> u64 {
        if let Some(own) = self.clients.get(agent) {
            return *own;
        }
        let most = self.input.filter(|_| !WITH_LISTS.contains(&agent));
        most.unwrap_or(self.window).min(self.window)
    }
}

/// The cells of a row.
#[derive(Debug, Clone, Copy)]
pub struct ListedRow<'t> {
    /// The provider.
    pub provider: &'t str,
    /// The model.
    pub model: &'t str,
    pub(super) limits: [&'t str; 3],
    pub(super) prices: &'t str,
    pub(super) long: &'t str,
    pub(super) modes: &'t str,
    pub(super) clients: &'t str,
    /// The marks of the sources that list it.
    pub marks: &'t str,
}

impl<'t> ListedRow<'t> {
    /// Splits a line; `None`: it has too few cells.
    pub fn new(line: &'t str) -> Option<ListedRow<'t>> {
        let mut cells = line.split('\t');
        let mut next = || cells.next();
        Some(ListedRow {
            provider: next()?,
            model: next()?,
            limits: [next()?, next()?, next()?],
            prices: next()?,
            long: next()?,
            modes: next()?,
            clients: next()?,
            marks: next()?,
        })
    }

    /// Returns the limits; `None`: the window is not known.
    pub fn limits(&self) -> Option<Listed> {
        let [window, input, output] = self.limits.map(tokens);
        let clients = self.clients.split(' ').filter_map(|one| {
            let (name, window) = one.split_once('=')?;
            Some((name.into(), tokens(window)?))
        });
        Some(Listed {
            window: window?,
            input,
            output,
            clients: clients.collect(),
        })
    }

    #[cfg(test)]
    pub(super) fn has_price(&self) -> bool {
        !self.prices.is_empty()
    }

    /// Returns the prices, from a source of this name; `None`: they are not known.
    pub fn price(&self, source: String) -> Option<PriceRow> {
        let long = self.long.split(' ').filter_map(|tier| {
            let (above, list) = tier.split_once(':')?;
            Some(LongPrices {
                above: tokens(above)?,
                prices: prices(list)?,
            })
        });
        let mut long: Vec<LongPrices> = long.collect();
        long.sort_by_key(|tier| tier.above);
        let modes = self.modes.split(' ').filter_map(|mode| {
            let (name, by) = mode.split_once('=')?;
            let by = by.parse().ok().filter(|by| (0.0..=1_000.0).contains(by))?;
            Some((Surcharges::of_tier(name).iter().next()?, by))
        });
        let mut tiers = long.into_iter();
        let first = tiers.next();
        Some(PriceRow {
            ids: vec![format!("{}: {}", self.provider, self.model)],
            usual: prices(self.prices)?,
            above: first.map(|tier| tier.above),
            long: first.map(|tier| tier.prices),
            longer: tiers.collect(),
            surcharges: modes.collect(),
            source,
        })
    }
}

fn tokens(cell: &str) -> Option<u64> {
    let tokens = cell.parse().ok()?;
    (1..=MOST_TOKENS).contains(&tokens).then_some(tokens)
}

/// Returns the prices of a cell. Where reading from a cache has none, it costs what other input does.
fn prices(cell: &str) -> Option<Prices> {
    let mut all = cell.split('/').map(|price| price.parse::<f64>().ok());
    let mut next = || all.next().flatten();
    let (input, output) = (next()?, next());
    let prices = Prices {
        input: Some(input),
        output,
        cached_read: next().unwrap_or(input),
        cache_write: next(),
        cache_write_hour: next(),
    };
    prices.are_likely().then_some(prices)
}
