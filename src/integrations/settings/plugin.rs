//! The plugin for Claude Code, in the folder from which it loads those of a user.

use super::file::{Change, read};
use super::places::PLUGIN;
use super::{Program, Refusal, unclear};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// The line of its module that names this program, and how it begins.
const PROGRAM: &str = "const PROGRAM = 'ctxgauge'";
const PROGRAM_BEGIN: &str = "const PROGRAM = ";
/// The hashes of all files that any version has written. Others are somebody else's.
const WRITTEN: [u64; 3] = [
    0x8059_592d_09d4_284a,
    0xbb0f_00e7_c7b4_418e,
    0xd4e9_db6a_7b41_0e47,
];

/// Returns the changes that write the plugin.
pub(super) fn enter(
    agent: &Path,
    within: &Path,
    program: &Program,
) -> Result<Vec<Change>, Refusal> {
    let executable = serde_json::Value::from(program.executable());
    let named = format!("const PROGRAM = {executable}");
    changes(agent, within, |path, before, text| {
        if before.is_some_and(|before| !is_ours(before)) {
            let why = "setup has not written what is there: move it away first";
            return Err(unclear(path, why.to_owned()));
        }
        Ok(Some(text.replace(PROGRAM, &named)))
    })
}

/// Returns the changes that remove it. What is not ours stays.
pub(super) fn take_out(agent: &Path, within: &Path) -> Result<Vec<Change>, Refusal> {
    changes(agent, within, |_, before, _| {
        let theirs = before.filter(|before| !is_ours(before));
        Ok(theirs.map(str::to_owned))
    })
}

/// Returns true if a version of this program has written a file of a plugin, and nobody has changed it.
fn is_ours(text: &str) -> bool {
    let named = text.lines().find(|line| line.starts_with(PROGRAM_BEGIN));
    let plain = text.replacen(named.unwrap_or(PROGRAM), PROGRAM, 1);
    WRITTEN.contains(&xxh3_64(plain.as_bytes()))
}

/// Returns the changes of all files. `after` gets the path of each, its text, and the text that it is to have.
fn changes(
    agent: &Path,
    within: &Path,
    after: impl Fn(&Path, Option<&str>, &str) -> Result<Option<String>, Refusal>,
) -> Result<Vec<Change>, Refusal> {
    let files = assets::PLUGIN.iter().map(|(below, text)| {
        let path = agent.join(PLUGIN).join(below);
        let before = read(&path)?;
        let after = after(&path, before.as_deref(), text)?;
        Ok(Change {
            path,
            before,
            // It replaces a file of ours alone.
            has_ours: false,
            after,
            within: within.to_path_buf(),
        })
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If this fails, a file has changed: add its hash, and leave the others there.
    #[test]
    fn what_this_version_writes_is_known_as_ours() {
        let hashes = assets::PLUGIN.map(|(below, text)| (below, xxh3_64(text.as_bytes())));
        let unknown: Vec<_> = hashes
            .iter()
            .filter(|(_, hash)| !WRITTEN.contains(hash))
            .map(|(below, hash)| format!("{below} {hash:#018x}"))
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        assert!(assets::PLUGIN.iter().all(|(_, text)| is_ours(text)));
    }
}
