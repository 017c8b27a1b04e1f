//! Divides the screen into areas. This is not in the views because scrolling and clicks need it as much as drawing
//! does.

use crate::paint::Area;

/// The smallest screen that is drawn on: columns, rows.
pub const SMALLEST: (u16, u16) = (40, 12);

/// The lowest screen with a row of sums: on lower ones the sessions need it more.
const SUMS_FROM: u16 = 20;

/// The lowest screen that has the large gauge of the selected session, if the list does not need its rows.
const HIGH: u16 = 48;
/// The rows of the header, the headings, the rule and the footer.
const FRAME: u16 = 4;
/// The rows of that gauge: its scale and its bar.
pub const GAUGE_ROWS: u16 = 3;

/// The width class of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WidthClass {
    /// Under 80 columns.
    Narrow,
    /// 80 to 119 columns.
    Medium,
    /// 120 columns and more.
    Wide,
}

impl WidthClass {
    /// Returns the fold of a width.
    pub const fn of(width: u16) -> WidthClass {
        match width {
            0..80 => WidthClass::Narrow,
            80..120 => WidthClass::Medium,
            _ => WidthClass::Wide,
        }
    }

    /// Returns the value for this fold.
    pub fn pick<T>(self, narrow: T, medium: T, wide: T) -> T {
        match self {
            WidthClass::Narrow => narrow,
            WidthClass::Medium => medium,
            WidthClass::Wide => wide,
        }
    }
}

/// Takes areas of the screen's width from the top down.
struct AreaCutter {
    width: u16,
    next: u16,
    end: u16,
}

impl AreaCutter {
    fn new((width, rows): (u16, u16)) -> AreaCutter {
        AreaCutter {
            width,
            next: 0,
            end: rows,
        }
    }

    fn take(&mut self, rows: u16) -> Area {
        let area = Area::new(0, self.next, self.width, rows.min(self.end - self.next));
        self.next += area.height;
        area
    }

    /// Returns all but this many rows.
    fn leave(&mut self, rows: u16) -> Area {
        self.take((self.end - self.next).saturating_sub(rows))
    }
}

/// The list of sessions:
///
/// ```text
///  banner      only with a demo
///  header      name, counts, sort, filter
///  columns     their headings
///  list        …
///  rule
///  detail      of the selected session
///  sums        of all listed sessions; not on low screens
///  notice      only when there is news
///  footer      keys
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct Overview {
    pub banner: Area,
    pub header: Area,
    pub columns: Area,
    pub list: Area,
    pub rule: Area,
    pub detail: Area,
    pub sums: Area,
    pub notice: Area,
    pub footer: Area,
}

impl Overview {
    /// Returns the layout of a screen of these columns and rows, with a list of so many lines; `banner`, `sums` and
    /// `notice` are rows to reserve.
    pub fn of(size: (u16, u16), lines: usize, [banner, sums, notice]: [u16; 3]) -> Overview {
        let sums = if size.1 >= SUMS_FROM { sums } else { 0 };
        let others = banner + sums + notice + FRAME;
        let free = usize::from(size.1.saturating_sub(others + 2 + GAUGE_ROWS));
        let detail = match size.1 {
            0..16 => 1,
            HIGH.. if lines <= free => 2 + GAUGE_ROWS,
            16.. => 2,
        };
        let mut cut = AreaCutter::new(size);
        Overview {
            banner: cut.take(banner),
            header: cut.take(1),
            columns: cut.take(1),
            list: cut.leave(detail + sums + 2 + notice),
            rule: cut.take(1),
            detail: cut.take(detail),
            sums: cut.take(sums),
            notice: cut.take(notice),
            footer: cut.take(1),
        }
    }
}

/// One session:
///
/// ```text
///  header      project, agent, model, age
///  status      window, trigger, what is not read or could not be
///  scale       letters of the roles, sizes of trigger and window
///  bar         the gauge
///  numbers     the same in numbers
///  forecast    when it will compact; on low screens part of the status
///  finding     what took most of the money, if anything did; not on low screens
///  transport   only in a replay; on low screens in place of the status
///  roles chart one line per role, and the context over time next to them; on small screens one line
///  tabs        what the list shows
///  columns     its headings; low screens have none
///  list        items, tools, compactions, …
///  notice      only when there is news
///  footer      keys
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct Session {
    pub header: Area,
    pub status: Area,
    pub scale: Area,
    pub bar: Area,
    pub numbers: Area,
    pub forecast: Area,
    pub finding: Area,
    pub transport: Area,
    pub roles: Area,
    pub chart: Area,
    pub tabs: Area,
    pub columns: Area,
    pub list: Area,
    pub notice: Area,
    pub footer: Area,
}

/// The narrowest screen on which the chart is next to the roles.
const CHART_FROM: u16 = 72;
/// The most rows of roles and chart.
const TALLEST_CHART: u16 = 14;

impl Session {
    /// Returns the layout of a screen of these columns and rows; `transport`, `finding` and `notice` are rows to
    /// reserve.
    pub fn of((width, rows): (u16, u16), [transport, finding, notice]: [u16; 3]) -> Session {
        let roomy = rows >= 20;
        let tall = rows >= 32;
        let mut cut = AreaCutter::new((width, rows));
        let header = cut.take(1);
        let low_transport = if roomy { 0 } else { transport };
        let low = cut.take(low_transport);
        let status = cut.take(1 - low_transport);
        cut.take(u16::from(tall));
        let scale = cut.take(1);
        let bar = cut.take(if tall { 2 } else { 1 });
        let numbers = cut.take(1);
        let forecast = cut.take(u16::from(roomy));
        let finding = cut.take(if roomy { finding } else { 0 });
        let transport = if roomy { cut.take(transport) } else { low };
        cut.take(u16::from(tall));
        let beside = roomy && width >= CHART_FROM;
        let height = match (roomy, tall) {
            (false, _) => 1,
            // With a row for the requests and times below the timeline.
            (true, false) => 5 + u16::from(beside && rows >= 24),
            (true, true) => (rows.saturating_sub(cut.next + 4) / 3).clamp(5, TALLEST_CHART),
        };
        let panel = cut.take(height);
        let roles = match width {
            _ if !beside => width.saturating_sub(2),
            0..100 => 29,
            100..160 => 43,
            _ => 56,
        };
        let across = |x: u16, width: u16| Area::new(x, panel.y, width, panel.height);
        let chart = if beside {
            across(roles + 2, width.saturating_sub(roles + 3))
        } else {
            Area::default()
        };
        cut.take(u16::from(tall));
        Session {
            header,
            status,
            scale,
            bar,
            numbers,
            forecast,
            finding,
            transport,
            roles: across(1, roles),
            chart,
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
    fn a_list_that_needs_the_rows_has_them() {
        let detail = |lines| {
            let overview = Overview::of((200, 60), lines, [0, 1, 0]);
            (overview.detail.height, overview.list.height)
        };
        assert_eq!(detail(50), (2 + GAUGE_ROWS, 50));
        assert_eq!(detail(51), (2, 53));
    }

    #[test]
    fn the_smallest_screen_still_shows_a_list() {
        assert!(Overview::of(SMALLEST, 0, [1; 3]).list.height >= 4);
        assert!(Session::of(SMALLEST, [0; 3]).list.height >= 4);
        assert!(Session::of(SMALLEST, [1; 3]).list.height >= 3);
    }

    #[test]
    fn rows_follow_each_other_and_end_with_the_screen() {
        for rows in 0..100 {
            for columns in [0, 40, 80, 200] {
                let overview = Overview::of((columns, rows), 0, [1; 3]);
                assert_eq!(overview.footer.bottom(), rows);
                let session = Session::of((columns, rows), [1; 3]);
                assert_eq!(session.footer.bottom(), rows);
                assert_eq!(session.list.y, session.columns.bottom());
            }
        }
    }
}
