//! Computes the title that distinguishes a session from others of its project: the title in its log, or the first words
//! of its first prompt.

use super::{SessionKey, Sessions};
use crate::event::Conversation;
use crate::values::prompt::{shows, without_tags};
use std::borrow::Cow;

impl Sessions {
    /// Returns a session's title: the one in its log, else the first words of its first prompt. Where its name shows
    /// the title already, as a sub-agent's does, its prompt comes first. `None`: neither is known. It is text from a
    /// log, of at most some hundred bytes as a rule: make it inert before showing it.
    pub fn title(&self, key: SessionKey) -> Option<Cow<'_, str>> {
        let gauge = self.gauge(key)?;
        let title = gauge.meta.title.as_deref().map(Cow::Borrowed);
        let prompt = gauge.meta.prompt.as_deref().map(without_tags);
        let has_title = gauge.meta.title.as_deref().is_some_and(|it| !it.is_empty());
        let is_child = key.conversation != Conversation::Main || gauge.meta.parent.is_some();
        let both = if gauge.project().is_empty() || (is_child && has_title) {
            [prompt, title]
        } else {
            [title, prompt]
        };
        both.into_iter().flatten().find(|text| shows(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Conversation, Meta, NewItem};
    use crate::lists::sessions::{FileId, Update};
    use crate::session::{Coverage, Session};
    use crate::testing::{Log, file_facts, new_item};
    use crate::{Kind, Role};
    use std::sync::Arc;

    fn said(text: &str) -> NewItem {
        let mut item = new_item(Role::User, Kind::Text, 9);
        item.preview = text.into();
        item
    }

    /// The title of a session in a project that was read from its beginning.
    fn title(texts: &[&str], change: fn(&mut Meta)) -> Option<String> {
        let mut log = Log::new();
        log.session.coverage = Coverage::Whole;
        log.session.meta.cwd = Some("/home/shop".into());
        for (at, text) in texts.iter().enumerate() {
            log = log.node(&format!("u{at}"), vec![said(text)]);
        }
        change(&mut log.session.meta);
        sessions_of(log.session).title(key()).map(Cow::into_owned)
    }

    fn key() -> SessionKey {
        SessionKey {
            file: FileId(1),
            conversation: Conversation::Main,
        }
    }

    fn sessions_of(session: Session) -> Sessions {
        let mut sessions = Sessions::new(Arc::default());
        sessions.apply(Update::Found(Box::new(file_facts(
            FileId(1),
            "codex",
            "a.jsonl",
        ))));
        rebuild(&mut sessions, session);
        sessions
    }

    fn rebuild(all: &mut Sessions, session: Session) {
        let sessions = vec![(Conversation::Main, session)];
        let file = FileId(1);
        all.apply(Update::Rebuilt { file, sessions });
    }

    #[test]
    fn the_log_names_the_session_or_its_first_prompt_does() {
        let titled: fn(&mut Meta) = |meta| meta.title = Some("The cart".into());
        let title = |texts, change| title(texts, change);
        assert_eq!(title(&[], |_| {}), None);
        let two = &["why is it slow", "go on"];
        assert_eq!(title(two, |_| {}).unwrap(), "why is it slow");
        assert_eq!(title(two, titled).unwrap(), "The cart");
        let unseen: fn(&mut Meta) = |meta| meta.title = Some("\u{200b} ".into());
        assert_eq!(title(two, unseen).unwrap(), "why is it slow");
    }

    #[test]
    fn a_sub_agent_is_named_by_its_title_and_titled_by_its_prompt() {
        let child: fn(&mut Meta) = |meta| {
            meta.title = Some("Explore".into());
            meta.parent = Some("p".into());
        };
        assert_eq!(
            title(&["find all callers"], child).unwrap(),
            "find all callers"
        );
        assert_eq!(title(&[], child).unwrap(), "Explore");
    }

    #[test]
    fn what_was_typed_goes_before_what_has_tags() {
        let clear = "<command-name>/clear</command-name> <command-args></command-args>";
        assert_eq!(title(&[clear], |_| {}).unwrap(), "/clear");
        assert_eq!(title(&[clear, "a < b"], |_| {}).unwrap(), "a < b");
        assert_eq!(title(&["go", clear], |_| {}).unwrap(), "go");
    }

    #[test]
    fn a_beginning_that_was_not_read_gives_no_prompt() {
        let mut log = Log::new();
        log.session.coverage = Coverage::Tail;
        let session = log.node("u", vec![said("go on")]).session;
        assert_eq!(sessions_of(session).title(key()), None);
    }

    #[test]
    fn the_prompt_stays_when_less_of_the_log_is_read_again() {
        let mut log = Log::new();
        log.session.coverage = Coverage::Whole;
        let mut sessions = sessions_of(log.node("u", vec![said("first")]).session);
        rebuild(&mut sessions, Session::new("codex", Arc::default()));
        assert_eq!(sessions.title(key()).unwrap(), "first");
        let mut other = Session::new("codex", Arc::default());
        other.meta.id = Some("another".into());
        rebuild(&mut sessions, other);
        assert_eq!(sessions.title(key()), None);
    }
}
