//! Copies to the clipboard of the terminal's machine: OSC 52 of xterm's control sequences
//! (<https://invisible-island.net/xterm/ctlseqs/ctlseqs.html>), which most terminals support. tmux
//! passes it on where `set-clipboard` is `on`, which it usually is not: see [`super::tmux`].

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::event::cut::beginning;
use std::io::{self, Write};

/// The longest sequence of xterm and hterm, in bytes.
const LONGEST_SEQUENCE: usize = 100_000;
const BEGIN: &[u8] = b"\x1b]52;c;";
const END: &[u8] = b"\x07";
/// The most bytes of text that fit.
pub(super) const MOST_TEXT_BYTES: usize = (LONGEST_SEQUENCE - BEGIN.len() - END.len()) / 4 * 3;

/// Copies the start of a text, as much as fits. Returns its bytes. The text is visible throughout, see
/// [`render::inert::visible_text`]: where it is pasted it must not control a terminal either.
pub(super) fn copy(text: &str, out: &mut dyn Write) -> io::Result<usize> {
    let fitting = beginning(text, MOST_TEXT_BYTES);
    out.write_all(BEGIN)?;
    out.write_all(STANDARD.encode(fitting).as_bytes())?;
    out.write_all(END)?;
    out.flush()?;
    Ok(fitting.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_as_fits_is_copied() {
        let mut out = Vec::new();
        assert_eq!(copy("ab\u{1b}c", &mut out).unwrap(), 4);
        assert_eq!(out, b"\x1b]52;c;YWIbYw==\x07");
        let long = "é".repeat(MOST_TEXT_BYTES);
        let mut out = Vec::new();
        let copied = copy(&long, &mut out).unwrap();
        assert!(
            (MOST_TEXT_BYTES - 1..=MOST_TEXT_BYTES).contains(&copied)
                && long.is_char_boundary(copied)
        );
        assert!(out.len() <= LONGEST_SEQUENCE);
    }
}
