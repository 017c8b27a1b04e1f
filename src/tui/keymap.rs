//! The keys: one table that drives dispatch, the help overlay, the footer and the README.

use std::fmt;

/// A key as pressed, without a terminal's own types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Press {
    /// A character, as typed: shift is part of it.
    Char(char),
    /// A character with control held, in lower case.
    Ctrl(char),
    /// The arrow.
    Up,
    /// The arrow.
    Down,
    /// The arrow.
    Left,
    /// The arrow.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// Return.
    Enter,
    /// Escape.
    Esc,
    /// Deletes to the left.
    Backspace,
}

impl fmt::Display for Press {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Press::Char(' ') => f.write_str("space"),
            Press::Char(c) => write!(f, "{c}"),
            Press::Ctrl(c) => write!(f, "^{}", c.to_ascii_uppercase()),
            Press::Up => f.write_str("↑"),
            Press::Down => f.write_str("↓"),
            Press::Left => f.write_str("←"),
            Press::Right => f.write_str("→"),
            Press::PageUp => f.write_str("PgUp"),
            Press::PageDown => f.write_str("PgDn"),
            Press::Home => f.write_str("Home"),
            Press::End => f.write_str("End"),
            Press::Enter => f.write_str("Enter"),
            Press::Esc => f.write_str("Esc"),
            Press::Backspace => f.write_str("⌫"),
        }
    }
}

/// What a user can ask for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// Opens the selected session.
    Open,
    /// Back to where one came from; on the list of sessions it clears the filter.
    Back,
    /// Begins to type a filter.
    Filter,
    /// The next order.
    Sort,
    /// Between the items in the context and all items.
    Items,
    /// Between the items and what compactions did.
    Compactions,
    /// Sets the session's window by hand.
    Window,
    /// The help overlay.
    Help,
    /// The overlay of what could not be read.
    Problems,
    /// To the shell, to come back later.
    Suspend,
    /// Ends the program.
    Quit,
}

/// Where a binding holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// On every screen.
    Anywhere,
    /// On the list of sessions.
    Overview,
    /// On one session's screen.
    Session,
}

impl Scope {
    /// The heading of the scope's keys.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Anywhere => "everywhere",
            Scope::Overview => "sessions",
            Scope::Session => "one session",
        }
    }
}

/// One action and the keys that ask for it.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// Where it holds.
    pub scope: Scope,
    /// What it asks for.
    pub action: Action,
    /// The keys; the first is the one that a footer shows.
    pub presses: &'static [Press],
    /// A line of help.
    pub help: &'static str,
    /// A word for the footer. Neighbours with the same word share it.
    pub hint: Option<&'static str>,
}

const fn bind(
    scope: Scope,
    action: Action,
    presses: &'static [Press],
    help: &'static str,
    hint: Option<&'static str>,
) -> Binding {
    Binding {
        scope,
        action,
        presses,
        help,
        hint,
    }
}

/// Every key there is. The order is that of the help overlay, and of the footer, which shows as many
/// hints as fit.
#[rustfmt::skip]
pub const BINDINGS: &[Binding] = {
    use Action as A;
    use Press::*;
    use Scope::*;
    &[
        bind(Anywhere, A::Up, &[Up, Char('k')], "one row up", Some("move")),
        bind(Anywhere, A::Down, &[Down, Char('j')], "one row down", Some("move")),
        bind(Anywhere, A::PageUp, &[PageUp, Ctrl('b')], "a page up", None),
        bind(Anywhere, A::PageDown, &[PageDown, Ctrl('f'), Char(' ')], "a page down", None),
        bind(Anywhere, A::First, &[Char('g'), Home], "to the top", None),
        bind(Anywhere, A::Last, &[Char('G'), End], "to the bottom", None),
        bind(Overview, A::Open, &[Enter, Right, Char('l')], "open the session", Some("open")),
        bind(Overview, A::Filter, &[Char('/')], "filter by agent, project, model, title, path", Some("filter")),
        bind(Overview, A::Sort, &[Char('s')], "next order: recent, headroom, used, agent, project", Some("sort")),
        bind(Overview, A::Back, &[Esc, Left, Char('h')], "clear the filter", None),
        bind(Session, A::Back, &[Esc, Left, Char('h')], "back to the sessions", Some("back")),
        bind(Session, A::Items, &[Char('c')], "only what is in the context, or all items", Some("all items")),
        bind(Session, A::Compactions, &[Char('C')], "what compactions did, or the items", Some("compactions")),
        bind(Anywhere, A::Window, &[Char('w')], "set the session's window, or take that back", None),
        bind(Anywhere, A::Problems, &[Char('!')], "what could not be read", None),
        bind(Anywhere, A::Help, &[Char('?')], "this help", Some("help")),
        bind(Anywhere, A::Quit, &[Char('q'), Ctrl('c')], "quit", Some("quit")),
        bind(Anywhere, A::Suspend, &[Ctrl('z')], "to the shell; fg comes back", None),
    ]
};

/// What a key asks for on a screen.
pub fn action(scope: Scope, press: Press) -> Option<Action> {
    in_scope(scope)
        .chain(in_scope(Scope::Anywhere))
        .find(|binding| binding.presses.contains(&press))
        .map(|binding| binding.action)
}

/// The bindings of one scope, in the order of the table.
pub fn in_scope(scope: Scope) -> impl Iterator<Item = &'static Binding> {
    BINDINGS
        .iter()
        .filter(move |binding| binding.scope == scope)
}

/// The footer's hints on a screen: keys and a word.
pub fn hints(scope: Scope) -> Vec<(String, &'static str)> {
    let mut hints: Vec<(String, &'static str)> = Vec::new();
    let here =
        |binding: &&Binding| matches!(binding.scope, Scope::Anywhere) || binding.scope == scope;
    for binding in BINDINGS.iter().filter(here) {
        let (Some(word), Some(press)) = (binding.hint, binding.presses.first()) else {
            continue;
        };
        match hints.last_mut() {
            Some((keys, last)) if *last == word => keys.push_str(&press.to_string()),
            _ => hints.push((press.to_string(), word)),
        }
    }
    hints
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_key_means_two_things() {
        for scope in [Scope::Overview, Scope::Session] {
            let mut seen = HashSet::new();
            for binding in in_scope(scope).chain(in_scope(Scope::Anywhere)) {
                for press in binding.presses {
                    assert!(seen.insert(*press), "{press} twice in {}", scope.name());
                }
            }
        }
    }

    #[test]
    fn every_binding_can_be_reached_and_explains_itself() {
        for binding in BINDINGS {
            assert!(!binding.help.is_empty());
            let scope = match binding.scope {
                Scope::Anywhere => Scope::Session,
                scope => scope,
            };
            for press in binding.presses {
                assert_eq!(action(scope, *press), Some(binding.action));
            }
        }
    }

    #[test]
    fn neighbours_share_a_hint() {
        let hints = hints(Scope::Overview);
        assert_eq!(hints[0], ("↑↓".to_owned(), "move"));
        assert!(hints.iter().any(|(_, word)| *word == "open"));
        assert!(hints.iter().all(|(_, word)| *word != "back"));
    }
}
