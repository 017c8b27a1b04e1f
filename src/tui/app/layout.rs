//! Which rows of the screen hold what. Here rather than in the views, since scrolling and clicks need
//! it as much as drawing does.

use ratatui::layout::Rect;

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
///  scale       letters of the roles, sizes of trigger and window
///  bar         the gauge
///  numbers     the same in numbers
///  forecast    when it will compact; on low screens among the facts
///  transport   only in a replay; on low screens in place of the facts
///  roles course  a line a role, and the context over time beside them; on small screens a line
///  tabs        what the list shows
///  columns     its headings; on low screens the tabs have that line
///  list        items, tools, compactions, …
///  notice      only when there is news
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
    pub transport: Rows,
    pub roles: Rect,
    pub course: Rect,
    pub tabs: Rows,
    pub columns: Rows,
    pub list: Rows,
    pub notice: Rows,
    pub footer: Rows,
}

/// The fewest columns on which the course stands beside the roles.
const COURSE_FROM: u16 = 72;
/// The most rows that roles and course take.
const TALLEST_COURSE: u16 = 14;

impl Session {
    /// The layout of a screen of these columns and rows; `transport` and `notice` rows are wanted.
    pub fn of((width, rows): (u16, u16), transport: u16, notice: u16) -> Session {
        let roomy = rows >= 20;
        let tall = rows >= 32;
        let mut cut = Cut { next: 0, end: rows };
        let header = cut.take(1);
        let low_transport = if roomy { 0 } else { transport };
        let replayed = cut.take(low_transport);
        let facts = cut.take(1 - low_transport);
        cut.take(u16::from(tall));
        let scale = cut.take(1);
        let bar = cut.take(if tall { 2 } else { 1 });
        let numbers = cut.take(1);
        let forecast = cut.take(u16::from(roomy));
        let transport = if roomy { cut.take(transport) } else { replayed };
        cut.take(u16::from(tall));
        let beside = roomy && width >= COURSE_FROM;
        let height = match (roomy, tall) {
            (false, _) => 1,
            (true, false) => 5,
            (true, true) => (rows.saturating_sub(cut.next + 4) / 3).clamp(5, TALLEST_COURSE),
        };
        let panel = cut.take(height);
        let roles = match width {
            _ if !beside => width.saturating_sub(2),
            0..100 => 29,
            100..160 => 43,
            _ => 56,
        };
        let across = |x: u16, width: u16| Rect::new(x, panel.top, width, panel.count);
        let course = if beside {
            across(roles + 2, width.saturating_sub(roles + 3))
        } else {
            Rect::default()
        };
        cut.take(u16::from(tall));
        Session {
            header,
            facts,
            scale,
            bar,
            numbers,
            forecast,
            transport,
            roles: across(1, roles),
            course,
            tabs: cut.take(1),
            columns: cut.take(u16::from(roomy)),
            list: cut.leave(1 + notice),
            notice: cut.take(notice),
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
        assert!(Session::of(SMALLEST, 0, 0).list.count >= 4);
        assert!(Session::of(SMALLEST, 1, 1).list.count >= 3);
    }

    #[test]
    fn rows_follow_each_other_and_end_with_the_screen() {
        for rows in 0..100 {
            let overview = Overview::of(rows, 1, 1);
            assert_eq!(overview.footer.top + overview.footer.count, rows);
            for columns in [0, 40, 80, 200] {
                let session = Session::of((columns, rows), 1, 1);
                assert_eq!(session.footer.top + session.footer.count, rows);
                assert_eq!(
                    session.list.top,
                    session.columns.top + session.columns.count
                );
            }
        }
    }
}
