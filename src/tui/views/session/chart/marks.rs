//! The marks of a timeline and their labels: compactions, jumps, rebuilt caches, and the scale of requests and times.

use super::Chart;
use crate::app::Pace;
use crate::app::timeline::{JumpMark, Scale};
use crate::paint::{Area, Tone, piece};
use crate::widgets::canvas::Canvas;
use render::{number, text};
use std::cmp::Reverse;
use std::ops::Range;

/// The least columns between two labels of the scale.
const GAP: u16 = 3;

impl Chart<'_> {
    /// Draws the marks into the top row of the field, each with its label where that hides nothing.
    pub(super) fn marks(&self, field: Area, scale: Scale, canvas: &mut Canvas<'_>) {
        let steps = self.history.steps;
        let column = |step: usize| field.x + scale.column_of(step) as u16;
        let rebuilt = steps.rebuilt.iter().copied();
        for step in rebuilt.filter(|step| *step < scale.requests) {
            canvas.put((column(step), field.y), '∘', Tone::Warn);
        }
        let mut jumps: Vec<_> = steps.jumps.iter().collect();
        jumps.retain(|jump| jump.step < scale.requests);
        jumps.sort_by_key(|jump| Reverse(jump.tokens));
        for jump in &jumps {
            canvas.put((column(jump.step), field.y), '↑', Tone::Chart);
        }
        let resets = steps.resets.iter();
        let resets = resets.filter(|reset| reset.step < scale.requests);
        for reset in resets.clone() {
            canvas.put((column(reset.step), field.y), '▾', Tone::Compaction);
        }
        let label_jump = |jump: &JumpMark, hides: &str, canvas: &mut Canvas<'_>| {
            let label = format!("+{}", number::short(jump.tokens));
            let x = column(jump.step);
            write_label((field, x), (&label, Tone::Chart), hides, canvas);
        };
        // The largest has its label even if that hides the mark of another: without it, the label of a smaller one would be
        // read as the largest.
        if let Some(largest) = jumps.first() {
            label_jump(largest, "↑", canvas);
        }
        for reset in resets.rev() {
            let after = reset
                .after
                .map(|after| format!("→{}", number::short(after)));
            let label = number::short(reset.before) + &after.unwrap_or_default();
            let x = column(reset.step);
            write_label((field, x), (&label, Tone::Compaction), "", canvas);
        }
        for jump in jumps.into_iter().skip(1) {
            label_jump(jump, "", canvas);
        }
    }

    /// Draws the scale below the field: the step of the cursor of a replay, the first, the last, and as many between them
    /// as fit.
    pub(super) fn scale_of_steps(&self, field: Area, scale: Scale, canvas: &mut Canvas<'_>) {
        let y = field.bottom();
        let cursor = self.history.at.min(scale.requests - 1);
        let last = scale.requests - 1;
        let is_replayed = self.history.is_replayed;
        let mut taken: Vec<Range<u16>> = Vec::new();
        let mut write = |step: usize, tone: Tone, taken: &mut Vec<Range<u16>>| {
            let label = self.step_label(step);
            let columns = text::width(&label) as u16;
            let x = field.x + scale.first_column_of(step) as u16;
            let x = x.min(field.right().saturating_sub(columns)).max(field.x);
            let span = x..x + columns;
            let is_free =
                |other: &Range<u16>| span.end + GAP <= other.start || other.end + GAP <= span.start;
            if span.end <= field.right() && taken.iter().all(is_free) {
                canvas.write((x, y), field.right(), &[piece(label, tone)]);
                taken.push(span);
            }
        };
        if is_replayed {
            write(cursor, Tone::Strong, &mut taken);
        }
        write(0, Tone::Quiet, &mut taken);
        write(last, Tone::Quiet, &mut taken);
        for eighth in [4, 2, 6, 1, 3, 5, 7] {
            write(last * eighth / 8, Tone::Quiet, &mut taken);
        }
    }

    /// Returns `#118 09:14`.
    fn step_label(&self, step: usize) -> String {
        let time = self.history.steps.times.get(step).copied().flatten();
        let time = time.map(|at| format!(" {}", self.clock.time(at)));
        let number = match self.history.steps.pace {
            Pace::Requests => format!("#{}", step + 1),
            Pace::Records => format!("record {}", step + 1),
        };
        number + &time.unwrap_or_default()
    }
}

/// Writes a label beside its mark, on the right or on the left, where it hides no other symbol than `hides`.
fn write_label(
    (field, mark): (Area, u16),
    (label, tone): (&str, Tone),
    hides: &str,
    canvas: &mut Canvas<'_>,
) {
    let columns = text::width(label) as u16;
    let spans = [
        Some(mark + 1..mark + 1 + columns),
        mark.checked_sub(columns).map(|from| from..mark),
    ];
    let mut spans = spans.into_iter().flatten();
    let span = spans.find(|span| {
        let is_inside = span.start >= field.x && span.end <= field.right();
        is_inside
            && span.clone().all(|x| {
                let symbol = canvas.cell((x, field.y)).symbol();
                matches!(symbol, " " | "─") || symbol == hides
            })
    });
    if let Some(span) = span {
        canvas.write((span.start, field.y), span.end, &[piece(label, tone)]);
    }
}
