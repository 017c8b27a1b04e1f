//! Recognises a request log by its first bytes, which may end inside of its first line: whole lines are
//! read as the decoder reads them; of a line that is cut off, the fields that it begins with are compared.

use super::envelope::Bodies;
use super::json_of;
use crate::agents::lenient::Lost;

/// Lines that are read: others may come before the first request.
const LINES: usize = 16;

/// Whether a file that begins with these bytes is a log of requests.
pub(super) fn is_request_log(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').peekable();
    for _ in 0..LINES {
        let Some(line) = lines.next() else {
            break;
        };
        let is_cut = lines.peek().is_none();
        let line = String::from_utf8_lossy(line);
        let (_, json) = json_of(&line);
        if is_exchange(json) || (is_cut && begins_a_request(json.as_bytes())) {
            return true;
        }
    }
    false
}

/// Whether a line is an exchange with a model: a request and its answer, or one of them that names the
/// model. Training data, which has messages alone, is none.
fn is_exchange(line: &str) -> bool {
    let lost = Lost::default();
    let Ok(bodies) = Bodies::of(line, &lost) else {
        return false;
    };
    bodies.other_call().is_none()
        && bodies.read(&lost).is_some_and(|exchange| {
            let request = exchange.request;
            request.is_some_and(|request| request.model.is_some()) || exchange.response.is_some()
        })
}

/// Places at which loggers put a request's body, as paths of fields.
const BODIES: [&str; 7] = [
    "",
    "request.",
    "request.body.",
    "req.body.",
    "body.",
    "params.",
    "input.",
];
/// What a body's history is made of.
const HISTORIES: [&str; 6] = [
    "messages.role",
    "messages.content",
    "contents.parts",
    "contents.role",
    "input.role",
    "prompt.role",
];

/// Whether a line that is cut off began with a request that names its model, or has an address.
fn begins_a_request(line: &[u8]) -> bool {
    let paths = paths(line);
    let has = |path: &str| paths.iter().any(|held| held == path);
    BODIES.iter().any(|body| {
        let names_model = ["model", "tools", "max_tokens", "generationConfig"]
            .iter()
            .any(|field| has(&format!("{body}{field}")));
        let is_recorded = has("request.url") || has("url") || has("call_type");
        let has_history = HISTORIES
            .iter()
            .any(|history| has(&format!("{body}{history}")));
        has_history && (names_model || is_recorded)
    })
}

/// The paths of all fields that a cut-off JSON object shows, lists passed over.
fn paths(json: &[u8]) -> Vec<String> {
    let mut paths = Vec::new();
    // Each open object or list, with the path of its fields.
    let mut open: Vec<(u8, String)> = Vec::new();
    let mut field = String::new();
    let mut at = 0;
    while let Some(&byte) = json.get(at) {
        match byte {
            b'{' | b'[' => {
                let path = match open.last() {
                    Some((b'{', path)) => format!("{path}{field}."),
                    Some((_, path)) => path.clone(),
                    None => String::new(),
                };
                open.push((byte, path));
            }
            b'}' | b']' => {
                open.pop();
            }
            b'"' => {
                let start = at + 1;
                let Some(end) = end_of_string(json, start) else {
                    break;
                };
                at = end;
                let after = json[end + 1..]
                    .iter()
                    .find(|byte| !byte.is_ascii_whitespace());
                if let (Some((b'{', path)), Some(b':')) = (open.last(), after) {
                    field = String::from_utf8_lossy(&json[start..end]).into_owned();
                    paths.push(format!("{path}{field}"));
                }
            }
            _ => {}
        }
        at += 1;
    }
    paths
}

/// Where the string that begins here ends.
fn end_of_string(json: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        match json.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
