//! All keys of the configuration: the one list that the JSON schema, the file of `config init`, `config show` and the
//! documentation are made from. A new key is an entry here and a field of [`super::Config`] or of its section; tests
//! compare the two.

use std::slice;

/// A key of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name within its section or row.
    pub name: &'static str,
    /// Another spelling of it.
    pub alias: Option<&'static str>,
    /// Its purpose: a sentence.
    pub about: &'static str,
    /// The kind of its values.
    pub kind: Kind,
    /// The behaviour if it is not set.
    pub unset: Unset,
    /// A value, as TOML.
    pub example: &'static str,
}

/// The kind of a key's values.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of these words.
    Choices(&'static [&'static str]),
    /// A whole number, 0 or more.
    Count,
    /// A number above 0 and up to 1.
    Share,
    /// One share, or a list of them.
    Shares,
    /// Two numbers above 0, the smaller first.
    TwoShares,
    /// A number of tokens.
    Tokens,
    /// A number of tokens, or a share of the window.
    Size,
    /// Keys of the keyboard, by the names of actions.
    Bindings,
    /// A table with these keys.
    Section(&'static [Key]),
    /// A list of tables with these keys.
    Rows(&'static [Key]),
}

impl Kind {
    /// Returns the values, in words.
    pub fn words(self) -> String {
        let words = match self {
            Kind::Flag => "`true` or `false`",
            Kind::Text => "text",
            Kind::Texts => "a list of texts",
            Kind::Choice(words) => return format!("`{}`", words.join("`, `")),
            Kind::Choices(words) => return format!("a list of `{}`", words.join("`, `")),
            Kind::Count => "a whole number",
            Kind::Share => "a share: above 0, up to 1",
            Kind::Shares => "shares, or one: above 0, up to 1",
            Kind::TwoShares => "two shares, the smaller first",
            Kind::Tokens => "tokens: `400_000`, `\"400k\"`",
            Kind::Size => "tokens, or a share of the window: `\"8k\"`, `\"4%\"`",
            Kind::Bindings => "keys by the names of actions",
            Kind::Section(_) => "a section",
            Kind::Rows(_) => "rows",
        };
        words.to_owned()
    }
}

/// The behaviour if a key is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unset {
    /// This value, as TOML.
    Default(&'static str),
    /// The behaviour that these words describe.
    Means(&'static str),
    /// It must be set.
    Required,
}

/// A list of keys: each with its kind, what holds where it is not set, what it is for, and an example that is not its
/// default.
macro_rules! keys {
    ($(
        $name:ident $(or $alias:ident)?: $kind:expr, $unset:expr, $about:literal $(, like $example:literal)?;
    )*) => {
        &[$(Key {
            name: stringify!($name),
            alias: [$(stringify!($alias))?].first().copied(),
            about: $about,
            kind: $kind,
            unset: $unset,
            example: [$($example,)? $unset.value()][0],
        }),*]
    };
}

/// The keys of rows that are about some sessions: which these are, and the others.
macro_rules! which {
    ($($others:tt)*) => {
        keys! {
            agent: Text, Means("any"), "The agent's id or its name on the screens; * is any text.", like r#""codex""#;
            model: Text, Means("any"), "The model's id; * is any text.", like r#""claude-opus-4-6*""#;
            session: Text, Means("any"), "The session's id; * is any text.", like r#""3f2a*""#;
            $($others)*
        }
    };
}

impl Unset {
    /// Returns the default; empty: there is none.
    const fn value(self) -> &'static str {
        match self {
            Unset::Default(value) => value,
            Unset::Means(_) | Unset::Required => "",
        }
    }
}

impl Key {
    /// Returns true if this is its name, or another spelling of it.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }

    /// Returns the keys of its section or rows.
    pub fn below(&self) -> &'static [Key] {
        match self.kind {
            Kind::Section(keys) | Kind::Rows(keys) => keys,
            _ => &[],
        }
    }
}

use Kind::{
    Bindings, Choice, Choices, Count, Flag, Rows, Section, Share, Shares, Size, Text, Texts,
    Tokens, TwoShares,
};
use Unset::{Default, Means, Required};

/// All keys, in the order in which they are listed.
pub const ALL: &[Key] = keys! {
    roots: Texts, Default("[]"), "Folders to search besides the agents' own.", like r#"["/srv/agents/logs"]"#;
    hosts: Texts, Default("[]"), "Other machines whose sessions the list shows, by their names for your ssh.",
        like r#"["build-1", "build-2"]"#;
    models: Text, Means("models.toml beside the configuration, if there is one"),
        "Your own models table; its rows come before the built-in ones.", like r#""models.toml""#;
    theme: Text, Default(r#""terminal""#),
        "The theme: terminal, dark, light, colour-blind, monochrome, or one of your own.", like r#""dark""#;
    fills: Choice(&["solid", "by-role"]), Means("as the theme has it"),
        "The fill of bars, in all themes: the same for all roles, or a pattern for each.", like r#""by-role""#;
    oversized: Size, Default(r#""4%""#),
        "Results from this size on are marked: tokens, or a share of the window.", like r#""8k""#;
    ascii: Flag, Default("false"), "Use ASCII characters only.";
    no_color: Flag, Default("false"), "Use no colours. NO_COLOR in the environment does the same.";
    cache: Flag, Default("true"), "Keep an index of what was read from logs, so that unchanged ones are not read again.";
    poll: Flag, Default("false"),
        "Look at all logs every few seconds, as on file systems that do not report changes.";
    window: Rows(WINDOW), Default("[]"), "The window of matching sessions; the first row that matches applies.",
        like r#"[{ model = "claude-opus-4-6*", tokens = "1M" }]"#;
    policy: Rows(POLICY), Default("[]"),
        "When matching sessions compact; the first row that matches applies. A row has one rule.",
        like r#"[{ agent = "codex", share = 0.95 }]"#;
    keys: Bindings, Means("as keys.md lists them"),
        "Keys of the screens, by the names of actions; with a screen's name before it, on that screen only.",
        like r#"{ sort = "f5", suspend = [] }"#;
    statusline: Section(STATUS_LINE), Means("its defaults"), "Content and colours of status lines.";
    hooks: Section(HOOKS), Means("its defaults"), "Messages of hooks.";
    alerts: Section(ALERTS), Means("no alerts"),
        "Alerts: off unless share, requests_left, minutes_left, item or rebuild is set.";
};

const STATUS_LINE: &[Key] = keys! {
    format: Text, Default(r#""normal""#),
        "Content of status lines: normal, short, two-lines, or a format of your own.",
        like r#""{percent:colour}[ · {until}]""#;
    colours or colors: TwoShares, Default("[0.7, 0.9]"),
        "The shares of the trigger at which values turn yellow and red.";
};

const HOOKS: &[Key] = keys! {
    share: Shares, Default("[0.8, 0.95]"), "Hooks warn at these shares of the trigger, once each.";
    tell_model: Flag, Default("false"), "Hooks warn the model too.";
    compactions: Flag, Default("true"), "Hooks report what a compaction did.";
};

const ALERTS: &[Key] = keys! {
    share: Shares, Default("[]"), "Alert when a context reaches these shares of its trigger.", like "[0.8, 0.95]";
    requests_left: Count, Means("no such alert"),
        "Alert when at most this many requests are left before a compaction.", like "5";
    minutes_left: Count, Means("no such alert"),
        "Alert this many minutes before a session compacts because nobody types.", like "5";
    item: Size, Means("no such alert"), "Alert when an item is at least this large.", like r#""20k""#;
    rebuild: Size, Means("no such alert"),
        "Alert when at least this much of the prompt cache was rebuilt.", like r#""100k""#;
    notify: Choices(&["screen", "bell", "osc9", "osc777", "osc99"]), Default(r#"["screen"]"#),
        "How alerts are shown.", like r#"["screen", "bell", "osc9"]"#;
    command: Texts, Default("[]"), "A program and its arguments, run for each alert.",
        like r#"["notify-send", "ctxgauge"]"#;
};

const WINDOW: &[Key] = which! {
    tokens: Tokens, Required, "The window.", like r#""1M""#;
};

const POLICY: &[Key] = which! {
    share: Share, Means("not this rule"), "Compacts at this share of the window.", like "0.95";
    tokens: Tokens, Means("not this rule"), "Compacts at this size.", like r#""150k""#;
    messages: Section(MESSAGES), Means("not this rule"), "Compacts by the number of messages, not by size.",
        like "{ keep = 20, over = 5 }";
    drop_oldest: Flag, Default("false"),
        "Drops the oldest messages until the rest fits into the window, or into tokens.";
    never: Flag, Default("false"), "Does not compact.";
};

const MESSAGES: &[Key] = keys! {
    keep: Count, Required, "Messages that stay.", like "20";
    over: Count, Required, "The number of further messages at which it compacts.", like "5";
};

/// A key with its section.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The section's name; `None`: it is in none.
    pub section: Option<&'static str>,
    /// The key.
    pub key: &'static Key,
}

impl Setting {
    /// Returns the name that it has in messages: `alerts.share`.
    pub fn name(&self) -> String {
        let section = self.section.map(|section| format!("{section}."));
        format!("{}{}", section.unwrap_or_default(), self.key.name)
    }
}

/// Returns all keys that have a value: those of sections, and those outside of sections. Keys of rows are parts of a
/// value.
pub fn settings() -> impl Iterator<Item = Setting> {
    ALL.iter().flat_map(|key| {
        let (section, keys) = match key.kind {
            Kind::Section(keys) => (Some(key.name), keys),
            _ => (None, slice::from_ref(key)),
        };
        keys.iter().map(move |key| Setting { section, key })
    })
}
