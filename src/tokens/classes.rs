//! The classes of characters that the pattern of o200k distinguishes, one bit for each, so that
//! a set of classes is a mask. `build.rs` makes the table of all characters from the tables of the regex crate, which
//! splits words in tiktoken-rs: another version of Unicode would split them elsewhere.

pub(crate) use super::bits::*;

/// The classes of ASCII; 0: the first byte of a longer character.
pub(crate) const ASCII: [u8; 256] = {
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

// The classes of all characters in blocks: `CLASSES` has, one after the other, those that differ (about 200 of 8,704),
// and `BLOCKS` the index of each block.
include!(concat!(env!("OUT_DIR"), "/classes.rs"));

/// Returns the class of a character.
pub(super) fn class(c: char) -> u8 {
    let at = c as usize;
    CLASSES[usize::from(BLOCKS[at / BLOCK_CHARS])][at % BLOCK_CHARS]
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::hir::{Class, ClassUnicode, HirKind};

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
