//! Limits of memory.
#![cfg(target_os = "linux")]

use crate::support::{in_a_shell, process};
use std::fs::File;
use std::io::{BufWriter, Write};

/// A limit of the address space, in kilobytes. The program alone takes most of it.
const LIMIT: usize = 130_000;

#[test]
fn a_log_that_needs_more_memory_than_there_is_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    let log = home
        .path()
        .join("8a1f0c5e-0000-4000-8000-000000000001.jsonl");
    let mut out = BufWriter::new(File::create(&log).unwrap());
    for n in 0..400_000 {
        let record = r#"{"type":"user","message":{"role":"user","content":"a"},"uuid":""#;
        writeln!(out, "{record}{n}\"}}").unwrap();
    }
    out.into_inner().unwrap();
    let mut report = process(home.path());
    report.arg("report").arg(&log);
    // For a second thread glibc reserves 64 MB, half of the limit, if a place at a multiple of 64 MB happens to be free:
    // one run in twenty had nothing left.
    report.env("MALLOC_ARENA_MAX", "1");
    let script = format!("ulimit -v {LIMIT}; exec \"$0\" \"$@\"");
    let output = in_a_shell(&script, &report).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("ulimit -v"), "{said}");
}
