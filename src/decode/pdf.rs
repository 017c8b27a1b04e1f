//! Counts the pages of a PDF from its base64.
//!
//! Providers count a PDF by its pages, clients often by one number for any PDF.

use super::image;
use memchr::memmem;

/// Tokens of a page for Claude: 1,500 to 3,000, by how dense it is (Anthropic, "PDF support").
pub const PAGE: u64 = 2_000;

/// The most base64 that is looked at. Providers take no more than 32 MB.
const LOOK_AT: usize = 32 << 20;
/// Providers take a thousand pages or fewer: what claims many more is not believed.
const MOST_PAGES: u64 = 10_000;
/// A PDF that was written for the web says at its beginning how many pages it has.
const BEGINNING: usize = 1_024;

/// Returns the tokens of a PDF in base64, at this many for each page; `unknown` if it does not say how many pages it
/// has.
pub fn tokens(base64: &str, page: u64, unknown: u64) -> u64 {
    pages(base64).map_or(unknown, |pages| pages * page)
}

/// Returns the pages of a PDF in base64. `None` if it is none, or its pages are listed in compressed objects (PDF 1.5
/// and later) and it was not written for the web.
fn pages(base64: &str) -> Option<u64> {
    let bytes = image::decode(base64, LOOK_AT);
    if !bytes.starts_with(b"%PDF") {
        return None;
    }
    let pages = match of_type_page(&bytes) {
        0 => of_the_beginning(&bytes)?,
        objects => objects,
    };
    (1..=MOST_PAGES).contains(&pages).then_some(pages)
}

/// Objects with `/Type /Page`; `/Pages` is the list of them.
fn of_type_page(bytes: &[u8]) -> u64 {
    let rests = memmem::find_iter(bytes, b"/Type").map(|at| &bytes[at + 5..]);
    let is_page = |rest: &&[u8]| {
        let name = rest.trim_ascii_start().strip_prefix(b"/Page");
        name.is_some_and(|after| !after.first().is_some_and(u8::is_ascii_alphanumeric))
    };
    rests.filter(is_page).count() as u64
}

/// Returns `/N` of the linearization dictionary (ISO 32000-1, annex F).
fn of_the_beginning(bytes: &[u8]) -> Option<u64> {
    let bytes = &bytes[..bytes.len().min(BEGINNING)];
    let dictionary = &bytes[memmem::find(bytes, b"/Linearized")?..];
    let number = dictionary[memmem::find(dictionary, b"/N ")? + 3..].trim_ascii_start();
    let end = number.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&number[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    fn pages_of(pdf: &str) -> Option<u64> {
        pages(&STANDARD.encode(pdf))
    }

    #[test]
    fn pages_are_objects_or_said_at_the_beginning() {
        let pages = "<</Type /Pages/Count 9>> <</Type/Page /Parent 2>> <</Type\n/Page>> <</Type/PageLabel>>";
        assert_eq!(pages_of(&format!("%PDF-1.4\n{pages}")), Some(2));
        let linear = "%PDF-1.5\n1 0 obj <</Linearized 1/L 9000/H [1 2]/O 3/E 4/N 17/T 5>>";
        assert_eq!(pages_of(&linear.replace("/N 17", "/N 17 ")), Some(17));
        assert_eq!(pages_of(linear), Some(17));
        assert_eq!(pages_of("%PDF-1.7\n<</Type/ObjStm>>"), None);
        assert_eq!(pages_of(pages), None, "no PDF");
        for absurd in ["99999999999999999999", "9999999999999999999", "10001", "0"] {
            let linear = linear.replace("17", absurd);
            assert_eq!(pages_of(&linear), None, "{absurd}");
        }
        assert_eq!(pages_of(""), None);
    }
}
