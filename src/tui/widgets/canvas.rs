//! Defines the canvas of the views: cells, the theme, and the areas that react to the mouse.

use crate::paint::{Area, Hit, HitMap, Piece, Tone, width};
use crate::theme::{Theme, fill_colours};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};

/// A screen that is being drawn.
#[derive(Debug)]
pub struct Canvas<'b> {
    /// The theme.
    pub theme: Theme,
    /// The cells.
    pub buffer: &'b mut Buffer,
    /// The areas that react to the mouse.
    pub hits: HitMap,
}

impl From<Area> for Rect {
    fn from(area: Area) -> Rect {
        Rect::new(area.x, area.y, area.width, area.height)
    }
}

impl<'b> Canvas<'b> {
    /// Returns a canvas over these cells.
    pub fn new(theme: Theme, buffer: &'b mut Buffer) -> Canvas<'b> {
        Canvas {
            theme,
            buffer,
            hits: HitMap::default(),
        }
    }

    /// Returns the columns of the screen.
    pub fn width(&self) -> u16 {
        self.buffer.area.width
    }

    /// Returns the whole screen.
    pub fn area(&self) -> Area {
        let area = self.buffer.area;
        Area::new(area.x, area.y, area.width, area.height)
    }

    /// Returns the style of a tone.
    pub fn style(&self, tone: Tone) -> Style {
        self.theme.style(tone)
    }

    /// Writes pieces from column `x` on, up to `end`. Returns the column after the last.
    pub fn write(&mut self, (x, y): (u16, u16), end: u16, line: &[Piece]) -> u16 {
        let area = self.buffer.area;
        let end = end.min(area.right());
        if y >= area.bottom() {
            return x;
        }
        let mut at = x;
        for piece in line {
            if at >= end {
                break;
            }
            let (style, room) = (self.theme.style(piece.tone), usize::from(end - at));
            at = self.buffer.set_stringn(at, y, &piece.text, room, style).0;
        }
        at
    }

    /// Writes pieces into the first row of an area.
    pub fn write_in(&mut self, area: Area, line: &[Piece]) -> u16 {
        match area.height {
            0 => area.x,
            _ => self.write((area.x, area.y), area.right(), line),
        }
    }

    /// Writes lines into the rows of an area, as many as fit.
    pub fn write_rows(&mut self, area: Area, lines: impl IntoIterator<Item = Vec<Piece>>) {
        for (line, y) in lines.into_iter().zip(area.rows()) {
            self.write((area.x, y), area.right(), &line);
        }
    }

    /// Writes pieces so that they end before column `end`; writes nothing if they would begin before `from`.
    pub fn write_right(&mut self, (from, y): (u16, u16), end: u16, line: &[Piece]) {
        let width = u16::try_from(width(line)).unwrap_or(u16::MAX);
        if let Some(x) = end.checked_sub(width).filter(|x| *x >= from) {
            self.write((x, y), end, line);
        }
    }

    /// Puts a glyph into a cell.
    pub fn put(&mut self, (x, y): (u16, u16), glyph: char, tone: Tone) {
        let style = self.theme.style(tone);
        self.cell((x, y)).set_char(glyph).set_style(style);
    }

    /// Returns a cell; it must be on the screen.
    pub fn cell(&mut self, at: (u16, u16)) -> &mut Cell {
        &mut self.buffer[at]
    }

    /// Makes an area react to the mouse.
    pub fn hit(&mut self, area: Area, hit: Hit) {
        self.hits.add(area, hit);
    }

    /// Gives a row the style of the selected one; colours of its parts stay.
    pub fn select_row(&mut self, y: u16) {
        let style = self.theme.style(Tone::Selected);
        for x in self.buffer.area.left()..self.buffer.area.right() {
            let cell = self.cell((x, y));
            fill_colours(cell, style.fg, style.bg);
            cell.modifier |= style.add_modifier;
        }
    }

    /// Clears a frame in the middle of the screen, with a title. Returns its inside, of at most this
    /// size.
    pub fn open_box(&mut self, title: &str, (columns, rows): (u16, u16)) -> Area {
        let all = self.buffer.area;
        let columns = columns.max(render::text::width(title) as u16 + 1);
        let (width, height) = ((columns + 4).min(all.width), (rows + 2).min(all.height));
        let (x, y) = ((all.width - width) / 2, (all.height - height) / 2);
        let frame = Rect::new(x, y, width, height);
        Clear.render(frame, self.buffer);
        Block::bordered()
            .border_style(self.style(Tone::Frame))
            .render(frame, self.buffer);
        let heading = crate::paint::piece(format!(" {title} "), Tone::Over);
        let end = frame.right().saturating_sub(1);
        self.write((x + 2, y), end, &[heading]);
        Area::new(
            x + 2,
            y + 1,
            width.saturating_sub(4),
            height.saturating_sub(2),
        )
    }
}
