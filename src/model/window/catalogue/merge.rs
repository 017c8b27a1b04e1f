//! Puts the models of another list into the table.

use super::row::{ListedRow, MOST_TOKENS};
use super::{Catalogue, cells};
use std::collections::BTreeMap;

/// The mark of the list that was put in.
const MARK: &str = "i";
const HEAD: &str =
    "# Made by `ctxgauge models import`. `ctxgauge help numbers` says how it is read.\n";

/// Prices for a million tokens: input, output, read from a cache, written to it, and for an hour.
pub type Numbers = [Option<f64>; 5];

/// A model of another list.
#[derive(Debug, Clone)]
pub struct Addition {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The window, the largest prompt, the largest output.
    pub limits: [Option<u64>; 3],
    /// The prices.
    pub prices: Numbers,
    /// The prices of longer prompts, each with the number of tokens above which they hold.
    pub long: Vec<(u64, Numbers)>,
    /// The agent that chose the window itself, for the list of an agent.
    pub chosen_by: Option<&'static str>,
}

impl Addition {
    /// Returns true if it has a window, and names that fit into a row.
    pub fn is_usable(&self) -> bool {
        let window = self.limits[0].is_some_and(|window| window <= MOST_TOKENS);
        let is_name = |name: &str| {
            let is_plain = !name.contains(|c: char| c.is_whitespace() || c.is_control());
            is_plain && !name.is_empty() && !name.starts_with(['@', '#'])
        };
        window && is_name(&self.provider) && is_name(&self.model)
    }

    /// Returns the cells of its row, from those of the row that there was.
    fn row(self, old: Option<[String; 8]>) -> [String; 8] {
        let is_known = old.is_some();
        let mut row = old.unwrap_or_default();
        if let Some((agent, window)) = self.chosen_by.filter(|_| is_known).zip(self.limits[0]) {
            let others = row[6]
                .split(' ')
                .filter(|one| one.split('=').next() != Some(agent));
            let own = format!("{agent}={window}");
            let all: Vec<&str> = others
                .chain([&*own])
                .filter(|one| !one.is_empty())
                .collect();
            row[6] = all.join(" ");
        } else {
            let limits = self
                .limits
                .map(|limit| limit.map_or_else(String::new, |n| n.to_string()));
            row[..3].clone_from_slice(&limits);
        }
        if self.prices[0].is_some() {
            row[3] = joined(&self.prices);
            let long = self.long.iter();
            let long: Vec<String> = long.map(|(n, of)| format!("{n}:{}", joined(of))).collect();
            row[4] = long.join(" ");
        }
        if !row[7].contains(MARK) {
            row[7].insert_str(0, MARK);
        }
        row
    }
}

impl Catalogue {
    /// Returns the text of this table with the models of the list `title` in it.
    pub fn with(&self, title: &str, rows: Vec<Addition>) -> String {
        let mut all: BTreeMap<(String, String), [String; 8]> = BTreeMap::new();
        for row in self.all() {
            let key = (row.provider.to_owned(), row.model.to_owned());
            all.insert(key, row.cells());
        }
        for row in rows {
            let provider = self.named(&row.provider).unwrap_or(&row.provider);
            let key = (provider.to_owned(), row.model.clone());
            let old = all.remove(&key);
            all.insert(key, row.row(old));
        }
        let mut text = format!("{HEAD}@source\t{MARK}\t{title}\tas imported\n");
        for line in self
            .lines()
            .heads
            .iter()
            .map(|line| &self.text[line.clone()])
        {
            if cells(line).nth(1) != Some(MARK) {
                text.extend([line, "\n"]);
            }
        }
        for ((provider, model), row) in all {
            text.push_str(&format!("{provider}\t{model}\t{}\n", row.join("\t")));
        }
        text
    }
}

impl ListedRow<'_> {
    /// Returns all cells but the names.
    fn cells(&self) -> [String; 8] {
        let [window, input, output] = self.limits;
        let all = [
            window,
            input,
            output,
            self.prices,
            self.long,
            self.modes,
            self.clients,
            self.marks,
        ];
        all.map(str::to_owned)
    }
}

fn joined(prices: &Numbers) -> String {
    let price = |price: &Option<f64>| price.map_or_else(String::new, number);
    let all: Vec<String> = prices.iter().map(price).collect();
    all.join("/").trim_end_matches('/').to_owned()
}

/// Returns a price without the noise of a division.
fn number(price: f64) -> String {
    let text = format!("{price:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
