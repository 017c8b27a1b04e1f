//! Requests that somebody could send to the server, and ways to send them.

use super::{Server, home};
use crate::support::process;
use ctxgauge::files::waiting::wait_for;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

/// Connections one after the other. A debug build takes longer for each.
const MANY: usize = if cfg!(debug_assertions) {
    1_000
} else {
    10_000
};

#[test]
fn paths_and_methods_that_are_not_there_are_said_so() {
    let home = home();
    let server = Server::start(home.path(), &[]);
    wait_for("health", || {
        let (head, body) = server.get("/healthz", "*/*");
        if head.starts_with("HTTP/1.1 200 ") {
            Ok(())
        } else {
            Err(body)
        }
    });
    for (request, status) in [
        ("GET / HTTP/1.1", 404),
        ("GET /metrics/x HTTP/1.1", 404),
        ("POST /metrics HTTP/1.1", 405),
        ("DELETE /healthz HTTP/1.1", 405),
        ("nonsense", 400),
        ("GET /metrics HTTP/1.1\r\nHost: example.com", 403),
    ] {
        let (head, _) = server.ask(&format!("{request}\r\nAccept: */*\r\n\r\n"));
        assert!(
            head.starts_with(&format!("HTTP/1.1 {status} ")),
            "{request}: {head}"
        );
    }
    let (head, body) = server.ask("HEAD /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
    assert!(
        head.starts_with("HTTP/1.1 200 ") && body.is_empty(),
        "{head}\n{body}"
    );
}

#[test]
fn a_port_that_is_in_use_is_said_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    let address = server.address.to_string();
    let second = process(home.path())
        .args(["serve", "--listen", &address])
        .output();
    let second = second.unwrap();
    let why = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(
        why.contains(&format!("{address} is in use")) && why.contains("--listen"),
        "{why}"
    );
}

#[test]
fn an_address_beyond_this_machine_is_warned_of() {
    let home = tempfile::tempdir().unwrap();
    let mut command = process(home.path());
    command.args(["serve", "--listen", "0.0.0.0:0"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    err.read_line(&mut line).unwrap();
    assert!(line.contains("other machines can read"), "{line}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn those_who_ask_slowly_or_never_read_keep_nobody_waiting() {
    let home = home();
    let server = Server::start(home.path(), &[]);
    server.numbers();
    // More than have a place: they send nothing, half a request, or a request and read nothing.
    let slow: Vec<TcpStream> = (0..100)
        .map(|n| {
            let mut stream = server.connect();
            let request = [
                "",
                "GET /met",
                "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n",
            ];
            let _ = stream.write_all(request[n % 3].as_bytes());
            stream
        })
        .collect();
    let numbers = server.numbers();
    assert_eq!(numbers.0["ctxgauge_files"], 2.0);
    drop(slow);
}

#[test]
fn many_connections_leave_nothing_behind() {
    let home = home();
    let server = Server::start(home.path(), &[]);
    server.numbers();
    let sockets = || {
        let folder = format!("/proc/{}/fd", server.child.id());
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let files = files.filter_map(|file| fs::read_link(file.path()).ok());
        files
            .filter(|of| of.to_string_lossy().starts_with("socket:"))
            .count()
    };
    let before = sockets();
    for n in 0..MANY {
        if n % 100 == 0 {
            server.get("/healthz", "*/*");
        } else {
            drop(server.connect());
        }
    }
    wait_for("end of the connections", || {
        let now = sockets();
        if now <= before { Ok(()) } else { Err(now) }
    });
    assert_eq!(server.numbers().0["ctxgauge_files"], 2.0);
}

#[test]
fn a_megabyte_of_headers_is_refused() {
    let home = home();
    let server = Server::start(home.path(), &[]);
    let header = format!("X-Long: {}\r\n", "x".repeat(1_000));
    let request = format!("GET /metrics HTTP/1.1\r\n{}\r\n", header.repeat(1_000));
    let mut stream = server.connect();
    let sent = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    // The connection may be reset before the answer was read.
    for failed in [sent.err(), read.err()].into_iter().flatten() {
        let kinds = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
        assert!(kinds.contains(&failed.kind()), "{failed}");
    }
    let answer = String::from_utf8(answer).unwrap();
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431 "),
        "{answer}"
    );
    server.numbers();
}
