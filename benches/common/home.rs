//! Homes full of Claude Code logs.

use std::fs::{self, File, FileTimes};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// A home folder full of Claude Code logs.
pub struct Home {
    folder: TempDir,
    /// Its logs.
    pub logs: Vec<PathBuf>,
}

impl Home {
    /// So many logs of so many bytes, each with a hole if it is long; written one second after another, the newest
    /// so long ago.
    pub fn new(logs: usize, bytes: u64, age: Duration) -> Home {
        let folder = tempfile::tempdir().unwrap();
        let projects = folder.path().join(".claude/projects");
        let newest = SystemTime::now() - age;
        let logs = (0..logs).map(|n| {
            let session = n;
            let project = projects.join(format!("-home-ada-project-{}", n % 100));
            fs::create_dir_all(&project).unwrap();
            let path = project.join(format!("{n:08x}-0000-4000-8000-000000000000.jsonl"));
            let mut file = File::create(&path).unwrap();
            let part = |from: usize| -> String {
                let count = if bytes > 100_000 {
                    3
                } else {
                    bytes as usize / 1_400
                };
                (from..from + count)
                    .map(|n| response(n, session, 700))
                    .collect()
            };
            file.write_all(part(0).as_bytes()).unwrap();
            if bytes > 100_000 {
                file.seek(SeekFrom::Start(bytes)).unwrap();
                file.write_all(b"\n").unwrap();
                file.write_all(part(500).as_bytes()).unwrap();
            }
            let at = newest - Duration::from_secs(n as u64);
            file.set_times(FileTimes::new().set_modified(at)).unwrap();
            path
        });
        let logs = logs.collect();
        Home { folder, logs }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A tool's result and a response with its usage, as Claude Code writes them.
pub fn response(n: usize, session: usize, bytes: usize) -> String {
    let text = "some text, as it may be ".repeat(bytes / 24);
    let at = format!(
        "2026-01-02T{:02}:{:02}:{:02}.678Z",
        3 + n / 3600,
        n / 60 % 60,
        n % 60
    );
    format!(
        "{{\"type\":\"user\",\"uuid\":\"r{n}\",\"parentUuid\":\"u{}\",\"sessionId\":\"s\",\"timestamp\":\"{at}\",\
         \"cwd\":\"/home/ada/project-{session}\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\
         \"tool_use_id\":\"t{n}\",\"content\":\"{text}\"}}]}}}}\n\
         {{\"type\":\"assistant\",\"uuid\":\"u{n}\",\"parentUuid\":\"r{n}\",\"sessionId\":\"s\",\
         \"timestamp\":\"{at}\",\"cwd\":\"/home/ada/project-{session}\",\"message\":{{\
         \"id\":\"m{n}\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5-20250929\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"usage\":{{\"input_tokens\":5,\
         \"cache_creation_input_tokens\":100,\"cache_read_input_tokens\":{},\"output_tokens\":50}}}}}}\n",
        n.saturating_sub(1),
        10_000 + 190 * (n % 800)
    )
}
