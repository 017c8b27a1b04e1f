//! To the clipboard of the terminal's own machine: OSC 52 of xterm's control sequences
//! (<https://invisible-island.net/xterm/ctlseqs/ctlseqs.html>), which most terminals know. tmux passes
//! it on where `set-clipboard` is `on`.

use std::io::{self, Write};

/// The longest sequence that terminals take, in bytes: xterm and hterm stop there.
const LONGEST: usize = 100_000;
const BEGIN: &[u8] = b"\x1b]52;c;";
const END: &[u8] = b"\x07";
/// What fits, in bytes of text.
pub(super) const MOST: usize = (LONGEST - BEGIN.len() - END.len()) / 4 * 3;

/// Copies the beginning of a text, as much as fits. Returns how many bytes that is. Base64 leaves
/// nothing of the text that could drive the terminal.
pub(super) fn copy(text: &str, out: &mut dyn Write) -> io::Result<usize> {
    let fits = (0..=MOST.min(text.len())).rev();
    let end = fits
        .into_iter()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    out.write_all(BEGIN)?;
    out.write_all(base64(&text.as_bytes()[..end]).as_bytes())?;
    out.write_all(END)?;
    out.flush()?;
    Ok(end)
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |n: usize| u32::from(group.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4 {
            let digit = bits >> (18 - 6 * n) & 63;
            out.push(if n <= group.len() {
                char::from(DIGITS[digit as usize])
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
            ("\u{fb}\u{3ff}", "w7vPvw=="),
        ];
        for (text, encoded) in cases {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn as_much_as_fits_is_copied() {
        let mut out = Vec::new();
        assert_eq!(copy("ab\u{1b}c", &mut out).unwrap(), 4);
        assert_eq!(out, b"\x1b]52;c;YWIbYw==\x07");
        let long = "é".repeat(MOST);
        let mut out = Vec::new();
        let copied = copy(&long, &mut out).unwrap();
        assert!((MOST - 1..=MOST).contains(&copied) && long.is_char_boundary(copied));
        assert!(out.len() <= LONGEST);
    }
}
