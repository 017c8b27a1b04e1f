//! ASCII characters that replace glyphs.

/// Replaces a character that has no stand-in, such as one from a log.
pub const UNKNOWN: char = '?';

/// The ASCII character for a glyph, one column wide as the glyph is. All glyphs that are drawn have one, and so have
/// others of the same kinds.
pub const fn stand_in(glyph: char) -> char {
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
        '▒' => '%',
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
        // `~` means that a number is estimated, and so does its error.
        '±' => '~',
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
