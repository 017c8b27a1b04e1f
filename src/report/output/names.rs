//! Names sessions in output for programs: with the texts of their logs, without them, or by pseudonyms.

use crate::output::redact::Redactor;
use model::event::{Conversation, Key, Meta};
use model::lists::sessions::{FileFacts, SessionKey, Sessions, name_of};
use std::borrow::Cow;

/// The names of a gauge. They are those of its log: not safe to print as they are.
pub(crate) struct Names<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) path: Cow<'a, str>,
    pub(crate) name: String,
    /// The title in the log, else the beginning of the first prompt; `None`: not known, or left out.
    pub(crate) title: Option<Cow<'a, str>>,
    pub(crate) parent: Option<Cow<'a, str>>,
    pub(crate) project: Cow<'a, str>,
    /// The project's folder; `None`: not known.
    pub(crate) folder: Option<Cow<'a, str>>,
    pub(crate) model: Option<Cow<'a, str>>,
}

impl<'a> Names<'a> {
    /// Returns all names; `None`: there is no such gauge.
    pub(crate) fn with_texts(sessions: &'a Sessions, key: SessionKey) -> Option<Names<'a>> {
        let (gauge, facts) = (sessions.gauge(key)?, sessions.facts(key)?);
        Some(Names {
            id: gauge.meta.id.as_deref().map(Cow::Borrowed),
            path: facts.path.to_str().unwrap_or_default().into(),
            name: sessions.name(key),
            title: sessions.title(key),
            parent: gauge.meta.parent.as_deref().map(Cow::Borrowed),
            project: sessions.project_of(gauge).into(),
            folder: Some(gauge.folder().into()).filter(|folder: &Cow<'_, str>| !folder.is_empty()),
            model: gauge.model().map(Cow::Borrowed),
        })
    }

    /// Returns all names without a title or a prompt; `None`: there is no such gauge.
    pub(crate) fn without_texts(sessions: &'a Sessions, key: SessionKey) -> Option<Names<'a>> {
        let (gauge, facts) = (sessions.gauge(key)?, sessions.facts(key)?);
        let meta = Meta {
            title: None,
            ..gauge.meta.clone()
        };
        Some(Names {
            name: name_of(key, sessions.project_of(gauge), &meta, &facts.path),
            title: None,
            ..Names::with_texts(sessions, key)?
        })
    }

    /// Returns all names with pseudonyms in place of paths, ids and unknown names; `None`: there is no such gauge.
    pub(crate) fn redacted(
        sessions: &'a Sessions,
        key: SessionKey,
        redactor: &Redactor,
    ) -> Option<Names<'a>> {
        let (gauge, facts) = (sessions.gauge(key)?, sessions.facts(key)?);
        let (mut meta, mut facts) = (gauge.meta.clone(), facts.clone());
        redactor.meta(&mut meta);
        redactor.facts(&mut facts);
        let mut model = gauge.model().map(Into::into);
        redactor.rename_model(&mut model);
        let folder = gauge.folder();
        let project = (!folder.is_empty()).then(|| redactor.folder(folder));
        Some(Names {
            name: name_of(
                key,
                project.as_deref().unwrap_or_default(),
                &meta,
                &facts.path,
            ),
            path: facts.path.to_string_lossy().into_owned().into(),
            title: None,
            project: project.clone().unwrap_or_default().into(),
            folder: project.map(Cow::Owned),
            id: meta.id.map(|id| String::from(id).into()),
            parent: meta.parent.map(|id| String::from(id).into()),
            model: model.map(|model| String::from(model).into()),
        })
    }
}

/// Returns the name that joins all output about a session. It is made from the real path, so it is the same whether or
/// not texts are left out.
pub fn joined_by(facts: &FileFacts, conversation: Conversation) -> String {
    let parts = session_parts(facts, conversation);
    let name = Key::of_parts(&parts.each_ref().map(String::as_str));
    format!("{:016x}", name.get())
}

/// Returns what distinguishes a session from all others of this machine, and stays the same from run to run.
pub fn session_parts(facts: &FileFacts, conversation: Conversation) -> [String; 4] {
    let conversation = match conversation {
        Conversation::Main => String::new(),
        Conversation::Side(side) => side.get().to_string(),
    };
    [
        facts.agent.to_owned(),
        facts.path.to_string_lossy().into_owned(),
        facts.id.clone().unwrap_or_default(),
        conversation,
    ]
}
