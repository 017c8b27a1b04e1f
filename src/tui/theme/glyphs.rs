//! Glyphs, and their replacements in ASCII.

use ratatui::buffer::Buffer;
use render::ascii::{UNKNOWN, fallback};

/// Replaces every glyph by ASCII. `±` becomes `+-`, which takes a cell of the free space after it; without any, the cell
/// before it.
pub(super) fn to_ascii(buffer: &mut Buffer) {
    let columns = usize::from(buffer.area.width).max(1);
    let mut is_space = false;
    for at in 0..buffer.content.len() {
        let symbol = buffer.content[at].symbol();
        let is_after_space = std::mem::replace(&mut is_space, symbol == " ");
        if symbol.is_ascii() {
            continue;
        }
        let mut chars = symbol.chars();
        let ascii = match (chars.next(), chars.next()) {
            (Some('±'), None) if is_after_space => {
                let end = (at / columns + 1) * columns;
                match free_cell(buffer, at + 1..end) {
                    Some(free) => {
                        buffer.content[at..=free].rotate_right(1);
                        buffer.content[at] = buffer.content[at + 1].clone();
                        '+'
                    }
                    None => {
                        buffer.content[at - 1].set_char('+');
                        '-'
                    }
                }
            }
            // The cell that the replacement before it has made.
            (Some('±'), None) if at > 0 && buffer.content[at - 1].symbol() == "+" => '-',
            (Some(glyph), None) => fallback(glyph),
            _ => UNKNOWN,
        };
        buffer.content[at].set_char(ascii);
    }
}

/// Returns the first of these cells that is free: a space before another one, or the last.
fn free_cell(buffer: &Buffer, mut cells: std::ops::Range<usize>) -> Option<usize> {
    let last = cells.end.checked_sub(1)?;
    let is_space = |at: usize| buffer.content[at].symbol() == " ";
    cells.find(|at| is_space(*at) && (*at == last || is_space(at + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;
    use render::text;

    #[test]
    fn an_error_stands_apart_from_its_number() {
        let shown = |text: &str, columns| {
            let mut buffer = Buffer::empty(Rect::new(0, 0, columns, 1));
            buffer.set_string(0, 0, text, Style::new());
            to_ascii(&mut buffer);
            let cells = buffer.content.iter().map(|cell| cell.symbol());
            cells.collect::<String>()
        };
        assert_eq!(shown("39k + 20 ±20 est  9% ", 21), "39k + 20 +-20 est 9% ");
        assert_eq!(
            shown("20 ±20 · 4 ±1", 16),
            "20 +-20 - 4 +-1 ".replace(" - ", &format!(" {} ", fallback('·')))
        );
        assert_eq!(shown("20 ±20", 6), "20+-20");
    }
    use std::path::Path;

    /// The characters beyond ASCII in a file's code, comments and tests aside.
    fn glyphs(code: &str) -> Vec<char> {
        let lines = code
            .lines()
            .take_while(|line| !line.starts_with("#[cfg(test)]"))
            .filter(|line| !line.trim_start().starts_with("//"));
        let glyphs = lines.flat_map(str::chars).filter(|c| !c.is_ascii());
        glyphs.collect()
    }

    fn look(folder: &Path, seen: &mut Vec<(String, char)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name == "screens" {
                continue; // tests
            }
            if path.is_dir() {
                look(&path, seen);
            } else if name.ends_with(".rs")
                && !matches!(&*name, "screens.rs" | "testing.rs" | "tests.rs")
            {
                let code = std::fs::read_to_string(&path).unwrap();
                seen.extend(glyphs(&code).into_iter().map(|c| (name.clone(), c)));
            }
        }
    }

    #[test]
    fn every_glyph_of_the_screens_has_a_stand_in() {
        let mut seen = Vec::new();
        look(Path::new(env!("CARGO_MANIFEST_DIR")), &mut seen);
        assert!(seen.len() > 50, "the sources were not found");
        for (file, glyph) in seen {
            let ascii = fallback(glyph);
            assert!(
                ascii != UNKNOWN && ascii.is_ascii_graphic(),
                "{file}: {glyph}"
            );
        }
    }

    #[test]
    fn stand_ins_are_as_wide_as_their_glyphs() {
        for glyph in ('\u{80}'..='\u{ffff}').filter(|c| fallback(*c) != UNKNOWN) {
            assert_eq!(text::width(&glyph.to_string()), 1, "{glyph}");
        }
    }

    #[test]
    fn every_line_and_block_has_one() {
        for glyph in '\u{2500}'..='\u{259f}' {
            assert_ne!(fallback(glyph), UNKNOWN, "{glyph}");
        }
    }
}
