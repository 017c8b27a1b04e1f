//! The keys: one table that drives dispatch, the help overlay, the footer and the README. The user may
//! put keys of his own in the place of those of the table.

mod own;
mod press;

pub use press::{NoPress, Press};

use std::borrow::Cow;

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

impl Action {
    /// The action's name in a configuration. It stays what it is.
    pub const fn name(self) -> &'static str {
        match self {
            Action::Up => "up",
            Action::Down => "down",
            Action::PageUp => "page-up",
            Action::PageDown => "page-down",
            Action::First => "first",
            Action::Last => "last",
            Action::Open => "open",
            Action::Back => "back",
            Action::Filter => "filter",
            Action::Sort => "sort",
            Action::Items => "items",
            Action::Compactions => "compactions",
            Action::Window => "window",
            Action::Help => "help",
            Action::Problems => "problems",
            Action::Suspend => "suspend",
            Action::Quit => "quit",
        }
    }
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
    /// On the screen of an item's text.
    Text,
}

impl Scope {
    /// All there are.
    pub const ALL: [Scope; 4] = [
        Scope::Anywhere,
        Scope::Overview,
        Scope::Session,
        Scope::Text,
    ];

    /// The heading of the scope's keys.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Anywhere => "everywhere",
            Scope::Overview => "sessions",
            Scope::Session => "one session",
            Scope::Text => "an item's text",
        }
    }

    /// The scope's name in a configuration, before an action's.
    pub const fn id(self) -> &'static str {
        match self {
            Scope::Anywhere => "anywhere",
            Scope::Overview => "overview",
            Scope::Session => "session",
            Scope::Text => "text",
        }
    }

    /// Whether there is a screen on which bindings of both hold.
    fn meets(self, other: Scope) -> bool {
        self == other || self == Scope::Anywhere || other == Scope::Anywhere
    }
}

/// One action and the keys that ask for it.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Where it holds.
    pub scope: Scope,
    /// What it asks for.
    pub action: Action,
    /// The keys; the first is the one that a footer shows.
    pub presses: Cow<'static, [Press]>,
    /// A line of help.
    pub help: &'static str,
    /// A word for the footer. Neighbours with the same word share it.
    pub hint: Option<&'static str>,
}

impl Binding {
    /// The binding's name in a configuration, in full: `session.back`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.scope.id(), self.action.name())
    }
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
        presses: Cow::Borrowed(presses),
        help,
        hint,
    }
}

/// Every key there is, as long as the user has said nothing else. The order is that of the help overlay, and of the footer, which shows as many
/// hints as fit.
#[rustfmt::skip]
pub static BINDINGS: &[Binding] = {
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

/// The keys in force: those of the table, or the user's own in their place.
#[derive(Debug, Clone)]
pub struct Keymap {
    bindings: Vec<Binding>,
}

impl Default for Keymap {
    fn default() -> Keymap {
        Keymap {
            bindings: BINDINGS.to_vec(),
        }
    }
}

impl Keymap {
    /// What a key asks for on a screen.
    pub fn action(&self, scope: Scope, press: Press) -> Option<Action> {
        self.here(scope)
            .find(|binding| binding.presses.contains(&press))
            .map(|binding| binding.action)
    }

    /// The key that a text may name for an action on a screen; `None`: it has none.
    pub fn press(&self, scope: Scope, action: Action) -> Option<Press> {
        self.here(scope)
            .filter(|binding| binding.action == action)
            .find_map(|binding| binding.presses.first().copied())
    }

    /// The bindings of one scope, in the order of the table.
    pub fn in_scope(&self, scope: Scope) -> impl Iterator<Item = &Binding> {
        self.bindings
            .iter()
            .filter(move |binding| binding.scope == scope)
    }

    /// The footer's hints on a screen: keys and a word.
    pub fn hints(&self, scope: Scope) -> Vec<(String, &'static str)> {
        let mut hints: Vec<(String, &'static str)> = Vec::new();
        for binding in self.here(scope) {
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

    /// The bindings that hold on a screen, in the order of the table.
    fn here(&self, scope: Scope) -> impl Iterator<Item = &Binding> {
        self.bindings
            .iter()
            .filter(move |binding| binding.scope == Scope::Anywhere || binding.scope == scope)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn no_key_means_two_things() {
        assert_eq!(Keymap::default().conflicts(), Vec::<String>::new());
    }

    #[test]
    fn every_binding_can_be_reached_and_explains_itself() {
        let keymap = Keymap::default();
        for binding in BINDINGS {
            assert!(!binding.help.is_empty());
            assert!(!binding.presses.is_empty());
            let scope = match binding.scope {
                Scope::Anywhere => Scope::Session,
                scope => scope,
            };
            for press in binding.presses.iter() {
                assert_eq!(keymap.action(scope, *press), Some(binding.action));
            }
        }
    }

    #[test]
    fn a_name_is_one_action_s() {
        let mut names: HashMap<&str, Action> = HashMap::new();
        for binding in BINDINGS {
            let name = binding.action.name();
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'));
            let known = names.insert(name, binding.action);
            assert!(known.is_none_or(|known| known == binding.action), "{name}");
        }
        let full: HashSet<String> = BINDINGS.iter().map(Binding::name).collect();
        assert_eq!(full.len(), BINDINGS.len(), "an action twice in one scope");
    }

    #[test]
    fn neighbours_share_a_hint() {
        let hints = Keymap::default().hints(Scope::Overview);
        assert_eq!(hints[0], ("↑↓".to_owned(), "move"));
        assert!(hints.iter().any(|(_, word)| *word == "open"));
        assert!(hints.iter().all(|(_, word)| *word != "back"));
    }
}
