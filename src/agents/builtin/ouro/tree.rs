//! A YAML document as a tree of texts, safe for any input: no deeper than what a session needs, no
//! larger than the document.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Deeper nodes are read and let go: a call's function is six deep.
const MOST_DEPTH: usize = 16;

/// A node that is another one, anew. Scalars are texts, so no other node is a truth value.
pub(super) const ALIAS: Value = Value::Bool(true);

/// A collection that is being read.
struct Open {
    node: Value,
    /// The name that waits for its value.
    name: Option<String>,
}

/// Returns a document with the line breaks of today's YAML. ouro's writer has those of YAML 1.1, among them three
/// characters that are plain text today, and writes indentation behind them.
pub(super) fn with_current_line_breaks(text: &str) -> Cow<'_, str> {
    const OLD: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];
    if text.contains(OLD) {
        text.replace(OLD, "\n").into()
    } else {
        text.into()
    }
}

/// Returns one element of a list, with all that it may refer to before it: names that other elements define.
pub(super) fn with_names(element: &str) -> String {
    let words = element.split('*').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    });
    let names: BTreeSet<&str> = words.filter(|name| !name.is_empty()).collect();
    let mut document: String = names.iter().map(|name| format!("- &{name}\n")).collect();
    document.push_str(element);
    document
}

/// Reads a document. Says where it is no YAML.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut open: Vec<Open> = Vec::new();
    // Collections that are open below the depth that is kept.
    let mut below = 0_usize;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, _) = event.map_err(|error| error.to_string())?;
        let node = match event {
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == MOST_DEPTH => {
                below += 1;
                continue;
            }
            Event::SequenceStart(..) => {
                let node = Value::Array(Vec::new());
                open.push(Open { node, name: None });
                continue;
            }
            Event::MappingStart(..) => {
                let node = Value::Object(Map::new());
                open.push(Open { node, name: None });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd if below > 0 => {
                below -= 1;
                if below > 0 {
                    continue;
                }
                Value::Null
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(closed) => closed.node,
                None => continue,
            },
            Event::Scalar(..) | Event::Alias(_) if below > 0 => continue,
            Event::Scalar(text, style, ..) if is_null(&text, style) => Value::Null,
            Event::Scalar(text, ..) => text.into_owned().into(),
            Event::Alias(_) => ALIAS,
            Event::DocumentEnd => break,
            _ => continue,
        };
        match open.last_mut() {
            Some(parent) => parent.add(node),
            None => return Ok(node),
        }
    }
    Err("no document".to_owned())
}

fn is_null(text: &str, style: ScalarStyle) -> bool {
    style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

impl Open {
    fn add(&mut self, node: Value) {
        match (&mut self.node, self.name.take()) {
            (Value::Array(nodes), _) => nodes.push(node),
            (Value::Object(fields), Some(name)) => _ = fields.entry(name).or_insert(node),
            // A name that is no text is nobody's.
            (_, _) => self.name = Some(node.as_str().unwrap_or_default().to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_read_as_the_writer_means_them() {
        let tree = read(
            "a: plain\n  goes on\nb: 'it''s\n\n  two'\nc: \"tab\\t\\u00e9\\\n  \\ end\"\nd: |-\n  x\n   y\ne: null\nf: 'null'\n",
        )
        .unwrap();
        assert_eq!(tree["a"], "plain goes on");
        assert_eq!(tree["b"], "it's\ntwo");
        assert_eq!(tree["c"], "tab\té end");
        assert_eq!(tree["d"], "x\n y");
        assert_eq!(tree["e"], Value::Null);
        assert_eq!(tree["f"], "null");
    }

    #[test]
    fn old_line_breaks_are_breaks() {
        let text = "- b: 'one\u{2028}    two'\n- \"three\u{85}  four\"\n";
        let text = with_current_line_breaks(text);
        let tree = read(&text).unwrap();
        assert_eq!(tree[0]["b"], "one two");
        assert_eq!(tree[1], "three four");
    }

    #[test]
    fn depth_does_no_harm() {
        let deep = format!("a: {}b{}\nz: after\n", "[".repeat(200), "]".repeat(200));
        assert_eq!(read(&deep).unwrap()["z"], "after");
        let block: String = (0..5_000).map(|n| " ".repeat(n) + "a:\n").collect();
        assert!(read(&block).is_ok());
        let _ = read(&"[".repeat(100_000));
        let _ = read(&"- ".repeat(100_000));
        let _ = read(&"? ".repeat(100_000));
    }

    #[test]
    fn aliases_unfold_to_nothing() {
        let mut bomb = "a0: &a0 [x, x]\n".to_owned();
        for n in 1..60 {
            let last = n - 1;
            bomb += &format!("a{n}: &a{n} [*a{last}, *a{last}]\n");
        }
        let tree = read(&bomb).unwrap();
        assert_eq!(tree["a59"], Value::from(vec![ALIAS, ALIAS]));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[-a:&*!|>'\"{}\\[\\], \n#?%é]{0,80}") {
            let _ = read(&text);
        }
    }
}
