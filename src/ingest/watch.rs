//! Hints from the system that something was written. Only hints: stat decides.
//!
//! notify's own poll watcher compares whole seconds and loses appends, so it is not used. Without hints,
//! the worker still looks at the files regularly.

use super::roots::SearchRoot;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A hint from the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Something happened to this path.
    Changed(PathBuf),
    /// Something happened somewhere.
    Anything,
}

/// Watches for as long as it lives.
pub struct Watch {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
}

impl Watch {
    /// A watcher that watches nothing yet. `hint` is called on its own thread.
    pub fn new(hint: impl Fn(Hint) + Send + 'static) -> notify::Result<Watch> {
        let on_event = move |event: notify::Result<notify::Event>| match event {
            Err(_) => hint(Hint::Anything),
            Ok(event) if event.need_rescan() => hint(Hint::Anything),
            // Our own reading is an access too.
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
            Ok(event) => event
                .paths
                .into_iter()
                .for_each(|path| hint(Hint::Changed(path))),
        };
        Ok(Watch {
            watcher: notify::recommended_watcher(on_event)?,
            watched: BTreeSet::new(),
        })
    }

    /// Watches the places that exist and are not watched yet; returns those that cannot be.
    pub fn cover(&mut self, roots: &[SearchRoot]) -> Vec<(PathBuf, notify::Error)> {
        let mut failed = Vec::new();
        self.watched.retain(|path| path.exists());
        for root in roots {
            let path = root.path();
            let (path, mode) = if path.is_dir() {
                match root.is_flat() {
                    true => (path, RecursiveMode::NonRecursive),
                    false => (path, RecursiveMode::Recursive),
                }
            } else if path.is_file() {
                // The folder's watch survives the file's replacement.
                let folder = path.parent().filter(|folder| *folder != Path::new(""));
                (
                    folder.unwrap_or(Path::new(".")),
                    RecursiveMode::NonRecursive,
                )
            } else {
                continue;
            };
            if self.watched.contains(path) {
                continue;
            }
            if let Err(e) = self.watcher.watch(path, mode) {
                failed.push((path.to_path_buf(), e));
            }
            // What failed once is not tried every few seconds.
            self.watched.insert(path.to_path_buf());
        }
        failed
    }
}
