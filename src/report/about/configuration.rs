//! Shows the value of each key of the configuration.

use crate::output::json::document;
use crate::output::json::part::part;
use crate::output::text::table::{Column, Holds, Table};
use crate::{Output, Page};
use anyhow::Result;
use render::text::inert;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

/// The source of the value of a key that is not set.
pub const DEFAULT: &str = "default";

/// The configuration. Its texts are the user's: not safe to print.
pub struct Configuration {
    /// The file; `None`: there is no folder for it.
    pub path: Option<String>,
    /// True if the file exists.
    pub exists: bool,
    /// The keys with their values.
    pub settings: Vec<Setting>,
    /// The choices that were made on the screens; `None`: there are none.
    pub on_screen: Option<OnScreen>,
}

/// A key and its value.
#[derive(Clone, Serialize)]
pub struct Setting {
    /// The key.
    pub name: String,
    /// The value; `None`: it has none.
    pub value: Option<Value>,
    /// The value, as TOML; `None`: it has none.
    pub toml: Option<String>,
    /// The default, as TOML.
    pub default: Option<&'static str>,
    /// The behaviour in words if the key is not set and has no default.
    pub unset: Option<&'static str>,
    /// The source of the value, in a word. The fields below have the line of the file or the option.
    pub from: &'static str,
    #[allow(missing_docs)]
    pub line: Option<usize>,
    #[allow(missing_docs)]
    pub option: Option<&'static str>,
}

/// The choices that were made on the screens. The screens prefer them to the configuration.
pub struct OnScreen {
    /// The file that it is kept in.
    pub path: String,
    /// The choices, in words.
    pub what: Vec<String>,
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
            let means = it.unset.map(|means| format!("({means})"));
            let value = it.toml.clone().or(means).unwrap_or_default();
            let is_set = it.from != DEFAULT;
            let default = it.default.or(it.unset).filter(|_| is_set);
            let line = it.line.map(|line| format!("line {line}"));
            let from = line.as_deref().or(it.option).unwrap_or(it.from);
            [
                inert(&it.name).into_owned(),
                inert(&value).into_owned(),
                from.to_owned(),
                default.unwrap_or_default().to_owned(),
            ]
        });
        let columns = [
            Column::new("KEY", Holds::Words, 0),
            Column::new("VALUE", Holds::Text(12), 0),
            Column::new("FROM", Holds::Words, 0),
            Column::new("DEFAULT", Holds::Text(8), 1),
        ];
        Table::new(columns, rows).write(page)?;
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
    keys: &'a [Setting] = &all.settings,
    on_screen: &'a [String] = all.on_screen.as_ref().map_or(&[], |chosen| &chosen.what),
}}
