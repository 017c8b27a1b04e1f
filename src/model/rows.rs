//! Long lists in little memory: a session may have a million items and requests.
//!
//! The newest rows are as they were made, since most changes are of them. Those before them are packed, some at once, in
//! a fifth of the memory. Whoever asks for one gets a [`RowRef`], which is either; a packed row is made anew where more
//! of it is asked for than its block can say.

mod numbers;

use super::names::Names;
use super::small::{NoMemory, reserve};
use numbers::MOST_ROWS;
pub(crate) use numbers::Numbers;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::OnceCell;
use std::fmt;
use std::ops::{Deref, Range};

/// What can be packed.
pub trait Row: Clone {
    /// Some packed rows.
    type Block: Clone;

    /// Packs rows. Names that many share are in `names`.
    fn pack(rows: &[Self], names: &mut Names) -> Self::Block;

    /// A row of a block as it was packed.
    fn unpack(block: &Self::Block, at: usize, names: &Names) -> Self;

    /// Packs a row in the place of another one. What rows never change is not packed again.
    fn replace(block: &mut Self::Block, at: usize, row: &Self, names: &mut Names);
}

/// A list of rows.
#[derive(Clone)]
pub struct Rows<T: Row> {
    /// The oldest rows, [`BLOCK`] in each.
    blocks: Vec<T::Block>,
    newest: Vec<T>,
    names: Names,
}

impl<T: Row> Rows<T> {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.packed() + self.newest.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn packed(&self) -> usize {
        self.blocks.len() * BLOCK
    }

    /// A row; `None`: there are not so many.
    #[inline]
    pub fn get(&self, ix: usize) -> Option<RowRef<'_, T>> {
        (ix < self.len()).then(|| self.at(ix))
    }

    /// A row that is there.
    #[inline]
    #[track_caller]
    pub fn at(&self, ix: usize) -> RowRef<'_, T> {
        let form = match ix.checked_sub(self.packed()) {
            Some(ix) => Form::Whole(&self.newest[ix]),
            None => self.before_newest(ix),
        };
        RowRef {
            form,
            made: OnceCell::new(),
        }
    }

    fn before_newest(&self, ix: usize) -> Form<'_, T> {
        Form::Packed(&self.blocks[ix / BLOCK], ix % BLOCK, &self.names)
    }

    /// The first row.
    pub fn first(&self) -> Option<RowRef<'_, T>> {
        self.get(0)
    }

    /// The last row.
    pub fn last(&self) -> Option<RowRef<'_, T>> {
        self.get(self.len().checked_sub(1)?)
    }

    /// All rows.
    pub fn iter(&self) -> Iter<'_, T> {
        self.to(self.len())
    }

    /// The first rows, or all where there are fewer.
    pub fn to(&self, end: usize) -> Iter<'_, T> {
        self.between(0, end)
    }

    /// The rows from one on.
    pub fn from(&self, start: usize) -> Iter<'_, T> {
        self.between(start, self.len())
    }

    /// The rows from one on, up to another one.
    pub fn between(&self, start: usize, end: usize) -> Iter<'_, T> {
        let end = end.min(self.len());
        Iter {
            rows: self,
            range: start.min(end)..end,
        }
    }

    /// The number of first rows for which this holds; it holds for no other.
    pub fn partition_point(&self, holds: impl Fn(&RowRef<'_, T>) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from + (to - from) / 2;
            if self.get(middle).is_some_and(|row| holds(&row)) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// The blocks that were packed last, but for those of the first rows.
    pub(crate) fn last_packed(&mut self, first: usize) -> &mut [T::Block] {
        let packed = self.blocks.len().saturating_sub(UNPACKED / BLOCK);
        let from = packed.max(first.div_ceil(BLOCK)).min(self.blocks.len());
        &mut self.blocks[from..]
    }

    /// Adds a row at the end. Returns whether rows were packed.
    pub(crate) fn push(&mut self, row: T) -> bool {
        self.newest.push(row);
        let is_full = self.newest.len() >= 2 * UNPACKED;
        if is_full {
            let packed: Vec<T> = self.newest.drain(..UNPACKED).collect();
            let blocks = packed.chunks(BLOCK);
            self.blocks
                .extend(blocks.map(|rows| T::pack(rows, &mut self.names)));
        }
        is_full
    }

    /// A row that is there, to be changed.
    #[track_caller]
    pub(crate) fn form_mut(&mut self, ix: usize) -> FormMut<'_, T> {
        match ix.checked_sub(self.packed()) {
            Some(ix) => FormMut::Whole(&mut self.newest[ix]),
            None => FormMut::Packed(&mut self.blocks[ix / BLOCK], ix % BLOCK, &mut self.names),
        }
    }

    /// Changes a row that is there. Costs more where it is packed.
    #[track_caller]
    pub(crate) fn change<A>(&mut self, ix: usize, change: impl FnOnce(&mut T) -> A) -> A {
        match self.form_mut(ix) {
            FormMut::Whole(row) => change(row),
            FormMut::Packed(block, at, names) => {
                let mut row = T::unpack(block, at, names);
                let answer = change(&mut row);
                T::replace(block, at, &row, names);
                answer
            }
        }
    }

    /// Makes room for this many more rows.
    pub(crate) fn try_reserve(&mut self, rows: usize) -> Result<(), NoMemory> {
        reserve(&mut self.blocks, rows / BLOCK + 1)?;
        reserve(&mut self.newest, rows.min(2 * UNPACKED))
    }

    /// The names that rows share.
    pub(crate) fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }
}

impl<T: Row> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows {
            blocks: Vec::new(),
            newest: Vec::new(),
            names: Names::default(),
        }
    }
}

impl<T: Row> FromIterator<T> for Rows<T> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Rows<T> {
        let mut list = Rows::default();
        for row in rows {
            list.push(row);
        }
        list
    }
}

impl<T: Row + PartialEq> PartialEq for Rows<T> {
    fn eq(&self, other: &Rows<T>) -> bool {
        self.len() == other.len() && self.iter().zip(other).all(|(a, b)| *a == *b)
    }
}

impl<T: Row + fmt::Debug> fmt::Debug for Rows<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<T: Row + Serialize> Serialize for Rows<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter().map(Whole))
    }
}

/// A row, as it is written.
struct Whole<'a, T: Row>(RowRef<'a, T>);

impl<T: Row + Serialize> Serialize for Whole<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (*self.0).serialize(to)
    }
}

impl<'de, T: Row + Deserialize<'de>> Deserialize<'de> for Rows<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Rows<T>, D::Error> {
        let rows = Vec::<T>::deserialize(from)?;
        Ok(rows.into_iter().collect())
    }
}

/// Rows of a list, in order.
pub struct Iter<'a, T: Row> {
    rows: &'a Rows<T>,
    range: Range<usize>,
}

impl<T: Row> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter {
            rows: self.rows,
            range: self.range.clone(),
        }
    }
}

impl<'a, T: Row> Iterator for Iter<'a, T> {
    type Item = RowRef<'a, T>;

    #[inline]
    fn next(&mut self) -> Option<RowRef<'a, T>> {
        self.range.next().map(|ix| self.rows.at(ix))
    }

    fn nth(&mut self, n: usize) -> Option<RowRef<'a, T>> {
        self.range.nth(n).map(|ix| self.rows.at(ix))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl<T: Row> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.range.next_back().map(|ix| self.rows.at(ix))
    }
}

impl<T: Row> ExactSizeIterator for Iter<'_, T> {}

impl<'a, T: Row> IntoIterator for &'a Rows<T> {
    type Item = RowRef<'a, T>;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// A row of a list, or of none.
pub struct RowRef<'a, T: Row> {
    form: Form<'a, T>,
    /// What was made of a packed one.
    made: OnceCell<T>,
}

/// Where a row is.
pub(crate) enum Form<'a, T: Row> {
    /// Somewhere as it is.
    Whole(&'a T),
    /// In a block, at a place in it. Its names are apart.
    Packed(&'a T::Block, usize, &'a Names),
}

/// Where a row is that is changed.
pub(crate) enum FormMut<'a, T: Row> {
    /// In the list as it is.
    Whole(&'a mut T),
    /// In a block, at a place in it. Its names are apart.
    Packed(&'a mut T::Block, usize, &'a mut Names),
}

impl<'a, T: Row> RowRef<'a, T> {
    /// Where it is, for those who need a part of it alone.
    #[inline]
    pub(crate) fn form(&self) -> &Form<'a, T> {
        &self.form
    }

    /// A part of it, from the whole row or out of its block.
    #[inline]
    pub(crate) fn read<A>(
        &self,
        whole: impl FnOnce(&'a T) -> A,
        packed: impl FnOnce(&'a T::Block, usize) -> A,
    ) -> A {
        match self.form {
            Form::Whole(row) => whole(row),
            Form::Packed(block, at, _) => packed(block, at),
        }
    }
}

impl<T: Row> Deref for RowRef<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self.form {
            Form::Whole(row) => row,
            Form::Packed(block, at, names) => self.made.get_or_init(|| T::unpack(block, at, names)),
        }
    }
}

impl<'a, T: Row> From<&'a T> for RowRef<'a, T> {
    fn from(row: &'a T) -> RowRef<'a, T> {
        RowRef {
            form: Form::Whole(row),
            made: OnceCell::new(),
        }
    }
}

impl<T: Row + fmt::Debug> fmt::Debug for RowRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The rows of a block.
const BLOCK: usize = if cfg!(test) { 3 } else { MOST_ROWS };

/// How many of the newest rows are not packed: more than a context has items, mostly. At twice as many, so many are.
const UNPACKED: usize = if cfg!(test) { 6 } else { 4_096 };

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A number and a name.
    #[derive(Debug, Clone, PartialEq)]
    struct Named(u64, String);

    impl Row for Named {
        type Block = (Numbers<1>, Vec<u32>);

        fn replace((numbers, named): &mut Self::Block, at: usize, row: &Named, names: &mut Names) {
            numbers.set(0, at, row.0);
            named[at] = names.number(&row.1);
        }

        fn pack(rows: &[Named], names: &mut Names) -> Self::Block {
            let numbers: Vec<[u64; 1]> = rows.iter().map(|row| [row.0]).collect();
            let named = rows.iter().map(|row| names.number(&row.1)).collect();
            (Numbers::of(&numbers), named)
        }

        fn unpack((numbers, named): &Self::Block, at: usize, names: &Names) -> Named {
            let name = names.get(named[at]).map(|name| name.to_string());
            Named(numbers.get(0, at), name.unwrap_or_default())
        }
    }

    fn rows(numbers: &[u64]) -> Vec<Named> {
        let named = |n: &u64| Named(*n, format!("row {}", n % 5));
        numbers.iter().map(named).collect()
    }

    #[test]
    fn the_newest_rows_are_not_packed() {
        let list: Rows<Named> = rows(&[1; 100]).into_iter().collect();
        let is_whole = |row: &RowRef<'_, Named>| matches!(row.form(), Form::Whole(_));
        let whole = list.iter().filter(is_whole).count();
        assert!((UNPACKED..2 * UNPACKED).contains(&whole), "{whole}");
        assert!(list.last().is_some_and(|row| is_whole(&row)));
    }

    proptest! {
        #[test]
        fn a_list_is_what_was_put_into_it(
            numbers in prop::collection::vec(any::<u64>(), 0..60),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 0..12),
        ) {
            let mut expected = rows(&numbers);
            let mut list: Rows<Named> = expected.iter().cloned().collect();
            for (ix, number) in changes.iter().filter(|_| !numbers.is_empty()) {
                let ix = ix.index(numbers.len());
                let new = rows(&[*number]).remove(0);
                list.change(ix, |row| *row = new.clone());
                expected[ix] = new;
                prop_assert_eq!(&*list.at(ix), &expected[ix]);
            }
            let all = |list: &Rows<Named>| list.iter().map(|row| row.clone()).collect::<Vec<_>>();
            prop_assert_eq!(&all(&list), &expected);
            let bytes = postcard::to_stdvec(&list).unwrap();
            prop_assert_eq!(&postcard::from_bytes::<Rows<Named>>(&bytes).unwrap(), &list);
            prop_assert!(list.get(numbers.len()).is_none());
            let few: Vec<Named> = list.to(7).rev().map(|row| row.clone()).collect();
            prop_assert!(few.iter().rev().eq(expected.iter().take(7)));
            let mut even = list.clone();
            even.retain(|ix| ix % 2 == 0);
            prop_assert!(even.iter().map(|row| row.0).eq(expected.iter().step_by(2).map(|row| row.0)));
            expected.sort_by_key(|row| row.0);
            let sorted: Rows<Named> = expected.iter().cloned().collect();
            let middle = numbers.first().copied().unwrap_or(0);
            prop_assert_eq!(
                sorted.partition_point(|row| row.0 < middle),
                expected.partition_point(|row| row.0 < middle)
            );
        }
    }
}
