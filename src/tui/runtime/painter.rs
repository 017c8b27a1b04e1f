//! From a buffer to the terminal: only the changes, in one synchronized update; nothing if nothing changed.

use crossterm::queue;
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::io::{self, Write};

/// Paints frames and keeps the content of the terminal.
#[derive(Debug)]
pub struct Painter<W: Write> {
    /// The writer of frames, for bytes that are written between them.
    pub backend: CrosstermBackend<W>,
    shown: Buffer,
    next: Buffer,
    /// True if the terminal shows what was painted last.
    is_current: bool,
}

impl<W: Write> Painter<W> {
    /// Returns a painter that has painted nothing yet.
    pub fn new(writer: W) -> Painter<W> {
        Painter {
            backend: CrosstermBackend::new(writer),
            shown: Buffer::empty(Rect::ZERO),
            next: Buffer::empty(Rect::ZERO),
            is_current: false,
        }
    }

    /// Notes that something else wrote to the terminal: the next frame is painted whole.
    pub fn forget(&mut self) {
        self.is_current = false;
    }

    /// Paints a frame of this many columns and rows.
    pub fn paint(
        &mut self,
        (columns, rows): (u16, u16),
        draw: impl FnOnce(&mut Buffer),
    ) -> io::Result<()> {
        let area = Rect::new(0, 0, columns, rows);
        if self.shown.area != area {
            self.is_current = false;
        }
        self.next.resize(area);
        self.next.reset();
        draw(&mut self.next);
        let clear = !self.is_current;
        if clear {
            self.shown.resize(area);
            self.shown.reset();
        }
        let changes = self.shown.diff(&self.next);
        if changes.is_empty() && !clear {
            return Ok(());
        }
        // A change in one row, such as an age that grows each second, cannot be seen half done: without the marks of an
        // update it takes half the bytes.
        let is_one_row = !clear && changes.iter().all(|(_, row, _)| *row == changes[0].1);
        if !is_one_row {
            queue!(self.backend, BeginSynchronizedUpdate)?;
        }
        if clear {
            queue!(self.backend, Clear(ClearType::All))?;
        }
        self.backend.draw(changes.into_iter())?;
        if !is_one_row {
            queue!(self.backend, EndSynchronizedUpdate)?;
        }
        io::Write::flush(&mut self.backend)?;
        std::mem::swap(&mut self.shown, &mut self.next);
        self.is_current = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;
    use std::cell::Cell;
    use std::rc::Rc;

    /// Counts what it is given.
    #[derive(Clone, Default)]
    struct Count(Rc<Cell<usize>>);

    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.set(self.0.get() + bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn paint(painter: &mut Painter<Count>, count: &Count, text: &str) -> usize {
        let draw = |buffer: &mut Buffer| buffer.set_string(0, 0, text, Style::new());
        painter.paint((40, 12), draw).unwrap();
        count.0.take()
    }

    #[test]
    fn what_does_not_change_costs_no_byte() {
        let count = Count::default();
        let mut painter = Painter::new(count.clone());
        assert!(paint(&mut painter, &count, "12 s") > 0);
        assert_eq!(paint(&mut painter, &count, "12 s"), 0);
        let changed = paint(&mut painter, &count, "13 s");
        assert!((1..40).contains(&changed), "{changed}");
    }

    #[test]
    fn what_was_forgotten_is_painted_whole() {
        let count = Count::default();
        let mut painter = Painter::new(count.clone());
        let first = paint(&mut painter, &count, "12 s");
        painter.forget();
        assert_eq!(paint(&mut painter, &count, "12 s"), first);
    }
}
