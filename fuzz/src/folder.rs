//! A folder with damaged logs of several agents: every report is made, each row is that of its log alone, and logs
//! that are followed end as they are read.

use super::cases::{log_in, log_of, named};
use super::damage::steps::damage;
use super::sessions::{RULES, Said, said};
use super::tail::Followed;
use ctxgauge::agents;
use ctxgauge::files::paths::User;
use ctxgauge::formats::Format;
use ctxgauge::ingest::discover::Scanner;
use ctxgauge::ingest::discover::roots::SearchRoot;
use ctxgauge::ingest::log::reader::read_whole;
use ctxgauge::model::event::ByLength;
use ctxgauge::model::values::project::Projects;
use ctxgauge::model::values::prompt::shows;
use ctxgauge::report::audit::{self, WorstChoice};
use ctxgauge::report::ls::{ListOptions, Sums};
use ctxgauge::report::output::redact::Redaction;
use ctxgauge::report::reading::patience::Patience;
use ctxgauge::report::reading::progress::Progress;
use ctxgauge::report::session::SessionRequest;
use ctxgauge::report::{self, CacheUse, Charset, FORMATS, ReportContext, Style};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::HashSet;
use std::fs::{self, File, FileTimes};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The most logs in a folder.
const MOST: usize = 6;

/// The longest name of a session, in characters.
const LONGEST_NAME: usize = 40;

/// Each line of an input is a log: the case of the hand-written logs that it begins as, and what happens to its
/// files; see [`damage`].
pub fn check(input: &[u8]) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = dir.path().join("logs");
    let lines = input.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty()).take(MOST);
    let logs: Vec<Log> = lines
        .enumerate()
        .map(|(n, line)| Log::lay_out(folder.join(format!("{n}")), line))
        .collect();
    if logs.is_empty() {
        return;
    }
    follow(&logs);
    let roots: Vec<SearchRoot> = logs.iter().map(Log::root).collect();
    rows_are_their_own(&logs, &roots);
    let cache = dir.path().join("cache");
    lists_from_the_cache_are_the_same(&roots, &cache);
    report_all(&folder, &roots, &logs);
}

/// A log that is laid out.
struct Log {
    format: &'static Format,
    folder: PathBuf,
    /// Its files, and what is still to be appended to each.
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Log {
    /// Writes what is there at first: half of a log, or of a folder's files. With the word `late`, what is beside a
    /// log comes after it.
    fn lay_out(folder: PathBuf, line: &[u8]) -> Log {
        let mut words = line.split(|byte| *byte == b' ');
        let case = named(words.next().unwrap_or_default(), |_| true);
        let damages: Vec<&[u8]> = words.collect();
        let mut log = Log {
            format: case.format,
            folder,
            files: Vec::new(),
        };
        let files = case.files();
        let (main, half) = (log_of(&files), files.len() / 2);
        for (n, (name, mut bytes)) in files.into_iter().enumerate() {
            for what in &damages {
                damage(&mut bytes, what);
            }
            let path = log.folder.join(&name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            if name == Path::new("log.sql") {
                database(&path.with_extension("db"), &bytes);
                continue;
            }
            let first = match main {
                Some(main) if name == main => bytes.len() / 2,
                Some(_) if damages.contains(&&b"late"[..]) => 0,
                None if n >= half => 0,
                _ => bytes.len(),
            };
            let rest = bytes.split_off(first);
            if first > 0 {
                fs::write(&path, bytes).expect("a file");
            }
            log.files.push((path, rest));
        }
        log.age();
        log
    }

    fn grow(&self) {
        for (path, rest) in &self.files {
            let file = File::options().append(true).create(true).open(path);
            file.and_then(|mut file| file.write_all(rest))
                .expect("an append");
        }
        self.age();
    }

    /// Makes it an hour old: nobody is writing to it.
    fn age(&self) {
        let then = SystemTime::now() - Duration::from_secs(3600);
        for (path, _) in self.files.iter().filter(|(path, _)| path.exists()) {
            let file = File::options().write(true).open(path);
            let aged = file.and_then(|file| file.set_times(FileTimes::new().set_modified(then)));
            aged.expect("another time");
        }
    }

    fn path(&self) -> PathBuf {
        log_in(&self.folder)
    }

    fn root(&self) -> SearchRoot {
        match self.path() {
            folder if folder.is_dir() => SearchRoot::Given(folder),
            file => SearchRoot::Forced(self.format, file),
        }
    }
}

/// Makes a database of those statements that still are some.
fn database(path: &Path, sql: &[u8]) {
    let database = Connection::open(path).expect("a database");
    let _ = database.pragma_update(None, "synchronous", "off");
    for statement in String::from_utf8_lossy(sql).split_inclusive(";\n") {
        let _ = database.execute_batch(statement);
    }
}

/// Follows all logs while they grow.
fn follow(logs: &[Log]) {
    let roots = logs.iter().map(Log::root).collect();
    let mut scanner = Scanner::new(roots, agents::ALL.to_vec(), |_| None);
    let files = scanner.look().files;
    let begun: Vec<_> = files.iter().map(Followed::new).collect();
    logs.iter().for_each(Log::grow);
    for (file, begun) in files.iter().zip(begun) {
        // Half of a folder's file is not read at all.
        let followed = begun.or_else(|_| Followed::new(file));
        let read = followed.and_then(|mut followed| {
            followed.read_on(file)?;
            followed.settle(file)?;
            Ok(followed)
        });
        let fresh = || read_whole(file, &ByLength, &RULES);
        match read {
            Ok(followed) => {
                let fresh = fresh().expect("a log");
                let fresh: Vec<Said> = fresh.iter().map(|(_, session)| said(session)).collect();
                let followed: Vec<Said> = followed.sessions.values().map(said).collect();
                assert_eq!(followed, fresh, "{}", file.facts.path.display());
            }
            Err(e) => assert!(e.kind() == io::ErrorKind::WouldBlock || fresh().is_err()),
        }
    }
}

/// The style of an output format.
fn style(format: usize) -> Style {
    Style {
        format: &FORMATS[format % FORMATS.len()],
        charset: Charset::Unicode,
        columns: None,
    }
}

fn context(roots: &[SearchRoot], cache: Option<&Path>) -> ReportContext {
    ReportContext {
        formats: agents::ALL.to_vec(),
        forced: None,
        roots: roots.to_vec(),
        rules: Arc::clone(&RULES),
        user: User::default(),
        cache: cache.map(Path::to_owned),
        cache_use: CacheUse::Kept,
        poll: false,
        now: Default::default,
        zone: jiff::tz::TimeZone::UTC,
        patience: Patience::default(),
        progress: Progress::default(),
        redaction: Redaction::Off,
        only: None,
    }
}

/// A list with these totals.
fn wanted(sums: Sums) -> ListOptions {
    ListOptions {
        sums,
        ..ListOptions::default()
    }
}

/// What `ls --json` prints. That a log could not be read is an error, but not of this.
fn list(roots: &[SearchRoot], cache: Option<&Path>, sums: Sums) -> Value {
    let mut out = Vec::new();
    let context = context(roots, cache);
    let _ = report::ls::run(&context, style(1), &wanted(sums), &mut out, &mut Vec::new());
    serde_json::from_slice(&out).expect("JSON")
}

/// The rows of these roots. The name of each one's project is the shortest end of its folder that no other folder of
/// the list has.
fn rows(roots: &[SearchRoot]) -> Vec<Row> {
    let mut list = list(roots, None, Sums::None);
    let rows = list["sessions"].as_array_mut().map(std::mem::take);
    let rows: Vec<Row> = rows.into_iter().flatten().map(Row::new).collect();
    let mut projects = Projects::default();
    rows.iter().for_each(|row| projects.add(&row.folder));
    for row in &rows {
        assert_eq!(row.project, projects.name(&row.folder), "{row:?}");
    }
    rows
}

/// A session in a list.
#[derive(Debug)]
struct Row {
    /// Its name, which may be that of its project.
    name: String,
    /// The name of its project, which depends on the other projects in the list.
    project: String,
    /// The folder of its project.
    folder: String,
    /// All else, which is of its log alone.
    own: Value,
}

impl Row {
    fn new(mut row: Value) -> Row {
        let mut take = |key: &str| match row[key].take() {
            Value::String(text) => text,
            _ => String::new(),
        };
        let (name, project) = (take("name"), take("project"));
        Row {
            name,
            project,
            folder: row["folder"].as_str().unwrap_or_default().to_owned(),
            own: row,
        }
    }

    /// Returns true if its name is that of its project, of which a name has the beginning.
    fn is_named_by_project(&self) -> bool {
        !self.name.is_empty()
            && self
                .name
                .chars()
                .eq(self.project.chars().take(LONGEST_NAME))
    }

    /// Returns true if this row of a list of one log is that row of a list of several. The only difference may be
    /// the name of its project.
    fn is(&self, one: &Row) -> bool {
        let is_renamed = self.project != one.project;
        let by_project = self.is_named_by_project() || !shows(&self.project);
        self.own == one.own
            && if is_renamed && by_project && one.is_named_by_project() {
                true
            } else {
                // A sub-agent can have the name of a project as its title.
                let is_title = !self.own["parent"].is_null();
                self.name == one.name && (!is_renamed || !self.is_named_by_project() || is_title)
            }
    }
}

/// Logs of different agents do not refer to each other.
fn rows_are_their_own(logs: &[Log], roots: &[SearchRoot]) {
    let mut seen = HashSet::new();
    if !logs.iter().all(|log| seen.insert(log.format.label)) {
        return;
    }
    let mut together = rows(roots);
    for alone in roots.iter().map(std::slice::from_ref).flat_map(rows) {
        let same = together.iter().position(|row| alone.is(row));
        let same = same.unwrap_or_else(|| panic!("{alone:?} is not among {together:?}"));
        together.swap_remove(same);
    }
    assert!(together.is_empty(), "{together:?}");
}

fn lists_from_the_cache_are_the_same(roots: &[SearchRoot], cache: &Path) {
    let list = |cache| list(roots, cache, Sums::Totals);
    let fresh = list(None);
    assert_eq!(list(Some(cache)), fresh);
    assert_eq!(list(Some(cache)), fresh);
}

/// Makes every report; whether there is anything to report does not matter.
fn report_all(folder: &Path, roots: &[SearchRoot], logs: &[Log]) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let given = [SearchRoot::Given(folder.to_owned())];
    for (n, roots) in [&given[..], roots].into_iter().enumerate() {
        let (all, style) = (context(roots, None), style(n));
        let worst = WorstChoice {
            most: 3,
            ..WorstChoice::default()
        };
        let _ = report::ls::run(&all, style, &wanted(Sums::Totals), &mut out, &mut err);
        let _ = audit::run(&all, style, worst, &mut out, &mut err);
    }
    let paths: Vec<PathBuf> = logs.iter().map(Log::path).collect();
    for (n, path) in paths
        .iter()
        .map(PathBuf::as_path)
        .chain([folder])
        .enumerate()
    {
        let forced = logs.get(n).map(|log| log.format);
        let context = ReportContext {
            forced,
            ..context(&[], None)
        };
        let style = style(n);
        let asked = SessionRequest {
            path: Some(path),
            ..SessionRequest::default()
        };
        let _ = report::session::run(&context, &asked, style, &mut out);
        let _ = report::session::records::run(&context, path, 9, style, &mut out);
    }
}
