//! The classes of characters as bits: shared by `classes.rs` and by `build.rs`, which makes its table.

/// `\p{Lu}` and `\p{Lt}`.
pub const UPPER: u8 = 1;
/// `\p{Ll}`.
pub const LOWER: u8 = 1 << 1;
/// `\p{Lm}` and `\p{Lo}`: letters that count as upper and as lower case.
pub const EITHER: u8 = 1 << 2;
/// `\p{M}`.
pub const MARK: u8 = 1 << 3;
/// `\p{N}`.
pub const NUMBER: u8 = 1 << 4;
/// `\s` but `\r` and `\n`.
pub const BLANK: u8 = 1 << 5;
/// `\r` and `\n`.
pub const NEWLINE: u8 = 1 << 6;
/// Everything else.
pub const OTHER: u8 = 1 << 7;

/// How many characters a block of the table has.
pub const BLOCK_CHARS: usize = 128;
