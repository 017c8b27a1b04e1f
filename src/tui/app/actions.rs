//! The menu of what can be done with a session. It deletes nothing, and sends nothing to an agent.

use super::menu::{Choice, MenuRow};
use super::tabs::WHAT_IF;
use super::{App, Effect, Overlay, Screen};
use crate::keymap::Action;
use model::lists::sessions::SessionKey;
use std::path::PathBuf;
use std::sync::Arc;

impl App {
    /// Returns the rows of the menu of a session, of which those that cannot be done are left out.
    pub(crate) fn action_rows(&self, key: SessionKey) -> Vec<MenuRow> {
        let act = |action, about| {
            let pressed = self.keymap.key_text(self.scope(), action);
            Some(MenuRow::new(pressed, about, Choice::Act(action)))
        };
        let is_here = self.sessions.host(key).is_none();
        let can = |action| self.run_on(key, action).is_some();
        let mute = if self.ui.muted.contains(&key) {
            "raise its alerts again"
        } else {
            "mute its alerts"
        };
        let rows = [
            act(Action::Resume, "resume it here, in its agent").filter(|_| can(Action::Resume)),
            act(
                Action::Copy,
                "copy: the command that resumes it, its id, path",
            ),
            act(Action::Folder, "open its folder in $VISUAL or $EDITOR").filter(|_| is_here),
            act(Action::Editor, "open its log in $VISUAL or $EDITOR").filter(|_| is_here),
            act(Action::Share, "share a report or a table of it").filter(|_| is_here),
            act(Action::Window, "set its window").filter(|_| is_here),
            Some(MenuRow::new(
                "4",
                "compact now: show the result",
                Choice::WhatIf(key),
            )),
            act(Action::Pane, "follow it in another pane or window of tmux")
                .filter(|_| can(Action::Pane)),
            self.has_alerts()
                .then(|| MenuRow::new("m", mute, Choice::Mute(key))),
        ];
        rows.into_iter().flatten().collect()
    }

    /// Shows what would follow from a compaction now.
    pub(super) fn compact_now(&mut self, key: SessionKey) -> Effect {
        let effect = match self.ui.screen {
            Screen::Session(_) => Effect::None,
            _ => self.open_session_page(key),
        };
        self.show(WHAT_IF);
        effect
    }

    /// Raises no alerts of a session, or raises them again.
    pub(super) fn mute(&mut self, key: SessionKey) -> Effect {
        let is_muted = !self.ui.muted.remove(&key) && self.ui.muted.insert(key);
        let alerts = if is_muted { "muted" } else { "raised again" };
        self.notify(format!(
            "alerts of this session are {alerts}, until the monitor ends"
        ));
        Effect::None
    }

    /// Returns the effect of an action that runs another program on a session; `None`: that is not possible now.
    fn run_on(&self, key: SessionKey, action: Action) -> Option<Effect> {
        let facts = self.sessions.facts(key)?;
        let gauge = self.sessions.gauge(key);
        let folder = gauge.and_then(|gauge| gauge.meta.cwd.as_deref());
        let folder = folder.map(PathBuf::from);
        match action {
            // A second agent must not write to the log of one that runs.
            Action::Resume if !self.is_live(key) => Some(Effect::Run {
                command: self.resume(key)?,
                folder,
            }),
            Action::Pane if self.is_in_tmux && facts.host.is_none() => Some(Effect::OpenPane {
                log: Arc::clone(&facts.path),
                id: self.sessions.id_among_several(key).map(str::to_owned),
            }),
            Action::Editor => Some(Effect::OpenPath(Arc::clone(&facts.path))),
            Action::Folder => Some(Effect::OpenPath(Arc::new(folder?))),
            _ => None,
        }
    }

    /// Runs another program on the current session.
    pub(super) fn run_program(&mut self, action: Action) -> Effect {
        let Some(key) = self.current() else {
            return Effect::None;
        };
        let effect = self.run_on(key, action);
        if effect.is_none() {
            let why = match action {
                Action::Folder => "the log does not name the session's folder",
                _ => "a running session is not resumed; a pane needs tmux",
            };
            self.notify(why.to_owned());
        }
        effect.unwrap_or(Effect::None)
    }

    /// Closes the menu of a session that is gone, and says that.
    pub(super) fn close_menu_of_gone(&mut self) {
        let Some(Overlay::Actions(of) | Overlay::Copy(of) | Overlay::HandOn(of)) = self.ui.overlay
        else {
            return;
        };
        if !self.sessions.contains(of) {
            self.close_overlay();
            self.notify("this session no longer exists".to_owned());
        }
    }
}
