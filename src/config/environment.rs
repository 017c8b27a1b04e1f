//! The variables of the environment that set keys: `CTXGAUGE_ALERTS_SHARE` sets `alerts.share`.

use super::Config;
use super::keys::{self, Kind, PREFIX, Setting};
use super::problem::read;
use crate::nearest::nearest;
use anyhow::{Result, anyhow, bail};
use files::paths::Env;
use model::due::alerts::VARIABLES as ALERT_VARIABLES;
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

/// Variables with a meaning of their own.
const OTHERS: [&str; 1] = ["CTXGAUGE_SYNC"];
/// The prefixes of the variables of tests and benchmarks.
const OF_TESTS: [&str; 2] = ["CTXGAUGE_BENCH_", "CTXGAUGE_TEST_"];

/// A variable that sets a key.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The key that it sets.
    pub setting: Setting,
    /// The value, as TOML.
    toml: String,
}

/// Returns the variables that set keys.
///
/// # Errors
///
/// If the value of one is not UTF-8.
pub(super) fn variables(env: &Env) -> Result<Vec<Variable>> {
    // A command that an alert runs: what describes the alert sets nothing.
    let is_alert = env.get(ALERT_VARIABLES[0]).is_some();
    let mut found = Vec::new();
    for setting in keys::settings() {
        let name = setting.variable();
        let Some(text) = env.get(&name) else {
            continue;
        };
        if is_alert && ALERT_VARIABLES.contains(&name.as_str()) {
            continue;
        }
        let Ok(text) = text.into_string() else {
            bail!("the variable {name} is not UTF-8");
        };
        found.push(Variable {
            name,
            setting,
            toml: as_toml(setting.key.kind, text),
        });
    }
    Ok(found)
}

/// Returns a value as TOML or, if it is not TOML, as a text. For a text or a word, only quotation marks make it TOML.
/// For a list of these, another text becomes a list of one.
fn as_toml(kind: Kind, text: String) -> String {
    let quoted = || toml::Value::String(text.clone()).to_string();
    let parsed = DeValue::parse(&text).ok().map(Spanned::into_inner);
    let is_list = matches!(parsed, Some(DeValue::Array(_)));
    let is_text = matches!(parsed, Some(DeValue::String(_)));
    match kind {
        Kind::Text | Kind::Choice(_) if is_text => text,
        Kind::Text | Kind::Choice(_) => quoted(),
        Kind::Texts | Kind::Choices(_) if is_list => text,
        Kind::Texts | Kind::Choices(_) if is_text => format!("[{text}]"),
        Kind::Texts | Kind::Choices(_) => format!("[{}]", quoted()),
        _ if parsed.is_some() => text,
        _ => quoted(),
    }
}

/// Returns the configuration of a file, changed by the variables.
///
/// # Errors
///
/// If what they set is wrong; the message names the variable.
pub(super) fn apply<'v>(file: &str, variables: &'v [Variable]) -> Result<Config> {
    let with = |which: &dyn Fn(usize) -> bool| -> Result<Config, Error> {
        let mut table = DeTable::parse(file)?;
        let chosen = variables.iter().enumerate();
        for (_, variable) in chosen.filter(|(at, _)| which(*at)) {
            variable.set(table.get_mut());
        }
        read(table)
    };
    let error = match with(&|_| true) {
        Ok(config) => return Ok(config),
        Err(error) => error,
    };
    // The one without which it is right; else one that is wrong even alone.
    let all = || variables.iter().enumerate();
    let needless = |(one, variable): (usize, &'v Variable)| {
        with(&|at| at != one).is_ok().then(|| variable.name.clone())
    };
    let alone = |(one, variable): (usize, &'v Variable)| {
        let error = with(&|at| at == one).err()?;
        Some((variable.name.clone(), error))
    };
    let (names, error) = if let Some(name) = all().find_map(needless) {
        (name, error)
    } else if let Some(found) = all().find_map(alone) {
        found
    } else {
        let names: Vec<&str> = variables.iter().map(|it| it.name.as_str()).collect();
        (names.join(" or "), error)
    };
    let message = error.message().trim_end().replace('\n', ", ");
    Err(anyhow!("the variable {names} is wrong: {message}"))
}

impl Variable {
    /// Returns the value.
    pub(super) fn value(&self) -> Spanned<DeValue<'_>> {
        // It is TOML; and if it were not, no key could have it.
        let none = || Spanned::new(0..0, DeValue::Boolean(false));
        DeValue::parse(&self.toml).unwrap_or_else(|_| none())
    }

    fn set<'v>(&'v self, table: &mut DeTable<'v>) {
        let value = self.value();
        let key = || Spanned::new(0..0, Cow::Borrowed(self.setting.key.name));
        let Some(section) = self.setting.section else {
            table.insert(key(), value);
            return;
        };
        let section = Spanned::new(0..0, Cow::Borrowed(section));
        let empty = || Spanned::new(0..0, DeValue::Table(DeTable::new()));
        let below = table.entry(section).or_insert_with(empty);
        if let DeValue::Table(below) = below.get_mut() {
            if let Some(alias) = self.setting.key.alias {
                below.remove(alias);
            }
            below.insert(key(), value);
        }
    }
}

/// Returns the variables that look like one that sets a key but set none, each with the one that was probably meant.
pub(super) fn unknown(env: &Env) -> Vec<(String, String)> {
    let known: Vec<String> = keys::settings().map(|it| it.variable()).collect();
    let is_alert = env.get(ALERT_VARIABLES[0]).is_some();
    let is_other = |name: &str| {
        OTHERS.contains(&name)
            || OF_TESTS.iter().any(|start| name.starts_with(start))
            || (is_alert && ALERT_VARIABLES.contains(&name))
    };
    let mut names = env.names();
    names.retain(|name| name.starts_with(PREFIX) && !known.contains(name) && !is_other(name));
    names.sort();
    let meant = |name: String| {
        let keys: Vec<String> = keys::settings()
            .map(|setting| setting.name().replace('.', "_"))
            .collect();
        let meant = nearest(&name[PREFIX.len()..], keys.iter().map(String::as_str))?;
        let meant = meant.to_uppercase();
        let what = format!("this variable sets no key; did you mean {PREFIX}{meant}?");
        Some((name, what))
    };
    names.into_iter().filter_map(meant).collect()
}
