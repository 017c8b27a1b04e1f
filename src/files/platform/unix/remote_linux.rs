//! Tells by its type whether a file system has files that another system may write to: Linux and Android.

use std::path::Path;

/// Returns the name of the file system of a file or folder, if others may write to it without this system being told, so
/// that nobody who watches it learns of that; `None`: it is none of these, or is not known.
pub fn remote_file_system(path: &Path) -> Option<&'static str> {
    let kind = rustix::fs::statfs(path).ok()?.f_type;
    // The type of the number differs between processors, all of these numbers have 32 bits.
    let kind = u32::try_from(kind & 0xffff_ffff).ok()?;
    TYPES
        .iter()
        .find(|(number, _)| *number == kind)
        .map(|(_, name)| *name)
}

/// The numbers of `statfs(2)`. Those without a comment are in `include/uapi/linux/magic.h` of Linux. `overlay`, which
/// containers have, is not among them: what is written through it is noticed.
const TYPES: [(u32, &str); 15] = [
    // WSL 2 has the disks of Windows by it, qemu and gVisor folders of the host.
    (0x0102_1997, "9p"),
    (0x6969, "NFS"),
    // sshfs, virtiofs, Docker Desktop, rclone; and file systems of this machine, that cannot be told from these.
    (0x6573_5546, "FUSE"),
    (0x517b, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0xff53_4d42, "SMB"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x7461_636f, "OCFS2"),
    // fs/vboxsf/super.c: VBOXSF_SUPER_MAGIC.
    (0x786f_4256, "VirtualBox"),
    // include/uapi/linux/gfs2_ondisk.h: GFS2_MAGIC.
    (0x0116_1970, "GFS2"),
    // Lustre's lustre_user.h: LL_SUPER_MAGIC.
    (0x0bd0_0bd0, "Lustre"),
    // coreutils' stat.c: GPFS.
    (0x4750_4653, "GPFS"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_of_this_machine_is_not_remote() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(remote_file_system(dir.path()), None);
        assert_eq!(remote_file_system(&dir.path().join("absent")), None);
        assert_eq!(remote_file_system(Path::new("/proc/self")), None);
    }
}
