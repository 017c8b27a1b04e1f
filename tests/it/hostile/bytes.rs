//! A hostile text, and the check that no byte of it reached the terminal as it is.

/// What is visible of the hostile text.
pub const NAME: &str = "HOSTILE";

/// Everything that terminals obey, or that hides or reorders text, between two [`NAME`]s. No slash, so that it is a
/// file name as well.
pub const HOSTILE: &str = concat!(
    // Clipboard, link, title, cursor report, clearing, and the same in C1.
    "HOSTILE\u{1b}]52;c;SEFDSw==\u{7}\u{1b}]8;;h:x\u{1b}\\\u{1b}]0;title\u{7}\u{1b}[6n\u{1b}[2J",
    "\u{9b}6n\u{9d}0;title\u{9c}\u{90}q\u{9c}",
    // Backspace, delete, a return without a new line.
    "\u{8}\u{7f}\r",
    // Bidi, zero width, tags, marks in a pile.
    "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{200b}\u{feff}\u{e0041}\u{ad}\u{115f}\u{1160}\u{3164}\u{ffa0}",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}HOSTILE",
);

/// Whether a terminal could obey a character, or show it so that the text deceives.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}' | '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
}

/// What is wrong with text of which a terminal shows lines and tabs and obeys nothing else.
pub fn wrong_in_text(bytes: &[u8]) -> Option<String> {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => return Some(format!("byte {} is not UTF-8", e.valid_up_to())),
    };
    wrong_in_characters(text, |c| matches!(c, '\n' | '\t'))
}

fn wrong_in_characters(text: &str, is_allowed: impl Fn(char) -> bool) -> Option<String> {
    if let Some(at) = text.find(|c| is_hostile(c) && !is_allowed(c)) {
        return Some(around(text, at));
    }
    let pile = "\u{301}".repeat(9);
    text.find(&pile).map(|at| around(text, at))
}

fn around(text: &str, at: usize) -> String {
    let before: String = text[..at].chars().rev().take(60).collect();
    let before: String = before.chars().rev().collect();
    let from: String = text[at..].chars().take(40).collect();
    format!("{before:?} then {from:?}")
}

/// What is wrong with what the screens wrote: other sequences than the terminal library writes, or hostile
/// characters.
pub fn wrong_on_screen(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at + 1..];
        let parameters = |c: char| matches!(c, '0'..='9' | ';' | ':' | '?');
        let Some(body) = sequence.strip_prefix('[') else {
            return match sequence {
                "" => wrong_in_characters(&plain, |c| matches!(c, '\n' | '\r')),
                _ => Some(around(rest, at)),
            };
        };
        let body = body.trim_start_matches(parameters);
        let Some(last) = body.chars().next() else {
            // Cut off by the end of the run.
            return wrong_in_characters(&plain, |c| matches!(c, '\n' | '\r'));
        };
        let whole = &sequence[..sequence.len() - body.len() + last.len_utf8()];
        if !is_of_the_screens(whole) {
            return Some(format!("the sequence {whole:?} in {}", around(rest, at)));
        }
        rest = &sequence[whole.len()..];
        // A sequence breaks a pile of marks.
        plain.push('\n');
    }
    plain.push_str(rest);
    wrong_in_characters(&plain, |c| matches!(c, '\n' | '\r'))
}

/// The sequences of crossterm that the screens use: colours, the cursor, clearing, and modes that are set and
/// unset.
fn is_of_the_screens(sequence: &str) -> bool {
    let body = &sequence[1..sequence.len() - 1];
    let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    match sequence.chars().next_back() {
        Some('m') => body.split([';', ':']).all(is_number),
        Some('H') => body.split(';').all(is_number),
        Some('J') => body == "2",
        Some('h' | 'l') => matches!(
            body,
            "?1049" | "?1000" | "?1002" | "?1003" | "?1006" | "?1015" | "?25" | "?2026"
        ),
        _ => false,
    }
}

#[test]
fn the_check_finds_what_is_hostile() {
    for c in HOSTILE.chars().filter(|c| is_hostile(*c)) {
        let text = format!("a{c}b");
        assert!(wrong_in_text(text.as_bytes()).is_some(), "{c:?}");
    }
    assert_eq!(wrong_in_text("a\tb\né\u{fffd}␛".as_bytes()), None);
    assert!(wrong_in_text(b"a\xffb").is_some());
    assert_eq!(
        wrong_on_screen(b"\x1b[2J\x1b[1;1Ha\x1b[38;5;3mb\x1b[?2026l"),
        None
    );
    for hostile in ["\x1b[6n", "\x1b[3J", "\x1b[?1004h", "\u{9b}2J", "\x07"] {
        assert!(wrong_on_screen(hostile.as_bytes()).is_some(), "{hostile:?}");
    }
}
