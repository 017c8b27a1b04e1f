//! Indices, times and lists in little memory: a session has a million records.

use jiff::Timestamp;

/// Returns an index in half the memory. No session has four billion of anything.
pub(super) fn short(ix: usize) -> u32 {
    u32::try_from(ix).unwrap_or(u32::MAX)
}

/// An index or none, in a quarter of the memory of an `Option`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MaybeIx(u32);

impl MaybeIx {
    const NONE: MaybeIx = MaybeIx(u32::MAX);

    pub(super) fn get(self) -> Option<usize> {
        (self != MaybeIx::NONE).then_some(self.0 as usize)
    }
}

impl Default for MaybeIx {
    fn default() -> MaybeIx {
        MaybeIx::NONE
    }
}

impl From<Option<usize>> for MaybeIx {
    fn from(ix: Option<usize>) -> MaybeIx {
        let ix = ix.and_then(|ix| u32::try_from(ix).ok());
        ix.map_or(MaybeIx::NONE, MaybeIx)
    }
}

impl From<usize> for MaybeIx {
    fn from(ix: usize) -> MaybeIx {
        Some(ix).into()
    }
}

/// A number of tokens or none, in a quarter of the memory of an `Option`. What is larger than it can be is taken for the
/// largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MaybeCount(u32);

impl MaybeCount {
    const NONE: MaybeCount = MaybeCount(u32::MAX);

    pub(super) fn get(self) -> Option<u64> {
        (self != MaybeCount::NONE).then_some(self.0.into())
    }
}

impl From<Option<u64>> for MaybeCount {
    fn from(tokens: Option<u64>) -> MaybeCount {
        let most = u32::MAX - 1;
        let count = |tokens| u32::try_from(tokens).unwrap_or(most).min(most);
        tokens.map_or(MaybeCount::NONE, |tokens| MaybeCount(count(tokens)))
    }
}

/// A time or none, in a third of the memory of an `Option`: in nanoseconds since 1970. Times before 1677 and after 2262
/// are taken for the first or the last that it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MaybeTime(i64);

impl MaybeTime {
    const NONE: MaybeTime = MaybeTime(i64::MIN);

    pub(super) fn get(self) -> Option<Timestamp> {
        let time = Timestamp::from_nanosecond(self.0.into()).ok();
        time.filter(|_| self != MaybeTime::NONE)
    }
}

impl Default for MaybeTime {
    fn default() -> MaybeTime {
        MaybeTime::NONE
    }
}

impl From<Option<Timestamp>> for MaybeTime {
    fn from(at: Option<Timestamp>) -> MaybeTime {
        at.map_or(MaybeTime::NONE, |at| {
            let first = i128::from(i64::MIN) + 1;
            let nanoseconds = at.as_nanosecond().clamp(first, i64::MAX.into());
            MaybeTime(nanoseconds as i64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_takes_less_than_what_it_stands_for() {
        assert_eq!(size_of::<MaybeIx>(), size_of::<Option<usize>>() / 4);
        assert_eq!(size_of::<MaybeCount>(), size_of::<Option<u64>>() / 4);
        assert_eq!(size_of::<MaybeTime>(), size_of::<Option<Timestamp>>() / 3);
    }

    #[test]
    fn the_largest_number_of_tokens_is_no_none() {
        let most = u64::from(u32::MAX) - 1;
        for (tokens, expected) in [(0, 0), (most, most), (most + 1, most), (u64::MAX, most)] {
            assert_eq!(MaybeCount::from(Some(tokens)).get(), Some(expected));
        }
        assert_eq!(MaybeCount::from(None).get(), None);
    }

    #[test]
    fn times_keep_their_order_up_to_the_first_and_the_last_and_none_comes_back() {
        let first = Timestamp::from_nanosecond(i128::from(i64::MIN) + 1).unwrap();
        let last = Timestamp::from_nanosecond(i64::MAX.into()).unwrap();
        for (at, expected) in [
            (None, None),
            (Some(Timestamp::MIN), Some(first)),
            (Some(first), Some(first)),
            (Some(Timestamp::UNIX_EPOCH), Some(Timestamp::UNIX_EPOCH)),
            (Some(last), Some(last)),
            (Some(Timestamp::MAX), Some(last)),
        ] {
            let time = MaybeTime::from(at);
            assert_eq!(time.get(), expected);
        }
    }

    proptest! {
        #[test]
        fn times_and_indices_come_back(second in -9_000_000_000..9_000_000_000_i64, nanosecond in 0..1_000_000_000, ix in 0_u32..) {
            let at = Timestamp::new(second, nanosecond).unwrap();
            let time = MaybeTime::from(Some(at));
            prop_assert_eq!(time.get(), Some(at));
            let ix = Some(ix as usize).filter(|ix| *ix < u32::MAX as usize);
            prop_assert_eq!(MaybeIx::from(ix).get(), ix);
        }
    }
}
