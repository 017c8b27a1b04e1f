//! Numbers in columns, each as narrow as its largest number allows.

/// The numbers of some rows. A column whose numbers are all the same takes no memory for them.
#[derive(Debug, Clone)]
pub(crate) struct Numbers<const COLUMNS: usize> {
    /// The least number of each column, which is taken from the others.
    least: [u64; COLUMNS],
    /// The bytes that a number of each column takes, 0 to 8.
    widths: [u8; COLUMNS],
    /// Where each column starts in the bytes.
    starts: [u16; COLUMNS],
    bytes: Box<[u8]>,
    rows: u8,
}

/// Eight bytes can be read wherever a number starts.
const SPARE: usize = 8;

impl<const COLUMNS: usize> Numbers<COLUMNS> {
    /// The numbers of these rows, at most [`MOST_ROWS`].
    pub(crate) fn of(rows: &[[u64; COLUMNS]]) -> Numbers<COLUMNS> {
        let mut numbers = Numbers {
            least: [0; COLUMNS],
            widths: [0; COLUMNS],
            starts: [0; COLUMNS],
            bytes: Box::default(),
            rows: 0,
        };
        let Some((first, others)) = rows.split_first() else {
            return numbers;
        };
        let (mut least, mut most) = (*first, *first);
        for row in others {
            for (column, number) in row.iter().enumerate() {
                least[column] = least[column].min(*number);
                most[column] = most[column].max(*number);
            }
        }
        numbers.least = least;
        let mut end = 0;
        for column in 0..COLUMNS {
            let width = bytes_for(most[column] - least[column]);
            numbers.widths[column] = width as u8;
            numbers.starts[column] = end as u16;
            end += width * rows.len();
        }
        let mut bytes = vec![0; end + SPARE];
        for column in (0..COLUMNS).filter(|column| numbers.widths[*column] > 0) {
            let (least, width) = (least[column], usize::from(numbers.widths[column]));
            let from = usize::from(numbers.starts[column]);
            for (at, row) in (from..).step_by(width).zip(rows) {
                // What is written beyond its width is written over by the next number.
                if let Some(place) = bytes[at..].first_chunk_mut() {
                    *place = (row[column] - least).to_le_bytes();
                }
            }
        }
        numbers.rows = rows.len() as u8;
        numbers.bytes = bytes.into();
        numbers
    }

    /// A number of a row.
    #[inline]
    pub(crate) fn get(&self, column: usize, row: usize) -> u64 {
        let (least, width) = (self.least[column], usize::from(self.widths[column]));
        if width == 0 {
            return least;
        }
        let from = usize::from(self.starts[column]) + row * width;
        let bytes = self.bytes.get(from..).and_then(<[u8]>::first_chunk);
        let number = u64::from_le_bytes(bytes.copied().unwrap_or_default());
        least.wrapping_add(number & (u64::MAX >> (64 - 8 * width)))
    }

    /// Sets a number of a row. Costs more where the column has to be wider for it.
    pub(crate) fn set(&mut self, column: usize, row: usize, number: u64) {
        let (least, width) = (self.least[column], usize::from(self.widths[column]));
        let fits = number
            .checked_sub(least)
            .is_some_and(|more| bytes_for(more) <= width);
        if !fits {
            return self.widen(column, row, number);
        }
        let from = usize::from(self.starts[column]) + row * width;
        if let Some(place) = self.bytes.get_mut(from..from + width) {
            place.copy_from_slice(&(number - least).to_le_bytes()[..width]);
        }
    }

    /// Sets a number that does not fit its column.
    fn widen(&mut self, column: usize, row: usize, number: u64) {
        let mut rows = vec![[0; COLUMNS]; usize::from(self.rows)];
        for (at, numbers) in rows.iter_mut().enumerate() {
            for (column, number) in numbers.iter_mut().enumerate() {
                *number = self.get(column, at);
            }
        }
        if let Some(numbers) = rows.get_mut(row) {
            numbers[column] = number;
            *self = Numbers::of(&rows);
        }
    }

    /// Sets all numbers of a row.
    pub(crate) fn put(&mut self, row: usize, numbers: &[u64; COLUMNS]) {
        for (column, number) in numbers.iter().enumerate() {
            if self.get(column, row) != *number {
                self.set(column, row, *number);
            }
        }
    }
}

/// The bytes that a number takes.
fn bytes_for(number: u64) -> usize {
    (64 - number.leading_zeros()).div_ceil(8) as usize
}

/// The most rows that numbers are kept of together, so that a column's start fits 16 bits.
pub(crate) const MOST_ROWS: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_column_of_one_number_takes_no_bytes() {
        let rows = [[7, u64::MAX, 1_000]; 100];
        let numbers = Numbers::of(&rows);
        assert_eq!(numbers.bytes.len(), 8);
        assert_eq!(numbers.get(1, 99), u64::MAX);
        let near: Vec<[u64; 1]> = (0..100).map(|n| [1_000_000 + n]).collect();
        assert_eq!(Numbers::of(&near).bytes.len(), 100 + 8);
    }

    proptest! {
        #[test]
        fn numbers_come_back(
            rows in prop::collection::vec(
                prop::array::uniform4(prop_oneof![any::<u64>(), 0..300_u64, Just(u64::MAX)]),
                1..MOST_ROWS,
            ),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, any::<u64>()), 0..9),
        ) {
            let mut rows = rows;
            let mut numbers = Numbers::of(&rows);
            for (at, column, number) in changes {
                let at = at.index(rows.len());
                numbers.set(column, at, number);
                rows[at][column] = number;
                rows[0][column] /= 2;
                numbers.put(0, &rows[0]);
            }
            for (at, row) in rows.iter().enumerate() {
                for (column, number) in row.iter().enumerate() {
                    prop_assert_eq!(numbers.get(column, at), *number);
                }
            }
        }
    }
}
