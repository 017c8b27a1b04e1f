//! Finds the machines of sessions, and those machines that do not answer.

use super::{SessionKey, Sessions};
use crate::window::Overrides;
use jiff::Timestamp;
use std::sync::Arc;

/// A machine that does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Away {
    /// The time of its last line; `None`: it has not answered yet.
    pub since: Option<Timestamp>,
    /// The reason, in a few words. It may be text of the other machine: make it inert before showing it.
    pub why: Box<str>,
}

impl Sessions {
    /// Returns the machine that the log of a session is on, as the user names it; `None`: it is this one.
    pub fn host(&self, key: SessionKey) -> Option<&Arc<str>> {
        Some(&self.facts(key)?.host.as_ref()?.name)
    }

    /// Returns the settings of the agent of a session.
    pub fn settings(&self, key: SessionKey) -> Option<&Overrides> {
        Some(&self.files.get(&key.file)?.settings)
    }

    /// Returns since when and why the machine of a session does not answer; `None`: it does. What is shown of the
    /// session is as old as that, and may have changed since.
    pub fn away(&self, key: SessionKey) -> Option<&Away> {
        // Few people have other machines, and every row asks.
        if self.away.is_empty() {
            return None;
        }
        self.away.get(self.host(key)?)
    }

    /// Returns since when and why a machine does not answer; `None`: it does.
    pub fn host_away(&self, host: &str) -> Option<&Away> {
        self.away.get(host)
    }

    /// Returns the number of machines that do not answer.
    pub fn hosts_away(&self) -> usize {
        self.away.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Conversation, Meta};
    use crate::lists::sessions::{FileFacts, FileId, OtherHost, Update};
    use crate::session::Session;
    use crate::testing::file_facts;
    use crate::window::Limits;
    use crate::window::set::WindowScope;

    fn found(n: u64, host: Option<OtherHost>) -> Update {
        Update::Found(Box::new(FileFacts {
            id: Some(n.to_string()),
            host: host.map(Arc::new),
            ..file_facts(FileId(n), "codex", "/logs/1.jsonl")
        }))
    }

    fn with_folder(sessions: &mut Sessions, n: u64, folder: Option<&str>) -> SessionKey {
        let mut session = Session::new("codex", Arc::default());
        session.meta = Meta {
            id: Some(n.to_string().into()),
            cwd: folder.map(Into::into),
            ..Meta::default()
        };
        let (file, conversation) = (FileId(n), Conversation::Main);
        sessions.apply(Update::Summaries {
            file,
            summaries: vec![(conversation, session.summary())],
        });
        SessionKey { file, conversation }
    }

    fn limits() -> Limits {
        let limits = Session::new("codex", Arc::default()).limits();
        Limits {
            window: 77_000,
            trigger: Some(70_000),
            ..limits.clone()
        }
    }

    #[test]
    fn a_folder_that_is_called_like_a_project_of_another_machine_is_one_of_this_machine() {
        let mut all = Sessions::new(Arc::default());
        let build: Arc<str> = "build-1".into();
        all.apply(found(1, Some(OtherHost::new(&build, "shop", limits()))));
        all.apply(found(2, Some(OtherHost::new(&build, "one/web", limits()))));
        (3..=6).for_each(|n| all.apply(found(n, None)));
        let there = [1, 2].map(|n| with_folder(&mut all, n, None));
        let folders = [
            "build-1:shop",
            "/srv/build-1:shop",
            "build-1:one/web",
            "/web",
        ];
        let here = [3, 4, 5, 6].map(|n| with_folder(&mut all, n, Some(folders[n as usize - 3])));
        let name = |key: SessionKey| all.project(key).to_owned();
        assert_eq!(there.map(name), ["build-1:shop", "build-1:one/web"]);
        assert_eq!(
            here.map(name),
            [
                "build-1:shop",
                "srv/build-1:shop",
                "build-1:one/web",
                "/web"
            ]
        );
        let by = |key, by| all.is_in_project(all.gauge(key).unwrap(), by);
        assert!(by(there[1], "build-1") && by(there[1], "one/w"));
        // Of a folder here, the last part is the name.
        assert!(!by(here[2], "build-1") && by(here[2], "web"));
        assert!(all.gauge(there[0]).unwrap().folder().is_empty());
    }

    #[test]
    fn limits_of_another_machine_are_those_that_it_has_sent() {
        let mut all = Sessions::new(Arc::default());
        let on = OtherHost::new(&"build-1".into(), "shop", limits());
        all.apply(found(1, Some(on)));
        all.apply(found(2, None));
        let [there, here] = [1, 2].map(|n| with_folder(&mut all, n, None));
        // Its log has the path of one on this machine.
        for id in ["1", "2"] {
            let scope = WindowScope::Session {
                path: "/logs/1.jsonl".to_owned(),
                id: id.to_owned(),
            };
            all.set_window(scope, Some(5_000));
        }
        let window = |key| all.gauge(key).unwrap().limits().window;
        assert_eq!((window(there), window(here)), (77_000, 5_000));
        assert_eq!(all.gauge(there).unwrap().limits(), &limits());
    }
}
