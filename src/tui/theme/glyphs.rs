//! Glyphs, and their replacements in ASCII.

use ratatui::buffer::Buffer;
use render::ascii::{UNKNOWN, fallback};

/// Replaces every glyph by ASCII. `±` takes the cell before it too: `+-`.
pub(super) fn to_ascii(buffer: &mut Buffer) {
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
                buffer.content[at - 1].set_char('+');
                '-'
            }
            (Some(glyph), None) => fallback(glyph),
            _ => UNKNOWN,
        };
        buffer.content[at].set_char(ascii);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use render::text;
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
