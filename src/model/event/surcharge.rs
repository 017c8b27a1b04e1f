//! Represents the circumstances besides its tokens that change the price of a response.

use serde::{Deserialize, Serialize};
use strum::{EnumIter, IntoEnumIterator, IntoStaticStr};

/// Something that makes a response cost more or less than its tokens by the list.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    EnumIter,
    IntoStaticStr,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Surcharge {
    /// A mode of the model in which it answers faster.
    Fast,
    /// Requests that the provider serves before others.
    Priority,
    /// Requests that the provider serves when it has time: they cost less.
    Flex,
    /// Requests that may take a day: they cost less.
    Batch,
    /// The provider's own searches in the web, each of which has a price.
    WebSearch,
    /// A tier of which only the name is known.
    OtherTier,
}

/// The surcharges of one or more responses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Surcharges(u8);

impl Surcharge {
    /// Returns its name, as the models table and reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns true if a response with it costs the list price at least.
    pub fn is_more(self) -> bool {
        match self {
            Surcharge::Fast | Surcharge::Priority | Surcharge::WebSearch => true,
            Surcharge::Flex | Surcharge::Batch | Surcharge::OtherTier => false,
        }
    }
}

impl Surcharges {
    /// None.
    pub const NONE: Surcharges = Surcharges(0);

    /// Returns the surcharge of a service tier or a speed, by the name that the provider gives it. The usual ones have
    /// none.
    pub fn of_tier(name: &str) -> Surcharges {
        let surcharge = match name {
            "" | "auto" | "default" | "standard" => return Surcharges::NONE,
            "fast" => Surcharge::Fast,
            "priority" => Surcharge::Priority,
            "flex" => Surcharge::Flex,
            "batch" => Surcharge::Batch,
            _ => Surcharge::OtherTier,
        };
        surcharge.into()
    }

    /// Returns these and others.
    #[must_use]
    pub fn and(self, others: Surcharges) -> Surcharges {
        Surcharges(self.0 | others.0)
    }

    /// Returns those of these that are true of a condition.
    #[must_use]
    pub fn filter(self, is_wanted: impl Fn(Surcharge) -> bool) -> Surcharges {
        let wanted = self.iter().filter(|surcharge| is_wanted(*surcharge));
        wanted.fold(Surcharges::NONE, |all, one| all.and(one.into()))
    }

    /// Returns true if there are none.
    pub fn is_empty(self) -> bool {
        self == Surcharges::NONE
    }

    /// Returns each of them, always in the same order.
    pub fn iter(self) -> impl Iterator<Item = Surcharge> {
        let all = Surcharge::iter();
        all.filter(move |surcharge| self.0 & Surcharges::from(*surcharge).0 != 0)
    }

    /// Returns their names.
    pub fn names(self) -> Vec<&'static str> {
        self.iter().map(Surcharge::name).collect()
    }
}

impl From<Surcharge> for Surcharges {
    fn from(surcharge: Surcharge) -> Surcharges {
        Surcharges(1 << surcharge as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_is_known_by_its_name() {
        for usual in ["", "auto", "default", "standard"] {
            assert!(Surcharges::of_tier(usual).is_empty(), "{usual}");
        }
        let names = |tier| Surcharges::of_tier(tier).names();
        assert_eq!(names("priority"), ["priority"]);
        assert_eq!(names("scale"), ["other_tier"]);
    }

    #[test]
    fn each_is_in_a_set_by_itself() {
        let mut all = Surcharges::NONE;
        for surcharge in Surcharge::iter() {
            let before = all.names().len();
            all = all.and(surcharge.into()).and(surcharge.into());
            assert_eq!(all.names().len(), before + 1);
        }
        let more = all.filter(Surcharge::is_more);
        assert_eq!(more.names(), ["fast", "priority", "web_search"]);
    }
}
