//! Recognises a request log by its first bytes, which may end inside of its first line: lines are read as
//! the decoder reads them; one that is cut off is closed first.

use super::envelope::Bodies;
use super::json_of;
use decode::lenient::LostFields;

/// Lines that are read: others may come before the first request.
const LINES: usize = 16;

/// Returns true if a file that begins with these bytes is a log of requests.
pub(super) fn is_request_log(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').take(LINES).peekable();
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none();
        let line = String::from_utf8_lossy(line);
        let (_, json) = json_of(&line);
        if is_exchange(json, Completeness::Yes)
            || (is_last && is_exchange(&closed(json), Completeness::No))
        {
            return true;
        }
    }
    false
}

/// Shows whether a line has its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Completeness {
    Yes,
    No,
}

/// One of these is in a request or a response of a provider's interface. What other programs keep, such as prompts with
/// their answers for an evaluation, has a model and two texts.
const MARKS: [&str; 10] = [
    "\"messages\"",
    "\"contents\"",
    "\"input\":[",
    "\"input\": [",
    "\"instructions\"",
    "\"max_output_tokens\"",
    "\"choices\"",
    "\"candidates\"",
    "\"usage",
    "\"chunks\"",
];

/// Returns true if a line is an exchange with a model: a request and its response, or one of them that names the model.
/// Training data has messages alone, and is not an exchange.
fn is_exchange(line: &str, whole: Completeness) -> bool {
    let lost = LostFields::default();
    let Ok(bodies) = Bodies::of(line, &lost) else {
        return false;
    };
    if bodies.other_call().is_some() {
        return false;
    }
    let Some(exchange) = bodies.read(&lost) else {
        return false;
    };
    let Some(request) = exchange.request else {
        return exchange.response.is_some();
    };
    // A body may be JSON in a text.
    let plain = line.replace('\\', "");
    if !bodies.is_recorded() && !MARKS.iter().any(|mark| plain.contains(mark)) {
        return false;
    }
    // The model's name may follow behind the cut.
    let has_options = || {
        let options = ["\"max_tokens\"", "\"generationConfig\""];
        request.tools > 0 || options.iter().any(|option| line.contains(option))
    };
    request.model.is_some()
        || exchange.response.is_some()
        || whole == Completeness::No && (bodies.is_recorded() || has_options())
}

/// Returns a JSON text that is cut off, closed where its last value is whole, or in the text that it ends in.
fn closed(cut: &str) -> String {
    let mut open = Vec::new();
    let (mut in_string, mut is_escaped, mut is_value) = (false, false, false);
    let mut end = 0;
    for (at, c) in cut.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = in_string,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' | '[' => {
                open.push(if c == '{' { '}' } else { ']' });
                (end, is_value) = (at + 1, c == '[');
            }
            '}' | ']' => {
                open.pop();
                end = at + 1;
            }
            ',' => (end, is_value) = (at, open.last() == Some(&']')),
            ':' => is_value = true,
            _ => {}
        }
    }
    let mut closed = cut[..end].to_owned();
    if in_string && is_value {
        // An escape may be cut off, too.
        let escape = cut.rfind('\\').filter(|at| cut.len() - at < 6);
        let text = &cut[..escape.unwrap_or(cut.len())];
        closed = format!("{}\"", text.trim_end_matches('\\'));
    }
    closed.extend(open.iter().rev());
    closed
}
