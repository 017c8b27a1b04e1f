//! The parts that two sides have, beside each other.

use super::Side;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use strum::IntoStaticStr;

/// The identity of a part. Two parts are the same if all fields are equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// Its name. This is log text: not safe to print.
    pub name: String,
    /// Tells apart what has the same name.
    pub hash: u64,
    /// The MCP server that it belongs to.
    pub server: Option<String>,
}

impl Part {
    pub(super) fn named(name: impl Into<String>) -> Part {
        Part {
            name: name.into(),
            hash: 0,
            server: None,
        }
    }
}

/// The size of a part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// The number of items or results; of a server, the number of tools.
    pub count: usize,
    /// Their tokens.
    pub tokens: u64,
    /// The part of the tokens that is estimated.
    pub estimated: u64,
}

impl Amount {
    pub(super) fn add(&mut self, tokens: u64, estimated: u64) {
        self.count += 1;
        self.tokens = self.tokens.saturating_add(tokens);
        self.estimated = self.estimated.saturating_add(estimated);
    }
}

/// A part on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The identity of the part.
    pub part: Part,
    /// Its size before; `None`: it was not there.
    pub before: Option<Amount>,
    /// Its size after; `None`: it is not there.
    pub after: Option<Amount>,
    /// The 90 % error of the change, in tokens: the errors of what is estimated on both sides, added, since nothing says
    /// that they cancel out. 0: both are known.
    pub error: u64,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ChangeKind {
    /// There was nothing of it.
    New,
    /// There is nothing of it any more.
    Gone,
    /// There is more of it.
    Grew,
    /// There is less of it.
    Shrank,
    /// There is as much.
    Same,
}

impl ChangeKind {
    pub(super) fn name(self) -> &'static str {
        self.into()
    }
}

impl Row {
    /// Returns the change in tokens; negative: it shrank.
    pub fn change(&self) -> i64 {
        let tokens = |amount: Option<Amount>| amount.unwrap_or_default().tokens;
        change(tokens(self.before), tokens(self.after))
    }

    /// Returns the kind of the change.
    pub fn changed(&self) -> ChangeKind {
        match (self.before, self.after, self.change()) {
            (None, Some(_), _) => ChangeKind::New,
            (Some(_), None, _) => ChangeKind::Gone,
            (.., 1..) => ChangeKind::Grew,
            (.., ..=-1) => ChangeKind::Shrank,
            _ => ChangeKind::Same,
        }
    }
}

/// Returns the change in tokens, which saturates; negative: there are fewer.
pub(super) fn change(before: u64, after: u64) -> i64 {
    let change = i128::from(after) - i128::from(before);
    i64::try_from(change).unwrap_or(if change < 0 { i64::MIN } else { i64::MAX })
}

/// Returns the parts of both sides. The parts that changed most come first.
pub(super) fn rows(
    before: &Side,
    after: &Side,
    of: fn(&Side) -> &BTreeMap<Part, Amount>,
) -> Vec<Row> {
    let (old, new) = (of(before), of(after));
    let added = new.keys().filter(|part| !old.contains_key(part));
    let mut rows: Vec<Row> = old
        .keys()
        .chain(added)
        .map(|part| {
            let (was, is) = (old.get(part).copied(), new.get(part).copied());
            let error = |side: &Side, amount: Option<Amount>| {
                side.error_of(amount.unwrap_or_default().estimated)
            };
            Row {
                part: part.clone(),
                before: was,
                after: is,
                error: error(before, was).saturating_add(error(after, is)),
            }
        })
        .collect();
    rows.sort_by_key(|row| Reverse(row.change().unsigned_abs()));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_any_size_have_a_sign() {
        assert_eq!((change(7, 3), change(3, 7)), (-4, 4));
        assert_eq!(change(u64::MAX, 0), i64::MIN);
        assert_eq!(change(0, u64::MAX), i64::MAX);
    }

    #[test]
    fn what_is_on_one_side_only_is_new_or_gone() {
        let amount = |tokens| {
            Some(Amount {
                count: 1,
                tokens,
                estimated: 0,
            })
        };
        let changed = |before, after| {
            let part = Part::named("x");
            let row = Row {
                part,
                before,
                after,
                error: 0,
            };
            row.changed()
        };
        assert_eq!(changed(None, amount(0)), ChangeKind::New);
        assert_eq!(changed(amount(5), None), ChangeKind::Gone);
        assert_eq!(changed(amount(5), amount(6)), ChangeKind::Grew);
        assert_eq!(changed(amount(5), amount(4)), ChangeKind::Shrank);
        assert_eq!(changed(amount(5), amount(5)), ChangeKind::Same);
    }
}
