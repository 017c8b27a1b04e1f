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
    let context = first.gauge(&path).context;
    first.end();

    let mut second = with_cache(dir.path());
    let gauge = second.gauge(&path);
    assert_eq!((gauge.context, gauge.project()), (context, "shop"));
    let read = second.seen.iter().filter(|kind| **kind == "summaries");
    assert_eq!(read.count(), 1);
    assert_eq!(second.sessions.title(key(&path)).unwrap(), "words");
    // It is read when somebody opens it.
    assert!(second.sessions.get(key(&path)).is_none());
    second.handle.look_at(file_id(&path));
    second.until("all of it", |sessions| sessions.get(key(&path)).is_some());
    assert_eq!(second.session(&path).context().known, context.known);
    second.end();

    let mut third = with_cache(dir.path());
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
    assert_eq!(fourth.gauge(&path).context.known, 401);
}

#[test]
fn opening_a_session_reads_its_log() {
    let (dir, path) = folder();
    fs::write(&path, "{\"toy\":100}\n{\"say\":\"words\"}\n").unwrap();
    age(&path);
    with_cache(dir.path()).end();
    let mut watching = with_cache(dir.path());
    assert!(watching.sessions.get(key(&path)).is_none());
    watching.handle.look_at(file_id(&path));
    watching.until("opened", |sessions| {
        let session = sessions.get(key(&path));
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
