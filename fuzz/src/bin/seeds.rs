//! Writes the first inputs of every target to `fuzz/corpus/TARGET/`.

use ctxgauge_fuzz::{TARGETS, seeds};
use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    for (target, _) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(target);
        fs::create_dir_all(&folder)?;
        let seeds = seeds::of(target);
        println!("{target}: {} inputs", seeds.len());
        for (name, seed) in seeds {
            fs::write(folder.join(name), seed)?;
        }
    }
    Ok(())
}
