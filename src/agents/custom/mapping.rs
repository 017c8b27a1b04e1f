//! A user's description of a log format: a small file of TOML.

use super::about::FactsKeys;
use super::pointer::{Many, Pointer, Pointers, Word};
use decode::lenient::{LostFields, Raw};
use formats::{Base, Root};
use model::window::matches;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The description of how a custom log is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Its name: the file's.
    #[serde(skip)]
    pub(super) id: String,
    /// The places of its logs, from `roots`.
    #[serde(skip)]
    pub(super) places: Vec<Root>,
    /// Its name in narrow columns; none: the file's name.
    pub(super) label: Option<String>,
    /// Folders in which its logs are: see [`place`].
    #[serde(default)]
    roots: Vec<String>,
    /// The names of its files in those folders; `*` is any text, and the part in braces is the session's id.
    #[serde(default)]
    pub(super) names: Many<String>,
    /// Line by line, or one document.
    #[serde(default)]
    pub(super) shape: LogForm,
    /// The value that one of its first lines, or the document, must have for a file to be such a log.
    pub(super) has: Many<Condition>,
    /// The texts of `ctxgauge agents` about its logs.
    #[serde(default)]
    pub(super) facts: FactsKeys,
    /// The place of the list of messages, if each line is a whole request; in a document, the place of the
    /// list of records. `None` for a document: the document is the list.
    pub(super) messages: Option<Pointer>,
    /// The place of the model's answer, if each line is a whole request.
    #[serde(default)]
    pub(super) reply: Pointers,
    /// Facts about the session: in the line or the document.
    #[serde(default)]
    pub(super) session: SessionKeys,
    /// Facts about the record.
    #[serde(default)]
    pub(super) record: RecordKeys,
    /// The message in the record.
    pub(super) message: MessageKeys,
    /// A tool call in [`MessageKeys::calls`].
    #[serde(default)]
    pub(super) calls: CallKeys,
    /// A tool's result in [`MessageKeys::results`].
    #[serde(default)]
    pub(super) results: ResultKeys,
    /// The meanings of the words for roles.
    #[serde(default)]
    pub(super) roles: Roles,
    /// Why the context is reset at records with these words.
    #[serde(default)]
    pub(super) causes: HashMap<String, String>,
    /// The provider's numbers.
    #[serde(default)]
    pub(super) usage: UsageKeys,
    /// A document's list of numbers, for messages that have none of their own.
    pub(super) ledger: Option<LedgerKeys>,
}

/// The names of files where a mapping gives none.
const NAMES: &str = "*.jsonl";

/// How a log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LogForm {
    /// A record or a request a line.
    #[default]
    Lines,
    /// One document, rewritten.
    Document,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SessionKeys {
    pub(super) id: Pointers,
    pub(super) parent: Pointers,
    pub(super) cwd: Pointers,
    pub(super) title: Pointers,
    pub(super) model: Pointers,
    /// Names that stand for a model that is not named.
    pub(super) no_model: Vec<String>,
    pub(super) version: Pointers,
    pub(super) window: Pointers,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RecordKeys {
    pub(super) id: Pointers,
    pub(super) parent: Pointers,
    pub(super) time: Pointers,
    pub(super) model: Pointers,
    pub(super) window: Pointers,
    /// Records that are passed over.
    pub(super) skip: Vec<Condition>,
}

/// A place in a record and the texts that may be there: any, or one of these, in which `*` is any text.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Condition {
    pub(super) at: Pointer,
    pub(super) is: Vec<String>,
}

impl Word for Condition {
    const WHAT: &'static str =
        "a JSON pointer such as \"/message/role\", or a table of `at` and `is`";

    fn read(text: &str) -> Result<Condition, String> {
        let is = Vec::new();
        Pointer::read(text).map(|at| Condition { at, is })
    }
}

impl Condition {
    /// Returns true if a record fulfils it.
    pub(super) fn holds(&self, record: Raw<'_>) -> bool {
        match self.at.find(record) {
            Some(_) if self.is.is_empty() => true,
            Some(found) => json::string(found.get()).is_some_and(|word| self.word(&word).is_some()),
            None => false,
        }
    }

    /// The pattern that a text matches.
    fn word(&self, text: &str) -> Option<&str> {
        let mut patterns = self.is.iter();
        let found = patterns.find(|pattern| matches(pattern, text));
        found.map(String::as_str)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageKeys {
    pub(super) role: Pointers,
    #[serde(default)]
    pub(super) text: Pointers,
    #[serde(default)]
    pub(super) thinking: Pointers,
    /// The signs of thinking whose text is hidden.
    #[serde(default)]
    pub(super) hidden: Pointers,
    /// Images in base64, or anything that stands for one.
    #[serde(default)]
    pub(super) images: Pointers,
    /// True if each of its texts is an item.
    #[serde(default)]
    pub(super) apart: bool,
    /// True if records of the model that follow each other are one response.
    #[serde(default)]
    pub(super) joined: bool,
    /// True if a message with the user's word after the first answer is a tool's result.
    #[serde(default)]
    pub(super) user_begins: bool,
    #[serde(default)]
    pub(super) tool: Pointers,
    #[serde(default)]
    pub(super) call: Pointers,
    /// The arguments of a message that is a tool call.
    #[serde(default)]
    pub(super) arguments: Pointers,
    #[serde(default)]
    pub(super) calls: Pointers,
    #[serde(default)]
    pub(super) results: Pointers,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CallKeys {
    pub(super) name: Pointers,
    pub(super) id: Pointers,
    pub(super) arguments: Pointers,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ResultKeys {
    pub(super) call: Pointers,
    pub(super) tool: Pointers,
    pub(super) text: Pointers,
    /// The state of a result without a text.
    pub(super) state: Pointers,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Author {
    /// A person.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// The model, calling a tool.
    Call,
    /// The harness: its system prompt.
    System,
    /// The harness: anything else.
    Container,
    /// A compaction: all before it leaves the context.
    Summary,
    /// The user, beginning anew.
    Clear,
}

/// The words of a log for each author.
type Words = BTreeMap<Author, Vec<String>>;

/// The words for each author; those of most logs where none are given.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Words")]
pub(super) struct Roles(Words);

impl From<Words> for Roles {
    fn from(mut words: Words) -> Roles {
        let usual: [(Author, &[&str]); 4] = [
            (Author::User, &["user", "human"]),
            (Author::Assistant, &["assistant", "model", "ai"]),
            (Author::Tool, &["tool", "function"]),
            (Author::System, &["system", "developer"]),
        ];
        for (author, usual) in usual {
            let usual = usual.iter().map(|word| (*word).to_owned());
            words.entry(author).or_insert_with(|| usual.collect());
        }
        Roles(words)
    }
}

impl Default for Roles {
    fn default() -> Roles {
        Roles::from(Words::new())
    }
}

impl Roles {
    /// The words for an author.
    pub(super) fn words(&self, author: Author) -> impl Iterator<Item = &String> {
        self.0.get(&author).into_iter().flatten()
    }

    /// Returns the author that this word means.
    pub(super) fn author(&self, word: &str) -> Option<Author> {
        let means = |words: &[String]| words.iter().any(|is| is == word);
        let found = self.0.iter().find(|(_, words)| means(words));
        found.map(|(author, _)| *author)
    }

    /// Returns a word that means two roles.
    fn twice(&self) -> Option<&str> {
        let words: Vec<&String> = self.0.values().flatten().collect();
        let again = |(at, word): &(usize, &&String)| words[..*at].contains(*word);
        let twice = words.iter().enumerate().find(again);
        twice.map(|(_, word)| word.as_str())
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct UsageKeys {
    /// Numbers in a provider's own words.
    pub(super) report: Pointers,
    /// All input, cached or not: what these point at is added up.
    pub(super) prompt: Pointers,
    /// Instead, input that was neither read from a cache nor written to one.
    pub(super) input: Pointers,
    /// The part of the prompt that was read from a cache.
    pub(super) cached: Pointers,
    /// The part of the prompt that was written to a cache.
    pub(super) written: Pointers,
    pub(super) output: Pointers,
    pub(super) reasoning: Pointers,
    /// True if the agent counts them itself.
    pub(super) estimated: bool,
}

/// A list of numbers in a document. Its entries count as costs: what was cached is not in them, so they give no prompt.
/// Their models are where those of records are.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LedgerKeys {
    pub(super) list: Pointers,
    /// The id of the message that an entry is about.
    pub(super) message: Pointers,
    pub(super) usage: UsageKeys,
}

impl UsageKeys {
    /// Returns true if the log has the provider's numbers.
    pub(super) fn is_reported(&self) -> bool {
        let places = [&self.report, &self.prompt, &self.input];
        !self.estimated && places.iter().any(|place| !place.is_empty())
    }
}

impl Mapping {
    /// Reads the mapping of this name.
    ///
    /// # Errors
    ///
    /// Returns the problem, with the line and the key, and what to do about it.
    pub fn read(name: &str, text: &str) -> Result<Mapping, String> {
        let mut mapping: Mapping = toml::from_str(text).map_err(|error| error.to_string())?;
        name.clone_into(&mut mapping.id);
        mapping.check()?;
        mapping.places = mapping
            .roots
            .iter()
            .map(|root| place(root))
            .collect::<Result<_, _>>()?;
        Ok(mapping)
    }

    /// Returns true if a record has no part of a message and no place in the tree of messages.
    pub(super) fn is_without_message(&'static self, record: Raw<'_>, lost: &LostFields) -> bool {
        let (message, of) = (&self.message, &self.record);
        let mut content = [
            &message.text,
            &message.calls,
            &message.call,
            &of.id,
            &of.parent,
        ]
        .into_iter();
        // A role of another type is none, and is noted.
        message.role.text(record, lost).is_none()
            && content.all(|places| places.each(record).is_empty())
    }

    /// The words for which a record is passed over, without the part that may be any text. A word of a role's is not any
    /// text.
    pub(super) fn skipped(&self, record: Raw<'_>) -> Option<&str> {
        self.record.skip.iter().find_map(|skip| {
            let text: Cow<'_, str> = json::string(skip.at.find(record)?.get())?;
            let word = skip.word(&text)?;
            let is_any = word.contains('*') && self.roles.author(&text).is_some();
            (!is_any).then(|| word.trim_end_matches(['*', '_', ' ']))
        })
    }

    /// The patterns of its files' names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let usual = self.names.is_empty().then_some(NAMES);
        self.names.iter().map(String::as_str).chain(usual)
    }

    fn check(&self) -> Result<(), String> {
        let name = &self.id;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(plain) {
            return Err(format!(
                "'{name}' is no name for an agent: rename the file to letters, digits and '-'"
            ));
        }
        if self.has.is_empty() {
            return Err("`has` is empty: name a pointer that every such log has".to_owned());
        }
        if let Some(word) = self.roles.twice() {
            return Err(format!("`roles`: '{word}' is in two lists: remove one"));
        }
        let tables = [
            (
                "message.calls",
                &self.message.calls,
                "calls.name",
                &self.calls.name,
            ),
            (
                "message.results",
                &self.message.results,
                "results.text",
                &self.results.text,
            ),
        ];
        for (list, points, key, needed) in tables {
            if points.is_empty() != needed.is_empty() {
                return Err(format!(
                    "`{list}` and `{key}` go together: give both or none"
                ));
            }
        }
        if !self.reply.is_empty() && (self.messages.is_none() || self.shape == LogForm::Document) {
            return Err(
                "`reply` is for lines that are whole requests: give `messages` too, or take it out"
                    .to_owned(),
            );
        }
        let usage = &self.usage;
        let has_prompt = !usage.prompt.is_empty() || !usage.input.is_empty();
        if has_prompt == usage.output.is_empty() {
            return Err(
                "`usage.prompt` (or `input`) and `usage.output` go together: give both or none"
                    .to_owned(),
            );
        }
        if has_prompt && !usage.report.is_empty() {
            return Err("`usage`: `report` takes the place of the other words".to_owned());
        }
        Ok(())
    }
}

/// A folder of logs: below `~/`, `$XDG_CONFIG_HOME` or `$XDG_DATA_HOME`, or absolute. `${NAME:-FOLDER}` is the folder that
/// a variable names, otherwise `FOLDER`. Its text is kept for as long as the program runs, as that of built-in ones.
fn place(root: &str) -> Result<Root, String> {
    let folder: &'static str = Box::leak(root.trim_end_matches('/').to_owned().into_boxed_str());
    let no_place =
        || format!("`roots`: '{root}' is no folder to find again: begin it with ~/ or /");
    if let Some(variable) = folder.strip_prefix("${") {
        let (variable, logs) = variable.split_once('}').ok_or_else(no_place)?;
        let (name, usual) = variable.split_once(":-").unwrap_or((variable, ""));
        let base = match usual {
            "" => Base::Nowhere,
            usual => base(usual).ok_or_else(no_place)?,
        };
        return Ok(Root::new(base, logs.trim_start_matches('/')).env(name));
    }
    let (above, logs) = match folder.rsplit_once('/') {
        Some(("", logs)) => ("/", logs),
        Some((above, logs)) => (above, logs),
        None => ("", folder),
    };
    base(above)
        .map(|base| Root::new(base, logs))
        .ok_or_else(no_place)
}

/// The folder of this name.
fn base(folder: &'static str) -> Option<Base> {
    let (first, below) = folder.split_once('/').unwrap_or((folder, ""));
    match first {
        "~" => Some(Base::Home(below)),
        "$XDG_CONFIG_HOME" => Some(Base::XdgConfig(below)),
        "$XDG_DATA_HOME" => Some(Base::XdgData(below)),
        _ => Path::new(folder).is_absolute().then_some(Base::At(folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "has = \"/role\"\n[message]\nrole = \"/role\"\ntext = \"/text\"\n";

    #[test]
    fn little_is_enough() {
        let mapping = Mapping::read("mine", LEAST).unwrap();
        assert_eq!(mapping.names().collect::<Vec<_>>(), ["*.jsonl"]);
        assert_eq!(mapping.roles.author("human"), Some(Author::User));
        assert_eq!(mapping.roles.author("robot"), None);
        assert!(mapping.places.is_empty());
    }

    #[test]
    fn roots_are_below_the_home_folder_or_absolute() {
        let place = |root: &str| {
            let root = place(root)?;
            Ok::<_, String>((root.base, root.logs))
        };
        assert_eq!(place("~/.mine/logs/"), Ok((Base::Home(".mine"), "logs")));
        assert_eq!(place("~/logs"), Ok((Base::Home(""), "logs")));
        if cfg!(unix) {
            assert_eq!(place("/srv/a/logs"), Ok((Base::At("/srv/a"), "logs")));
            assert_eq!(place("/logs"), Ok((Base::At("/"), "logs")));
        }
        assert!(place("logs").unwrap_err().contains("~/"));
        let by = |root: &str| super::place(root).map(|root| (root.env, root.base, root.logs));
        let config = Base::XdgConfig("mine");
        assert_eq!(by("$XDG_CONFIG_HOME/mine/logs"), Ok((None, config, "logs")));
        assert_eq!(
            by("${MINE_HOME:-$XDG_CONFIG_HOME/mine}/a/b"),
            Ok((Some("MINE_HOME"), config, "a/b"))
        );
        assert_eq!(by("${MINE_LOG}"), Ok((Some("MINE_LOG"), Base::Nowhere, "")));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        let with = |more: &str| format!("{more}\n{LEAST}");
        for (name, text, why) in [
            ("mine", "".to_owned(), "has"),
            ("mine", "has = []\n".to_owned(), "message"),
            (
                "mine",
                LEAST.replace("\"/role\"\n[", "[]\n["),
                "`has` is empty",
            ),
            (
                "mine",
                LEAST.replace("/text", "text"),
                "begins with a slash",
            ),
            ("mine", with("rootz = []"), "rootz"),
            ("mine", with("roots = [\"logs\"]"), "`roots`"),
            ("mine", with("shape = \"rows\""), "document"),
            ("mine", with("reply = \"/r\""), "`messages`"),
            ("mine", format!("{LEAST}calls = \"/c\"\n"), "`calls.name`"),
            (
                "mine",
                format!("{LEAST}[usage]\nprompt = \"/p\"\n"),
                "`usage.output`",
            ),
            (
                "mine",
                format!("{LEAST}[usage]\nreport = \"/u\"\nprompt = \"/p\"\noutput = \"/o\"\n"),
                "`report` takes",
            ),
            (
                "mine",
                format!("{LEAST}[roles]\ntool = [\"user\"]\n"),
                "'user' is in two",
            ),
            (
                "mine",
                format!("{LEAST}[record]\nskip = [{{ at = \"/t\" }}]\n"),
                "is",
            ),
            ("my agent", LEAST.to_owned(), "rename"),
        ] {
            let error = Mapping::read(name, &text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
