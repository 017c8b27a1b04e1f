//! Indents JSON. Only white space changes: numbers, order and escapes stay as they are written.

/// Levels deeper than this are not indented further: they would leave the screen.
const DEEPEST_LEVEL: usize = 40;
/// A text that would grow by more than this factor is hostile: it is deeply nested, and most of it would be white
/// space.
const MOST_GROWTH: usize = 16;

/// Returns a text that is JSON, indented. A line before it, such as a tool's name, stays. `None`: the text is not JSON,
/// or nothing would change.
pub fn indent(text: &str) -> Option<String> {
    let whole = indent_json(text);
    let indented = whole.or_else(|| {
        let (name, json) = text.split_once('\n')?;
        Some(format!("{name}\n{}", indent_json(json)?))
    });
    indented.filter(|indented| indented != text)
}

/// Returns JSON values one after the other, indented; `None`: brackets do not match, or the text is something else.
fn indent_json(text: &str) -> Option<String> {
    let text = text.trim_matches(is_space);
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut open: Vec<char> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if out.len() > MOST_GROWTH * text.len() {
            return None;
        }
        let mut used = c.len_utf8();
        match c {
            c if is_space(c) => {}
            '{' | '[' => {
                if open.is_empty() && !out.is_empty() {
                    out.push('\n');
                }
                let close = if c == '{' { '}' } else { ']' };
                out.push(c);
                let after = rest[used..].trim_start_matches(is_space);
                if after.starts_with(close) {
                    out.push(close);
                    used = rest.len() - after.len() + close.len_utf8();
                } else {
                    open.push(close);
                    new_line(&mut out, open.len());
                }
            }
            '}' | ']' => {
                if open.pop() != Some(c) {
                    return None;
                }
                new_line(&mut out, open.len());
                out.push(c);
            }
            // Between values there is nothing but white space.
            _ if open.is_empty() => return None,
            ',' => {
                out.push(c);
                new_line(&mut out, open.len());
            }
            ':' => out.push_str(": "),
            '"' => {
                used = string_len(rest)?;
                out.push_str(&rest[..used]);
            }
            _ => {
                let end = |c: char| is_space(c) || "{}[],:\"".contains(c);
                used = rest.find(end).unwrap_or(rest.len());
                let word = &rest[..used];
                let number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
                if !matches!(word, "true" | "false" | "null") && !word.chars().all(number) {
                    return None;
                }
                out.push_str(word);
            }
        }
        rest = &rest[used..];
    }
    open.is_empty().then_some(out)
}

/// Returns the bytes of the string that the text begins with, its quotes included.
fn string_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', 2 * depth.min(DEEPEST_LEVEL)));
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_value_stays_the_same(value in json(), pretty in any::<bool>()) {
            let text = if pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            let indented = indent_json(&text);
            prop_assert_eq!(indented.is_some(), value.is_array() || value.is_object());
            if let Some(indented) = indented {
                let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
                prop_assert_eq!(parsed(&indented), parsed(&text));
                prop_assert_eq!(&indented, &serde_json::to_string_pretty(&value).unwrap());
                prop_assert_eq!(indent(&indented), None, "again changes nothing");
            }
        }

        #[test]
        fn any_text_passes(text in "[\\[\\]{}:,\"\\\\a-c1 \n]{0,40}") {
            indent(&text);
        }
    }

    #[test]
    fn numbers_order_and_escapes_stay() {
        let text = r#"{"b":1.000000000000000000001,"a":[1e999,{}],"c":"\u00e9\/"}"#;
        let indented = "{\n  \"b\": 1.000000000000000000001,\n  \"a\": [\n    1e999,\n    {}\n  ],\n  \"c\": \"\\u00e9\\/\"\n}";
        assert_eq!(indent(text).unwrap(), indented);
        assert_eq!(
            indent(&format!("Edit\n{text}")).unwrap(),
            format!("Edit\n{indented}")
        );
        assert_eq!(
            indent("{\"a\":1}\n{\"a\":2}").unwrap(),
            "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}"
        );
    }

    #[test]
    fn what_is_no_json_stays() {
        for text in [
            "",
            "plain",
            "{",
            "[}",
            "fn f() { a[1] }",
            "[TODO] see {x}",
            "{a}",
            "[1] said",
            "{\"a",
        ] {
            assert_eq!(indent(text), None, "{text}");
        }
    }

    #[test]
    fn deep_nesting_stays_small() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(indent(&deep), None);
        let usual = format!("{}{}", "[".repeat(12), "]".repeat(12));
        assert!(indent(&usual).is_some());
    }
}
