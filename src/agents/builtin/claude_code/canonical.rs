//! The hashes by which Claude Code names the messages of a request: SHA-256 over JSON with sorted keys,
//! without white space and without `cache_control`.

use decode::lenient::Raw;
use json::{each_element, each_field};
use model::event::{ELIDED, Key};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Returns the blocks of a message's content, each as canonical JSON; a plain string is one text block. `None`: it is
/// something else, or the reader cut it.
pub(super) fn blocks(content: Raw<'_>) -> Option<Vec<String>> {
    let json = content.get();
    if json.contains(ELIDED) {
        return None;
    }
    if json.starts_with('"') {
        return Some(vec![format!("{{\"text\":{json},\"type\":\"text\"}}")]);
    }
    let mut blocks = Vec::new();
    let mut is_whole = true;
    each_element(json, &mut |block| {
        let mut out = String::with_capacity(block.get().len());
        is_whole &= append(block.get(), MOST_DEPTH, &mut out).is_some();
        blocks.push(out);
    })
    .ok()?;
    is_whole.then_some(blocks)
}

/// Values in values that are looked into. Claude Code writes no JSON that is half as deep; a forged log may.
const MOST_DEPTH: usize = 128;

/// Appends a JSON value in its canonical form. `None`: it is cut, or too deep.
fn append(json: &str, depth: usize, out: &mut String) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let mut is_whole = true;
    match json.as_bytes().first()? {
        b'{' => {
            let mut fields: Vec<(String, Raw<'_>)> = Vec::new();
            each_field(json, &mut |name, value| {
                fields.push((name.to_owned(), value))
            })
            .ok()?;
            fields.retain(|(name, _)| name != "cache_control");
            fields.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (n, (name, value)) in fields.into_iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                out.push_str(&serde_json::to_string(&name).ok()?);
                out.push(':');
                append(value.get(), depth, out)?;
            }
            out.push('}');
        }
        b'[' => {
            out.push('[');
            let mut separator = "";
            each_element(json, &mut |element| {
                out.push_str(std::mem::replace(&mut separator, ","));
                is_whole &= append(element.get(), depth, out).is_some();
            })
            .ok()?;
            out.push(']');
        }
        _ => out.push_str(json),
    }
    is_whole.then_some(())
}

/// The hash of a message that grows block by block.
#[derive(Clone)]
pub(super) struct GrowingHash {
    pub(super) role: &'static str,
    hash: Sha256,
    is_empty: bool,
}

impl GrowingHash {
    /// Returns a message of this role without blocks.
    pub(super) fn new(role: &'static str) -> GrowingHash {
        GrowingHash {
            role,
            hash: Sha256::new_with_prefix("{\"content\":["),
            is_empty: true,
        }
    }

    /// Adds a block in its canonical form.
    pub(super) fn push(&mut self, block: &str) {
        if !std::mem::take(&mut self.is_empty) {
            self.hash.update(",");
        }
        self.hash.update(block);
    }

    /// Returns the key of the hash of the message so far, as a log writes that hash.
    pub(super) fn key(&self) -> Key {
        let mut hash = self.hash.clone();
        hash.update("],\"role\":\"");
        hash.update(self.role);
        hash.update("\"}");
        let mut hex = String::with_capacity(64);
        for byte in hash.finalize() {
            // Writing to a string does not fail.
            let _ = write!(hex, "{byte:02x}");
        }
        Key::of(&hex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(role: &'static str, contents: &[&str]) -> Key {
        let mut message = GrowingHash::new(role);
        for content in contents {
            let raw: Raw<'_> = serde_json::from_str(content).unwrap();
            for block in blocks(raw).unwrap() {
                message.push(&block);
            }
        }
        message.key()
    }

    #[test]
    fn the_form_does_not_depend_on_order_white_space_or_cache_marks() {
        let text = r#"[{"text":"hi","type":"text"}]"#;
        let marked = r#"[ {"type" : "text", "cache_control":{"type":"ephemeral"}, "text":"hi"} ]"#;
        assert_eq!(hash("user", &[text]), hash("user", &[marked]));
        assert_eq!(hash("user", &[text]), hash("user", &["\"hi\""]));
        assert_ne!(hash("user", &[text]), hash("assistant", &[text]));
        let call = r#"[{"input":{"b":[1,{"z":0,"a":null}],"a":""},"type":"tool_use"}]"#;
        let same = r#"[{"type":"tool_use","input":{"a":"","b":[1,{"a":null,"z":0}]}}]"#;
        assert_eq!(hash("assistant", &[call]), hash("assistant", &[same]));
    }

    #[test]
    fn it_is_the_sha_256_of_that_text() {
        // printf '{"content":[{"text":"hi","type":"text"}],"role":"user"}' | sha256sum
        let hex = "da3ac0b4d79dbe28c3c6684e1e4d037992df0e519e410c56436a23ecadf5c3c1";
        assert_eq!(hash("user", &["\"hi\""]), Key::of(hex));
    }

    #[test]
    fn what_the_reader_cut_has_no_hash() {
        let cut = format!("\"abc{ELIDED}5{ELIDED}\"");
        let raw: Raw<'_> = serde_json::from_str(&cut).unwrap();
        assert_eq!(blocks(raw), None);
        for odd in ["7", "null", "{}"] {
            let raw: Raw<'_> = serde_json::from_str(odd).unwrap();
            assert_eq!(blocks(raw), None, "{odd}");
        }
    }
}
