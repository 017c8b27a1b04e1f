//! Logs that come from the cache.

use super::*;
use crate::discover::roots::SearchRoot;

/// Watches a folder with a cache beside it, until all is read.
fn with_cache(folder: &Path) -> Watching {
    let mut watching = Watching::new(Options {
        cache: Some(folder.join("cache")),
        ..options(vec![SearchRoot::Usual(&TOY, folder.to_path_buf())])
    });
    watching.until_seen("caught up");
    watching
}

/// Makes a log an hour old, so that nobody seems to write to it.
fn age(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let then = SystemTime::now() - Duration::from_secs(3600);
    file.set_modified(then).unwrap();
}

#[test]
fn an_unchanged_log_comes_from_the_cache_until_it_changes() {
    let (dir, path) = folder();
    let text =
        "{\"cwd\":\"/p/shop\"}\n{\"say\":\"words\"}\n{\"toy\":100}\n{\"say\":\"more words\"}\n";
    fs::write(&path, text).unwrap();
    age(&path);
    let first = with_cache(dir.path());
    assert!(!first.session(&path).lacks_texts());
    let context = first.session(&path).context();
    first.end();

    let mut second = with_cache(dir.path());
    let session = second.session(&path);
    assert!(session.lacks_texts());
    assert_eq!((session.context(), session.project()), (context, "shop"));
    assert_eq!(
        second
            .seen
            .iter()
            .filter(|kind| **kind == "rebuilt")
            .count(),
        1
    );
    // It has its title.
    assert!(!second.session(&path).lacks_title());
    assert_eq!(second.fleet.title(key(&path)).unwrap(), "words");
    // It is read for its texts, and when somebody opens it.
    second.handle.need_texts([file_id(&path)]);
    second.until("texts", |fleet| {
        fleet
            .get(key(&path))
            .is_some_and(|session| !session.lacks_texts())
    });
    assert_eq!(second.session(&path).context(), context);
    second.end();

    let mut third = with_cache(dir.path());
    assert!(third.session(&path).lacks_texts());
    append(&path, "{\"toy\":300}\n");
    third.until_known(&path, 301);
    third.assert_same_as_fresh(&path);
    third.end();

    // What was appended while nobody watched.
    age(&path);
    with_cache(dir.path()).end();
    append(&path, "{\"toy\":400}\n");
    age(&path);
    let fourth = with_cache(dir.path());
    assert!(!fourth.session(&path).lacks_texts());
    fourth.assert_same_as_fresh(&path);
}

#[test]
fn the_end_of_a_log_is_read_for_a_long_title() {
    let (dir, path) = folder();
    let title = "long ".repeat(100);
    fs::write(
        &path,
        format!("{{\"title\":\"{title}\"}}\n{{\"toy\":100}}\n"),
    )
    .unwrap();
    age(&path);
    with_cache(dir.path()).end();
    let mut watching = with_cache(dir.path());
    assert!(watching.session(&path).lacks_title());
    watching.handle.need_titles([file_id(&path)]);
    let titled = |fleet: &Fleet| fleet.title(key(&path)).is_some();
    watching.until("titles", titled);
    assert_eq!(watching.fleet.title(key(&path)).unwrap(), title);
    let session = watching.session(&path);
    assert!(session.lacks_texts() && !session.lacks_title());
}

#[test]
fn opening_a_session_reads_its_log() {
    let (dir, path) = folder();
    fs::write(&path, "{\"toy\":100}\n{\"say\":\"words\"}\n").unwrap();
    age(&path);
    with_cache(dir.path()).end();
    let mut watching = with_cache(dir.path());
    assert!(watching.session(&path).lacks_texts());
    watching.handle.look_at(file_id(&path));
    watching.until("opened", |fleet| {
        let session = fleet.get(key(&path));
        session.is_some_and(|session| session.items().iter().any(|item| &*item.preview == "words"))
    });
    watching.assert_same_as_fresh(&path);
}

#[test]
fn a_cache_that_cannot_be_written_is_one_problem() {
    let (dir, path) = folder();
    fs::write(&path, "{\"toy\":100}\n").unwrap();
    age(&path);
    fs::write(dir.path().join("cache"), "a file").unwrap();
    let mut watching = with_cache(dir.path());
    watching.until_seen("problem");
    append(&path, "{\"toy\":200}\n");
    watching.until_known(&path, 201);
    let problems = watching.seen.iter().filter(|kind| **kind == "problem");
    assert_eq!(problems.count(), 1);
}
