//! The menu of what can be copied of a session to go on elsewhere: the command that resumes it, its id, the path of its
//! log, the text of the selected item.

use super::menu::{Choice, MenuRow};
use super::resume::resume_command;
use super::{App, Effect, Screen};
use model::lists::sessions::SessionKey;
use model::lists::text::{TextPage, TextRequest};
use render::inert::visible_text;

impl App {
    /// Returns what can be copied of a session, the most useful first.
    pub(crate) fn copyables(&self, key: SessionKey) -> Vec<MenuRow> {
        let Some((gauge, facts)) = self.sessions.gauge(key).zip(self.sessions.facts(key)) else {
            return Vec::new();
        };
        let id = gauge.meta.id.as_deref().or(facts.id.as_deref());
        // Of another machine only its project is known.
        let folder = gauge.meta.cwd.as_deref().filter(|_| facts.host.is_none());
        let resume = self.resume(key);
        let text = |key: &str, about, text: String| {
            MenuRow::new(key, about, Choice::Copy(visible_text(&text)))
        };
        let path = facts.path.to_string_lossy().into_owned();
        let rows = [
            resume.map(|command| text("r", "resume", command)),
            id.map(|id| text("i", "id", id.to_owned())),
            Some(text("p", "path", path)),
            folder.map(|folder| text("d", "folder", folder.to_owned())),
            self.selected_text(key)
                .map(|item| MenuRow::new("t", "the selected item's text", Choice::CopyItem(item))),
        ];
        rows.into_iter().flatten().collect()
    }

    /// Returns the command that resumes a session here; `None`: its agent has none, or its log is on another machine.
    pub(super) fn resume(&self, key: SessionKey) -> Option<String> {
        let (gauge, facts) = self.sessions.gauge(key).zip(self.sessions.facts(key))?;
        // The agent cannot resume a sub-agent by itself.
        let is_main = gauge.meta.parent.is_none() && facts.parent.is_none();
        if !is_main || facts.host.is_some() {
            return None;
        }
        let id = gauge.meta.id.as_deref().or(facts.id.as_deref())?;
        resume_command(facts.commands.resume?, id, gauge.meta.cwd.as_deref())
    }

    /// Returns the place of the selected item's text; `None`: the session is not on the screen, or no item of it is
    /// selected.
    fn selected_text(&self, key: SessionKey) -> Option<TextRequest> {
        if self.ui.screen != Screen::Session(key) {
            return None;
        }
        let (list, view) = self.list()?;
        let (ix, ..) = list.item(self.ui.cursor().index())?;
        TextRequest::of(key.file, view.session.items().get(ix)?)
    }

    /// Has the text of an item read to be copied.
    pub(super) fn copy_item(&mut self, request: TextRequest) -> Effect {
        self.copying = Some(request);
        Effect::ReadText(request)
    }

    /// Copies the text of an item that was asked for, if this is it. Returns the page if it is for the screen of a text.
    pub(super) fn copy_page(&mut self, page: TextPage) -> Result<Effect, TextPage> {
        if self.copying != Some(page.of) {
            return Err(page);
        }
        self.copying = None;
        Ok(match page.text {
            Ok(text) => {
                if text.pages > 1 {
                    self.notify("copies the first page of a long text".to_owned());
                }
                Effect::Copy(visible_text(&text.text))
            }
            Err(why) => {
                self.notify(why);
                Effect::None
            }
        })
    }
}
