//! Indices, times and lists in little memory: a session has a million records.

use super::stored;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::TryReserveError;
use std::ops::{Deref, DerefMut};

/// There is not enough memory.
#[derive(Debug, Clone, Copy)]
pub struct NoMemory;

impl From<TryReserveError> for NoMemory {
    fn from(_: TryReserveError) -> NoMemory {
        NoMemory
    }
}

/// An index in half the memory. No session has four billion of anything.
pub(super) fn short(ix: usize) -> u32 {
    u32::try_from(ix).unwrap_or(u32::MAX)
}

/// An index or none, in a quarter of the memory of an `Option`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// Stands before a number of nanoseconds below 0.
const NO_MILLISECOND: u64 = 1_000;

/// A time or none, in half the memory of an `Option`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub(super) struct MaybeTime {
    second: i64,
    nanosecond: i32,
}

impl MaybeTime {
    const NONE: MaybeTime = MaybeTime {
        second: 0,
        nanosecond: i32::MIN,
    };

    /// Numbers that stand for it. Times of one log are near each other and mostly have no more than milliseconds.
    pub(super) fn numbers(self) -> [u64; 3] {
        let (second, nanosecond) = (self.second.cast_unsigned(), self.nanosecond);
        match u64::try_from(nanosecond) {
            Ok(nanosecond) => [second, nanosecond / 1_000_000, nanosecond % 1_000_000],
            Err(_) => [second, NO_MILLISECOND, nanosecond.cast_unsigned().into()],
        }
    }

    /// The time, or none, of such numbers.
    pub(super) fn of_numbers([second, millisecond, nanosecond]: [u64; 3]) -> MaybeTime {
        let nanosecond = match millisecond {
            NO_MILLISECOND => nanosecond,
            _ => millisecond * 1_000_000 + nanosecond,
        };
        MaybeTime {
            second: second.cast_signed(),
            nanosecond: (nanosecond as u32).cast_signed(),
        }
    }

    pub(super) fn get(self) -> Option<Timestamp> {
        Timestamp::new(self.second, self.nanosecond).ok()
    }
}

impl From<Option<Timestamp>> for MaybeTime {
    fn from(at: Option<Timestamp>) -> MaybeTime {
        at.map_or(MaybeTime::NONE, |at| MaybeTime {
            second: at.as_second(),
            nanosecond: at.subsec_nanosecond(),
        })
    }
}

impl Serialize for MaybeTime {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        stored::time::serialize(&self.get(), to)
    }
}

impl<'de> Deserialize<'de> for MaybeTime {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<MaybeTime, D::Error> {
        stored::time::deserialize(from).map(MaybeTime::from)
    }
}

/// A list that is mostly empty, in a third of the memory of a `Vec` then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RareList<T>(Option<Box<Filled<T>>>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Filled<T> {
    list: Vec<T>,
}

impl<T> RareList<T> {
    pub(super) fn push(&mut self, entry: T) {
        let filled = self
            .0
            .get_or_insert_with(|| Box::new(Filled { list: Vec::new() }));
        filled.list.push(entry);
    }
}

impl<T> Default for RareList<T> {
    fn default() -> RareList<T> {
        RareList(None)
    }
}

impl<T> Deref for RareList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_ref().map_or(&[], |filled| &filled.list)
    }
}

impl<T> DerefMut for RareList<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_mut().map_or(&mut [], |filled| &mut filled.list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_takes_less_than_what_it_stands_for() {
        assert_eq!(size_of::<MaybeIx>(), size_of::<Option<usize>>() / 4);
        assert_eq!(size_of::<MaybeTime>(), size_of::<Option<Timestamp>>() / 2);
        assert_eq!(size_of::<RareList<u64>>(), size_of::<Vec<u64>>() / 3);
    }

    #[test]
    fn the_first_and_the_last_time_and_none_come_back() {
        for at in [None, Some(Timestamp::MIN), Some(Timestamp::MAX)] {
            let time = MaybeTime::from(at);
            assert_eq!(time.get(), at);
            assert_eq!(MaybeTime::of_numbers(time.numbers()), time);
        }
    }

    #[test]
    fn a_rare_list_is_empty_at_first() {
        let mut list = RareList::default();
        assert!(list.is_empty());
        list.push(1);
        list.push(2);
        list[0] = 3;
        assert_eq!(list[..], [3, 2]);
    }

    proptest! {
        #[test]
        fn times_and_indices_come_back(second in -99_999_999_999..99_999_999_999_i64, nanosecond in 0..1_000_000_000, ix in 0_u32..) {
            let at = Timestamp::new(second, nanosecond).unwrap();
            let time = MaybeTime::from(Some(at));
            prop_assert_eq!(time.get(), Some(at));
            prop_assert_eq!(MaybeTime::of_numbers(time.numbers()), time);
            let ix = Some(ix as usize).filter(|ix| *ix < u32::MAX as usize);
            prop_assert_eq!(MaybeIx::from(ix).get(), ix);
        }
    }
}
