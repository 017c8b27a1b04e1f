//! `ctxgauge config show`.

use crate::commands::options::{MonitorOptions, Print};
use crate::commands::{Call, Run};
use crate::config;
use crate::config::keys::Unset;
use crate::config::values::{KeyValue, values};
use anyhow::Result;
use clap::Args;
use render::number::counted;
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
        self.print.plain.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let default = call.user.folders.config_file();
        let loaded = config::load(call.config.as_deref(), default.as_deref())?;
        let file = call.config.clone().or(default);
        let mut all: Vec<Setting> = values(&loaded).into_iter().map(setting).collect();
        let on_screen = on_screen(&mut all, call);
        self.add_given(&mut all);
        all.retain(|it| self.is_shown(it));
        let configuration = Configuration {
            path: file.map(|path| path.to_string_lossy().into_owned()),
            exists: loaded.text.is_some(),
            settings: all,
            on_screen,
        };
        let style = self.print.style(call);
        style.print(&configuration, call.out)
    }
}

impl Show {
    /// Adds what options of the command line set.
    fn add_given(&self, all: &mut Vec<Setting>) {
        let ascii = all.iter_mut().find(|it| it.name == "ascii");
        if let Some(ascii) = ascii.filter(|_| self.print.plain.ascii) {
            set(ascii, Some(true.into()), "command line");
            ascii.option = Some("--ascii");
        }
        let at = all.iter().position(|it| it.name == "roots");
        if let Some(at) = at.filter(|_| !self.root.is_empty()) {
            let roots = self.root.iter().map(|root| root.to_string_lossy());
            let roots: Vec<toml::Value> = roots.map(|root| root.into_owned().into()).collect();
            // They are searched besides those of the configuration.
            let mut given = all[at].clone();
            set(&mut given, Some(roots.into()), "command line");
            given.option = Some("--root");
            all.insert(at + 1, given);
        }
    }

    fn is_shown(&self, value: &Setting) -> bool {
        let is_named = |key: &String| {
            let rest = value.name.strip_prefix(key.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let is_wanted = self.keys.is_empty() || self.keys.iter().any(is_named);
        is_wanted && !(self.set && value.from == DEFAULT)
    }
}

/// Replaces the values for which others were chosen on the screens. Returns the choices made there, which are preferred to
/// the file.
fn on_screen(all: &mut [Setting], call: &Call<'_>) -> Option<OnScreen> {
    let path = call.user.folders.state_file()?;
    let state = StateFile::open(path.clone()).0.loaded;
    let (theme, size) = (state.theme, state.screens.items.oversized);
    let windows = state.screens.windows.len() as u64;
    let what = [
        theme.as_ref().map(|theme| format!("theme {theme}")),
        size.map(|size| format!("oversized {size}")),
        (windows > 0).then(|| counted(windows, "window")),
    ];
    let size = size.and_then(|size| toml::Value::try_from(size).ok());
    for (name, value) in [("theme", theme.map(Into::into)), ("oversized", size)] {
        let found = all.iter_mut().find(|it| it.name == name);
        if let (Some(key), Some(_)) = (found, &value) {
            set(key, value, "screens");
        }
    }
    let what: Vec<String> = what.into_iter().flatten().collect();
    (!what.is_empty()).then(|| OnScreen {
        path: call.user.folders.display(&path),
        what,
    })
}

fn setting(key: KeyValue) -> Setting {
    let (default, unset) = match key.unset {
        Unset::Default(text) => (Some(text), None),
        Unset::Means(what) => (None, Some(what)),
        Unset::Required => (None, None),
    };
    let mut setting = Setting {
        name: key.name,
        value: None,
        toml: None,
        default,
        unset,
        from: DEFAULT,
        line: None,
        option: None,
    };
    set(
        &mut setting,
        key.value,
        key.line.map_or(DEFAULT, |_| "file"),
    );
    setting.line = key.line;
    setting
}

/// Gives a key another value, from there.
fn set(key: &mut Setting, value: Option<toml::Value>, from: &'static str) {
    key.toml = value.as_ref().map(toml::Value::to_string);
    key.value = value.and_then(|value| serde_json::to_value(value).ok());
    (key.from, key.line, key.option) = (from, None, None);
}
