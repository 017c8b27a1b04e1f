//! The columns of a timeline: each is the context of its step, the roles on each other as in the gauge.

use crate::app::Pace;
use crate::app::timeline::{History, Scale};
use crate::paint::{Area, Tone};
use crate::widgets::canvas::Canvas;
use model::Role;
use ratatui::style::Style;
use render::stack::{edges, largest};

/// Eighths of a cell, filled from below.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Eighths in a cell.
const EIGHTHS: u64 = 8;

/// A role's part of a column, from the end of the part before it.
#[derive(Debug, Clone, Copy)]
struct Part {
    role: Role,
    is_known: bool,
    /// Its upper end in eighths of cells.
    end: u64,
}

/// The part of a part that is in one cell, in eighths.
type Piece = (Part, u64);

/// Draws the columns into the field of a timeline. What follows the cursor is quiet.
pub(super) fn draw(history: &History<'_>, scale: Scale, field: Area, canvas: &mut Canvas<'_>) {
    let cursor = history.at.min(scale.requests - 1);
    for column in 0..scale.columns {
        let is_after = scale.requests_of(column).start > cursor;
        let parts = parts(history, scale, column, cursor);
        for row in 0..scale.rows {
            let Some((glyph, style)) = cell(&parts, row as u64 * EIGHTHS, canvas) else {
                break;
            };
            let at = (field.x + column as u16, field.bottom() - 1 - row as u16);
            let cell = canvas.cell(at);
            cell.set_char(glyph).set_style(style);
            if is_after {
                // Another part behind it would be as bright as those of the past.
                let size = parts.last().map_or(0, |part| part.end);
                let filled = size.saturating_sub(row as u64 * EIGHTHS).min(EIGHTHS);
                cell.reset();
                canvas.put(at, level(filled), Tone::Frame);
            }
        }
    }
}

/// Returns the parts of a column: those of the moment on screen where it is that of the cursor, since only that one has
/// an estimate.
fn parts(history: &History<'_>, scale: Scale, column: usize, cursor: usize) -> Vec<Part> {
    let steps = scale.requests_of(column);
    let stacked = |below: u64, sizes: [u64; 5], is_known: bool| {
        let ends = Role::ALL.into_iter().zip(edges(sizes));
        ends.map(move |(role, end)| Part {
            role,
            is_known,
            end: scale.eighths(below.saturating_add(end)),
        })
    };
    if steps.contains(&cursor) {
        let known = history.now_by_role.map(|share| share.known);
        let below = edges(known)[4];
        let estimated = history.now_by_role.map(|share| share.estimated);
        let mut known: Vec<Part> = stacked(0, known, true).filter(|_| below > 0).collect();
        let estimated: Vec<Part> = stacked(below, estimated, false).collect();
        let end = estimated.last().map_or(0, |part| part.end);
        if edges(history.now_by_role.map(|share| share.estimated))[4] > 0 {
            // Even a small estimate is seen.
            for part in &mut known {
                part.end = part.end.min(end.saturating_sub(1));
            }
        }
        known.extend(estimated);
        return known;
    }
    let here = history.steps.roles.get(steps).unwrap_or_default();
    let sizes = largest(here).map(|sizes| sizes.map(u64::from));
    let is_known = history.steps.pace == Pace::Requests;
    stacked(0, sizes.unwrap_or_default(), is_known).collect()
}

/// Returns the cell that begins at `from` eighths; `None`: the column ends below it. A cell has two colours, so the
/// smallest of three parts is left out.
fn cell(parts: &[Part], from: u64, canvas: &Canvas<'_>) -> Option<(char, Style)> {
    let theme = canvas.theme;
    let mut here = pieces(parts, from);
    let filled: u64 = here.iter().map(|(_, eighths)| eighths).sum();
    while here.len() > 2 {
        let least = (0..here.len()).min_by_key(|at| here[*at].1)?;
        here.remove(least);
    }
    let (most, _) = *here.iter().max_by_key(|(_, eighths)| *eighths)?;
    let style = theme.style(most.role);
    // An estimate has the last cell of its column.
    let top = parts.last().filter(|part| from + EIGHTHS >= part.end);
    let top = top.and_then(|_| here.iter().rev().find(|(part, _)| !part.is_known));
    if let Some((part, _)) = top.or((!most.is_known).then_some(&(most, 0))) {
        return Some(('╱', theme.style(part.role)));
    }
    Some(match here[..] {
        [(first, eighths), (second, _)]
            if filled == EIGHTHS && second.is_known && theme.splits_cells() =>
        {
            let behind = theme.role_colour(second.role);
            (level(eighths), theme.style(first.role).bg(behind))
        }
        _ if filled < EIGHTHS && theme.has_blocks() => (level(filled), style),
        // Letters have one height.
        _ if filled < EIGHTHS / 2 && from > 0 => return None,
        _ => (theme.fill(most.role), style),
    })
}

/// Returns the parts that are in the cell that begins at `from` eighths.
fn pieces(parts: &[Part], from: u64) -> Vec<Piece> {
    let mut begin = 0;
    let pieces = parts.iter().filter_map(|part| {
        let (low, high) = (begin.max(from), part.end.min(from + EIGHTHS));
        begin = begin.max(part.end);
        (high > low).then(|| (*part, high - low))
    });
    pieces.collect()
}

fn level(eighths: u64) -> char {
    LEVELS[(eighths.clamp(1, EIGHTHS) - 1) as usize]
}
