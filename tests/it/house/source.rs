//! The program's source files, as the rules look at them.

use crate::support::manifest_folder;
use std::fs;
use std::path::{Path, PathBuf};

/// A source file of the program.
pub struct Source {
    /// Its path from the manifest on, with `/`.
    pub path: String,
    /// Its module's path: `tui::views::help`.
    pub module: String,
    /// Its text without unit tests.
    pub code: String,
}

impl Source {
    /// All below `src`, but those that are compiled for tests only.
    pub fn all() -> Vec<Source> {
        let sources = below_src().into_iter();
        let sources = sources.map(|(path, Text { code, .. })| {
            let module = path["src/".len()..].trim_end_matches(".rs");
            let module = module.strip_suffix("/lib").unwrap_or(module);
            let module = module.trim_end_matches("/mod").replace('/', "::");
            Source { path, module, code }
        });
        sources.filter(|source| !source.code.is_empty()).collect()
    }

    /// Its lines, unit tests aside.
    pub fn lines(&self) -> usize {
        self.code.lines().count()
    }
}

/// The files with tests, and what of each is compiled for tests only.
pub fn of_tests() -> Vec<(String, String)> {
    let root = manifest_folder();
    let unit_tests = below_src()
        .into_iter()
        .map(|(path, text)| (path, text.tests));
    let unit_tests = unit_tests.filter(|(_, tests)| !tests.is_empty());
    let others = rust_files(&root.join("tests")).into_iter();
    let others = others.map(|path| (name(&root, &path), fs::read_to_string(path).unwrap()));
    unit_tests.chain(others).collect()
}

/// What stands before an item that is compiled for tests only: of the same crate, and of others too.
const FOR_TESTS: [&str; 2] = ["#[cfg(test)]", "#[cfg(any(test, feature = \"testing\"))]"];

/// The text of a file in two parts.
#[derive(Default)]
struct Text {
    code: String,
    /// What is compiled for tests only.
    tests: String,
    /// The modules that it declares for tests.
    modules: Vec<String>,
}

/// The files below `src`. Of those that are compiled for tests only there is no code.
fn below_src() -> Vec<(String, Text)> {
    let root = manifest_folder();
    let mut all = Vec::new();
    let mut modules = Vec::new();
    for path in rust_files(&root.join("src")) {
        let text = Text::of(&fs::read_to_string(&path).unwrap());
        let folder = folder_of(&path);
        modules.extend(text.modules.iter().map(|module| folder.join(module)));
        all.push((path, text));
    }
    for (path, text) in &mut all {
        let is_of =
            |module: &PathBuf| *path == module.with_extension("rs") || path.starts_with(module);
        if modules.iter().any(is_of) {
            text.tests = std::mem::take(&mut text.code) + &text.tests;
        }
    }
    let named = all
        .into_iter()
        .map(|(path, text)| (name(&root, &path), text));
    named.collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = files(folder);
    found.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    found
}

/// A path from the manifest on, with `/`.
fn name(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap();
    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Where the modules that a file declares are.
fn folder_of(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap();
    match stem.to_str() {
        Some("mod" | "lib" | "main") => path.parent().unwrap().to_owned(),
        _ => path.with_extension(""),
    }
}

impl Text {
    /// Relies on rustfmt: an item ends where its indentation comes back.
    fn of(text: &str) -> Text {
        let mut split = Text::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if !FOR_TESTS.contains(&line.trim_start()) {
                split.code += &format!("{line}\n");
                continue;
            }
            let indent = &line[..line.len() - line.trim_start().len()];
            let is_head = |line: &&str| !line.trim_start().starts_with(['#', '/']);
            let item = lines.by_ref().find(is_head).unwrap_or_default();
            split.tests += &format!("{item}\n");
            let declared = item.trim_start_matches("pub ").strip_prefix("mod ");
            let module = declared.and_then(|name| name.strip_suffix(';'));
            split.modules.extend(module.map(String::from));
            if item.ends_with([';', ',']) || item.ends_with("{}") {
                continue;
            }
            let end = format!("{indent}}}");
            for line in lines.by_ref() {
                split.tests += &format!("{line}\n");
                if line.starts_with(&end) {
                    break;
                }
            }
        }
        split
    }
}

/// The text of a file, by its path from the manifest on.
pub fn text(path: &str) -> String {
    fs::read_to_string(manifest_folder().join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All files below a folder, but what is built and what Git keeps.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_name() == ".git" || entry.file_name() == "target" {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_for_tests_only_is_a_part_of_its_own() {
    let text = "use a;\n#[cfg(test)]\nuse b;\n#[cfg(test)]\n#[allow(x)]\nmod far;\nfn c() {\n    #[cfg(test)]\n    {\n        d();\n    }\n}\n#[cfg(test)]\nmod near {\n    fn e() {}\n}\nfn f() {}\n";
    let text = Text::of(text);
    assert_eq!(text.code, "use a;\nfn c() {\n}\nfn f() {}\n");
    let tests = "use b;\nmod far;\n    {\n        d();\n    }\nmod near {\n    fn e() {}\n}\n";
    assert_eq!(text.tests, tests);
    assert_eq!(text.modules, ["far"]);
}
