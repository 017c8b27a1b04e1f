//! A jump of the session on screen as Markdown, to be copied.

use super::{App, Page};
use model::lists::sessions::SessionKey;
use model::outlook::jumps::Jump;
use model::session::Session;
use render::inert::visible_text;
use render::{jump, number, text};

/// The most parts that are named.
const MOST_PARTS: usize = 10;

impl App {
    /// Returns the jump at the moment of a replay, else the largest, as Markdown; `None`: the session is not on the screen,
    /// or never grew.
    pub(super) fn jump_markdown(&self, key: SessionKey) -> Option<String> {
        let page = self.page().filter(|page| page.key == key)?;
        let session = self.sessions.get(key)?;
        let here = page.state.requests.checked_sub(1);
        let here = here.filter(|_| self.ui.replay.is_on());
        let is_here = |jump: &&Jump| here.is_some() && jump.request == here;
        let jump = page.jumps.iter().find(is_here).or(page.jumps.first())?;
        Some(markdown(session, page, jump))
    }
}

fn markdown(session: &Session, page: &Page, jump: &Jump) -> String {
    let at = jump.request.map(|ix| format!("Request {}: ", ix + 1));
    let mut lines = vec![
        format!("**{}{} tokens**", at.unwrap_or_default(), jump::size(jump)),
        String::new(),
        "| tokens | what |".to_owned(),
        "|---:|---|".to_owned(),
    ];
    let named = jump.parts.iter().take(MOST_PARTS);
    let named = named.map(|part| {
        (
            part.tokens,
            code(&jump::part_name(session, &page.calls, part)),
        )
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
