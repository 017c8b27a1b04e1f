//! `ctxgauge config show`.

use crate::commands::options::{MonitorOptions, Print};
use crate::commands::{Call, Run};
use crate::config;
use crate::config::keys::Unset;
use crate::config::values::{KeyValue, Origin, values};
use anyhow::Result;
use clap::Args;
use report::about::configuration::{Configuration, DEFAULT, OnScreen, Setting};
use std::path::PathBuf;
use tui::runtime::state::StateFile;

/// `ctxgauge config show`.
#[derive(Debug, Args)]
pub struct Show {
    /// Only these keys, and those whose names begin with one: `alerts` or `alerts.share`.
    #[arg(value_name = "KEY")]
    keys: Vec<String>,
    /// Only what is not the default.
    #[arg(long)]
    set: bool,
    /// As if this folder were searched too.
    #[arg(long, value_name = "FOLDER")]
    root: Vec<PathBuf>,
    /// The format of the output.
    #[command(flatten)]
    print: Print,
}

impl Run for Show {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.root.append(&mut before.logs.root);
        self.print.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let default = call.user.folders.config_file();
        let loaded = config::load(call.config.as_deref(), default.as_deref())?;
        let file = call.config.clone().or(default);
        let mut all = values(&loaded);
        add_chosen(&mut all, call);
        self.add_given(&mut all);
        all.retain(|it| self.is_shown(it));
        let configuration = Configuration {
            path: file.map(|path| path.to_string_lossy().into_owned()),
            exists: loaded.text.is_some(),
            settings: all.into_iter().map(setting).collect(),
            on_screen: self.on_screen(call),
        };
        let style = self.print.style(call);
        style.print(&configuration, call.out)
    }
}

impl Show {
    /// Adds what options of the command line set.
    fn add_given(&self, all: &mut Vec<KeyValue>) {
        let ascii = all.iter_mut().find(|it| it.name == "ascii");
        if let Some(ascii) = ascii.filter(|_| self.print.plain.ascii) {
            ascii.value = Some(true.into());
            ascii.origin = Origin::Option("--ascii");
        }
        let at = all.iter().position(|it| it.name == "roots");
        if let Some(at) = at.filter(|_| !self.root.is_empty()) {
            let roots = self.root.iter().map(|root| root.to_string_lossy());
            let roots: Vec<toml::Value> = roots.map(|root| root.into_owned().into()).collect();
            // They are searched besides those of the configuration.
            let given = KeyValue {
                value: Some(roots.into()),
                origin: Origin::Option("--root"),
                ..all[at].clone()
            };
            all.insert(at + 1, given);
        }
    }

    fn is_shown(&self, value: &KeyValue) -> bool {
        let is_named = |key: &String| {
            let rest = value.name.strip_prefix(key.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let is_wanted = self.keys.is_empty() || self.keys.iter().any(is_named);
        is_wanted && !(self.set && value.origin == Origin::Default)
    }

    /// Returns the choices that were made on the screens, which prefer them to the file.
    fn on_screen(&self, call: &Call<'_>) -> Option<OnScreen> {
        let path = call.user.folders.state_file()?;
        let (file, _) = StateFile::open(path.clone());
        let state = &file.loaded;
        let theme = state.theme.as_ref().map(|theme| format!("theme {theme}"));
        let size = state.screens.items.oversized;
        let size = size.map(|size| format!("oversized {size}"));
        let windows = match state.screens.windows.len() {
            0 => None,
            1 => Some("1 window".to_owned()),
            n => Some(format!("{n} windows")),
        };
        let what: Vec<String> = [theme, size, windows].into_iter().flatten().collect();
        (!what.is_empty()).then(|| OnScreen {
            path: call.user.folders.display(&path),
            what,
        })
    }
}

/// Replaces the values for which others were chosen on the screens.
fn add_chosen(all: &mut [KeyValue], call: &Call<'_>) {
    let Some(path) = call.user.folders.state_file() else {
        return;
    };
    let state = StateFile::open(path).0.loaded;
    let size = state.screens.items.oversized;
    let size = size.and_then(|size| toml::Value::try_from(size).ok());
    let chosen = [("theme", state.theme.map(Into::into)), ("oversized", size)];
    for (name, value) in chosen {
        let mut all = all.iter_mut();
        let found = all.find(|it| it.name == name);
        if let (Some(key), Some(_)) = (found, &value) {
            (key.value, key.origin) = (value, Origin::Screens);
        }
    }
}

fn setting(key: KeyValue) -> Setting {
    let (default, unset) = match key.unset {
        Unset::Default(text) => (Some(text), None),
        Unset::Means(what) => (None, Some(what)),
        Unset::Required => (None, None),
    };
    let (from, line, option) = match key.origin {
        Origin::Default => (DEFAULT, None, None),
        Origin::File(line) => ("file", Some(line), None),
        Origin::Screens => ("screens", None, None),
        Origin::Option(option) => ("command line", None, Some(option)),
    };
    Setting {
        name: key.name,
        toml: key.value.as_ref().map(toml::Value::to_string),
        value: key.value.and_then(|value| serde_json::to_value(value).ok()),
        default,
        unset,
        from,
        line,
        option,
    }
}
