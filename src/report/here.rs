//! Determines the projects whose sessions are meant by a working directory.

use std::path::{Path, PathBuf};

/// Returns the folders whose sessions are meant, in this order: the working directory, by each of its paths, then its
/// parents, the nearest first. The user's home and its parents are no projects.
pub fn meant_by(here: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
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
