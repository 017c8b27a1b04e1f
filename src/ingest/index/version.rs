//! Computes the version of all that the index depends on besides the logs.

use model::window::Rules;
use std::fmt::Write as _;
use std::fs;
use xxhash_rust::xxh3::Xxh3;

/// Returns a hash of all that the contents depend on besides the logs: the program and the rules.
pub(crate) fn version(rules: &Rules) -> u64 {
    struct Hashed(Xxh3);
    impl std::fmt::Write for Hashed {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.update(text.as_bytes());
            Ok(())
        }
    }
    let mut hash = Hashed(Xxh3::new());
    // Another build of the program may count otherwise.
    let program = std::env::current_exe()
        .and_then(fs::metadata)
        .and_then(|meta| Ok((meta.len(), meta.modified()?)))
        .ok();
    let _ = write!(hash, "{} {program:?} {rules:?}", env!("CARGO_PKG_VERSION"));
    hash.0.digest()
}
