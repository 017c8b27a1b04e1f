//! The program's source files, as the rules look at them.

use crate::support::manifest_folder;
use std::collections::HashSet;
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
        let root = manifest_folder();
        let mut tests = HashSet::new();
        let mut all = Vec::new();
        for path in files(&root.join("src")) {
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let (code, test_modules) = without_tests(&fs::read_to_string(&path).unwrap());
            let folder = folder_of(&path);
            for name in test_modules {
                tests.insert(folder.join(format!("{name}.rs")));
                tests.insert(folder.join(name).join("mod.rs"));
            }
            all.push((path, code));
        }
        all.into_iter()
            .filter(|(path, _)| !tests.contains(path))
            .map(|(path, code)| {
                let below = path.strip_prefix(&root).unwrap();
                let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
                let path = parts.join("/");
                let module = path["src/".len()..].trim_end_matches(".rs");
                let module = module.trim_end_matches("/mod").replace('/', "::");
                Source { path, module, code }
            })
            .collect()
    }

    /// Its lines, unit tests aside.
    pub fn lines(&self) -> usize {
        self.code.lines().count()
    }
}

/// Where the modules that a file declares are.
fn folder_of(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap();
    match stem.to_str() {
        Some("mod" | "lib" | "main") => path.parent().unwrap().to_owned(),
        _ => path.with_extension(""),
    }
}

/// A file's text without what is compiled for tests only, and the modules that it declares for them.
/// Relies on rustfmt: an item ends where its indentation comes back.
fn without_tests(text: &str) -> (String, Vec<String>) {
    let (mut code, mut modules) = (String::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start() != "#[cfg(test)]" {
            code.push_str(line);
            code.push('\n');
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_head = |line: &&str| !line.trim_start().starts_with(['#', '/']);
        let item = lines.by_ref().find(is_head).unwrap_or_default();
        let declared = item.trim_start_matches("pub ").strip_prefix("mod ");
        modules.extend(
            declared
                .and_then(|name| name.strip_suffix(';'))
                .map(String::from),
        );
        if !item.ends_with([';', ',']) && !item.ends_with("{}") {
            let end = format!("{indent}}}");
            lines.by_ref().find(|line| line.starts_with(&end));
        }
    }
    (code, modules)
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
fn what_is_for_tests_only_is_left_out() {
    let text = "use a;\n#[cfg(test)]\nuse b;\n#[cfg(test)]\n#[allow(x)]\nmod far;\nfn c() {\n    #[cfg(test)]\n    {\n        d();\n    }\n}\n#[cfg(test)]\nmod near {\n    fn e() {}\n}\nfn f() {}\n";
    let (code, modules) = without_tests(text);
    assert_eq!(code, "use a;\nfn c() {\n}\nfn f() {}\n");
    assert_eq!(modules, ["far"]);
}
