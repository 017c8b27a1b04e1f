//! Finds the beginning of a list in a document, and its elements: by brackets, quotes and indentation alone, so that
//! fifty megabytes of it need not be read as JSON or YAML to find the newest message.

use formats::ArrayName;
use memchr::{memchr, memchr2, memmem};
use std::ops::Range;

/// The elements of a list, as far as they are whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Elements {
    pub(super) ranges: Vec<Range<usize>>,
    /// The offset after the list; `None`: the document ends inside it.
    pub(super) end: Option<usize>,
}

impl Elements {
    /// Returns the bytes after the list.
    pub(super) fn after<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        self.end
            .and_then(|end| bytes.get(end..))
            .unwrap_or_default()
    }
}

/// Returns the position of the list's first element. Nothing before it belongs to the list.
pub(super) fn start(list: ArrayName, document: &[u8]) -> Option<usize> {
    match list {
        ArrayName::Json(name) => json_start(name, document),
        ArrayName::Yaml(name) => yaml_start(name, document),
    }
}

/// Returns the elements of a list whose bytes from its start, or an element's, are these.
pub(super) fn elements(list: ArrayName, bytes: &[u8]) -> Elements {
    match list {
        ArrayName::Json(_) => json_elements(bytes),
        ArrayName::Yaml(_) => yaml_elements(bytes),
    }
}

fn json_start(name: &str, document: &[u8]) -> Option<usize> {
    let mut at = after_blanks(document, 0);
    if document.get(at) != Some(&b'{') {
        return None;
    }
    at += 1;
    loop {
        at = after_blanks(document, at);
        if document.get(at) == Some(&b',') {
            at = after_blanks(document, at + 1);
        }
        let key = at..string_end(document, at)?;
        at = after_blanks(document, key.end);
        if document.get(at) != Some(&b':') {
            return None;
        }
        at = after_blanks(document, at + 1);
        let is_it = document.get(key.start + 1..key.end - 1) == Some(name.as_bytes());
        if is_it && document.get(at) == Some(&b'[') {
            return Some(at + 1);
        }
        at = value_end(document, at)?;
    }
}

fn json_elements(document: &[u8]) -> Elements {
    let mut elements = Elements::default();
    let mut at = 0;
    loop {
        at = after_blanks(document, at);
        match document.get(at) {
            None => return elements,
            Some(b',') => at += 1,
            Some(b']') => {
                elements.end = Some(at);
                return elements;
            }
            Some(_) => {
                let Some(end) = value_end(document, at) else {
                    return elements;
                };
                elements.ranges.push(at..end);
                at = end;
            }
        }
    }
}

fn after_blanks(document: &[u8], from: usize) -> usize {
    let rest = document.get(from..).unwrap_or_default();
    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
    from + blanks.count()
}

/// Returns the end of a value that begins here, right or wrong; always further on.
fn value_end(document: &[u8], from: usize) -> Option<usize> {
    match document.get(from)? {
        b'"' => string_end(document, from),
        b'{' | b'[' => {
            let mut at = from;
            let mut depth = 0_usize;
            loop {
                match document.get(at)? {
                    b'"' => {
                        at = string_end(document, at)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        _ => {
            let rest = &document[from + 1..];
            let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace();
            // A number at the end of the bytes may go on.
            Some(from + 1 + rest.iter().position(ends)?)
        }
    }
}

/// Returns the end of a string that begins here with its quote.
fn string_end(document: &[u8], from: usize) -> Option<usize> {
    if document.get(from) != Some(&b'"') {
        return None;
    }
    let mut at = from + 1;
    loop {
        at += memchr2(b'"', b'\\', document.get(at..)?)?;
        match document[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}

fn yaml_start(name: &str, document: &[u8]) -> Option<usize> {
    let name = format!("\n{name}:\n");
    Some(memmem::find(document, name.as_bytes())? + name.len())
}

/// Elements begin with a dash in the first column; everything inside of them is indented, the lines of
/// texts too. A name in the first column ends the list.
fn yaml_elements(document: &[u8]) -> Elements {
    let mut elements = Elements::default();
    let mut element: Option<usize> = None;
    let mut at = 0;
    while at < document.len() {
        if !matches!(document[at], b' ' | b'\n' | b'\r' | b'#') {
            elements.ranges.extend(element.map(|start| start..at));
            if !matches!(document[at..], [b'-', b' ' | b'\n', ..]) {
                elements.end = Some(at);
                return elements;
            }
            element = Some(at);
        }
        at = match memchr(b'\n', &document[at..]) {
            Some(line) => at + line + 1,
            None => document.len(),
        };
    }
    elements.ranges.extend(element.map(|start| start..at));
    elements.end = Some(at);
    elements
}

#[cfg(test)]
mod tests;
