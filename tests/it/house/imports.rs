//! Who may import whom.

use super::source::Source;

/// Parts of the program, by module path.
type Parts = &'static [&'static str];

/// Who may import whom. A part may always import itself; the longest path that fits a module is its part. Who may
/// import a part may import what is listed within it.
const MAY: &[(Parts, Parts)] = &[
    (&["model"], &[]),
    // Counts for the model: implements its `Measure`.
    (&["tokens"], &["model"]),
    (&["json"], &[]),
    (&["decode"], &["model", "json"]),
    (&["formats"], &["model", "decode"]),
    // What reads one format cannot know of the others.
    (
        &["agents::builtin", "agents::custom"],
        &["model", "json", "decode", "formats"],
    ),
    // The list of all formats, which is handed in from the top.
    (
        &["agents"],
        &["assets", "formats", "agents::builtin", "agents::custom"],
    ),
    (&["files"], &[]),
    // The rooms of `ingest`, each of which uses those above it.
    (
        &[
            "ingest::bytes::clock",
            "ingest::bytes::sync",
            "ingest::log::problem",
            "ingest::bytes::patience",
        ],
        &["files"],
    ),
    (&["ingest::log::event"], &["model"]),
    (
        &[
            "ingest::bytes::source",
            "ingest::bytes::elide",
            "ingest::bytes::lines",
        ],
        &["model", "decode", "formats", "files", "ingest::bytes::sync"],
    ),
    (
        &[
            "ingest::bytes::text",
            "ingest::database",
            "ingest::log::conversations",
        ],
        &[
            "model",
            "json",
            "decode",
            "formats",
            "files",
            "ingest::bytes::clock",
            "ingest::bytes::sync",
            "ingest::bytes::patience",
            "ingest::bytes::source",
            "ingest::bytes::elide",
            "ingest::bytes::lines",
        ],
    ),
    (
        &["ingest::sidecar"],
        &[
            "model",
            "decode",
            "formats",
            "files",
            "ingest::bytes::clock",
            "ingest::bytes::sync",
            "ingest::bytes::source",
            "ingest::bytes::lines",
            "ingest::database",
        ],
    ),
    (
        &["ingest::log"],
        &[
            "model",
            "formats",
            "ingest::bytes::patience",
            "ingest::bytes::source",
            "ingest::bytes::lines",
            "ingest::bytes::text",
            "ingest::log::conversations",
            "ingest::sidecar",
        ],
    ),
    (
        &[
            "ingest::store",
            "ingest::log::reader",
            "ingest::log::follower",
        ],
        &[
            "model",
            "decode",
            "formats",
            "tokens",
            "files",
            "ingest::bytes::sync",
            "ingest::log::event",
            "ingest::log::problem",
            "ingest::bytes::patience",
            "ingest::bytes::source",
            "ingest::bytes::elide",
            "ingest::bytes::lines",
            "ingest::bytes::text",
            "ingest::database",
            "ingest::log::conversations",
            "ingest::sidecar",
            "ingest::log",
        ],
    ),
    (
        &["ingest"],
        &[
            "model",
            "json",
            "decode",
            "formats",
            "tokens",
            "files",
            "integrations",
        ],
    ),
    // Its logs are part of the program.
    (
        &["ingest::demo"],
        &["assets", "model", "formats", "ingest", "tokens"],
    ),
    (&["render"], &["model"]),
    (&["integrations"], &["assets", "model", "files"]),
    // The rows of other machines, which their reports write.
    (&["hosts"], &["model", "formats", "files", "render"]),
    // The rooms of `tui`, each of which uses those above it.
    (&["tui::keymap"], &[]),
    (&["tui::paint"], &["model", "render", "tui::keymap"]),
    (
        &["tui::app"],
        &["model", "render", "tui::keymap", "tui::paint"],
    ),
    (
        &["tui::theme"],
        &["assets", "model", "render", "tui::paint"],
    ),
    (
        &["tui::widgets"],
        &["model", "render", "tui::paint", "tui::theme"],
    ),
    (
        &["tui::views"],
        &[
            "model",
            "render",
            "tui::keymap",
            "tui::paint",
            "tui::app",
            "tui::theme",
            "tui::widgets",
        ],
    ),
    (
        &["tui::runtime"],
        &[
            "model",
            "render",
            "ingest",
            "files",
            "tui::keymap",
            "tui::paint",
            "tui::app",
            "tui::theme",
            "tui::views",
        ],
    ),
    (
        &["report"],
        &[
            "model",
            "render",
            "formats",
            "ingest",
            "tokens",
            "files",
            "hosts",
            "integrations",
        ],
    ),
    // A face of the reports.
    (
        &["mcp"],
        &[
            "model", "render", "formats", "ingest", "tokens", "files", "report",
        ],
    ),
    // What follows logs for other programs, by HTTP or as a file.
    (
        &["metrics"],
        &["model", "render", "ingest", "tokens", "files", "report"],
    ),
    // The names by which the program opens them.
    (&["tui"], &["tui::runtime"]),
    (&["nearest"], &[]),
    (
        &["config"],
        &[
            "nearest",
            "assets",
            "model",
            "render",
            "files",
            "tui::keymap",
            "tui::theme",
        ],
    ),
];

/// The layers that are crates of their own: what they may import of each other is in their manifests too. Within them
/// `crate` is their own name.
const CRATES: [&str; 16] = [
    "agents",
    "assets",
    "integrations",
    "files",
    "formats",
    "hosts",
    "ingest",
    "json",
    "decode",
    "mcp",
    "metrics",
    "model",
    "render",
    "report",
    "tokens",
    "tui",
];

/// Where the parts are put together.
const ROOTS: [&str; 3] = ["lib", "main", "commands"];

#[test]
fn nobody_imports_what_is_not_theirs() {
    let mut wrong = Vec::new();
    let sources = Source::all();
    // A module of the crate that is named as a layer is.
    let is_own = |path: &str, module: &str| {
        let parents = module.match_indices("::").map(|(at, _)| &module[..at]);
        let mut parents = parents.chain([module]);
        let name = path.split("::").next().unwrap_or_default();
        parents.any(|parent| {
            let own = format!("{parent}::{name}");
            sources.iter().any(|source| source.module == own)
        })
    };
    for source in &sources {
        let root = source.module.split("::").next();
        if root.is_some_and(|root| ROOTS.contains(&root)) {
            continue;
        }
        let Some((own, may)) = rule(&source.module) else {
            panic!("{}: belongs to no part, see MAY", source.path);
        };
        for path in imports(&source.code, &source.module) {
            let is_allowed = |part: &str| own.iter().chain(may).any(|may| is_within(part, may));
            if !part(&path).is_none_or(is_allowed) && !is_own(&path, &source.module) {
                wrong.push(format!("{}: {path}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn rule(module: &str) -> Option<(Parts, Parts)> {
    let part = part(module)?;
    MAY.iter().copied().find(|(parts, _)| parts.contains(&part))
}

fn part(path: &str) -> Option<&'static str> {
    let parts = MAY.iter().flat_map(|(parts, _)| parts.iter().copied());
    let parts = parts.filter(|part| is_within(path, part));
    parts.max_by_key(|part| part.len())
}

pub fn is_within(path: &str, part: &str) -> bool {
    path.strip_prefix(part)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The paths from the crate's root that a module's code names.
pub fn imports(code: &str, module: &str) -> Vec<String> {
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let mut found = Vec::new();
    for root in ["crate", "super"].iter().chain(&CRATES) {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            // A visibility is no import, and the second of two is reached from the first.
            if code[..at].ends_with("(in ")
                || before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '$'))
            {
                continue;
            }
            let mut path: Vec<&str> = module.split("::").collect();
            let goes_on = code[at + root.len()..].starts_with("::");
            match *root {
                "crate" if goes_on => path.truncate(usize::from(CRATES.contains(&path[0]))),
                "super" => drop(path.pop()),
                "crate" => continue,
                _ if goes_on => path = vec![root],
                _ => continue,
            }
            tree(&code[at + root.len()..], &mut path, &mut found);
        }
    }
    found
}

/// Follows what stands after a path: more of it, or a list of what goes on from there. Returns what it
/// did not read.
fn tree<'c>(rest: &'c str, path: &mut Vec<&'c str>, found: &mut Vec<String>) -> &'c str {
    let Some(rest) = rest.strip_prefix("::") else {
        found.push(path.join("::"));
        return rest;
    };
    if let Some(mut rest) = rest.strip_prefix('{') {
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            if rest.is_empty() || rest.starts_with('}') {
                return rest.get(1..).unwrap_or_default();
            }
            let depth = path.len();
            let after = name(rest, path, found);
            path.truncate(depth);
            // `as` and its name, or what is no use at all.
            rest = after.trim_start_matches(|c| !matches!(c, ',' | '}'));
        }
    }
    name(rest, path, found)
}

fn name<'c>(rest: &'c str, path: &mut Vec<&'c str>, found: &mut Vec<String>) -> &'c str {
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    match &rest[..end] {
        "super" => {
            path.pop();
        }
        "" | "self" => {}
        name => path.push(name),
    }
    tree(&rest[end..], path, found)
}

#[test]
fn imports_are_found_however_they_are_written() {
    let code = "use model::{event::{Key, Place as At}, Role};\n// use crate::no;\n\
        fn f() -> super::theme::Style { tokens::count() }\nuse super::super::keymap::*;\n\
        pub(crate) fn g(render: u8) {}\nuse super::{Row, gauge};\nuse crate::paint::model::Tone;";
    let mut found = imports(code, "tui::views::help");
    found.sort();
    assert_eq!(
        found,
        [
            "model::Role",
            "model::event::Key",
            "model::event::Place",
            "tokens::count",
            "tui::keymap",
            "tui::paint::model::Tone",
            "tui::views::Row",
            "tui::views::gauge",
            "tui::views::theme::Style",
        ]
    );
    assert_eq!(
        imports("use crate::config::Config;", "commands::setup"),
        ["config::Config"]
    );
    assert_eq!(part("tui::views::gauge"), Some("tui::views"));
    assert_eq!(part("tui::viewsome"), Some("tui"));
    assert_eq!(part("Rows"), None);
}
