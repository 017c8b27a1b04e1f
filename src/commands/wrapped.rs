//! Messages for people who read them on a terminal: a line that is too long goes on in the next one, and no word is cut.

use report::Page;
use std::io::{self, Write};

/// A writer that fits lines to a terminal.
pub(super) struct Wrapped<'w> {
    out: &'w mut dyn Write,
    /// `None`: nobody reads them on a terminal, and they stay as they are.
    columns: Option<usize>,
    /// The beginning of a line.
    line: Vec<u8>,
}

impl<'w> Wrapped<'w> {
    pub(super) fn new(out: &'w mut dyn Write, columns: Option<usize>) -> Wrapped<'w> {
        Wrapped {
            out,
            columns,
            line: Vec::new(),
        }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let columns = self.columns.filter(|_| !is_quoted(&text));
        writeln!(
            Page::new(self.out, columns),
            "{}",
            text.trim_end_matches('\n')
        )
    }
}

/// Returns true for a line that quotes a file beside its number: marks below it point to its columns.
fn is_quoted(line: &str) -> bool {
    let rest = line.trim_start();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.starts_with(" | ") || rest.starts_with("| ")
}

impl Write for Wrapped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.columns.is_none() {
            return self.out.write(bytes);
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(bytes.len())
    }

    /// Writes the beginning of a line as it is.
    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&std::mem::take(&mut self.line))?;
        self.out.flush()
    }
}

impl Drop for Wrapped<'_> {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(columns: Option<usize>, text: &str) -> String {
        let mut out = Vec::new();
        let mut err = Wrapped::new(&mut out, columns);
        for byte in text.bytes() {
            err.write_all(&[byte]).unwrap();
        }
        drop(err);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_message_breaks_between_words_and_a_quoted_line_does_not() {
        let text =
            "ctxgauge: this machine has no session 'zzz'; `ctxgauge ls` lists titles and ids\nend";
        assert_eq!(written(None, text), text);
        assert_eq!(
            written(Some(40), text),
            "ctxgauge: this machine has no session\n  'zzz'; `ctxgauge ls` lists titles and\n  ids\nend"
        );
        let quoted = "12 | a long line of a file that is wider than the terminal\n   | ^^^^\n";
        assert_eq!(written(Some(30), quoted), quoted);
    }
}
