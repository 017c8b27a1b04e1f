//! Databases that somebody made to do harm.

use super::*;

/// A database in this folder whose sessions are a view, which counts with `n`.
fn with_view(folder: &std::path::Path, query: &str) -> PathBuf {
    let path = folder.join("x.talks");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch(TABLES).unwrap();
    let view = format!("DROP TABLE talk; CREATE VIEW talk AS WITH RECURSIVE n(id) AS {query}");
    writer.execute_batch(&view).unwrap();
    path
}

#[test]
fn an_endless_view_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let path = with_view(
        dir.path(),
        "(SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, NULL AS parent, 0 AS updated, '' AS cwd
         FROM n WHERE id < 0;",
    );
    let database = Database {
        longest_query: Duration::ZERO,
        ..Database::new(&Location::here(path), &TALKS, &Clock::default())
    };
    let (_, error) = database.sessions();
    assert!(error.unwrap().to_string().contains("interrupted"));
}

/// Ids of 200 KB took 8 GB in ten seconds.
#[test]
fn a_view_of_long_ids_takes_no_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = with_view(
        dir.path(),
        "(SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 100)
         SELECT CASE WHEN id = 7 THEN 'seven' ELSE hex(zeroblob(100000)) || id END AS id,
         hex(zeroblob(100000)) AS parent, 0 AS updated, '' AS cwd FROM n;",
    );
    let (sessions, error) =
        Database::new(&Location::here(path), &TALKS, &Clock::default()).sessions();
    assert!(error.is_none(), "{error:?}");
    let listed: Vec<_> = sessions.values().collect();
    assert_eq!((listed.len(), &*listed[0].id), (1, "seven"));
    assert!(listed[0].parent.is_none());
}

/// A journal that its writer left behind, which names another journal at its end.
fn journal_that_names(other: &std::path::Path, pages: u32) -> Vec<u8> {
    let name = other.to_str().unwrap().as_bytes();
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    // No page, a nonce, the database's pages, the bytes of a sector and of a page.
    for field in [0, 7, pages, 512, 4096_u32] {
        journal.extend(field.to_be_bytes());
    }
    journal.resize(512, 0);
    // The page of the lock: no page of a database.
    journal.extend((0x4000_0000_u32 / 4096 + 1).to_be_bytes());
    journal.extend(name);
    let sum = name.iter().map(|byte| u32::from(*byte)).sum::<u32>();
    journal.extend(u32::try_from(name.len()).unwrap().to_be_bytes());
    journal.extend(sum.to_be_bytes());
    journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    journal
}

/// SQLite deletes the journal that a journal names, whatever file that is.
#[test]
fn a_journal_that_names_another_file_does_not_have_it_deleted() {
    let agent = Agent::new("delete");
    agent.talk("a", &["{\"toy\":1}"]);
    let pages = agent
        .writer
        .pragma_query_value(None, "page_count", |row| row.get(0));
    let (pages, path) = (pages.unwrap(), agent.path.clone());
    let precious = agent.home.path().join("precious");
    fs::write(&precious, "of the user").unwrap();
    let mut journal = agent.path.clone().into_os_string();
    journal.push("-journal");
    fs::write(&journal, journal_that_names(&precious, pages)).unwrap();
    agent.age();
    let found = agent.look();
    assert!(precious.exists(), "deleted");
    assert!(found.files.is_empty());
    assert!(
        found.problems[0].1.contains("start the agent once"),
        "{:?}",
        found.problems
    );
    assert!(path.exists() && PathBuf::from(journal).exists());
}
