//! Which files import each other in circles. A parent declares its children, so it imports all of them. What a child uses
//! of its parents does not count.

use super::imports::{imports, is_within};
use super::source::Source;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn no_files_import_each_other_in_a_circle() {
    let found = circles(&arrows(&Source::all()));
    assert!(found.is_empty(), "{found:#?}");
}

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The modules that each module imports or declares, but for its parents.
fn arrows(sources: &[Source]) -> Arrows {
    let modules: BTreeSet<&str> = sources.iter().map(|source| &*source.module).collect();
    let arrows = sources.iter().map(|source| {
        let from = source.module.as_str();
        let paths = imports(&source.code, from);
        let paths = paths.iter().filter_map(|path| module_of(path, &modules));
        let others = paths.filter(|to| !is_within(from, to));
        // Between crates the compiler allows no circle.
        let of_crate = |path: &str| path.split("::").next().map(str::to_owned);
        let others = others.filter(|to| of_crate(to) == of_crate(from));
        let children = modules.iter().copied().filter(|module| {
            let parent = module.rsplit_once("::");
            parent.is_some_and(|(parent, _)| parent == from)
        });
        let all = others.chain(children);
        (from.to_owned(), all.map(str::to_owned).collect())
    });
    arrows.collect()
}

/// The module that holds what a path names.
fn module_of<'m>(path: &str, modules: &BTreeSet<&'m str>) -> Option<&'m str> {
    let mut path = path;
    loop {
        if let Some(module) = modules.get(path) {
            return Some(module);
        }
        path = path.rsplit_once("::")?.0;
    }
}

/// The sets of modules that reach each other.
fn circles(arrows: &Arrows) -> Vec<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = arrows
        .keys()
        .map(|from| (from.as_str(), reach(arrows, from)))
        .collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|all| all.contains(to));
    let circle = |module: &String| -> Vec<String> {
        let others = reached[module.as_str()].iter();
        let circle = others.filter(|other| reaches(other, module));
        circle.map(ToString::to_string).collect()
    };
    let all: BTreeSet<Vec<String>> = arrows.keys().map(circle).collect();
    all.into_iter().filter(|circle| circle.len() > 1).collect()
}

/// What a module imports, and what that imports, and so on.
fn reach<'a>(arrows: &'a Arrows, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = arrows
        .get(from)
        .into_iter()
        .flatten()
        .map(|to| &**to)
        .collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(arrows.get(module).into_iter().flatten().map(|to| &**to));
        }
    }
    reached
}

#[test]
fn a_circle_is_what_reaches_itself_through_others() {
    let arrows = [
        ("a", vec!["b"]),
        ("b", vec!["c"]),
        ("c", vec!["a", "d"]),
        ("d", vec![]),
    ];
    let arrows = arrows
        .into_iter()
        .map(|(from, to)| (from.to_owned(), to.into_iter().map(str::to_owned).collect()));
    assert_eq!(circles(&arrows.collect()), [["a", "b", "c"]]);
}

#[test]
fn a_circle_through_a_child_is_one_and_a_child_may_use_its_parent() {
    let source = |module: &str, code: &str| Source {
        path: String::new(),
        module: module.to_owned(),
        code: code.to_owned(),
    };
    let mut sources = vec![
        source("tui::page", "use super::tabs::Tab;"),
        source("tui::tabs", ""),
        source("tui::tabs::items", "use super::Tab;"),
    ];
    assert!(circles(&arrows(&sources)).is_empty());
    sources[2].code = "use crate::page::Page;".to_owned();
    let circle = ["tui::page", "tui::tabs", "tui::tabs::items"];
    assert_eq!(circles(&arrows(&sources)), [circle]);
}
