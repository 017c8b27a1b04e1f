//! Makes what the counter reads: a table of the vocabulary of tiktoken-rs (see `table.rs`), and one of the classes of
//! characters (see `classes.rs`).

#[path = "bits.rs"]
mod bits;
#[path = "table.rs"]
#[allow(dead_code)]
mod table;

use bits::{BLANK, BLOCK_CHARS, EITHER, LOWER, MARK, NEWLINE, NUMBER, OTHER, UPPER};
use regex_syntax::hir::{Class, HirKind};
use std::collections::HashSet;
use std::error::Error;
use std::path::Path;
use std::{env, fs};
use table::{RANK_MASK, SLOT_BYTES, hash, held};
use tiktoken_rs::{CoreBPE, o200k_base};

fn main() -> Result<(), Box<dyn Error>> {
    for file in ["bits.rs", "build.rs", "table.rs"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    fs::write(out.join("o200k"), vocabulary(&o200k_base()?, 199_998)?)?;
    fs::write(out.join("classes.rs"), classes()?)?;
    Ok(())
}

/// Returns the table of a vocabulary of so many tokens.
fn vocabulary(vocabulary: &CoreBPE, count: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let slots = count.next_power_of_two();
    let mut table = vec![0; slots * SLOT_BYTES];
    let mut seen = HashSet::new();
    let tokens = (0_u32..).map_while(|rank| vocabulary.decode_bytes(&[rank]).ok());
    for (rank, token) in tokens.enumerate() {
        let (hash, rank) = (hash(&token, 0, token.len()), rank as u64 + 1);
        if rank > RANK_MASK || !seen.insert(hash & !RANK_MASK) {
            return Err(format!("the token {rank} does not fit into the table").into());
        }
        let mut slot = hash as usize % slots;
        while held(&table, slot) != Some(0) {
            slot = (slot + 1) % slots;
        }
        let at = slot * SLOT_BYTES;
        table[at..at + SLOT_BYTES].copy_from_slice(&(hash & !RANK_MASK | rank).to_le_bytes());
    }
    if seen.len() != count {
        return Err(format!("a vocabulary has {} tokens, not {count}", seen.len()).into());
    }
    Ok(table)
}

/// Returns the source of the table of classes.
fn classes() -> Result<String, Box<dyn Error>> {
    let mut all = vec![OTHER; u32::from(char::MAX) as usize + 1];
    for (pattern, class) in [
        (r"[\p{Lu}\p{Lt}]", UPPER),
        (r"\p{Ll}", LOWER),
        (r"[\p{Lm}\p{Lo}]", EITHER),
        (r"\p{M}", MARK),
        (r"\p{N}", NUMBER),
        (r"[\s--[\r\n]]", BLANK),
        (r"[\r\n]", NEWLINE),
    ] {
        let parsed = regex_syntax::parse(pattern)?;
        let HirKind::Class(Class::Unicode(set)) = parsed.kind() else {
            return Err(format!("{pattern} is no class").into());
        };
        for range in set.iter() {
            all[range.start() as usize..=range.end() as usize].fill(class);
        }
    }
    let mut differing: Vec<&[u8]> = Vec::new();
    let mut blocks = Vec::new();
    for block in all.chunks(BLOCK_CHARS) {
        let known = differing.iter().position(|known| *known == block);
        blocks.push(known.unwrap_or(differing.len()));
        if known.is_none() {
            differing.push(block);
        }
    }
    Ok(format!(
        "static CLASSES: [[u8; {BLOCK_CHARS}]; {}] = {differing:?};\nstatic BLOCKS: [u16; {}] = {blocks:?};\n",
        differing.len(),
        blocks.len()
    ))
}
