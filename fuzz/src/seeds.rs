//! The first inputs of every target, from the hand-written logs and what the project ships.

use super::cases;
use super::mappings::THEN;
use super::sessions::RULES;
use ctxgauge::agents;
use ctxgauge::formats::database::{DatabaseSpec, MAGIC};
use ctxgauge::formats::{Format, StoreKind};
use ctxgauge::hosts::wire;
use ctxgauge::ingest::discover::Scanner;
use ctxgauge::ingest::discover::roots::SearchRoot;
use ctxgauge::ingest::log::reader::read_whole;
use ctxgauge::model::event::ByLength;
use ctxgauge::model::lists::sessions::{Sessions, Update};
use rusqlite::{Connection, Row};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An input, and a name that is its own.
pub type Seed = (String, Vec<u8>);

/// What happens to the files of the target `tail`.
const STEPS: [&str; 4] = ["mz", "aaazz", "zMz", "z5zz"];
/// Larger logs slow the target `tail` down and lead to nothing new.
const LARGE: usize = 20_000;

/// The inputs of a target.
pub fn of(target: &str) -> Vec<Seed> {
    match target {
        "configuration" => [themes(), blocks("assets/docs/configuration.md", "toml")].concat(),
        "database" => databases(),
        "decoders" => logs().map(|(_, seed)| seed).collect(),
        "folder" => folders(),
        "hosts" => rows_of_hosts(),
        "json" | "lines" => contents(),
        "summaries" => summaries(),
        "mappings" => mappings(),
        "models" => vec![(
            "models".to_owned(),
            bytes(&project().join("assets/models.toml")),
        )],
        "tail" => followed(),
        _ => Vec::new(),
    }
}

/// The rows of the hand-written logs that are one file, as another machine would send them.
fn rows_of_hosts() -> Vec<Seed> {
    let mut seeds = vec![(
        "start".to_owned(),
        (super::hosts::start() + "\n").into_bytes(),
    )];
    for format in agents::ALL.iter().copied() {
        let root = SearchRoot::Given(project().join("tests/fixtures").join(format.id));
        let found = Scanner::new(vec![root], vec![format], |_| None).look();
        for log in found.files.into_iter().take(8) {
            let Ok(read) = read_whole(&log, &ByLength, &RULES) else {
                continue;
            };
            let mut sessions = Sessions::new(Arc::clone(&RULES));
            let (name, file) = (log.facts.path.display().to_string(), log.facts.file);
            sessions.apply(Update::Found(Box::new(log.facts)));
            sessions.apply(Update::Rebuilt {
                file,
                sessions: read,
            });
            for (at, key) in sessions.keys().enumerate() {
                let row = wire::row(&sessions, key).and_then(|row| wire::bytes(&row));
                let input = row.map(|row| [super::hosts::ROW.as_bytes(), &row].concat());
                seeds.extend(input.map(|input| (format!("{name}-{at}"), input)));
            }
        }
    }
    seeds
}

/// The project's folder, of which this may be a crate or a test.
pub fn project() -> PathBuf {
    let this = Path::new(env!("CARGO_MANIFEST_DIR"));
    if this.ends_with("fuzz") {
        this.join("..")
    } else {
        this.to_owned()
    }
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The hand-written logs and the files beside them, each after a line with its format.
fn logs() -> impl Iterator<Item = (&'static Format, Seed)> {
    agents::ALL.iter().flat_map(|format| {
        let folder = project().join("tests/fixtures").join(format.id);
        files(&folder).into_iter().filter_map(move |path| {
            let log = match path.extension()?.to_str()? {
                "snap" => return None,
                "sql" => rows(format, &bytes(&path))?,
                _ => bytes(&path),
            };
            let name = path.strip_prefix(folder.parent()?).ok()?;
            let name = name.display().to_string().replace(['/', '\\'], "-");
            Some((
                *format,
                (name, [format.id.as_bytes(), b"\n", &log].concat()),
            ))
        })
    })
}

fn contents() -> Vec<Seed> {
    let all = logs().map(|(format, (name, seed))| (name, seed[format.id.len() + 1..].to_vec()));
    all.collect()
}

fn followed() -> Vec<Seed> {
    let small = logs().filter(|(_, (_, seed))| seed.len() < LARGE);
    let all = small.enumerate().map(|(n, (_, (name, seed)))| {
        let steps = STEPS[n % STEPS.len()];
        (name, [steps.as_bytes(), b"\n", &seed].concat())
    });
    all.collect()
}

/// What a writer does to the databases of the target `database`.
const SCHEDULES: [&str; 6] = [
    "4sr bsrsrcr 2krj9sr 99sr",
    "j 9sr e3sr5sa r9sc r vr 3kr 99s",
    "1j 6sr b4srcr xr 2j9srob3sar 99s",
    "99sr d r 7sr j 99srj",
    "3j 9srvr b9srxc orx 99srd9srx99s",
    "js2kr s2kr s2kr s2k 99sr3j",
];

/// Databases of some agents: each takes a tenth of a second to come to rest.
fn databases() -> Vec<Seed> {
    let all = cases::ALL.iter().filter(|case| case.sql().is_some());
    let mut seen = HashSet::new();
    let own = all
        .filter(|case| seen.insert(case.format.id))
        .step_by(2)
        .enumerate();
    own.map(|(n, case)| {
        let schedule = SCHEDULES[n % SCHEDULES.len()];
        let name = case.name.replace('/', "-");
        (name, format!("{}\n{schedule}", case.name).into_bytes())
    })
    .collect()
}

/// How large the pieces of the logs of the target `summaries` are.
const PIECES: [&str; 4] = ["mz", "hhz", "zr", "bbbz"];

/// A log of each agent.
fn summaries() -> Vec<Seed> {
    let small = logs().filter(|(_, (_, seed))| seed.len() < LARGE);
    let mut seen = HashSet::new();
    let own = small.filter(|(format, _)| seen.insert(format.id));
    let all = own.enumerate().map(|(n, (_, (name, seed)))| {
        let pieces = PIECES[n % PIECES.len()];
        (name, [pieces.as_bytes(), b"\n", &seed].concat())
    });
    all.collect()
}

/// What happens to the logs of the target `folder`.
const DAMAGES: [&str; 6] = [
    "late",
    "c700",
    "d2.5 s3.4",
    "r2",
    "b300.0 b900.255",
    "n7.999999999",
];

/// Folders in which every second agent has a log, its smallest.
fn folders() -> Vec<Seed> {
    let smallest = |format: &&'static Format| {
        let own = cases::ALL.iter().filter(|case| case.format.id == format.id);
        own.min_by_key(|case| case.size())
    };
    let cases = agents::ALL
        .iter()
        .step_by(2)
        .filter_map(smallest)
        .enumerate();
    let lines: Vec<String> = cases
        .map(|(n, case)| format!("{} {}", case.name, DAMAGES[n % DAMAGES.len()]))
        .collect();
    let folders = lines.chunks(5).enumerate();
    folders
        .map(|(n, lines)| (format!("agents-{n}"), lines.join("\n").into_bytes()))
        .collect()
}

/// All files below a folder, by name.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files(&path))
        } else {
            found.push(path)
        }
    }
    found.sort();
    found
}

/// The lines that a database's decoder is given. `None`: the format has no databases.
fn rows(format: &Format, sql: &[u8]) -> Option<Vec<u8>> {
    let Some(StoreKind::Database(spec)) = format.store(MAGIC) else {
        return None;
    };
    let database = Connection::open_in_memory().expect("memory");
    database
        .execute_batch(&String::from_utf8_lossy(sql))
        .expect("hand-written SQL");
    Some(lines(spec, &database).concat())
}

fn lines(spec: &DatabaseSpec, database: &Connection) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for schema in spec.schemas {
        let line = format!(
            "SELECT {} FROM {} ORDER BY {}",
            schema.line, schema.from, schema.order
        );
        for id in texts(database, schema.sessions, "") {
            let id = String::from_utf8_lossy(&id);
            found.extend(texts(database, schema.header, &id));
            found.extend(texts(database, &line, &id));
        }
    }
    for line in &mut found {
        line.push(b'\n');
    }
    found
}

/// The first column of a query about a session; none if the database has no such tables.
fn texts(database: &Connection, query: &str, session: &str) -> Vec<Vec<u8>> {
    let Ok(mut query) = database.prepare(query) else {
        return Vec::new();
    };
    let text = |row: &Row<'_>| {
        Ok(row
            .get_ref(0)?
            .as_bytes_or_null()?
            .unwrap_or_default()
            .to_vec())
    };
    let found = match query.parameter_count() {
        0 => query.query_map([], text),
        _ => query.query_map([session], text),
    };
    found.into_iter().flatten().flatten().collect()
}

fn themes() -> Vec<Seed> {
    let paths = files(&project().join("assets/themes"));
    let all = paths.iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        (name.into_owned(), bytes(path))
    });
    all.collect()
}

/// The blocks of code of a language in a document.
fn blocks(document: &str, language: &str) -> Vec<Seed> {
    let text = String::from_utf8(bytes(&project().join(document))).expect("UTF-8");
    let open = format!("```{language}\n");
    let blocks = text.split(&open).skip(1);
    let blocks = blocks.filter_map(|block| block.split_once("```\n"));
    let named = blocks.enumerate();
    named
        .map(|(n, (block, _))| (format!("{language}-{n}"), block.as_bytes().to_vec()))
        .collect()
}

fn mappings() -> Vec<Seed> {
    const DOCUMENT: &str = "assets/docs/custom-formats.md";
    let logs = [blocks(DOCUMENT, "json"), blocks(DOCUMENT, "jsonl")].concat();
    let mappings = blocks(DOCUMENT, "toml").into_iter();
    let with_logs = mappings.flat_map(|(name, mapping)| {
        let logs = logs.iter();
        let seeds =
            logs.map(move |(log, text)| (format!("{name}-{log}"), [&mapping, THEN, text].concat()));
        seeds.collect::<Vec<_>>()
    });
    with_logs.collect()
}
