//! A response in as little memory as it needs: lists hold those of all logs at once.

use super::cost::Cost;
use jiff::Timestamp;
use model::event::{BilledUsage, Conversation, Key, Surcharges};
use model::values::token_usage::CachePlacement;
use serde::{Deserialize, Serialize};

/// A response, in 56 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    #[serde(with = "postcard::fixint::le")]
    key: u64,
    /// In nanoseconds since 1970, or [`NO_TIME`].
    #[serde(with = "postcard::fixint::le")]
    at: i64,
    counts: [Count; 6],
    flags: u8,
    surcharges: Surcharges,
    /// An index, or [`NO_INDEX`].
    model: u32,
    /// The index of its session among the responses of a log, or of its folder in totals.
    pub(super) of: u32,
}

const NO_TIME: i64 = i64::MIN;
const NO_INDEX: u32 = u32::MAX;

const IS_SUM: u8 = 1;
const LACKS_INPUT: u8 = 2;
const HOLDS_CACHED: u8 = 4;

/// A number of tokens, at most 1.1 × 10¹². Four bytes are too few for the sum of a long session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Count([u8; 5]);

impl Count {
    fn new(tokens: u64) -> Count {
        let [high @ .., a, b, c, d, e] = tokens.to_be_bytes();
        Count(match high {
            [0, 0, 0] => [a, b, c, d, e],
            _ => [u8::MAX; 5],
        })
    }

    fn get(self) -> u64 {
        let [a, b, c, d, e] = self.0;
        u64::from_be_bytes([0, 0, 0, a, b, c, d, e])
    }
}

impl Row {
    /// Creates the row of a response. A time before 1677 or after 2262 is not kept.
    pub(super) fn new(key: Key, cost: &Cost, of: u32) -> Row {
        let Cost { billed, .. } = *cost;
        let at = cost.at.map(Timestamp::as_nanosecond);
        let flags = [
            (cost.is_sum, IS_SUM),
            (cost.lacks_input, LACKS_INPUT),
            (cost.cached == CachePlacement::Within, HOLDS_CACHED),
        ];
        Row {
            key: key.get(),
            at: at.and_then(|at| at.try_into().ok()).unwrap_or(NO_TIME),
            counts: billed.counts().map(Count::new),
            flags: flags.iter().map(|(is, flag)| u8::from(*is) * flag).sum(),
            surcharges: billed.surcharges,
            model: cost.model.unwrap_or(NO_INDEX),
            of,
        }
    }

    /// Returns its key.
    pub(super) fn key(&self) -> Key {
        Key::new(self.key)
    }

    /// Returns the index of the model that answered.
    pub(super) fn model(&self) -> Option<u32> {
        Some(self.model).filter(|model| *model != NO_INDEX)
    }

    /// Returns the time at which the response began; `None`: not known.
    pub(super) fn at(&self) -> Option<Timestamp> {
        let at = Some(self.at).filter(|at| *at != NO_TIME)?;
        Timestamp::from_nanosecond(at.into()).ok()
    }

    /// Returns this response with another key and other indexes.
    pub(super) fn labelled(self, key: Key, model: Option<u32>, of: u32) -> Row {
        Row {
            key: key.get(),
            model: model.unwrap_or(NO_INDEX),
            of,
            ..self
        }
    }

    /// Returns its cost, as a response of this session.
    pub(super) fn cost(&self, conversation: Conversation) -> Cost {
        let is = |flag| self.flags & flag != 0;
        Cost {
            billed: BilledUsage::of_counts(self.counts.map(Count::get), self.surcharges),
            cached: if is(HOLDS_CACHED) {
                CachePlacement::Within
            } else {
                CachePlacement::Beside
            },
            is_sum: is(IS_SUM),
            lacks_input: is(LACKS_INPUT),
            at: self.at(),
            model: self.model(),
            conversation,
        }
    }

    /// Returns the key to sort by. Rows with the same key are then beside each other, whatever order they came in.
    pub(super) fn order(&self) -> impl Ord + use<> {
        (self.key, self.at, self.counts, self.flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::event::Surcharge;
    use proptest::prelude::*;

    #[test]
    fn a_row_is_small() {
        assert_eq!(size_of::<Row>(), 56);
    }

    proptest! {
        #[test]
        fn a_row_has_all_of_a_response(
            key in any::<u64>(),
            counts in any::<[u64; 6]>(),
            wide in 24_u32..64,
            flags in any::<[bool; 4]>(),
            at in prop::option::of(any::<i64>()),
            model in prop::option::of(0..u32::MAX),
        ) {
            let cost = Cost {
                billed: BilledUsage::of_counts(
                    counts.map(|n| n >> wide),
                    if flags[0] { Surcharge::Fast.into() } else { Surcharges::NONE },
                ),
                cached: if flags[1] { CachePlacement::Within } else { CachePlacement::Beside },
                is_sum: flags[2],
                lacks_input: flags[3],
                at: at.and_then(|at| Timestamp::from_nanosecond(at.into()).ok()),
                model,
                conversation: Conversation::Side(Key::new(key)),
            };
            let key = Key::new(key);
            let row = Row::new(key, &cost, 7);
            let bytes = postcard::to_stdvec(&row).unwrap();
            prop_assert_eq!(postcard::from_bytes::<Row>(&bytes).unwrap(), row);
            prop_assert_eq!((row.key(), row.of), (key, 7));
            prop_assert_eq!(row.cost(cost.conversation), cost);
        }
    }

    #[test]
    fn what_no_row_can_hold_is_the_most_or_not_known() {
        let cost = Cost {
            billed: BilledUsage::new(u64::MAX, (1 << 40) - 1),
            cached: CachePlacement::Within,
            is_sum: false,
            lacks_input: false,
            at: "3000-01-01T00:00:00Z".parse().ok(),
            model: None,
            conversation: Conversation::Main,
        };
        let kept = Row::new(Key::of("a"), &cost, 0).cost(Conversation::Main);
        assert_eq!(kept.billed, BilledUsage::new((1 << 40) - 1, (1 << 40) - 1));
        assert_eq!(kept.at, None);
    }
}
