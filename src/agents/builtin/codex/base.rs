//! Forks and reverted threads: their rollouts contain only new lines and name the rollout that they
//! continue.
//!
//! `session_meta.history_base` is `{thread_id, end_ordinal_exclusive, end_byte_offset}`. `thread_id` is
//! the last id in a rollout's file name: a thread's, or that of a reverted thread's rollout. Seen in files
//! of 0.169; the ids after openai/codex, `rollout/src/rollout_file_name.rs`.

use super::wire::{Line, SessionMeta};
use decode::lenient::{self, LostFields};
use formats::{ChainSpec, End};
use std::path::{Path, PathBuf};

pub(super) static CHAIN: ChainSpec = ChainSpec {
    base,
    is_base,
    folders,
    is_same,
    reset_mark: "\"compacted\"",
};

/// The folders of rollouts in Codex's own.
const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

fn base(line: &[u8]) -> Option<(String, End)> {
    // Most have none, and a first line is long.
    memchr::memmem::find(line, b"\"history_base\"")?;
    let base = session_meta(line)?.history_base?;
    let id = base
        .thread_id
        .boxed()
        .filter(|id| id.len() >= SHORTEST_NAME)?;
    Some((id.into(), End::At(base.end_byte_offset.0?)))
}

fn session_meta(line: &[u8]) -> Option<SessionMeta<'_>> {
    let lost = LostFields::default();
    let line: Line<'_> = lenient::parse(std::str::from_utf8(line).ok()?, &lost).ok()?;
    let payload = line
        .payload
        .filter(|_| line.kind.get() == Some("session_meta"))?;
    lenient::parse(payload.0.get(), &lost).ok()
}

/// Returns true if these first lines are of one thread, of which turns were reverted or which was resumed.
fn is_same(own: &[u8], base: &[u8]) -> bool {
    let id = |line| session_meta(line).and_then(|meta| meta.id.boxed());
    id(own).is_some_and(|own| id(base) == Some(own))
}

/// Shorter names could be the end of another one.
const SHORTEST_NAME: usize = 8;

fn is_base(file: &str, id: &str) -> bool {
    let name = super::rollout(file).and_then(|name| name.strip_suffix(id));
    name.is_some_and(|name| name.ends_with(['-', '_']))
}

fn folders(log: &Path) -> Vec<PathBuf> {
    let beside = log.parent().map(Path::to_path_buf);
    let is_root = |folder: &&Path| FOLDERS.iter().any(|name| folder.ends_with(name));
    let home = log.ancestors().find(is_root).and_then(Path::parent);
    let roots = home
        .into_iter()
        .flat_map(|home| FOLDERS.map(|name| home.join(name)));
    beside.into_iter().chain(roots).collect()
}
