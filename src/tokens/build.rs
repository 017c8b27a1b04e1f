//! Makes the table of o200k from the vocabulary of tiktoken-rs: see `table.rs`.

#[path = "table.rs"]
#[allow(dead_code)]
mod table;

use std::collections::HashSet;
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};
use table::{RANK_MASK, SLOT_BYTES, SLOTS, hash, held};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=table.rs");
    let vocabulary = tiktoken_rs::o200k_base()?;
    let mut table = vec![0; SLOTS * SLOT_BYTES];
    let mut seen = HashSet::new();
    let tokens = (0_u32..).map_while(|rank| vocabulary.decode_bytes(&[rank]).ok());
    for (rank, token) in tokens.enumerate() {
        let (hash, rank) = (hash(&token, 0, token.len()), rank as u64 + 1);
        if rank > RANK_MASK || !seen.insert(hash & !RANK_MASK) {
            return Err(format!("the token {rank} does not fit into the table").into());
        }
        let mut slot = hash as usize % SLOTS;
        while held(&table, slot) != Some(0) {
            slot = (slot + 1) % SLOTS;
        }
        let at = slot * SLOT_BYTES;
        table[at..at + SLOT_BYTES].copy_from_slice(&(hash & !RANK_MASK | rank).to_le_bytes());
    }
    if seen.len() < 199_998 {
        return Err(format!("o200k has only {} tokens", seen.len()).into());
    }
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("o200k"), table)?;
    Ok(())
}
