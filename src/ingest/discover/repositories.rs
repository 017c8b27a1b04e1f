//! The folders that working directories belong to: a worktree to its repository, a folder that the agent changed to
//! to the one that it was started in.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// The largest file `.git`, in bytes: it has a path.
const LARGEST_GIT_FILE: u64 = 16 << 10;

/// The repositories of worktrees, each looked for once: a worktree that is removed meanwhile stays its repository's.
#[derive(Debug, Default)]
pub(super) struct Repositories {
    known: HashMap<PathBuf, Option<String>>,
}

impl Repositories {
    /// Returns the folder in a repository that is this folder in one of its worktrees; `None`: it is in none.
    pub(super) fn of(&mut self, folder: &Path) -> Option<String> {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let found = find(folder);
        self.known.insert(folder.to_path_buf(), found.clone());
        found
    }
}

/// Returns the folder that an agent was started in: that, or one above it, after which the folder of the log is named.
pub(super) fn started_in<'c>(log: &Path, cwd: &'c str) -> &'c str {
    let folders = log.ancestors().skip(1).filter_map(Path::file_name);
    // Other folders have names without the separator that a whole path begins with.
    let is_path = |name: &&str| name.starts_with('-') || name.contains("--");
    let named: Vec<&str> = folders
        .filter_map(|name| name.to_str())
        .filter(is_path)
        .map(|name| name.trim_matches('-'))
        .collect();
    let mut above = Some(cwd).filter(|_| !named.is_empty());
    while let Some(folder) = above {
        if named.contains(&with_hyphens(folder).trim_matches('-')) {
            return folder;
        }
        above = folder.rfind(['/', '\\']).map(|at| &folder[..at]);
        above = above.filter(|folder| !folder.is_empty());
    }
    cwd
}

/// Returns a path with hyphens in the place of all but letters and digits.
pub(super) fn with_hyphens(path: &str) -> String {
    let hyphens = |c: char| if c.is_alphanumeric() { c } else { '-' };
    path.chars().map(hyphens).collect()
}

/// Like [`Repositories::of`], but for a worktree that agents make in the repository, `.claude/worktrees/NAME`, by its
/// path alone: it may be gone, or on another machine.
pub(super) fn worktree_below(folder: &str, home: Option<&Path>) -> Option<String> {
    let parts: Vec<&str> = folder.split(['/', '\\']).collect();
    let is_worktree =
        |parts: &[&str]| parts[0].len() > 1 && parts[0].starts_with('.') && parts[1] == "worktrees";
    let at = parts.windows(3).position(is_worktree)?;
    // Below a home folder are worktrees of any repository.
    let is_home = matches!(
        parts[..at],
        [.., "home" | "Users", _] | ["", "root"] | [""] | []
    );
    let columns = |parts: &[&str]| parts.iter().map(|part| part.len() + 1).sum::<usize>() - 1;
    let repository = folder.get(..columns(parts.get(..at).filter(|_| !is_home)?))?;
    if home == Some(Path::new(repository)) {
        return None;
    }
    let below = folder.get(columns(&parts[..at + 3])..)?;
    Some(format!("{repository}{below}"))
}

fn find(folder: &Path) -> Option<String> {
    let (worktree, git) = folder.ancestors().find_map(|above| {
        let git = above.join(".git");
        std::fs::symlink_metadata(&git).ok()?;
        Some((above, git))
    })?;
    // In a repository it is a folder.
    let text = files::read_text(&git, LARGEST_GIT_FILE).ok()?;
    let of_worktree = text.strip_prefix("gitdir:")?.trim();
    let of_worktree = resolved(&worktree.join(of_worktree));
    // A submodule's is in `modules`.
    let worktrees = of_worktree.parent()?;
    let common = worktrees
        .parent()
        .filter(|_| worktrees.ends_with("worktrees"))?;
    let is_hidden = common.file_name()?.to_str()?.starts_with('.');
    let repository = if is_hidden { common.parent()? } else { common };
    let below = folder.strip_prefix(worktree).ok()?;
    let found = if below.as_os_str().is_empty() {
        repository.to_path_buf()
    } else {
        repository.join(below)
    };
    found.into_os_string().into_string().ok()
}

/// Returns a path without `.` and `..`, by its text alone.
pub(super) fn resolved(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            part => resolved.push(part),
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_worktree_belongs_to_its_repository() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        let git = |folder: &str, text: String| {
            fs::create_dir_all(at(folder)).unwrap();
            fs::write(at(folder).join(".git"), text).unwrap();
        };
        let absolute = |path: &str| format!("gitdir: {}\n", at(path).display());
        fs::create_dir_all(at("shop/.git/worktrees/fix")).unwrap();
        fs::create_dir_all(at("shop/src")).unwrap();
        git("fix/src", String::new());
        fs::remove_file(at("fix/src/.git")).unwrap();
        git("fix", absolute("shop/.git/worktrees/fix"));
        git("next", "gitdir: ../shop/.git/worktrees/next".to_owned());
        git("shop/lib", absolute("shop/.git/modules/lib"));
        git("tea/main", absolute("tea/.bare/worktrees/main"));
        git("cup", absolute("cup.git/worktrees/cup"));
        git("odd", "gitdir".to_owned());
        let mut repositories = Repositories::default();
        let mut of = |folder: &str| {
            let found = repositories.of(&at(folder))?;
            let below = Path::new(&found).strip_prefix(dir.path()).unwrap();
            Some(below.to_str().unwrap().to_owned())
        };
        let some = |folder: &str| Some(folder.to_owned());
        assert_eq!(of("fix"), some("shop"));
        assert_eq!(of("fix/src"), some("shop/src"));
        assert_eq!(of("next"), some("shop"));
        assert_eq!(of("tea/main"), some("tea"));
        assert_eq!(of("cup"), some("cup.git"));
        for own in ["shop", "shop/src", "shop/lib", "odd"] {
            assert_eq!(of(own), None, "{own}");
        }
        fs::remove_file(at("fix/.git")).unwrap();
        assert_eq!(of("fix"), some("shop"), "as it was");
    }

    #[test]
    fn a_worktree_that_is_gone_is_recognised_by_its_path() {
        let home = Some(Path::new("/u/ada"));
        let of = |folder: &str| worktree_below(folder, home);
        let some = |folder: &str| Some(folder.to_owned());
        assert_eq!(of("/w/shop/.claude/worktrees/fix-a"), some("/w/shop"));
        assert_eq!(
            of("/w/shop/.claude/worktrees/fix-a/src/x"),
            some("/w/shop/src/x")
        );
        assert_eq!(
            of(r"C:\w\shop\.claude\worktrees\a\src"),
            some(r"C:\w\shop\src")
        );
        for other in [
            "/u/ada/.codex/worktrees/ab12/shop",
            r"C:\Users\ada\.codex\worktrees\ab12\shop",
            "/.claude/worktrees/a",
            "/w/shop/worktrees/a",
            "/w/shop/.claude/worktrees",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
        for home in ["/home/ada", "/root"] {
            for below in [".codex/worktrees/ab12/shop", ".cursor/worktrees/shop/x"] {
                let folder = format!("{home}/{below}");
                assert_eq!(of(&folder), None, "{folder}");
            }
        }
    }

    #[test]
    fn the_folder_of_a_log_says_where_the_agent_was_started() {
        let log = Path::new("/home/ada/.claude/projects/-w-the-shop/3f2a.jsonl");
        let of = |cwd| started_in(log, cwd);
        assert_eq!(of("/w/the shop/src/x"), "/w/the shop");
        assert_eq!(of("/w/the-shop"), "/w/the-shop");
        assert_eq!(of("/elsewhere/src"), "/elsewhere/src");
        let other = Path::new("/home/ada/.codex/sessions/2026/a.jsonl");
        assert_eq!(started_in(other, "/home/bo/web"), "/home/bo/web");
        let pi = Path::new("/x/--w-shop--/2026_a.jsonl");
        assert_eq!(started_in(pi, "/w/shop/lib"), "/w/shop");
        let windows = Path::new("/x/C--w-shop/a.jsonl");
        assert_eq!(started_in(windows, r"C:\w\shop\lib"), r"C:\w\shop");
    }
}
