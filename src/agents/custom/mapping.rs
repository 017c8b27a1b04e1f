//! A user's description of a log format: a small file of TOML.

use super::pointer::{Pointer, Pointers};
use format::{Base, Root};
use serde::Deserialize;
use serde_json::Value;
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
    /// Folders in which its logs are: below `~/`, or absolute.
    #[serde(default)]
    roots: Vec<String>,
    /// The pattern of the names of its files in those folders; `*` is any text.
    #[serde(default = "names")]
    pub(super) names: String,
    /// Line by line, or one document.
    #[serde(default)]
    pub(super) shape: Written,
    /// The values that one of its first lines, or the document, must hold for a file to be such a log.
    pub(super) has: Pointers,
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
    /// The provider's numbers.
    #[serde(default)]
    pub(super) usage: UsageKeys,
}

fn names() -> String {
    "*.jsonl".to_owned()
}

/// The form in which a log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Written {
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
    pub(super) version: Pointers,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RecordKeys {
    pub(super) id: Pointers,
    pub(super) parent: Pointers,
    pub(super) time: Pointers,
    pub(super) model: Pointers,
    /// Records that are passed over.
    pub(super) skip: Vec<Skip>,
}

/// Records that are passed over: those that hold one of these words there.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Skip {
    at: Pointer,
    is: Vec<String>,
}

impl Skip {
    fn word(&self, record: &Value) -> Option<&str> {
        let word = self.at.find(record)?.as_str()?;
        self.is.iter().find(|is| *is == word).map(String::as_str)
    }
}

impl RecordKeys {
    /// Returns the word for which a record is passed over.
    pub(super) fn skipped(&self, record: &Value) -> Option<&str> {
        self.skip.iter().find_map(|skip| skip.word(record))
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageKeys {
    pub(super) role: Pointers,
    pub(super) text: Pointers,
    #[serde(default)]
    pub(super) thinking: Pointers,
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
}

/// The words of a log for each role. By default as in most logs.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Roles {
    user: Vec<String>,
    assistant: Vec<String>,
    tool: Vec<String>,
    call: Vec<String>,
    system: Vec<String>,
    container: Vec<String>,
    pub(super) summary: Vec<String>,
}

impl Default for Roles {
    fn default() -> Roles {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Roles {
            user: words(&["user", "human"]),
            assistant: words(&["assistant", "model", "ai"]),
            tool: words(&["tool", "function"]),
            call: Vec::new(),
            system: words(&["system", "developer"]),
            container: Vec::new(),
            summary: Vec::new(),
        }
    }
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl Roles {
    fn lists(&self) -> [(Author, &Vec<String>); 7] {
        [
            (Author::User, &self.user),
            (Author::Assistant, &self.assistant),
            (Author::Tool, &self.tool),
            (Author::Call, &self.call),
            (Author::System, &self.system),
            (Author::Container, &self.container),
            (Author::Summary, &self.summary),
        ]
    }

    /// Returns the author that this word means.
    pub(super) fn author(&self, word: &str) -> Option<Author> {
        let lists = self.lists();
        let mut lists = lists.iter();
        let found = lists.find(|(_, words)| words.iter().any(|is| is == word));
        found.map(|(author, _)| *author)
    }

    /// Returns a word that means two roles.
    fn twice(&self) -> Option<&str> {
        let words: Vec<&String> = self.lists().iter().flat_map(|(_, words)| *words).collect();
        let again = |(at, word): &(usize, &&String)| words[..*at].contains(*word);
        let twice = words.iter().enumerate().find(again);
        twice.map(|(_, word)| word.as_str())
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct UsageKeys {
    /// All input, cached or not: what these point at is added up.
    pub(super) prompt: Pointers,
    /// The part of it that was read from a cache.
    pub(super) cached: Pointers,
    pub(super) output: Pointers,
    pub(super) reasoning: Pointers,
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
        if !self.reply.is_empty() && (self.messages.is_none() || self.shape == Written::Document) {
            return Err(
                "`reply` is for lines that are whole requests: give `messages` too, or take it out"
                    .to_owned(),
            );
        }
        if self.usage.prompt.is_empty() != self.usage.output.is_empty() {
            return Err(
                "`usage.prompt` and `usage.output` go together: give both or none".to_owned(),
            );
        }
        Ok(())
    }
}

/// Returns a folder of logs. Its text is kept for as long as the program runs, as that of built-in ones.
fn place(root: &str) -> Result<Root, String> {
    let folder: &'static str = Box::leak(root.trim_end_matches('/').to_owned().into_boxed_str());
    let below_home = folder.strip_prefix("~/");
    if below_home.is_none() && !Path::new(folder).is_absolute() {
        return Err(format!(
            "`roots`: '{root}' is no folder to find again: begin it with ~/ or /"
        ));
    }
    let (above, logs) = match below_home.unwrap_or(folder).rsplit_once('/') {
        Some(("", logs)) => ("/", logs),
        Some((above, logs)) => (above, logs),
        None => ("", below_home.unwrap_or(folder)),
    };
    let base = match below_home {
        Some(_) => Base::Home(above),
        None => Base::At(above),
    };
    Ok(Root::new(base, logs))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "has = \"/role\"\n[message]\nrole = \"/role\"\ntext = \"/text\"\n";

    #[test]
    fn little_is_enough() {
        let mapping = Mapping::read("mine", LEAST).unwrap();
        assert_eq!(mapping.names, "*.jsonl");
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
