//! A list's selection and scroll position. The selection goes by key, so it stays with its row when
//! the order changes.

/// The meaning of selecting the first row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Top {
    /// The list follows whatever comes first: its newest.
    #[default]
    Follows,
    /// That row stays selected, wherever it goes.
    Stays,
}

/// A selection in a list of keys. Until it is moved, the first row is selected, whatever that is.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<K> {
    top: Top,
    /// `None`: the first row, whatever that is.
    selected: Option<K>,
    /// The row that was selected before rows left the list. It is selected again if it returns before another is
    /// selected.
    held: Option<K>,
    /// The place of the selection; distinguishes equal keys.
    index: usize,
    offset: usize,
}

impl<K> Cursor<K> {
    /// Returns a cursor that was not moved yet.
    pub fn new(top: Top) -> Self {
        Cursor {
            top,
            selected: None,
            held: None,
            index: 0,
            offset: 0,
        }
    }
}

impl<K> Default for Cursor<K> {
    fn default() -> Self {
        Cursor::new(Top::default())
    }
}

impl<K: Copy + PartialEq> Cursor<K> {
    /// Returns the selected row.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the first row on screen.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Selects a row.
    pub fn select(&mut self, keys: &[K], index: usize) {
        self.held = None;
        self.index = index.min(keys.len().saturating_sub(1));
        self.selected = match (self.index, self.top) {
            (0, Top::Follows) => None,
            (index, _) => keys.get(index).copied(),
        };
    }

    /// Moves the selection by rows.
    pub fn step(&mut self, keys: &[K], by: isize) {
        self.select(keys, self.index.saturating_add_signed(by));
    }

    /// Keeps a row selected, even where it is the first.
    pub fn pin(&mut self, key: K) {
        self.held = None;
        self.selected = Some(key);
    }

    /// Keeps the selected row selected while rows leave the list and return. While it is not listed, the first row is
    /// selected.
    pub fn hold(&mut self, keys: &[K]) {
        let selected = keys.get(self.index).copied();
        self.held = self.held.or(selected);
        self.selected = selected;
    }

    /// Keeps the selected row selected, whatever was selected before.
    pub fn settle(&mut self, keys: &[K]) {
        if let Some(key) = keys.get(self.index) {
            self.pin(*key);
        }
    }

    /// Finds the selection in a new list, and scrolls so that it is among the `rows` on screen.
    pub fn fit(&mut self, keys: &[K], rows: usize) {
        let held = self.held.filter(|held| keys.contains(held));
        self.selected = held.or(self.selected);
        self.index = match self.selected {
            None => 0,
            Some(key) if keys.get(self.index) == Some(&key) => self.index,
            Some(key) => match keys.iter().position(|k| *k == key) {
                Some(index) => index,
                None if self.held.is_some() => {
                    self.selected = keys.first().copied();
                    0
                }
                // It is gone: select the row in its place.
                None => {
                    self.select(keys, self.index);
                    self.index
                }
            },
        };
        let rows = rows.max(1);
        let last_page = keys.len().saturating_sub(rows);
        self.offset = self
            .offset
            .clamp(self.index.saturating_sub(rows - 1), self.index)
            .min(last_page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selection_stays_with_its_key() {
        let mut cursor = Cursor::default();
        cursor.select(&[1, 2, 3], 1);
        cursor.fit(&[3, 1, 2], 10);
        assert_eq!(cursor.index(), 2);
    }

    #[test]
    fn an_unmoved_cursor_follows_the_top() {
        let mut cursor = Cursor::default();
        cursor.fit(&[1, 2], 10);
        cursor.fit(&[9, 1, 2], 10);
        assert_eq!(cursor.index(), 0);
    }

    #[test]
    fn a_selected_first_row_can_stay() {
        let mut cursor = Cursor::new(Top::Stays);
        cursor.step(&[1, 2], 1);
        cursor.step(&[1, 2], -1);
        cursor.fit(&[9, 1, 2], 10);
        assert_eq!(cursor.index(), 1);
    }

    #[test]
    fn the_neighbour_of_a_lost_key_is_selected() {
        let mut cursor = Cursor::default();
        cursor.select(&[1, 2, 3], 2);
        cursor.fit(&[1, 2], 10);
        assert_eq!(cursor.index(), 1);
        cursor.fit(&[] as &[i32], 10);
        assert_eq!(cursor.index(), 0);
    }

    #[test]
    fn a_held_row_is_selected_again_when_it_returns() {
        let mut cursor = Cursor::new(Top::Stays);
        cursor.select(&[1, 2, 3], 2);
        for (keys, selected) in [(&[1, 2][..], 0), (&[2], 0), (&[1, 2, 3], 2)] {
            cursor.hold(&[1, 2, 3]);
            cursor.fit(keys, 10);
            assert_eq!(cursor.index(), selected);
        }
        cursor.hold(&[1, 2, 3]);
        cursor.fit(&[2], 10);
        cursor.settle(&[2]);
        cursor.fit(&[1, 2, 3], 10);
        assert_eq!(cursor.index(), 1);
    }

    #[test]
    fn equal_keys_do_not_trap_the_cursor() {
        let keys = [1, 7, 7, 2];
        let mut cursor = Cursor::default();
        for _ in 0..3 {
            cursor.step(&keys, 1);
            cursor.fit(&keys, 2);
        }
        assert_eq!(cursor.index(), 3);
    }

    #[test]
    fn scrolling_keeps_the_selection_on_screen() {
        let keys: Vec<u32> = (0..100).collect();
        let mut cursor = Cursor::default();
        for by in [1, 30, -5, 200, -7, -300, 55] {
            cursor.step(&keys, by);
            cursor.fit(&keys, 10);
            assert!((cursor.offset()..cursor.offset() + 10).contains(&cursor.index()));
        }
    }
}
