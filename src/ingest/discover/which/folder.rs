//! Finds the session that is meant by a working directory.

use std::path::{Path, PathBuf};

/// Returns the newest session of a folder, which is named by each of its paths, or of the nearest one around it; and that
/// folder. Sessions come with their folders, the newest first.
pub fn newest<T>(
    sessions: impl IntoIterator<Item = (T, PathBuf)>,
    here: &[PathBuf],
    home: Option<&Path>,
) -> Option<(T, PathBuf)> {
    if here.is_empty() {
        return None;
    }
    let meant = meant_by(here, home);
    let mut nearest = None;
    let mut limit = meant.len();
    for (session, folder) in sessions {
        let place = meant[..limit].iter().position(|meant| *meant == folder);
        let Some(place) = place else { continue };
        nearest = Some((session, folder));
        if place < here.len() {
            break;
        }
        limit = place;
    }
    nearest
}

/// Returns the folders whose sessions are meant, in this order: the working directory, by each of its paths, then its
/// parents, the nearest first. The user's home and its parents are no projects.
fn meant_by(here: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    let is_project = |folder: &Path| home.is_none_or(|home| !home.starts_with(folder));
    let around = here.iter().flat_map(|folder| {
        let around = folder.ancestors().skip(1);
        around.take_while(|folder| is_project(folder))
    });
    let around = around.map(Path::to_path_buf);
    here.iter().cloned().chain(around).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_session_of_the_folder_itself_is_meant_before_those_around_it() {
        let here = ["/srv/a/b".into(), "/real/b".into()];
        let newest = |folders: &[&str]| {
            let sessions = folders.iter().map(PathBuf::from).enumerate();
            newest(sessions, &here, None).map(|(session, _)| session)
        };
        assert_eq!(newest(&["/srv", "/srv/a", "/real/b", "/srv/a/b"]), Some(2));
        assert_eq!(newest(&["/srv", "/srv/a", "/srv/a", "/srv"]), Some(1));
        assert_eq!(newest(&["/srv/c", "/srv/a/b/c"]), None);
    }

    #[test]
    fn a_folder_is_meant_before_those_around_it_and_a_home_is_none_of_these() {
        let meant = |here: &str, home: Option<&str>| {
            let meant = meant_by(&[here.into()], home.map(Path::new));
            meant
                .iter()
                .map(|it| it.display().to_string())
                .collect::<Vec<_>>()
        };
        let home = Some("/home/ada");
        assert_eq!(
            meant("/home/ada/a/b", home),
            ["/home/ada/a/b", "/home/ada/a"]
        );
        assert_eq!(meant("/home/ada", home), ["/home/ada"]);
        assert_eq!(meant("/srv/a", home), ["/srv/a", "/srv"]);
        assert_eq!(meant("/", home), ["/"]);
        assert_eq!(meant("/srv/a", None), ["/srv/a", "/srv", "/"]);
    }
}
