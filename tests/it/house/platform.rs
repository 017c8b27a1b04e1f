//! What depends on the platform stands behind one module, and the signals of the screens behind another: all else is the
//! same code on each platform.

use super::source::Source;

/// The files with a condition of the platform.
const MAY: [&str; 3] = [
    "src/files/platform.rs",
    "src/files/platform/unix.rs",
    "src/tui/runtime/signals.rs",
];
/// What a condition of the platform names.
const NAMES: [&str; 4] = ["unix", "windows", "target_os", "target_family"];

/// What only one platform has, and where it is used.
const ONLY_ON_ONE: [&str; 5] = ["std::os::", "nix::", "rustix::", "signal_hook::", "\"/proc"];
const USES: [&str; 2] = ["src/files/platform/", "src/tui/runtime/signals/"];

#[test]
fn platform_code_is_behind_one_module() {
    let mut listed = MAY.to_vec();
    let mut wrong = Vec::new();
    for Source { path, code, .. } in Source::all() {
        let code: String = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .flat_map(|line| [line, "\n"])
            .collect();
        let of_platform = conditions(&code).find(|condition| names_platform(condition));
        if let Some(condition) = of_platform {
            if MAY.contains(&&*path) {
                listed.retain(|listed| *listed != path);
            } else {
                wrong.push(format!("{path}: {condition}"));
            }
        }
        if !USES.iter().any(|folder| path.starts_with(folder)) {
            let used = ONLY_ON_ONE.iter().filter(|used| code.contains(**used));
            wrong.extend(used.map(|used| format!("{path}: {used}")));
        }
    }
    assert!(wrong.is_empty(), "use files::platform: {wrong:#?}");
    assert!(listed.is_empty(), "take them off the list: {listed:#?}");
}

/// The conditions of code: what stands in the parentheses of `cfg`.
fn conditions(code: &str) -> impl Iterator<Item = &str> {
    let begins = ["cfg(", "cfg!(", "cfg_attr("].into_iter();
    let rests = begins.flat_map(|begin| code.match_indices(begin));
    rests.map(|(at, begin)| {
        let rest = &code[at + begin.len()..];
        let mut depth = 1;
        let end = rest.find(|c| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        &rest[..end.unwrap_or(rest.len())]
    })
}

fn names_platform(condition: &str) -> bool {
    let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| NAMES.contains(&word))
}

#[test]
fn conditions_are_found_however_they_are_written() {
    let code = "#[cfg(all(test, not(unix)))]\nif cfg!(feature = \"a\") {}\n\
        #[cfg_attr(\n    windows,\n    path = \"a.rs\"\n)]";
    let found: Vec<(&str, bool)> = conditions(code)
        .map(|condition| (condition.trim(), names_platform(condition)))
        .collect();
    assert_eq!(
        found,
        [
            ("all(test, not(unix))", true),
            ("feature = \"a\"", false),
            ("windows,\n    path = \"a.rs\"", true),
        ]
    );
}
