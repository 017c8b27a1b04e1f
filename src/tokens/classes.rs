//! The classes of characters that the patterns of o200k and cl100k distinguish, one bit for each, so that
//! a set of classes is a mask. Beyond ASCII they come from the tables of the regex crate, which splits
//! words in tiktoken-rs: another version of Unicode would split them elsewhere.

use regex_syntax::hir::{Class, HirKind};
use std::sync::LazyLock;

/// `\p{Lu}` and `\p{Lt}`.
pub(super) const UPPER: u8 = 1;
/// `\p{Ll}`.
pub(super) const LOWER: u8 = 1 << 1;
/// `\p{Lm}` and `\p{Lo}`: letters that count as upper and as lower case.
pub(super) const EITHER: u8 = 1 << 2;
/// `\p{M}`.
pub(super) const MARK: u8 = 1 << 3;
/// `\p{N}`.
pub(super) const NUMBER: u8 = 1 << 4;
/// `\s` but `\r` and `\n`.
pub(super) const BLANK: u8 = 1 << 5;
/// `\r` and `\n`.
pub(super) const NEWLINE: u8 = 1 << 6;
/// Everything else.
pub(super) const OTHER: u8 = 1 << 7;

/// The classes of ASCII; 0: the first byte of a longer character.
pub(super) const ASCII: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let c = byte as u8;
        table[byte] = match c {
            b'\r' | b'\n' => NEWLINE,
            b' ' | b'\t' | 0x0b | 0x0c => BLANK,
            b'0'..=b'9' => NUMBER,
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            _ => OTHER,
        };
        byte += 1;
    }
    table
};

/// How many characters a block of the table has.
const BLOCK_CHARS: usize = 128;

/// The classes of all characters. Of the 8,704 blocks about 200 differ.
struct Table {
    /// For each block, its index in `blocks`.
    index: Vec<u16>,
    blocks: Vec<[u8; BLOCK_CHARS]>,
}

/// The class of a character.
pub(super) fn class(c: char) -> u8 {
    static TABLE: LazyLock<Table> = LazyLock::new(Table::new);
    let (table, at) = (&*TABLE, c as usize);
    table
        .index
        .get(at / BLOCK_CHARS)
        .and_then(|block| table.blocks.get(usize::from(*block)))
        .map_or(OTHER, |block| block[at % BLOCK_CHARS])
}

impl Table {
    fn new() -> Table {
        let mut ranges: Vec<(u32, u32, u8)> = Vec::new();
        for (pattern, class) in [
            (r"[\p{Lu}\p{Lt}]", UPPER),
            (r"\p{Ll}", LOWER),
            (r"[\p{Lm}\p{Lo}]", EITHER),
            (r"\p{M}", MARK),
            (r"\p{N}", NUMBER),
            (r"[\s--[\r\n]]", BLANK),
            (r"[\r\n]", NEWLINE),
        ] {
            let parsed = regex_syntax::parse(pattern);
            if let Ok(HirKind::Class(Class::Unicode(set))) = parsed.as_ref().map(|hir| hir.kind()) {
                let found = set.iter();
                ranges.extend(found.map(|range| (range.start().into(), range.end().into(), class)));
            }
        }
        ranges.sort_unstable();
        let mut table = Table {
            index: Vec::new(),
            blocks: Vec::new(),
        };
        let (mut next, size) = (0, BLOCK_CHARS as u32);
        for from in (0..=u32::from(char::MAX)).step_by(BLOCK_CHARS) {
            let mut block = [OTHER; BLOCK_CHARS];
            while let Some((first, last, class)) = ranges.get(next) {
                if *first >= from + size {
                    break;
                }
                let begin = first.saturating_sub(from) as usize;
                let end = (last - from).min(size - 1) as usize;
                block[begin..=end].fill(*class);
                if *last >= from + size {
                    break;
                }
                next += 1;
            }
            // Equal blocks are mostly neighbours, such as those of Han: the search begins at the end.
            let known = table.blocks.iter().rposition(|known| *known == block);
            let at = known.unwrap_or_else(|| {
                table.blocks.push(block);
                table.blocks.len() - 1
            });
            table.index.push(u16::try_from(at).unwrap_or(u16::MAX));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::hir::ClassUnicode;

    fn set(pattern: &str) -> ClassUnicode {
        match regex_syntax::parse(pattern).unwrap().into_kind() {
            HirKind::Class(Class::Unicode(set)) => set,
            other => panic!("{pattern}: {other:?}"),
        }
    }

    #[test]
    fn every_character_is_in_the_classes_of_the_regex_crate() {
        let (letters, cased) = (UPPER | LOWER | EITHER, UPPER | EITHER | MARK);
        for (pattern, mask) in [
            (r"\p{L}", letters),
            (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", cased),
            (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER | EITHER | MARK),
            (r"[^\r\n\p{L}\p{N}]", MARK | BLANK | OTHER),
            (r"\p{N}", NUMBER),
            (r"[^\s\p{L}\p{N}]", MARK | OTHER),
            (r"\s", BLANK | NEWLINE),
            (r"[\r\n]", NEWLINE),
        ] {
            let mut inside = vec![false; u32::from(char::MAX) as usize + 1];
            for range in set(pattern).iter() {
                inside[range.start() as usize..=range.end() as usize].fill(true);
            }
            for c in '\0'..=char::MAX {
                let is_in = class(c) & mask != 0;
                assert_eq!(is_in, inside[c as usize], "{pattern} {c:?}");
            }
        }
    }

    #[test]
    fn every_character_has_one_class() {
        for c in '\0'..=char::MAX {
            assert_eq!(class(c).count_ones(), 1, "{c:?}");
        }
        for byte in 0..=255_u8 {
            let expected = if byte < 128 {
                class(char::from(byte))
            } else {
                0
            };
            assert_eq!(ASCII[usize::from(byte)], expected, "{byte}");
        }
    }

    #[test]
    fn only_the_long_s_has_another_case_in_a_contraction() {
        let letters = set("(?i:[sdmtlvre])");
        let other: Vec<char> = letters
            .iter()
            .flat_map(|range| range.start()..=range.end())
            .filter(|c| !c.is_ascii())
            .collect();
        assert_eq!(other, ['ſ']);
    }
}
