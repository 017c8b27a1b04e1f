//! Parts of the screen.

/// A rectangle of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Area {
    /// The first column.
    pub x: u16,
    /// The first row.
    pub y: u16,
    /// The number of columns.
    pub width: u16,
    /// The number of rows.
    pub height: u16,
}

impl Area {
    /// Returns an area of this place and size.
    pub const fn new(x: u16, y: u16, width: u16, height: u16) -> Area {
        Area {
            x,
            y,
            width,
            height,
        }
    }

    /// Returns the column after the last.
    pub const fn right(self) -> u16 {
        self.x.saturating_add(self.width)
    }

    /// Returns the row after the last.
    pub const fn bottom(self) -> u16 {
        self.y.saturating_add(self.height)
    }

    /// Returns its rows.
    pub fn rows(self) -> std::ops::Range<u16> {
        self.y..self.bottom()
    }

    /// Returns true if it has no cell.
    pub const fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// Returns true if a cell is part of it.
    pub fn contains(self, x: u16, y: u16) -> bool {
        (self.x..self.right()).contains(&x) && self.rows().contains(&y)
    }

    /// Returns the area without some columns on its left and right.
    pub fn inset(self, left: u16, right: u16) -> Area {
        let width = self.width.saturating_sub(left + right);
        Area::new(self.x + left, self.y, width, self.height)
    }
}
