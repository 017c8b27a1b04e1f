//! Limits how far a walk goes.

/// The depth to which folders are searched.
pub(super) const MOST_DEPTH: usize = 48;
/// In a folder that the user named, or that is linked into an agent's own, this many folders without a log are looked into: someone who names `/` learns it
/// within a second or two, and folders full of logs are searched however many they are.
const FOLDERS_WITHOUT_LOG: usize = 10_000;

/// The progress of a walk.
#[derive(Default)]
pub(super) struct Reach {
    /// True if a folder was too deep. Only the first one is reported.
    is_too_deep: bool,
    /// Folders since the last log.
    without_log: usize,
}

impl Reach {
    /// Checks that a folder is to be searched. `is_anything`: it may have nothing to do with agents.
    ///
    /// # Errors
    ///
    /// The folder is not searched. The reason is given once.
    pub(super) fn enter(&mut self, depth: usize, is_anything: bool) -> Result<(), Option<String>> {
        if depth > MOST_DEPTH {
            let is_first = !std::mem::replace(&mut self.is_too_deep, true);
            let what =
                format!("folders that are more than {MOST_DEPTH} folders deep are not looked into");
            return Err(is_first.then(|| format!("{what}, as this one: {CLOSER_FOLDER_ADVICE}")));
        }
        if !is_anything {
            return Ok(());
        }
        self.without_log = self.without_log.saturating_add(1);
        match self.without_log.checked_sub(FOLDERS_WITHOUT_LOG) {
            None | Some(0) => Ok(()),
            Some(1) => {
                let what = format!("there was no log in the last {FOLDERS_WITHOUT_LOG} folders");
                Err(Some(format!(
                    "{what}: from here on none is looked into; {CLOSER_FOLDER_ADVICE}"
                )))
            }
            Some(_) => Err(None),
        }
    }

    /// Notes that a log was found.
    pub(super) fn found(&mut self) {
        if self.without_log <= FOLDERS_WITHOUT_LOG {
            self.without_log = 0;
        }
    }

    /// Notes that another root is searched.
    pub(super) fn begin(&mut self) {
        self.without_log = 0;
    }
}

const CLOSER_FOLDER_ADVICE: &str = "name a folder closer to the logs";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_gives_up_after_many_folders_without_a_log_and_says_so_once() {
        let mut reach = Reach::default();
        for _ in 0..3 {
            assert!((0..FOLDERS_WITHOUT_LOG).all(|_| reach.enter(1, true).is_ok()));
            reach.found();
        }
        assert!(
            (0..=FOLDERS_WITHOUT_LOG).all(|_| reach.enter(1, false).is_ok()),
            "an agent's own"
        );
        assert!((0..FOLDERS_WITHOUT_LOG).all(|_| reach.enter(1, true).is_ok()));
        let why = reach.enter(1, true).unwrap_err().unwrap();
        assert!(why.contains("no log in the last 10000 folders"), "{why}");
        reach.found();
        assert_eq!(reach.enter(1, true), Err(None));
        reach.begin();
        assert_eq!(reach.enter(1, true), Ok(()));
    }
}
