//! Tests which logs a database has, and their order.

use super::*;

#[test]
fn each_session_is_a_log_of_its_own() {
    let agent = Agent::new("wal");
    agent.talk("a", &["{\"toy\":1}", "{\"toy\":2}"]);
    agent.talk("b", &["{\"toy\":3}"]);
    agent.run("UPDATE talk SET parent = 'a' WHERE id = 'b'");
    let found = agent.look();
    assert_eq!(found.files.len(), 2);
    let b = agent.log("b");
    assert_eq!(b.facts.parent.as_deref(), Some("a"));
    assert_ne!(b.facts.file, agent.log("a").facts.file);
    assert!(b.facts.modified.is_some());
    assert_eq!(prompts(&agent.log("a")), [1, 2]);
    assert_eq!(prompts(&b), [3]);
    let session = main_of(tail_only(&b, &Arc::default()).unwrap());
    assert_eq!(session.project(), "b", "from the line about the session");
    // However the database is named.
    for root in [
        SearchRoot::Given(agent.path.clone()),
        SearchRoot::Given(agent.home.path().to_path_buf()),
        SearchRoot::Forced(&TOY, agent.path.clone()),
    ] {
        let found = Scanner::new(vec![root], vec![&TOY], |_| None).look();
        assert_eq!(found.files.len(), 2);
    }
    let mut scanner = Scanner::new(
        vec![SearchRoot::Given(agent.path.clone())],
        vec![&TOY],
        |_| None,
    );
    assert_eq!(
        scanner
            .scan_below(&agent.path.with_extension("talks-wal"))
            .files
            .len(),
        2
    );
}

#[test]
fn sessions_of_one_time_have_an_order() {
    let agent = Agent::new("wal");
    let ids: Vec<String> = (10..42).map(|nth| format!("s{nth}")).collect();
    for id in &ids {
        agent.talk(id, &["{\"toy\":1}"]);
    }
    agent.run("UPDATE talk SET updated = 1");
    let files = agent.look().files.into_iter();
    let found: Vec<Option<String>> = files.map(|log| log.facts.id.clone()).collect();
    assert_eq!(found, ids.into_iter().map(Some).collect::<Vec<_>>());
}
