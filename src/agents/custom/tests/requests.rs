//! Tests of mappings whose requests carry their history.

use super::*;

/// A log of requests, with how much of the history each of them carries.
fn requests(lists: &[(&[&str], Option<&str>)]) -> String {
    let message = |text: &&str| match text.split_once(' ') {
        Some(("u", text)) => format!("{{\"role\":\"user\",\"content\":\"{text}\"}}"),
        Some(("a", text)) => format!("{{\"role\":\"assistant\",\"content\":\"{text}\"}}"),
        _ => panic!("{text}"),
    };
    let mut log = String::new();
    for (n, (list, reply)) in lists.iter().enumerate() {
        let list: Vec<String> = list.iter().map(message).collect();
        let reply = reply.map_or("null".to_owned(), |text| message(&text));
        log += &format!(
            "{{\"id\":\"r{n}\",\"request\":{{\"messages\":[{}]}},\"response\":{{\"message\":{reply}}},\
             \"usage\":{{\"input\":{},\"output\":5}}}}\n",
            list.join(","),
            100 * (n + 1)
        );
    }
    log
}

#[test]
fn what_requests_have_in_common_counts_once() {
    let log = requests(&[
        (&["u one"], Some("a 1")),
        (&["u one", "a 1", "u two"], Some("a 2")),
        (&["u one", "a 1", "u two", "a 2", "u two"], Some("a 2")),
    ]);
    let session = read(format(REQUESTS), &log);
    let previews: Vec<&str> = session.items().iter().map(|item| &*item.preview).collect();
    assert_eq!(previews, ["one", "1", "two", "2", "two", "2"]);
    assert_eq!(session.requests().len(), 3);
    assert_eq!((session.context().known, session.resets().len()), (305, 0));
    assert_eq!((session.turns, session.alive().len()), (3, 6));
}

#[test]
fn an_answer_is_the_same_however_the_next_request_writes_it() {
    let lists: [(&[&str], _); 3] = [
        (&["u one"], Some("a one of it")),
        (&["u one", "a one", "a of it", "u two"], Some("a 2")),
        (
            &["u one", "a one", "a of it", "u two", "a 2", "u three"],
            None,
        ),
    ];
    let previews = |lists: &[_]| {
        let session = read(format(REQUESTS), &requests(lists));
        let alive = session.alive().into_iter();
        let previews: Vec<String> = alive
            .map(|ix| session.items()[ix].preview.to_string())
            .collect();
        (previews, session)
    };
    let (said, session) = previews(&lists);
    let unlogged = "(not in the log)";
    assert_eq!(said, ["one", "one", "of it", "two", "2", "three", unlogged]);
    assert_eq!((session.context().known, session.resets().len()), (305, 0));

    // Where no reply is logged, it comes with the next request.
    let lists = lists.map(|(list, _)| (list, None));
    let (said, session) = previews(&lists);
    assert_eq!(said, ["one", "one", "of it", "two", "2", "three", unlogged]);
    let mut said = session.alive().into_iter().map(|ix| &session.items()[ix]);
    assert!(said.all(|item| (item.role == Role::User) == item.output_of.is_none()));
    assert_eq!((session.context().known, session.resets().len()), (305, 0));
}

#[test]
fn what_is_no_longer_in_the_list_has_left() {
    let log = requests(&[
        (&["u one of a number of files"], Some("a 1")),
        (&["u one of a number of files", "a 1", "u two"], Some("a 2")),
        (&["u Summary: both", "u three"], Some("a 3")),
    ]);
    let session = read(format(REQUESTS), &log);
    assert_eq!(
        items_of(&session),
        [
            "container summary : Summary: both",
            "user text : three",
            "assistant text : 3"
        ]
    );
    assert_eq!(session.resets().len(), 1);
    assert_eq!(session.resets()[0].before, 205);
    // An answer that was thrown away alone is no compaction, and what comes back is there again.
    let log = requests(&[
        (&["u one"], Some("a 1")),
        (&["u one"], Some("a 2")),
        (&["u one", "a 2", "u two"], Some("a 3")),
        (&["u one"], Some("a 4")),
        (&["u one", "a 2", "u two"], Some("a 5")),
    ]);
    let session = read(format(REQUESTS), &log);
    assert_eq!(
        items_of(&session),
        [
            "user text : one",
            "assistant text : 2",
            "user text : two",
            "assistant text : 5"
        ]
    );
    assert_eq!(session.resets().len(), 0);
}
