//! Describes each agent's logs in words, and explains why a file of no known format is refused.

use super::root::Base;
use super::{Format, head};
use model::lists::sessions::Commands;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;

/// The content of an agent's logs and its limits: a row of `ctxgauge agents` and of `assets/docs/agents.md`. The places
/// of its logs are in [`Format::roots`], and the sizes at which it compacts in the models table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// Patterns of the folders of its logs, where these are too many to list; empty: the roots are listed.
    #[serde(skip)]
    pub places: &'static [String],
    /// The marks that [`Format::recognise`] looks for near the beginning of a file, with names in backticks. A refusal
    /// of another file says that it has "no …".
    pub mark: &'static str,
    /// The time at which its logs show new events: `each line`.
    pub live: &'static str,
    /// The provider's numbers in its logs: `prompts, outputs, reasoning`. Empty: none, all is
    /// estimated.
    pub known: &'static str,
    /// The numbers that are estimated although one would expect them to be known; empty: none. If nothing is known, the
    /// parts that the estimate leaves out.
    pub estimated: &'static str,
    /// The way in which sub-agents show, or that they do not.
    pub sub_agents: &'static str,
    /// The way in which compactions show, or that they do not.
    pub compactions: &'static str,
    /// The versions that it was tested with, real logs first.
    pub tried: &'static str,
    /// Its commands.
    #[serde(skip)]
    pub commands: Commands,
}

/// [`Facts::live`] of logs that grow line by line.
pub const EACH_LINE: &str = "each line";
/// [`Facts::live`] of documents that are rewritten.
pub const EACH_REWRITE: &str = "each rewrite";

impl Facts {
    /// Nothing.
    pub const NONE: Facts = Facts {
        places: &[],
        mark: "",
        live: "",
        known: "",
        estimated: "",
        sub_agents: "",
        compactions: "",
        tried: "",
        commands: Commands::NONE,
    };

    /// Returns the known and the estimated numbers in one sentence.
    pub fn knowledge(&self) -> String {
        match (self.known, self.estimated) {
            ("", "") => "all estimated".to_owned(),
            ("", unseen) => format!("all estimated, without {unseen}"),
            (known, "") => known.to_owned(),
            (known, estimated) => format!("{known}; estimated: {estimated}"),
        }
    }
}

/// Returns the default folders of an agent's logs, as people write them, then the variables that name others.
pub fn places(format: &Format) -> Vec<String> {
    if !format.facts.places.is_empty() {
        return format.facts.places.to_vec();
    }
    let mut places: Vec<String> = Vec::new();
    let mut named: Vec<String> = Vec::new();
    for root in format.roots {
        let below = |folder: &str| {
            let folder = folder.trim_end_matches('/');
            let path = match root.logs {
                "" => folder.to_owned(),
                logs => format!("{folder}/{logs}"),
            };
            match root.listing.map(|listing| listing.setting) {
                None | Some("") => path,
                Some(setting) => format!("{setting} in {path}"),
            }
        };
        places.extend(folder(root.base).map(|folder| below(&folder)));
        named.extend(root.env.map(|env| below(&format!("${env}"))));
    }
    places.extend(named);
    once_each(places)
}

/// Returns an agent's folder, as people write it; `None`: only a variable names it.
pub fn folder(base: Base) -> Option<String> {
    Some(match base {
        Base::Home(below) => format!("~/{below}"),
        Base::XdgConfig(below) => format!("~/.config/{below}"),
        Base::XdgData(below) => format!("~/.local/share/{below}"),
        Base::At(folder) => folder.to_owned(),
        Base::Nowhere => return None,
    })
}

/// Returns the variables of the environment and the settings that move an agent's logs, as people write them.
pub fn moved_by(format: &Format) -> Vec<String> {
    let mut movers = Vec::new();
    for root in format.roots {
        movers.extend(root.env.map(|name| format!("${name}")));
        for of in [Some(root.base), root.within].into_iter().flatten() {
            match of {
                Base::XdgConfig(_) => movers.push("$XDG_CONFIG_HOME".to_owned()),
                Base::XdgData(_) => movers.push("$XDG_DATA_HOME".to_owned()),
                Base::Home(_) | Base::At(_) | Base::Nowhere => {}
            }
        }
        if let Some(listing) = root.listing.filter(|listing| !listing.setting.is_empty()) {
            movers.push(format!("{} in {}", listing.setting, root.logs));
        }
    }
    once_each(movers)
}

fn once_each(mut texts: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    texts
}

/// The most formats that a refusal names.
const NEAREST: usize = 2;
/// The most keys of a record that a refusal names.
const KEYS: usize = 4;

/// Returns the reason for which a file that begins with these bytes is not a log of these formats: the content that was
/// found, the nearest formats, and what to do.
pub fn refusal(formats: &[&'static Format], head: &[u8]) -> String {
    if head.trim_ascii().is_empty() {
        return "it is empty, so no agent's format fits; --agent NAME reads it as a log of that agent".to_owned();
    }
    if let Some(encoding) = other_encoding(head) {
        return format!(
            "it is {encoding}, and logs are UTF-8: convert it (`iconv -f {encoding} -t UTF-8`)"
        );
    }
    let nearest: Vec<String> = nearest(formats, head)
        .map(|format| format!("{} (no {})", format.id, format.facts.mark))
        .collect();
    let nearest = if nearest.is_empty() {
        String::new()
    } else {
        format!("; the nearest: {}", nearest.join(", "))
    };
    format!(
        "{}, and no agent's format fits{nearest}; `ctxgauge agents` lists the agents, --agent NAME reads it as a log \
         of one, `ctxgauge help custom-formats` is about your own",
        describe(head)
    )
}

/// Returns the name of the encoding of a text that begins with these bytes, with or without a byte order mark, if it is
/// none that can be read.
pub fn other_encoding(head: &[u8]) -> Option<&'static str> {
    // The mark of UTF-32 begins with that of UTF-16.
    const BEGINNINGS: [(&[u8], &str); 8] = [
        (b"\xff\xfe\0\0", "UTF-32"),
        (b"\0\0\xfe\xff", "UTF-32"),
        (b"{\0\0\0", "UTF-32"),
        (b"\0\0\0{", "UTF-32"),
        (b"\xff\xfe", "UTF-16"),
        (b"\xfe\xff", "UTF-16"),
        (b"{\0", "UTF-16"),
        (b"\0{", "UTF-16"),
    ];
    let known = BEGINNINGS.iter().find(|(begin, _)| head.starts_with(begin));
    known.map(|(_, encoding)| *encoding)
}

/// Returns the formats of which some names occur in the bytes, the most similar first.
fn nearest<'f>(
    formats: &'f [&'static Format],
    head: &[u8],
) -> impl Iterator<Item = &'f &'static Format> {
    let share = |format: &Format| {
        let (present, all) = marks(format, head);
        present * 100 / all.max(1)
    };
    let shares = formats.iter().map(|format| (share(format), format));
    let mut shares: Vec<_> = shares.filter(|(share, _)| *share > 0).collect();
    shares.sort_by_key(|(share, _)| std::cmp::Reverse(*share));
    shares.into_iter().take(NEAREST).map(|(_, format)| format)
}

/// Returns true if a file that begins with these bytes can be a log of this format, by its name alone: it is not
/// recognised, but some name that logs have occurs in it.
pub fn can_be(format: &Format, formats: &[&'static Format], head: &[u8]) -> bool {
    let (_, names) = marks(format, head);
    !head.trim_ascii().is_empty() && (names == 0 || nearest(formats, head).next().is_some())
}

/// Returns the number of names in a format's mark that occur in the bytes as strings, and the number of all.
fn marks(format: &Format, head: &[u8]) -> (usize, usize) {
    let names = format.facts.mark.split('`').skip(1).step_by(2);
    let found = names.map(|name| head::has(head, &format!("\"{name}\"")));
    let found: Vec<bool> = found.collect();
    let present = found.iter().filter(|is_there| **is_there).count();
    (present, found.len())
}

/// Describes a file by its first bytes.
fn describe(head: &[u8]) -> String {
    if memchr::memchr(0, head).is_some() {
        return "it is a binary file".to_owned();
    }
    let line = head::first_line(head.trim_ascii_start());
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(record)) => {
            let plain = |key: &&String| {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
                key.len() < 32 && key.chars().all(is_plain)
            };
            let keys = record.keys().filter(plain).take(KEYS);
            let keys: Vec<String> = keys.map(|key| format!("`{key}`")).collect();
            if keys.is_empty() {
                "its first line is a JSON object".to_owned()
            } else {
                format!("its first line is a JSON object with {}", keys.join(", "))
            }
        }
        Ok(_) => "its first line is JSON, but not an object".to_owned(),
        Err(error) if error.is_eof() => "it is a JSON document".to_owned(),
        Err(_) => "its first line is not JSON".to_owned(),
    }
}
