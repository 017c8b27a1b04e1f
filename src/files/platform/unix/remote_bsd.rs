//! Tells by its name whether a file system has files that another system may write to: macOS and FreeBSD.

use std::path::Path;

/// Returns the name of the file system of a file or folder, if others may write to it without this system being told, so
/// that nobody who watches it learns of that; `None`: it is none of these, or is not known.
pub fn remote_file_system(path: &Path) -> Option<&'static str> {
    let info = nix::sys::statfs::statfs(path).ok()?;
    match info.filesystem_type_name() {
        "nfs" => Some("NFS"),
        "smbfs" => Some("SMB"),
        "afpfs" => Some("AFP"),
        "webdav" => Some("WebDAV"),
        // The files of the host, in a virtual machine.
        "AppleVirtIOFS" | "virtiofs" | "p9fs" => Some("virtiofs"),
        name if name.contains("fuse") => Some("FUSE"),
        _ => None,
    }
}
