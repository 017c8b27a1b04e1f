//! The language of filters, the same for the list of sessions and the items of a session: words, all of which must
//! match. A word is a name with a value (`agent:codex`), a sign with a size (`>80%`, `<20k`), a fact (`live`), or any text.

use model::values::threshold::parse_tokens;
use std::cmp::Ordering;

/// A word before a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// The agent's id or its name on screen.
    Agent,
    /// The model.
    Model,
    /// The project.
    Project,
    /// The machine that the log is on, where that is another one.
    Host,
    /// The session's title.
    Title,
    /// The item's role.
    Role,
    /// The tool.
    Tool,
    /// The MCP server of the tool.
    Server,
    /// The way in which the item's size is known.
    Source,
    /// The item's kind.
    Kind,
    /// `in:context`.
    In,
}

/// A word that is true or false.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// The session is live.
    Live,
    /// The session is near its trigger.
    Near,
    /// The session needs the user.
    Needs,
    /// The session has compacted.
    Compacted,
    /// A part of the session's context, or the item's size, is estimated.
    Estimated,
    /// The item is in the context.
    InContext,
    /// The item has left the context.
    Left,
    /// The item is oversized.
    Oversized,
    /// The item is marked.
    Marked,
}

/// The size of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Size {
    /// Tokens.
    Tokens(u64),
    /// Percent of the trigger or, where none is known, of the window.
    Percent(f64),
}

/// One word of a filter.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// A name and its value, in lower case.
    Named(Name, String),
    /// A fact.
    Is(Fact),
    /// More than a size, or less.
    Size(Ordering, Size),
    /// Any text, in lower case.
    Text(String),
}

/// The words that there are.
#[derive(Debug)]
pub struct Vocabulary {
    names: &'static [(&'static str, Name)],
    facts: &'static [(&'static str, Fact)],
    /// Sizes, as examples.
    sizes: &'static [&'static str],
}

/// The words for sessions.
pub static SESSIONS: Vocabulary = Vocabulary {
    names: &[
        ("agent:", Name::Agent),
        ("model:", Name::Model),
        ("project:", Name::Project),
        ("host:", Name::Host),
        ("title:", Name::Title),
    ],
    facts: &[
        ("live", Fact::Live),
        ("needs", Fact::Needs),
        ("near", Fact::Near),
        ("compacted", Fact::Compacted),
        ("estimated", Fact::Estimated),
    ],
    sizes: &[">80%", "<20k"],
};

/// The words for items.
pub static ITEMS: Vocabulary = Vocabulary {
    names: &[
        ("role:", Name::Role),
        ("tool:", Name::Tool),
        ("server:", Name::Server),
        ("source:", Name::Source),
        ("kind:", Name::Kind),
        ("in:", Name::In),
    ],
    facts: &[
        ("in", Fact::InContext),
        ("out", Fact::Left),
        ("left", Fact::Left),
        ("oversized", Fact::Oversized),
        ("marked", Fact::Marked),
        ("estimated", Fact::Estimated),
    ],
    sizes: &[">5k", "<2%"],
};

impl Vocabulary {
    /// Reads the typed text word by word. A word that is none of the language is text.
    pub fn read(&self, typed: &str) -> Vec<Condition> {
        typed
            .split_whitespace()
            .map(|word| self.condition(word))
            .collect()
    }

    fn condition(&self, word: &str) -> Condition {
        let lower = word.to_lowercase();
        let named = self.names.iter().find_map(|(name, means)| {
            let value = lower.strip_prefix(name)?;
            Some(Condition::Named(*means, value.to_owned()))
        });
        let fact = self.facts.iter().find(|(name, _)| *name == lower);
        let fact = fact.map(|(_, fact)| Condition::Is(*fact));
        let condition = named.or(fact).or_else(|| comparison(&lower));
        condition.unwrap_or(Condition::Text(lower))
    }

    /// Returns the first word with a name that is none: `agnt:`.
    pub fn unknown<'t>(&self, typed: &'t str) -> Option<&'t str> {
        typed.split_whitespace().find_map(|word| {
            let at = word.find(':')?;
            let name = &word[..=at];
            let is_name = at > 0 && name[..at].chars().all(char::is_alphabetic);
            // `https://…` is text.
            let is_text = word[at + 1..].starts_with("//");
            let is_known = self
                .names
                .iter()
                .any(|(known, _)| name.eq_ignore_ascii_case(known));
            (is_name && !is_text && !is_known).then_some(name)
        })
    }

    /// Returns a sentence about a name that does not exist, with the words that do; `None`: all names exist.
    pub fn correction(&self, typed: &str) -> Option<String> {
        let name = self.unknown(typed)?;
        let words: Vec<&str> = self.words().collect();
        Some(format!("no word '{name}'; there are {}", words.join(" ")))
    }

    /// Returns all words, for the eye: those that most users need come first.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let is_rare = |(_, name): &&(&str, Name)| *name == Name::Host;
        let names = self.names.iter().filter(move |name| !is_rare(name));
        let rare = self.names.iter().filter(is_rare);
        let facts = self.facts.iter().map(|(name, _)| *name);
        names
            .map(|(name, _)| *name)
            .chain(self.sizes.iter().copied())
            .chain(facts)
            .chain(rare.map(|(name, _)| *name))
    }

    /// Returns the name that the last word of what was typed has, and its value as far as it is typed.
    pub fn last_value<'t>(&self, typed: &'t str) -> Option<(Name, &'t str)> {
        let word = last_word(typed);
        let mut names = self.names.iter();
        names.find_map(|(name, means)| {
            let rest = word.get(name.len()..)?;
            let is_it = word[..name.len()].eq_ignore_ascii_case(name);
            is_it.then_some((*means, rest))
        })
    }

    /// Returns the typed text with its last word completed: to the common beginning of all words that begin alike or,
    /// if that is typed, to the first of them. If no value begins so, it is completed to the first that contains it.
    /// `values` are those of the name before the last colon.
    pub fn complete(&self, typed: &str, values: &[String]) -> Option<String> {
        let (begun, rest) = match self.last_value(typed) {
            Some((_, value)) => (value, values.to_vec()),
            None => {
                let words = self.names.iter().map(|(name, _)| *name);
                let words = words.chain(self.facts.iter().map(|(name, _)| *name));
                (last_word(typed), words.map(str::to_owned).collect())
            }
        };
        let lower = begun.to_lowercase();
        let words = rest.iter().map(|word| word.to_lowercase());
        let words = words.filter(|word| !word.contains(char::is_whitespace));
        let (fitting, others): (Vec<String>, Vec<String>) =
            words.partition(|word| word.starts_with(&lower));
        let Some((first, fitting)) = fitting.split_first() else {
            self.last_value(typed)?;
            let inner = others.into_iter().find(|word| word.contains(&lower))?;
            return Some(format!("{}{inner}", &typed[..typed.len() - begun.len()]));
        };
        let common = fitting.iter().fold(first.clone(), |common, word| {
            let same = common.chars().zip(word.chars());
            same.take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
        });
        let word = if common.len() > lower.len() {
            common
        } else {
            first.clone()
        };
        let kept = &typed[..typed.len() - begun.len()];
        (word != begun).then(|| format!("{kept}{word}"))
    }
}

/// Returns the last word, as far as it is typed; empty after a space.
fn last_word(typed: &str) -> &str {
    let begin = typed
        .char_indices()
        .rfind(|(_, c)| c.is_whitespace())
        .map_or(0, |(at, c)| at + c.len_utf8());
    &typed[begin..]
}

fn comparison(word: &str) -> Option<Condition> {
    let (order, size) = match word.strip_prefix('>') {
        Some(size) => (Ordering::Greater, size),
        None => (Ordering::Less, word.strip_prefix('<')?),
    };
    let size = match size.strip_suffix('%') {
        Some(percent) => {
            let percent: f64 = percent.parse().ok()?;
            Size::Percent(Some(percent).filter(|percent| percent.is_finite())?)
        }
        None => Size::Tokens(parse_tokens(size)?),
    };
    Some(Condition::Size(order, size))
}

impl Size {
    /// Returns true if `tokens`, of `most` at most, are at least this size (`order` is greater) or less than it.
    pub fn compares(self, order: Ordering, tokens: u64, most: u64) -> bool {
        let is_less = match self {
            Size::Tokens(size) => tokens < size,
            Size::Percent(_) if most == 0 => true,
            Size::Percent(percent) => (tokens as f64) * 100.0 < percent * most as f64,
        };
        is_less == order.is_lt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_become_conditions() {
        let named = |name, value: &str| Condition::Named(name, value.into());
        assert_eq!(
            SESSIONS.read("agent:Codex live >80% <20k needle tool:x"),
            [
                named(Name::Agent, "codex"),
                Condition::Is(Fact::Live),
                Condition::Size(Ordering::Greater, Size::Percent(80.0)),
                Condition::Size(Ordering::Less, Size::Tokens(20_000)),
                Condition::Text("needle".into()),
                Condition::Text("tool:x".into()),
            ]
        );
        assert_eq!(
            ITEMS.read("server:git kind:skill out"),
            [
                named(Name::Server, "git"),
                named(Name::Kind, "skill"),
                Condition::Is(Fact::Left),
            ]
        );
    }

    #[test]
    fn a_name_that_is_none_is_found() {
        assert_eq!(SESSIONS.unknown("live agnt:codex"), Some("agnt:"));
        assert_eq!(SESSIONS.unknown("AGENT:codex https://x 12:30"), None);
        assert_eq!(ITEMS.unknown("agent:codex"), Some("agent:"));
        let said = SESSIONS.correction("agnt:codex").unwrap();
        assert!(
            said.starts_with("no word 'agnt:'; there are agent: model:"),
            "{said}"
        );
        assert_eq!(SESSIONS.correction("codex"), None);
    }

    #[test]
    fn the_last_word_is_completed() {
        let values = ["claude-opus-4-6".to_owned(), "claude-sonnet-5".to_owned()];
        let complete = |typed| SESSIONS.complete(typed, &values);
        assert_eq!(complete("li").as_deref(), Some("live"));
        assert_eq!(complete("live MO").as_deref(), Some("live model:"));
        assert_eq!(complete("model:c").as_deref(), Some("model:claude-"));
        assert_eq!(
            complete("model:claude-").as_deref(),
            Some("model:claude-opus-4-6")
        );
        assert_eq!(
            complete("model:son").as_deref(),
            Some("model:claude-sonnet-5")
        );
        assert_eq!(complete("zzz"), None);
        assert_eq!(complete("ear"), None);
    }

    #[test]
    fn sizes_compare() {
        let is_over = |tokens, most| Size::Percent(80.0).compares(Ordering::Greater, tokens, most);
        assert!(is_over(80, 100) && !is_over(79, 100) && !is_over(5, 0));
        assert!(Size::Tokens(20).compares(Ordering::Less, 19, 0));
        assert!(!Size::Tokens(20).compares(Ordering::Less, 20, 0));
    }

    proptest! {
        #[test]
        fn no_input_panics_and_completion_keeps_what_was_typed_before(typed in "\\PC{0,20}") {
            for words in [&SESSIONS, &ITEMS] {
                prop_assert_eq!(words.read(&typed).len(), typed.split_whitespace().count());
                words.unknown(&typed);
                if let Some(completed) = words.complete(&typed, &["Bash".into()]) {
                    let last = last_word(&typed).len();
                    prop_assert!(completed.starts_with(&typed[..typed.len() - last]));
                }
            }
        }
    }
}
