//! Values that no agent writes.

/// Values of other types and sizes than any that is written.
pub const ODD: [&str; 14] = [
    "null",
    "true",
    "-1",
    "0",
    "0.5",
    "1e30",
    "9223372036854775807",
    "18446744073709551615",
    "\"7\"",
    "\"\"",
    "\"\\u0000\\ud800\"",
    "[]",
    "[[{}]]",
    "{\"type\":\"text\",\"text\":7}",
];

/// What is no number of tokens. Fractions and numbers beyond any plausible one are none either.
pub const NO_TOKENS: [&str; 7] = [
    "\"7\"",
    "-1",
    "18446744073709551615",
    "1e30",
    "0.5",
    "true",
    "[1]",
];

/// Two values of each JSON type.
pub const TYPES: [(char, [&str; 2]); 4] = [
    ('t', ["true", "false"]),
    ('7', ["7000001", "80000002"]),
    ('"', ["\"odd\"", "\"even\""]),
    (
        '{',
        [
            r#"{"type":"text","text":"odd","content":"odd"}"#,
            r#"{"type":"text","text":"even","content":"even"}"#,
        ],
    ),
];

/// The type of a JSON value, as in [`TYPES`].
pub fn type_of(json: &str) -> char {
    match json.as_bytes()[0] {
        b't' | b'f' => 't',
        b'-' | b'0'..=b'9' => '7',
        first => char::from(first),
    }
}
