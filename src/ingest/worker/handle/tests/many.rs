//! Many files in one folder.

use super::append;
use crate::discover::Scanner;
use crate::discover::roots::SearchRoot;
use crate::log::reader::read_whole;
use crate::testing::TOY;
use model::event::ByLength;
use model::lists::sessions::FileId;
use std::collections::HashSet;
use std::sync::Arc;
use std::{fs, io};

#[test]
fn ten_thousand_files_are_each_found_once_and_not_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..10_000 {
        let folder = dir.path().join(format!("{}", n / 100));
        if n % 100 == 0 {
            fs::create_dir(&folder).unwrap();
        }
        fs::write(folder.join(format!("{n}.toy")), "{\"toy\":1}\n").unwrap();
    }
    let roots = vec![SearchRoot::Usual(&TOY, dir.path().to_path_buf())];
    let mut scanner = Scanner::new(roots, vec![&TOY], |_| None);
    for _ in 0..2 {
        let found = scanner.look();
        let files: HashSet<FileId> = found.files.iter().map(|log| log.facts.file).collect();
        assert_eq!((files.len(), found.files.len()), (10_000, 10_000));
        // What vanishes between the walk and a reading is an error of that reading alone.
        fs::remove_file(&*found.files[0].facts.path).unwrap();
        let read = read_whole(&found.files[0], &ByLength, &Arc::default());
        assert_eq!(read.err().map(|e| e.kind()), Some(io::ErrorKind::NotFound));
        append(&found.files[0].facts.path, "{\"toy\":1}\n");
    }
}
