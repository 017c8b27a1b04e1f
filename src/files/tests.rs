#![cfg(unix)]

use super::*;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

fn fifo(path: &Path) {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

fn why(path: &Path) -> String {
    let opened = open(path).unwrap_err().to_string();
    assert_eq!(opened, read(path, 9).unwrap_err().to_string());
    opened
}

#[test]
fn what_is_not_a_file_is_refused_by_its_name_and_never_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fifo(&at("pipe"));
    symlink(at("pipe"), at("link")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    symlink("/dev/zero", at("zero")).unwrap();
    symlink("/dev/null", at("null")).unwrap();
    std::fs::create_dir(at("folder.jsonl")).unwrap();
    for (name, what) in [
        ("pipe", "a named pipe"),
        ("link", "a named pipe"),
        ("socket", "a socket"),
        ("zero", "a device"),
        ("null", "a device"),
        ("folder.jsonl", "a folder"),
    ] {
        let why = why(&at(name));
        assert!(why.contains(what), "{name}: {why}");
    }
}

#[test]
fn a_circle_of_links_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    symlink(at("a"), at("b")).unwrap();
    symlink(at("b"), at("a")).unwrap();
    assert!(open(&at("a")).is_err());
    assert!(below(dir.path(), &at("a")).is_err());
}

#[test]
fn bytes_are_counted_as_they_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, b"0123456789").unwrap();
    assert_eq!(read(&path, 10).unwrap().len(), 10);
    let refused = read(&path, 9).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge);
    std::fs::write(&path, b"\xff").unwrap();
    assert_eq!(
        read_text(&path, 10).unwrap_err().kind(),
        io::ErrorKind::InvalidData
    );
    // The system states no length for it.
    #[cfg(target_os = "linux")]
    {
        let stat = Path::new("/proc/self/stat");
        assert!(!read(stat, 1 << 20).unwrap().is_empty());
        let refused = read(stat, 4).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge);
    }
}

#[test]
fn a_link_that_leads_out_of_the_folder_of_a_log_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    for folder in ["home/logs", "home/state", "elsewhere/state"] {
        std::fs::create_dir_all(at(folder)).unwrap();
        std::fs::write(at(folder).join("file"), "x").unwrap();
    }
    let log = at("home/logs/log");
    assert!(beside(&log, &at("home/state/file")).is_ok());
    assert!(beside(&log, &at("home/logs")).is_ok());
    // Inside of the folder that both are in, links are followed.
    symlink(at("home/state/file"), at("home/logs/same")).unwrap();
    symlink(at("home/logs/file"), at("home/logs/near")).unwrap();
    symlink(at("elsewhere/state/file"), at("home/logs/far")).unwrap();
    symlink(at("elsewhere/state"), at("home/far")).unwrap();
    assert!(beside(&log, &at("home/logs/near")).is_ok());
    for out in [
        "home/logs/same",
        "home/logs/far",
        "home/far/file",
        "home/logs/../../elsewhere/state/file",
    ] {
        let refused = beside(&log, &at(out)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{out}");
    }
    assert!(open_part(&at("home/logs"), "near").is_ok());
    assert!(open_part(&at("home/logs"), "far").is_err());
    // Who reaches the log by a link reaches what is beside it.
    symlink(at("home"), at("linked")).unwrap();
    assert!(beside(&at("linked/logs/log"), &at("linked/state/file")).is_ok());
    assert!(beside(Path::new("log"), Path::new("Cargo.toml")).is_ok());
    // The user names a log by way of a parent.
    assert!(beside(&at("home/logs/../logs/log"), &at("home/logs/../state/file")).is_ok());
    assert!(
        beside(
            &at("home/logs/../logs/log"),
            &at("home/logs/../../elsewhere/state/file")
        )
        .is_err()
    );
}

#[test]
fn a_pipe_that_nobody_writes_to_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe");
    fifo(&path);
    assert!(is_pipe(&path) && !is_pipe(dir.path()));
    let given_up = open_pipe(&path).err().unwrap();
    assert_eq!(given_up.kind(), io::ErrorKind::TimedOut);
}

#[test]
fn a_slow_writer_of_a_pipe_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe");
    fifo(&path);
    let (read, written) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::spawn({
        let path = path.clone();
        move || {
            let mut pipe = OpenOptions::new().write(true).open(path).unwrap();
            pipe.write_all(b"one ").unwrap();
            written.recv().unwrap();
            pipe.write_all(b"two").unwrap();
        }
    });
    let mut pipe = open_pipe(&path).unwrap();
    let mut text = vec![0; 4];
    pipe.read_exact(&mut text).unwrap();
    read.send(()).unwrap();
    pipe.read_to_end(&mut text).unwrap();
    assert_eq!(text, b"one two");
    writer.join().unwrap();
}
