use super::*;
use proptest::prelude::*;
use serde_json::value::RawValue;

const JSON: ArrayName = ArrayName::Json("list");
const YAML: ArrayName = ArrayName::Yaml("list");

fn parts(list: ArrayName, document: &str) -> Option<(Vec<&str>, Option<&str>)> {
    let rest = &document[start(list, document.as_bytes())?..];
    let elements = elements(list, rest.as_bytes());
    let ranges = elements.ranges.iter().cloned();
    Some((
        ranges.map(|range| &rest[range]).collect(),
        elements.end.map(|end| &rest[end..]),
    ))
}

#[test]
fn elements_of_a_json_list() {
    let document = r#" {"a": {"list": [0]}, "b\"": "list", "list": [1, "]", {"x": [{}, "}\\"]}, [ ] ], "z": 1}"#;
    assert_eq!(
        parts(JSON, document),
        Some((
            vec!["1", "\"]\"", r#"{"x": [{}, "}\\"]}"#, "[ ]"],
            Some("], \"z\": 1}")
        ))
    );
    assert_eq!(parts(JSON, r#"{"list":[]}"#), Some((vec![], Some("]}"))));
    for none in [
        "",
        "[1]",
        "{",
        r#"{"list":{}}"#,
        r#"{"list":"[1]"}"#,
        r#"{"list" [1]}"#,
    ] {
        assert_eq!(parts(JSON, none), None, "{none}");
    }
}

#[test]
fn a_list_that_is_cut_has_no_end() {
    let document = r#"{"list":[{"a":"b"},{"c":[12,3"#;
    assert_eq!(parts(JSON, document), Some((vec![r#"{"a":"b"}"#], None)));
    assert_eq!(parts(JSON, r#"{"list":[1,2"#), Some((vec!["1"], None)));
}

#[test]
fn elements_of_a_yaml_list() {
    let document =
        "id: x\nlist:\n- a: |-\n    - no element\n    list:\n\n  b: 1\n# remark\n- c\nz: 1\n- d\n";
    assert_eq!(
        parts(YAML, document),
        Some((
            vec![
                "- a: |-\n    - no element\n    list:\n\n  b: 1\n# remark\n",
                "- c\n"
            ],
            Some("z: 1\n- d\n")
        ))
    );
    assert_eq!(parts(YAML, "id: x\nlist: []\n"), None);
    assert_eq!(
        parts(YAML, "id: x\nlist:\n- a"),
        Some((vec!["- a"], Some("")))
    );
}

proptest! {
    #[test]
    fn elements_are_those_that_a_parser_finds(
        values in prop::collection::vec("[a-z0-9\\\\\"\\[\\]{}, é\n]{0,12}", 0..6),
        blank in "[ \n\t]{0,3}",
    ) {
        let values: Vec<serde_json::Value> = values
            .into_iter()
            .enumerate()
            .map(|(n, text)| match n % 3 {
                0 => text.into(),
                1 => serde_json::json!({ text: [n, null, -1.5e3] }),
                _ => serde_json::json!([[text], true]),
            })
            .collect();
        let list: Vec<String> = values.iter().map(ToString::to_string).collect();
        let list = format!("[{blank}{}{blank}]", list.join(&format!("{blank},{blank}")));
        let document = format!("{{\"x\":{},{blank}\"list\"{blank}:{list}}}", list);
        let raw: Vec<&RawValue> = serde_json::from_str(&list).unwrap();
        let raw: Vec<&str> = raw.iter().map(|raw| raw.get()).collect();
        prop_assert_eq!(parts(JSON, &document), Some((raw, Some("]}"))));
    }

    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(prop::sample::select(b"{}[]\",:\\- \nlist1".to_vec()), 0..60)) {
        for list in [JSON, YAML] {
            let from = start(list, &bytes).unwrap_or(0);
            let rest = &bytes[from.min(bytes.len())..];
            for range in elements(list, rest).ranges {
                prop_assert!(range.start < range.end && range.end <= rest.len());
            }
        }
    }
}
