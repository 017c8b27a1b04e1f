//! Which rows of the screen hold what. Here rather than in the views, since scrolling and clicks need
//! it as much as drawing does.

/// The smallest screen that is drawn on: columns, rows.
pub const SMALLEST: (u16, u16) = (40, 12);

/// How much fits beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fold {
    /// Under 80 columns.
    Narrow,
    /// 80 to 119 columns.
    Medium,
    /// 120 columns and more.
    Wide,
}

impl Fold {
    /// The fold of a width.
    pub const fn of(width: u16) -> Fold {
        match width {
            0..80 => Fold::Narrow,
            80..120 => Fold::Medium,
            _ => Fold::Wide,
        }
    }
}

/// From this width on a row has a column for what it takes until the next compaction.
pub const NEXT_FROM: u16 = 100;
/// From this width on a row has a column for the growth: before, the gauge needs the room more.
pub const GROWTH_FROM: u16 = 132;

/// Some rows of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rows {
    /// The first, from 0.
    pub top: u16,
    /// How many.
    pub count: u16,
}

impl Rows {
    /// The place of a screen row among these.
    pub fn position(self, row: u16) -> Option<usize> {
        (row >= self.top && row < self.top.saturating_add(self.count))
            .then(|| usize::from(row - self.top))
    }
}

/// Takes rows from the top down.
struct Cut {
    next: u16,
    end: u16,
}

impl Cut {
    fn take(&mut self, count: u16) -> Rows {
        let count = count.min(self.end - self.next);
        let rows = Rows {
            top: self.next,
            count,
        };
        self.next += count;
        rows
    }

    /// All but this many.
    fn leave(&mut self, count: u16) -> Rows {
        self.take((self.end - self.next).saturating_sub(count))
    }
}

/// The list of sessions:
///
/// ```text
///  banner      only while a demo plays or another estimator tells
///  header      name, counts, order, filter
///  columns     their headings
///  list        …
///  rule
///  detail      of the selected session
///  notice      only when something could not be read
///  footer      keys
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct Overview {
    pub banner: Rows,
    pub header: Rows,
    pub columns: Rows,
    pub list: Rows,
    pub rule: Rows,
    pub detail: Rows,
    pub notice: Rows,
    pub footer: Rows,
}

impl Overview {
    /// The layout of a screen of this many rows.
    pub fn of(rows: u16, banner: u16, notice: u16) -> Overview {
        let roomy = rows >= 16;
        let detail = if roomy { 2 } else { 1 };
        let mut cut = Cut { next: 0, end: rows };
        Overview {
            banner: cut.take(banner),
            header: cut.take(1),
            columns: cut.take(1),
            list: cut.leave(detail + 2 + notice),
            rule: cut.take(1),
            detail: cut.take(detail),
            notice: cut.take(notice),
            footer: cut.take(1),
        }
    }
}

/// One session:
///
/// ```text
///  header      project, agent, model, age
///  facts       window, trigger, what is not read or could not be
///  space
///  scale       letters of the roles, sizes of trigger and window
///  bar         the gauge
///  numbers     the same in numbers
///  forecast    when it will compact; on low screens among the facts
///  space
///  legend      a line a role
///  columns     headings of the items
///  list        the items, newest first
///  footer      keys
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct Session {
    pub header: Rows,
    pub facts: Rows,
    pub scale: Rows,
    pub bar: Rows,
    pub numbers: Rows,
    pub forecast: Rows,
    pub legend: Rows,
    pub columns: Rows,
    pub list: Rows,
    pub footer: Rows,
}

impl Session {
    /// The layout of a screen of this many rows.
    pub fn of(rows: u16) -> Session {
        let roomy = rows >= 20;
        let tall = rows >= 32;
        let mut cut = Cut { next: 0, end: rows };
        let header = cut.take(1);
        let facts = cut.take(1);
        if tall {
            cut.take(1);
        }
        let scale = cut.take(1);
        let bar = cut.take(if tall { 2 } else { 1 });
        let numbers = cut.take(1);
        let forecast = cut.take(u16::from(roomy));
        if roomy {
            cut.take(1);
        }
        let legend = cut.take(if roomy { 5 } else { 1 });
        if tall {
            cut.take(1);
        }
        Session {
            header,
            facts,
            scale,
            bar,
            numbers,
            forecast,
            legend,
            columns: cut.take(1),
            list: cut.leave(1),
            footer: cut.take(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_screen_still_shows_a_list() {
        let rows = SMALLEST.1;
        assert!(Overview::of(rows, 1, 1).list.count >= 4);
        assert!(Session::of(rows).list.count >= 4);
    }

    #[test]
    fn rows_follow_each_other_and_end_with_the_screen() {
        for rows in 0..100 {
            let overview = Overview::of(rows, 1, 1);
            assert_eq!(overview.footer.top + overview.footer.count, rows);
            let session = Session::of(rows);
            assert_eq!(session.footer.top + session.footer.count, rows);
            assert_eq!(
                session.list.top,
                session.columns.top + session.columns.count
            );
        }
    }
}
