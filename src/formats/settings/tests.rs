use super::*;

#[test]
fn comments_are_blanks_and_strings_are_not() {
    let text: &[u8] = br#"{ // of mine
        "a": "x // \" y", /* and "this" */ "b": 2 }"#;
    let layers = Layers::json_with_comments(&[b"broken", text]);
    let a = layers.find("/a", Value::as_str);
    assert_eq!(a, Some("x // \" y"));
    assert_eq!(layers.tokens("/b"), Some(2));
    for hostile in [&b"/*"[..], b"\"\\", b"//", b"/", b"{\"a\":/**/", b"[[[["] {
        assert_eq!(Layers::jsonc(&[hostile]).tokens("/a"), None);
    }
}

#[test]
fn each_syntax_reads_what_its_agents_read() {
    let read = |text: &str| {
        let files = [text.as_bytes()];
        let all = [
            Layers::json(&files),
            Layers::json_with_comments(&files),
            Layers::jsonc(&files),
        ];
        all.map(|layers| layers.tokens("/a").is_some())
    };
    assert_eq!(read("{\"a\":7}"), [true; 3]);
    assert_eq!(read("\u{feff}{\"a\":7}"), [true; 3]);
    assert_eq!(read("{\"a\":7} // mine"), [false, true, true]);
    assert_eq!(
        read("{\"b\":[1,\n],\"c\":\",}\",\"a\":7, /* last */ }"),
        [false, false, true]
    );
    assert_eq!(read("{\"a\":7,,}"), [false; 3]);
    assert_eq!(read("{\"c\":\",]\",\"d\":\"\\\",}\",\"a\":7}"), [true; 3]);
}

#[test]
fn a_threshold_by_all_its_names() {
    let share = |text: &str| threshold(&[text.as_bytes()], "/new/name").share;
    let old = r#""chatCompression":{"contextPercentageThreshold":0.6}"#;
    let older = format!("{{{old}}}");
    assert_eq!(share(&older), Some(0.6));
    assert_eq!(share(&format!("{{\"model\":{older}}}")), Some(0.6));
    let both = format!("{{\"new\":{{\"name\":0.4}}, // early\n{old}}}");
    assert_eq!(share(&both), Some(0.4));
    for none in [
        r#"{"new":{"name":40}}"#,
        r#"{"new":{"name":0}}"#,
        "{\"new\":[]}",
    ] {
        assert_eq!(share(none), None, "{none}");
    }
}

#[test]
fn the_first_that_says_it_readably_holds() {
    let layers = Layers::json(&[b"{\"a\":-1}", b"{\"a\":\"7\"}", b"{\"a\":9}"]);
    assert_eq!(layers.tokens("/a"), Some(7));
    let large = Layers::json(&[
        b"{\"a\":18446744073709551615}",
        b"{\"a\":1e300}",
        b"{\"a\":0}",
    ]);
    assert_eq!(large.tokens("/a"), None);
}
