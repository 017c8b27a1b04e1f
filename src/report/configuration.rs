//! What each key of the configuration is set to.

use super::json::document;
use super::json::part::part;
use super::text::table::{Column, Holds, Table};
use super::{Output, Page};
use anyhow::Result;
use render::text::inert;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

/// The configuration. Its texts are the user's: not safe to print.
pub struct Configuration {
    /// The file; `None`: there is no folder for it.
    pub path: Option<String>,
    /// Whether the file exists.
    pub exists: bool,
    /// What the keys are set to.
    pub settings: Vec<Setting>,
    /// What was chosen on the screens.
    pub on_screen: Option<OnScreen>,
}

/// What a key is set to.
pub struct Setting {
    /// The key.
    pub name: String,
    /// The value, as TOML; `None`: it has none.
    pub toml: Option<String>,
    /// The value; `None`: it has none.
    pub json: Option<Value>,
    /// The default, as TOML.
    pub unset: Option<&'static str>,
    /// Where there is no default: what holds then, in words.
    pub means: Option<&'static str>,
    /// Where the value came from.
    pub from: From,
}

/// Where a value came from.
pub enum From {
    /// It is the default.
    Default,
    /// This line of the file.
    File(usize),
    /// This variable of the environment.
    Variable(String),
    /// This option of the command line.
    Option(&'static str),
}

/// What was chosen on the screens, which comes before the file there.
pub struct OnScreen {
    /// The file that it is kept in.
    pub path: String,
    /// What was chosen.
    pub what: Vec<String>,
}

impl From {
    /// Where it came from, in a word.
    fn name(&self) -> &'static str {
        match self {
            From::Default => "default",
            From::File(_) => "file",
            From::Variable(_) => "environment",
            From::Option(_) => "command line",
        }
    }

    fn words(&self) -> String {
        match self {
            From::Default => "default".to_owned(),
            From::File(line) => format!("line {line}"),
            From::Variable(name) => name.clone(),
            From::Option(option) => (*option).to_owned(),
        }
    }
}

impl Output for Configuration {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        match (&self.path, self.exists) {
            (Some(path), true) => writeln!(page, "{}\n", inert(path))?,
            (Some(path), false) => {
                let path = inert(path);
                writeln!(
                    page,
                    "{path} does not exist: `ctxgauge config init` writes it\n"
                )?;
            }
            (None, _) => {}
        }
        let rows = self.settings.iter().map(|it| {
            let means = it.means.map(|means| format!("({means})"));
            let value = it.toml.clone().or(means).unwrap_or_default();
            let default = match it.from {
                From::Default => "",
                _ => it.unset.or(it.means).unwrap_or_default(),
            };
            [
                inert(&it.name).into_owned(),
                inert(&value).into_owned(),
                it.from.words(),
                default.to_owned(),
            ]
        });
        let table = Table {
            columns: [
                Column::new("KEY", Holds::Words, 0),
                Column::new("VALUE", Holds::Text(12), 0),
                Column::new("FROM", Holds::Words, 0),
                Column::new("DEFAULT", Holds::Text(8), 1),
            ],
            rows: rows.collect(),
            indent: 0,
        };
        table.write(page)?;
        if let Some(chosen) = &self.on_screen {
            let what = inert(&chosen.what.join(", ")).into_owned();
            let path = inert(&chosen.path);
            writeln!(
                page,
                "\nchosen on the screens, which go by it: {what} ({path})"
            )?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.config/1", Body::new(self))
    }
}

part! { Body<'a>(all: &'a Configuration) {
    path: Option<&'a str> = all.path.as_deref(),
    exists: bool = all.exists,
    keys: Vec<KeyPart<'a>> = all.settings.iter().map(KeyPart::new).collect(),
    on_screen: &'a [String] = all.on_screen.as_ref().map_or(&[], |chosen| &chosen.what),
}}

part! { KeyPart<'a>(it: &'a Setting) {
    name: &'a str = &it.name,
    value: Option<&'a Value> = it.json.as_ref(),
    toml: Option<&'a str> = it.toml.as_deref(),
    default: Option<&'a str> = it.unset,
    unset: Option<&'a str> = it.means,
    from: &'static str = it.from.name(),
    line: Option<usize> = match it.from {
        From::File(line) => Some(line),
        _ => None,
    },
    variable: Option<&'a str> = match &it.from {
        From::Variable(name) => Some(name),
        _ => None,
    },
    option: Option<&'a str> = match it.from {
        From::Option(option) => Some(option),
        _ => None,
    },
}}
