//! Reads the sessions of 1.x before 1.2: a folder `storage` with a file of each session, each message and each part.
//! They are copied to the database when 1.2 starts for the first time.

use formats::names;
use formats::{Claim, StoreKind, TreeSpec};
use memchr::{memchr, memmem};
use std::path::{Path, PathBuf};

/// `session/<project>/<session>.json`, `message/<session>/<message>.json`, `part/<message>/<part>.json`.
pub(super) static STORAGE: TreeSpec = TreeSpec {
    messages: |session| {
        Some(
            session
                .ancestors()
                .nth(3)?
                .join("message")
                .join(stem(session)?),
        )
    },
    parts: |message| {
        Some(
            message
                .ancestors()
                .nth(3)?
                .join("part")
                .join(stem(message)?),
        )
    },
    owner,
    // `step-finish` has a few numbers and the hash of a snapshot: 370 bytes.
    usage_part_bytes: 1024,
};

/// Returns the session that a part names, if that is an id: storages that were made public may have another word there.
fn owner(part: &[u8]) -> Option<&str> {
    let name = b"\"sessionID\"";
    let at = memmem::find(part, name)?;
    let value = part[at + name.len()..].trim_ascii_start();
    let value = value.strip_prefix(b":")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"")?;
    let id = std::str::from_utf8(&value[..memchr(b'"', value)?]).ok()?;
    id.starts_with("ses_").then_some(id)
}

fn stem(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()
}

/// Returns the file of a session.
pub(super) fn claims(path: &Path, agent: &str) -> Option<Claim> {
    let mut names = names(path);
    let id = names.next()?.strip_suffix(".json")?;
    let is_its = id.starts_with("ses_") && names.nth(1)? == "session" && names.next()? == "storage";
    is_its.then_some(())?;
    let database: PathBuf = path.ancestors().nth(4)?.join(format!("{agent}.db"));
    Some(Claim {
        superseded_by: Some(database),
        ..Claim::session(id).kept_in(StoreKind::Tree(&STORAGE))
    })
}
