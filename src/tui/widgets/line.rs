//! Writing lines into a buffer.

use crate::render::text;
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A piece of a line. The text is made inert.
pub fn span(content: impl AsRef<str>, style: Style) -> Span<'static> {
    Span::styled(text::inert(content.as_ref()).into_owned(), style)
}

/// A piece of a line without a style.
pub fn plain(content: impl AsRef<str>) -> Span<'static> {
    span(content, Style::new())
}

/// Writes pieces from column `x` on, up to `end`. Returns the column after the last.
pub fn write<'a>(
    buffer: &mut Buffer,
    (x, y): (u16, u16),
    end: u16,
    spans: impl IntoIterator<Item = Span<'a>>,
) -> u16 {
    let area = buffer.area;
    let end = end.min(area.right());
    if y >= area.bottom() || x >= end {
        return x;
    }
    let line: Line<'a> = spans.into_iter().collect();
    buffer.set_line(x, y, &line, end - x).0
}

/// Writes pieces so that they end before column `end`, if they fit after column `from`.
pub fn write_right<'a>(
    buffer: &mut Buffer,
    (from, y): (u16, u16),
    end: u16,
    spans: impl IntoIterator<Item = Span<'a>>,
) {
    let line: Line<'a> = spans.into_iter().collect();
    let width = u16::try_from(line.width()).unwrap_or(u16::MAX);
    if let Some(x) = end.checked_sub(width).filter(|x| *x >= from) {
        write(buffer, (x, y), end, line.spans);
    }
}

/// Joins groups of pieces by ` · `, as many as fit into `columns`, the first ones first.
pub fn joined(
    groups: impl IntoIterator<Item = Vec<Span<'static>>>,
    columns: usize,
    dot: Style,
) -> Vec<Span<'static>> {
    let mut line: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    for group in groups {
        let width: usize = group.iter().map(Span::width).sum();
        let gap = if line.is_empty() { 0 } else { 3 };
        if width == 0 || used + gap + width > columns {
            continue;
        }
        if gap > 0 {
            line.push(span(" · ", dot));
        }
        line.extend(group);
        used += gap + width;
    }
    line
}
