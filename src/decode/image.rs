//! Computes the tokens of an image: its size from the first bytes of its base64, and the providers' formulas.
//!
//! Base64 is never text: a screenshot of 200 kB would count as 150,000 tokens and costs 1,500.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Tokens of an image whose size cannot be read: what Codex itself assumes, 7,373 bytes at four bytes
/// a token.
pub const DEFAULT: u64 = 1_844;

/// The most base64 that is looked at. A JPEG's size may come after its colour profile and preview.
const LOOK_AT: usize = 96 * 1024;
/// The bytes that are looked at first: the headers of all formats but JPEG are at the beginning.
const FIRST_LOOK: usize = 4 * 1024;

/// The base64 alphabet, of texts that may end anywhere.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// Returns the size in pixels, from the header of a PNG, JPEG, GIF or WebP file in base64, of which the beginning is
/// enough. `None` for other formats, and where the header is not all there.
pub fn dimensions(base64: &str) -> Option<(u32, u32)> {
    let mut bytes = decode(base64, FIRST_LOOK);
    if bytes.starts_with(b"\xff\xd8") && jpeg(&bytes).is_none() {
        bytes = decode(base64, LOOK_AT);
    }
    let (width, height) = size(&bytes)?;
    (width > 0 && height > 0).then_some((width, height))
}

/// Tokens of an image of this width and height.
pub type Formula = fn(u32, u32) -> u64;

/// Returns the tokens of an image in base64, `unknown` where its size cannot be read.
pub fn tokens(base64: &str, formula: Formula, unknown: u64) -> u64 {
    dimensions(base64).map_or(unknown, |(width, height)| formula(width, height))
}

/// Returns the formula by which a model of OpenAI's counts images. They are scaled down to at most 1,536 patches of 32
/// × 32 pixels; with `detail: original`, to 10,000 (OpenAI, guide "Images and vision").
pub fn openai_formula(model: &str, detail: &str) -> Formula {
    match (per_patch(model), detail) {
        (246, "original") => by_patches::<246, 10_000>,
        (246, _) => by_patches::<246, 1_536>,
        (162, "original") => by_patches::<162, 10_000>,
        (162, _) => by_patches::<162, 1_536>,
        (120, "original") => by_patches::<120, 10_000>,
        (120, _) => by_patches::<120, 1_536>,
        (_, "original") => by_patches::<100, 10_000>,
        _ => openai,
    }
}

/// Hundredths of a token that a patch costs. The guide gives 1.62 for the small models, 2.46 for the smallest and 1 for
/// others; 1.2 was measured since GPT-5.2 (community.openai.com/t/1372291; 1,229 for 1024 × 1024 of gpt-5.5).
fn per_patch(model: &str) -> u64 {
    let version = model.strip_prefix("gpt-").unwrap_or_default();
    let end = version.find(|c: char| c != '.' && !c.is_ascii_digit());
    let (version, rest) = version.split_at(end.unwrap_or(version.len()));
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
    let number: [u32; 2] = std::array::from_fn(|_| numbers.next().unwrap_or(0));
    if rest.contains("-nano") {
        246
    } else if rest.contains("-mini") {
        162
    } else if number >= [5, 2] {
        120
    } else {
        100
    }
}

/// Returns the tokens of an image for a model of OpenAI's of which no more is known.
pub fn openai(width: u32, height: u32) -> u64 {
    by_patches::<100, 1_536>(width, height)
}

/// Returns the tokens of an image at this many hundredths of a token for each patch.
fn by_patches<const PER_PATCH: u64, const MOST: u64>(width: u32, height: u32) -> u64 {
    patches(width, height, 32).min(MOST) * PER_PATCH / 100
}

/// Returns the tokens of an image for Claude up to Opus 4.6: one for each patch of 28 × 28 pixels, after the image was
/// scaled down to at most 1,568 pixels a side and 1,568 tokens (Anthropic, "Vision": 1000 × 1000 is 1,296).
pub fn claude(width: u32, height: u32) -> u64 {
    claude_within(width, height, 1_568, 1_568)
}

fn claude_within(width: u32, height: u32, most_pixels: u32, most_tokens: u64) -> u64 {
    let (most, longest) = (f64::from(most_pixels), f64::from(width.max(height)));
    let scale = if longest > most { most / longest } else { 1.0 };
    let side = |pixels: u32| ((f64::from(pixels) * scale).round() as u32).max(1);
    patches(side(width), side(height), 28).min(most_tokens)
}

/// Returns the formula by which a Claude model counts images.
pub fn claude_formula(model: &str) -> Formula {
    const BEFORE: [&str; 9] = [
        "2", "3", "instant", "haiku-4", "sonnet-4", "opus-4-0", "opus-4-1", "opus-4-5", "opus-4-6",
    ];
    let name = model.strip_prefix("claude-").unwrap_or_default();
    // Some agents write `claude-opus-4.6`.
    let is_same = |(byte, of): (u8, u8)| byte == of || (byte, of) == (b'.', b'-');
    let begins =
        |before: &&str| name.len() >= before.len() && name.bytes().zip(before.bytes()).all(is_same);
    let is_before = BEFORE.iter().any(begins);
    // `claude-opus-4` alone, or with a date.
    let is_first = name
        .strip_prefix("opus-4")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("-20") || rest.starts_with('@'));
    if is_before || is_first {
        claude
    } else {
        // Since Opus 4.7 (Anthropic, "Vision").
        |width, height| claude_within(width, height, 2_576, 4_784)
    }
}

/// Returns the tokens of an image for Gemini: 258 for a small one, and for each tile of 768 × 768 pixels of a larger
/// one (Google, "Understand and count tokens").
pub fn gemini(width: u32, height: u32) -> u64 {
    let tiles = if width.max(height) <= 384 {
        1
    } else {
        patches(width, height, 768)
    };
    tiles.saturating_mul(258)
}

fn patches(width: u32, height: u32, side: u32) -> u64 {
    u64::from(width.div_ceil(side)) * u64::from(height.div_ceil(side))
}

/// Decodes as much as is there, in either alphabet; stops at the first byte that is not base64.
pub fn decode(base64: &str, most: usize) -> Vec<u8> {
    let bytes = base64.bytes().take(most);
    let solid = bytes.filter(|byte| !byte.is_ascii_whitespace());
    let standard = solid.map(|byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => byte,
    });
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut digits: Vec<u8> = standard.take_while(is_digit).collect();
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    BASE64.decode(digits).unwrap_or_default()
}

/// The size that a header has.
fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    let le = |at, len| Some(number(bytes.get(at..at + len)?.iter().rev()));
    let be = |at, len| Some(number(bytes.get(at..at + len)?));
    if bytes.starts_with(b"\x89PNG") {
        return Some((be(16, 4)?, be(20, 4)?));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((le(6, 2)?, le(8, 2)?));
    }
    if !(bytes.starts_with(b"RIFF") && bytes.get(8..15)? == b"WEBPVP8") {
        return jpeg(bytes);
    }
    match bytes.get(15)? {
        b' ' => Some((le(26, 2)?, le(28, 2)?)),
        b'X' => Some((le(24, 3)? + 1, le(27, 3)? + 1)),
        b'L' => {
            let packed = le(21, 4)?;
            Some(((packed & 0x3fff) + 1, (packed >> 14 & 0x3fff) + 1))
        }
        _ => None,
    }
}

/// The number of these bytes, the highest first.
fn number<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> u32 {
    let bytes = bytes.into_iter();
    bytes.fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Walks a JPEG's segments, and the padding between them, to its frame header.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let be16 = |at: usize| Some(number(bytes.get(at..at + 2)?));
    let mut at = bytes.starts_with(b"\xff\xd8").then_some(2)?;
    loop {
        match *bytes.get(at..at + 2)? {
            [0xff, 0xff] => at += 1, // padding
            [0xff, 0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf] => {
                return Some((be16(at + 7)?, be16(at + 5)?));
            }
            [0xff, _] => at += 2 + be16(at + 2)?.max(2) as usize,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(bytes: &[u8]) -> String {
        BASE64.encode(bytes)
    }

    #[test]
    fn claude_takes_larger_images_since_opus_4_7() {
        let (old, new) = ([1_568, 1_568], [2_691, 3_456]);
        for (model, expected) in [
            ("claude-opus-4-6", old),
            ("claude-opus-4.6", old),
            ("claude-opus-4", old),
            ("claude-opus-4-20250514", old),
            ("claude-haiku-4-5", old),
            ("claude-opus-4-7", new),
            ("claude-opus-4.8", new),
            ("claude-opus-5[1m]", new),
            ("claude-sonnet-5", new),
        ] {
            let formula = claude_formula(model);
            let tokens = [formula(1920, 1080), formula(2000, 1333)];
            assert_eq!(tokens, expected, "{model}");
        }
    }

    #[test]
    fn reads_the_size_of_each_format() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\0\0\0\x02\xd0";
        assert_eq!(dimensions(&encode(png)), Some((1280, 720)));
        let gif = b"GIF89a\x40\x01\xf0\0\xf7\0\0";
        assert_eq!(dimensions(&encode(gif)), Some((320, 240)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x11\x08\x03\0\x04\0";
        assert_eq!(dimensions(&encode(jpeg)), Some((1024, 768)));
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01";
        assert_eq!(dimensions(&encode(lossy)), Some((640, 480)));
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0";
        assert_eq!(dimensions(&encode(extended)), Some((640, 480)));
        // 14 bits of width − 1, then 14 of height − 1.
        let packed = 639_u32 | 479 << 14;
        let mut lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f".to_vec();
        lossless.extend(packed.to_le_bytes());
        assert_eq!(dimensions(&encode(&lossless)), Some((640, 480)));
    }

    #[test]
    fn an_unfinished_or_false_header_has_no_size() {
        let png = encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\0\0\0\x02\xd0");
        for end in 0..png.len() - 1 {
            assert_eq!(dimensions(&png[..end]), None);
        }
        assert_eq!(dimensions("not base64 at all"), None);
        assert_eq!(dimensions(&encode(b"\xff\xd8\xff\xe0\0\0")), None);
        assert_eq!(dimensions(&encode(b"GIF89a\0\0\0\0")), None);
    }

    #[test]
    fn the_formulas_hold_at_their_published_examples() {
        let openai = |model, detail| openai_formula(model, detail);
        assert_eq!(openai("gpt-4.1", "")(1024, 1024), 1024);
        assert_eq!(openai("gpt-4.1", "auto")(1800, 2400), 1536);
        assert_eq!(openai("gpt-4.1", "original")(1800, 2400), 57 * 75);
        assert_eq!(openai("gpt-5.4-mini", "high")(1920, 1080), 2_488);
        assert_eq!(openai("gpt-5.5", "")(1024, 1024), 1_228);
        assert_eq!(openai("gpt-5.10-codex", "")(1024, 1024), 1_228);
        assert_eq!(openai("gpt-5.1", "")(1024, 1024), 1024);
        assert_eq!(openai("", "")(1024, 1024), 1024);
        assert_eq!(claude(1000, 1000), 1296);
        assert_eq!(claude(u32::MAX, 1), 56);
        assert_eq!(openai("o3", "")(u32::MAX, u32::MAX), 1536);
        assert_eq!(gemini(384, 384), 258);
        assert_eq!(gemini(960, 540), 2 * 258);
    }
}
