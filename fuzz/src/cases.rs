//! The cases of the hand-written logs, to be laid out in a folder and damaged on the way.

use super::seeds::{files, project};
use ctxgauge::agents;
use ctxgauge::formats::Format;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A folder of `tests/fixtures`.
pub struct Case {
    /// The agent whose log it has.
    pub format: &'static Format,
    /// The agent's id and the case's name, as `codex/one_request`.
    pub name: String,
    folder: PathBuf,
}

/// All of them.
pub static ALL: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let cases = agents::ALL.iter().flat_map(|format| {
        let folder = project().join("tests/fixtures").join(format.id);
        let cases = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut cases: Vec<PathBuf> = cases.map(|case| case.path()).collect();
        cases.sort();
        cases.into_iter().map(|folder| Case {
            format,
            name: format!(
                "{}/{}",
                format.id,
                folder.file_name().unwrap_or_default().display()
            ),
            folder,
        })
    });
    cases.collect()
});

/// The case of this name among those that are wanted; another name stands for any of them.
pub fn named(name: &[u8], is_wanted: impl Fn(&Case) -> bool) -> &'static Case {
    let wanted = || ALL.iter().filter(|case| is_wanted(case));
    let its = wanted().find(|case| case.name.as_bytes() == name);
    let sum = name
        .iter()
        .fold(0, |sum, byte| sum * 31 % 9973 + usize::from(*byte));
    its.or_else(|| wanted().nth(sum % wanted().count()))
        .expect("a case")
}

impl Case {
    /// The SQL of its database, if its log is one.
    pub fn sql(&self) -> Option<String> {
        fs::read_to_string(self.folder.join("log.sql")).ok()
    }

    /// The bytes of its files.
    pub fn size(&self) -> usize {
        self.files().iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Its files, by their paths below its folder.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let paths = files(&self.folder).into_iter();
        let paths = paths.filter(|path| path.extension().is_some_and(|ext| ext != "snap"));
        let read = paths.map(|path| {
            let name = path.strip_prefix(&self.folder).unwrap_or(&path).to_owned();
            (name, fs::read(&path).expect("a hand-written file"))
        });
        read.collect()
    }
}

/// The names of logs; of several, the first is the log, and the others are beside it.
const LOGS: [&str; 4] = ["log.jsonl", "log.json", "log.yaml", "log.db"];

/// The log of a case that was laid out in this folder: a file, or the folder itself.
pub fn log_in(folder: &Path) -> PathBuf {
    let mut files = LOGS.iter().map(|name| folder.join(name));
    files
        .find(|path| path.exists())
        .unwrap_or_else(|| folder.to_owned())
}

/// The name of the log among these files; `None`: it is all of them.
pub fn log_of(files: &[(PathBuf, Vec<u8>)]) -> Option<&'static Path> {
    let mut names = LOGS.iter().map(Path::new);
    names.find(|log| files.iter().any(|(name, _)| name == log))
}
