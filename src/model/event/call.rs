//! Writes tool calls as a person would: the command, the path with its lines, the pattern and where it is looked for,
//! in place of arguments in JSON.
//!
//! A call's preview is made where the call is read, once and from all of its arguments, so every face names the call and its
//! result alike, and no session keeps more than the preview. Agents' tools differ in their names, hardly in the names of their
//! arguments.

mod arguments;

use super::cut::at_most;
use arguments::{Value, Values};
use std::borrow::Cow;

/// The names of arguments by what they are, the best of each first.
const COMMAND: &[&str] = &[
    "command",
    "cmd",
    "commandLine",
    "CommandLine",
    "script",
    "code",
];
const PATTERN: &[&str] = &[
    "pattern",
    "regex",
    "query",
    "Query",
    "search_term",
    "searchTerm",
    "q",
];
const PATH: &[&str] = &[
    "file_path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "path",
    "AbsolutePath",
    "TargetFile",
    "target_file",
    "filename",
    "file",
    "paths",
    "files",
    "dir_path",
    "directory",
    "DirectoryPath",
];
const FILES: &[&str] = &["glob", "include", "file_pattern"];
const PATCH: &[&str] = &["patch", "patchText", "patch_text", "input", "diff"];
const URL: &[&str] = &["url", "uri", "urls"];
const TASK: &[&str] = &["description", "skill", "name", "title"];
const AGENT: &[&str] = &["subagent_type", "agent", "agent_name", "agent_type"];
const TEXT: &[&str] = &["prompt", "message", "question", "thought", "task", "text"];
/// The names of arguments that say which lines of a file are meant: the first and the number of them, the first and the
/// last, both.
const OFFSET: &[&str] = &["offset"];
const LIMIT: &[&str] = &["limit"];
const FIRST: &[&str] = &["start_line", "startLine", "StartLine", "line_start"];
const LAST: &[&str] = &["end_line", "endLine", "EndLine", "line_end"];
const RANGE: &[&str] = &["view_range", "range"];

/// The number of arguments that are shown of a call of an unknown kind, and the longest value among them, in characters.
const MOST_SHOWN: usize = 3;
const LONGEST_VALUE: usize = 40;

/// Returns arguments as a person would write them, in about `room` bytes: a path that is longer loses its beginning.
/// Text that is neither JSON nor a patch stays as it is.
pub(super) fn written<'t>(tool: Option<&str>, arguments: &'t str, room: usize) -> Cow<'t, str> {
    let text = arguments.trim_start();
    let of_patch = || patched(text).map(|files| shortened(&files, room));
    let is_of_server = tool.is_some_and(|tool| tool.starts_with("mcp__"));
    let written = match text.as_bytes().first() {
        Some(b'{') => {
            let values = Values::of(text);
            let known = (!is_of_server).then(|| known(&values, room)).flatten();
            Some(known.or_else(|| pairs(&values)).unwrap_or_default())
        }
        Some(b'[') => match Value::of(text) {
            Value::Words(words) => Some(shell(&words)),
            _ => None,
        },
        _ => of_patch(),
    };
    written.map_or(Cow::Borrowed(arguments), Cow::Owned)
}

/// Returns arguments whose names say what they are.
fn known(values: &Values<'_>, room: usize) -> Option<String> {
    let path = values.first(PATH).map(|path| path.text());
    if let Some(command) = values.first(COMMAND) {
        let command = match command {
            Value::Words(words) => shell(words),
            value => value.text(),
        };
        if let Some(files) = patched(&command) {
            return Some(shortened(&files, room));
        }
        // Editors take what they do as a command, beside the file.
        return Some(match path {
            Some(path) if !command.contains(' ') => {
                let rest = room.saturating_sub(command.len() + 1);
                format!("{command} {}", located(values, &path, rest))
            }
            _ => command,
        });
    }
    let patch = values.first(PATCH).and_then(|patch| patched(&patch.text()));
    if let Some(files) = patch {
        return Some(shortened(&files, room));
    }
    if let Some(pattern) = values.first(PATTERN) {
        let mut written = pattern.text();
        let files = values.first(FILES).map(Value::text);
        let mut places = [path, files].into_iter().flatten();
        if let Some(place) = places.find(|place| !place.is_empty()) {
            let word = " in ";
            let used = written.len() + word.len();
            let rest = room.saturating_sub(used).max(room / 2);
            let most = room.saturating_sub(rest + word.len());
            if written.len() > most && used + place.len() > room {
                written = at_most(&written, most.max(LONGEST_VALUE));
            }
            written.push_str(word);
            written.push_str(&shortened(&place, rest));
        }
        return Some(written);
    }
    if let Some(path) = path {
        return Some(located(values, &path, room));
    }
    if let Some(url) = values.first(URL) {
        return Some(url.text());
    }
    let task = values.first(TASK).or_else(|| values.first(TEXT))?.text();
    Some(match values.first(AGENT) {
        Some(agent) => format!("{}: {task}", agent.text()),
        None => task,
    })
}

/// Returns a path with the lines that are meant of it.
fn located(values: &Values<'_>, path: &str, room: usize) -> String {
    let number = |names| values.first(names).and_then(Value::number);
    let (mut first, mut last) = (number(FIRST), number(LAST));
    if let Some(Value::Numbers(from, to)) = values.first(RANGE) {
        (first, last) = (Some(*from), u64::try_from(*to).ok());
    }
    let (offset, limit) = (number(OFFSET), number(LIMIT));
    if offset.or(limit).is_some() {
        let from = offset.unwrap_or(1).max(1);
        first = Some(from);
        last = limit.map(|limit| from.saturating_add(limit).saturating_sub(1));
    }
    let lines = match (first, last) {
        (None, None) => String::new(),
        (Some(first), Some(last)) => format!(":{first}-{last}"),
        (first, None) => format!(":{}-", first.unwrap_or(1)),
        (None, Some(last)) => format!(":1-{last}"),
    };
    let path = shortened(path, room.saturating_sub(lines.len()));
    format!("{path}{lines}")
}

/// Returns the files that a patch is of; `None`: the text is no patch.
fn patched(text: &str) -> Option<String> {
    let (_, patch) = text.split_once("*** Begin Patch")?;
    let mut files = Vec::new();
    // A patch in JSON, or in a shell's string, may have its line ends escaped.
    for line in patch.split("*** ").skip(1) {
        let named = ["Update File: ", "Add File: ", "Delete File: "];
        let file = named.iter().find_map(|name| line.strip_prefix(name));
        let end = |file: &str| file.find(['\n', '\r', '\\']).unwrap_or(file.len());
        files.extend(file.map(|file| file[..end(file)].trim()));
        if files.len() > MOST_SHOWN {
            break;
        }
    }
    (!files.is_empty()).then(|| files.join(", "))
}

/// Returns a command of a shell that is given as its words.
fn shell(words: &[Cow<'_, str>]) -> String {
    let is_shell = |name: &str| {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        matches!(
            name,
            "bash"
                | "sh"
                | "zsh"
                | "dash"
                | "fish"
                | "pwsh"
                | "powershell"
                | "powershell.exe"
                | "cmd.exe"
        )
    };
    match words {
        [name, options @ .., command]
            if is_shell(name)
                && options
                    .iter()
                    .any(|option| option.ends_with('c') || option == "-Command") =>
        {
            command.to_string()
        }
        words => {
            let quoted = |word: &Cow<'_, str>| {
                if word.contains([' ', '"']) {
                    format!("'{word}'")
                } else {
                    word.to_string()
                }
            };
            words.iter().map(quoted).collect::<Vec<_>>().join(" ")
        }
    }
}

/// Returns the first few arguments by their names; `None`: there are none.
fn pairs(values: &Values<'_>) -> Option<String> {
    let shown = values.iter().filter_map(|(name, value)| {
        let text = value.text();
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = at_most(&words.join(" "), LONGEST_VALUE);
        let text = if text.contains(' ') {
            format!("\"{text}\"")
        } else {
            text
        };
        (!text.is_empty()).then(|| format!("{name}={text}"))
    });
    let shown: Vec<String> = shown.take(MOST_SHOWN).collect();
    (!shown.is_empty()).then(|| shown.join(" "))
}

/// Returns a path, or several, without its beginning if it is longer than `room`: the file's name stays.
fn shortened(path: &str, room: usize) -> String {
    if path.len() <= room {
        return path.to_owned();
    }
    let most = room.saturating_sub('…'.len_utf8());
    let starts = path.char_indices().map(|(at, _)| at);
    let fits = |at: &usize| path.len() - at <= most;
    let first = starts.clone().find(fits).unwrap_or(path.len());
    // From the beginning of a name on, unless the name alone is too long.
    let separator = path[first..].find(['/', '\\']).map(|at| first + at);
    let start = separator.filter(|at| at + 1 < path.len());
    format!("…{}", &path[start.unwrap_or(first)..])
}

#[cfg(test)]
mod tests;
