//! ASCII characters that replace glyphs.

/// The characters that may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Charset {
    /// All that are safe.
    #[default]
    Unicode,
    /// ASCII only.
    Ascii,
}

impl Charset {
    /// Returns ASCII only if `ascii` is true, else all characters.
    pub const fn ascii_if(is_ascii: bool) -> Charset {
        if is_ascii {
            Charset::Ascii
        } else {
            Charset::Unicode
        }
    }
}

/// Replaces a character that has no fallback, such as one from a log.
pub const UNKNOWN: char = '?';

/// Appends the ASCII characters for a glyph, one for each of its columns, but two for `±`.
pub fn push(glyph: char, columns: usize, out: &mut String) {
    if glyph == '±' {
        out.push_str("+-");
    } else {
        out.extend(std::iter::repeat_n(fallback(glyph), columns));
    }
}

/// Returns a text with ASCII characters only; `replace` appends what stands for another one.
pub fn in_ascii(text: &str, replace: fn(char, &mut String)) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            plain.push(c);
        } else {
            replace(c, &mut plain);
        }
    }
    plain
}

/// Returns the ASCII character for a glyph, one column wide as the glyph is. All glyphs that are drawn have one, and so
/// have others of the same kinds.
pub const fn fallback(glyph: char) -> char {
    match glyph {
        // Blocks: full, in eighths from below, in eighths from the left, halves.
        '█' => '#',
        '▇' => '%',
        '▆' => '*',
        '▅' => '+',
        '▄' => '=',
        '▃' => '-',
        '▂' => '.',
        '▁' => '_',
        '▉' | '▊' | '▋' => '#',
        '▌' => '>',
        '▍' | '▎' | '▏' | '▐' | '▕' => '|',
        '▀' => '"',
        '▔' => '^',
        // Shades.
        '░' => ':',
        '▒' => ';',
        '▓' => '@',
        // Quadrants.
        '▖' | '▗' => '.',
        '▘' => '`',
        '▝' => '\'',
        '▙' => 'L',
        '▟' => 'J',
        '▛' => 'P',
        '▜' => '7',
        '▚' => '\\',
        '▞' => '/',
        // Lines: across, down, double, slanted; corners and crossings.
        '─' | '━' | '┄' | '┅' | '┈' | '┉' | '╌' | '╍' | '╴' | '╶' | '╸' | '╺' | '╼' | '╾' => {
            '-'
        }
        '│' | '┃' | '┆' | '┇' | '┊' | '┋' | '╎' | '╏' | '╵' | '╷' | '╹' | '╻' | '╽' | '╿' | '║' => {
            '|'
        }
        '═' => '=',
        '╱' => '/',
        '╲' => '\\',
        '╳' => 'X',
        '└' | '╰' => '`',
        '┌'..='┓' | '┕'..='╋' | '╒'..='╯' => '+',
        // Arrows and keys.
        '←' | '⌫' | '↤' | '⇤' => '<',
        '→' | '↦' | '⇥' | '⏎' | '↵' => '>',
        '↑' | '⇧' | '▲' | '▴' => '^',
        '↓' | '⇩' | '▼' | '▾' => 'v',
        '∘' => 'o',
        '▶' | '▸' => '>',
        '◀' | '◂' => '<',
        '❚' | '⏸' => '"',
        // Marks.
        '●' | '◆' => '*',
        '○' | '◇' => 'o',
        '✓' | '✔' => 'v',
        '✗' | '✘' => 'x',
        '■' => '#',
        '□' => 'o',
        '★' | '•' => '*',
        '⚠' => '!',
        // Text.
        '·' => '.',
        '…' => '.',
        '±' => '+',
        '–' | '—' | '−' => '-',
        '≈' => '&',
        '×' => 'x',
        '÷' => '/',
        '≤' => '<',
        '≥' => '>',
        '∞' => '8',
        'Σ' => 'S',
        'Δ' => 'D',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '␛' => '^',
        _ => UNKNOWN,
    }
}
