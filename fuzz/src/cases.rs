//! The cases of the hand-written logs, to be laid out in a folder and damaged on the way.

use super::seeds::{files, project};
use ctxgauge::agents;
use ctxgauge::format::Format;
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

/// Damages a file: a letter for what happens to it, and up to two numbers for where, such as `s3.7`.
pub fn damage(file: &mut Vec<u8>, what: &[u8]) {
    let Some((kind, numbers)) = what.split_first() else {
        return;
    };
    let mut numbers = numbers.split(|byte| *byte == b'.').map(|digits| {
        let digits = digits.iter().filter(|byte| byte.is_ascii_digit()).take(9);
        digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0'))
    });
    let (a, b) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    match kind {
        // It ends after so many thousandths.
        b'c' => file.truncate(file.len() * a.min(1000) / 1000),
        // A byte becomes another.
        b'b' if !file.is_empty() => {
            let at = a % file.len();
            file[at] = b as u8;
        }
        // A number becomes another.
        b'n' => another_number(file, a, b),
        // A line comes a second time, or two change places, or one is gone.
        b'd' | b's' | b'r' => {
            let mut lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').collect();
            let (a, b) = (a % lines.len(), b % lines.len());
            match kind {
                b'd' => lines.insert(b, lines[a]),
                b's' => lines.swap(a, b),
                _ => drop(lines.remove(a)),
            }
            *file = lines.join(&b'\n');
        }
        _ => {}
    }
}

/// Puts a number in the place of the `nth` one of a text.
fn another_number(file: &mut Vec<u8>, nth: usize, number: usize) {
    let is_first =
        |at: &usize| file[*at].is_ascii_digit() && (*at == 0 || !file[*at - 1].is_ascii_digit());
    let firsts: Vec<usize> = (0..file.len()).filter(is_first).collect();
    if let Some(at) = firsts.get(nth % firsts.len().max(1)) {
        let digits = file[*at..].iter().take_while(|byte| byte.is_ascii_digit());
        let end = at + digits.count();
        file.splice(at..&end, number.to_string().into_bytes());
    }
}
