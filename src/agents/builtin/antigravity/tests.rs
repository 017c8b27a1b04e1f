use super::*;

const CLI: &str = "/home/dev/.gemini/antigravity-cli";

#[test]
fn logs_are_claimed_by_their_place() {
    let claim = |path: &str| ANTIGRAVITY.claims(Path::new(&format!("{CLI}/{path}")));
    let lines = claim("brain/c-1/.system_generated/logs/transcript.jsonl").unwrap();
    assert_eq!(
        (lines.id.as_deref(), lines.store),
        (Some("c-1"), StoreKind::Lines)
    );
    let whole = lines.superseded_by.unwrap();
    assert!(whole.ends_with("c-1/.system_generated/logs/transcript_full.jsonl"));
    let database = claim("conversations/c-1.db").unwrap();
    assert_eq!(database.id.as_deref(), Some("c-1"));
    let lines = format!("{CLI}/brain/c-1/.system_generated/logs/transcript.jsonl");
    assert_eq!(database.superseded_by.as_deref(), Some(Path::new(&lines)));
    assert_eq!(claim("brain/c-1/notes.md"), None);
    assert_eq!(claim("brain/c-1/other/transcript.jsonl"), None);
    assert_eq!(claim("conversation_summaries.db"), None);
    let beside = generation::beside(Path::new(&lines)).unwrap();
    assert_eq!(beside, Path::new(CLI).join("conversations/c-1.db"));
}

#[test]
fn a_step_begins_with_its_index() {
    assert!(ANTIGRAVITY.recognise(br#"{"step_index": 0, "source": "MODEL", "type": "X"}"#));
    assert!(!ANTIGRAVITY.recognise(br#"{"step_index":0,"action":"X"}"#));
}

/// A message of these fields.
fn message(fields: &[(u64, &[u8])]) -> Vec<u8> {
    let field = |(number, bytes): &(u64, &[u8])| {
        let mut field = vec![u8::try_from(number << 3 | 2).unwrap_or(0xff)];
        if *number > 15 {
            field = vec![(number << 3 | 2) as u8 & 0x7f | 0x80, (number >> 4) as u8];
        }
        field.push(bytes.len() as u8);
        field.extend_from_slice(bytes);
        field
    };
    fields.iter().flat_map(field).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

#[test]
fn a_generation_has_the_whole_prompt_and_what_was_said() {
    // 2: 30265, 3: 730, 5: 1000, 9: 659, 10: 71, 11: "r-1"
    let numbers = [
        0x08, 0xf8, 0x07, 0x10, 0xb9, 0xec, 0x01, 0x18, 0xda, 0x05, 0x28, 0xe8, 0x07, 0x48, 0x93,
        0x05, 0x50, 0x47, 0x5a, 0x03, b'r', b'-', b'1',
    ];
    let ended = message(&[(4, &[0x08, 0xe8, 0x07])]);
    let chat = message(&[(4, &numbers), (9, &ended), (19, b"gemini-3-pro")]);
    let row = message(&[(2, &[2, 3]), (1, &chat)]);
    let (usage, steps, at) = generation::read(&hex(&row)).unwrap().unwrap();
    assert_eq!(
        (usage.prompt, usage.cached, usage.output),
        (31_265, 1000, Some(71))
    );
    assert_eq!(
        (usage.billed.reasoning, usage.model.as_deref()),
        (659, Some("gemini-3-pro"))
    );
    assert_eq!(usage.request, Key::of_parts(&["antigravity", "r-1"]));
    assert_eq!(steps, [generation::step(2), generation::step(3)]);
    assert_eq!(at.unwrap().as_second(), 1000);
    for end in 0..row.len() {
        assert!(
            generation::read(&hex(&row[..end])).flatten().is_none(),
            "{end}"
        );
    }
    assert!(generation::read("zz").is_none());
}

#[test]
fn the_folder_is_in_one_of_two_places() {
    let new = message(&[(7, b"file:///home/dev/shop")]);
    let old = message(&[(1, &message(&[(1, b"file:///home/dev/mill")]))]);
    assert_eq!(
        generation::about(&hex(&new)).cwd.as_deref(),
        Some("/home/dev/shop")
    );
    assert_eq!(
        generation::about(&hex(&old)).cwd.as_deref(),
        Some("/home/dev/mill")
    );
    assert_eq!(generation::about("00").cwd, None);
}

#[test]
fn what_the_user_typed_is_in_tags() {
    let items = |content: &str| {
        let mut out = EventSink::new(&model::event::ByLength);
        let items = input(content, &mut out);
        items.iter().map(|item| item.role).collect::<Vec<_>>()
    };
    let both = [Role::User, Role::Container];
    assert_eq!(
        items("<USER_REQUEST>\nGo\n</USER_REQUEST>\n<SETTINGS>x</SETTINGS>"),
        both
    );
    assert_eq!(items("Go"), [Role::User]);
    assert_eq!(items("<USER_REQUEST>Go"), [Role::User]);
}
