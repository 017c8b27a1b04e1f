//! A jump of the session on screen as Markdown, to be copied.

use super::App;
use model::jumps::{Jump, jumps};
use model::session::Session;
use model::sessions::SessionKey;
use render::inert::visible_text;
use render::item::label;
use render::{number, text};

/// The jumps among which that of the moment on screen is looked for.
const MOST_JUMPS: usize = 50;
/// The most parts that are named.
const MOST_PARTS: usize = 10;

impl App {
    /// Returns the jump at the moment of a replay, else the largest, as Markdown; `None`: the session is not on the screen,
    /// or never grew.
    pub(super) fn jump_markdown(&self, key: SessionKey) -> Option<String> {
        let page = self.page().filter(|page| page.key == key)?;
        let session = self.sessions.get(key)?;
        let all = jumps(session, MOST_JUMPS);
        let here = page.state.requests.checked_sub(1);
        let here = here.filter(|_| self.ui.replay.is_on());
        let is_here = |jump: &&Jump| here.is_some() && jump.request == here;
        let jump = all.iter().find(is_here).or(all.first())?;
        Some(self.markdown_of(session, jump))
    }

    fn markdown_of(&self, session: &Session, jump: &Jump) -> String {
        let grown = number::tokens(jump.tokens);
        let error = match jump.error {
            0 => String::new(),
            error => format!(" ±{}", number::error(error)),
        };
        let at = jump.request.map(|ix| format!("Request {}: ", ix + 1));
        let mut lines = vec![
            format!("**{}+{grown}{error} tokens**", at.unwrap_or_default()),
            String::new(),
            "| tokens | what |".to_owned(),
            "|---:|---|".to_owned(),
        ];
        let named = jump.parts.iter().take(MOST_PARTS).filter_map(|part| {
            let item = session.items().get(part.item)?;
            let page = self.page()?;
            let subject = page.calls.subject(session, &item).unwrap_or_default();
            let words = format!("{} {subject}", label(&item));
            Some((part.tokens, code(&words)))
        });
        let more = jump.parts.iter().skip(MOST_PARTS);
        let more = more.fold((0_u64, 0_u64), |(n, sum), part| {
            (n + 1, sum.saturating_add(part.tokens))
        });
        let rest = [
            (more.1, number::counted(more.0, "other item")),
            (
                u64::try_from(jump.unlogged).unwrap_or(0),
                "in no item of the log".to_owned(),
            ),
        ];
        let rest = rest.into_iter().filter(|(tokens, _)| *tokens > 0);
        lines.extend(
            named
                .chain(rest)
                .map(|(tokens, what)| format!("| {} | {what} |", number::tokens(tokens))),
        );
        lines.push(String::new());
        lines.join("\n")
    }
}

/// Returns text of a log as code in a cell, which it cannot leave.
fn code(words: &str) -> String {
    let words = visible_text(&text::one_line(words));
    format!("`{}`", words.trim().replace('`', "'").replace('|', r"\|"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::testing::{app, logs, type_keys};

    #[test]
    fn the_largest_jump_is_a_table_of_what_came() {
        let mut app = app(logs(), 80, 24);
        type_keys(&mut app, "/opus⏎⏎");
        let session = app.open_session().unwrap();
        let text = app.jump_markdown(session).unwrap();
        assert!(text.starts_with("**Request 4: +63"), "{text}");
        assert!(text.contains("| 61.1k | `Grep"), "{text}");
    }

    #[test]
    fn text_of_a_log_stays_in_its_cell() {
        assert_eq!(code("a `b` | c\n\u{1b}[2J").matches('`').count(), 2);
        assert_eq!(code("a | b"), r"`a \| b`");
    }
}
