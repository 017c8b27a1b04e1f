//! The change to an agent's settings that enters ctxgauge, made and taken back.
//!
//! A change is worked out first, as a text before and a text after, so that it can be shown; nothing is written unless
//! that is asked for. Other keys, their order and comments stay as they are. The original is kept beside the file, and
//! comes back byte for byte as long as nobody else has changed the file; otherwise only our own entries are taken out.

mod command;
mod entries;
mod file;
mod json;
mod places;
mod plugin;
mod program;
mod toml;

pub use file::{Backup, Change, write};
pub use program::Program;

use super::agent::Agent;
use ::files::paths::User;
use json::{BYTE_ORDER_MARK, Json, Syntax};
use places::{Form, Place, folder, place};
use std::io;
use std::path::{Path, PathBuf};

/// A part of ours that can be entered in an agent's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::VariantArray)]
pub enum Part {
    /// The status line.
    StatusLine,
    /// The hooks.
    Hooks,
    /// The server of the Model Context Protocol.
    Server,
    /// The plugin, by which the agent says what it knows of its context.
    Plugin,
}

impl Part {
    /// Returns its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Part::StatusLine => "status line",
            Part::Hooks => "hooks",
            Part::Server => "server",
            Part::Plugin => "plugin",
        }
    }
}

/// The treatment of a status line that is set already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OtherCommand {
    /// It stays, and ours is not entered.
    #[default]
    Refuse,
    /// Ours runs it too.
    Chain,
    /// Ours takes its place.
    Replace,
}

/// The reason for which nothing can be changed.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The agent does not have it.
    #[error("{0} has no {name} that can be set in a file", name = .1.name())]
    NoPart(&'static str, Part),
    /// There is no home folder.
    #[error("there is no home folder, so the settings of {0} are not found")]
    NoHome(&'static str),
    /// The file cannot be read or written.
    #[error("cannot {doing} '{path}': {error}")]
    Io {
        /// The action that was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the action.
        error: io::Error,
    },
    /// The file is not what it should be.
    #[error("'{path}' is not changed: {why}")]
    Unclear {
        /// The file.
        path: PathBuf,
        /// The problem of the settings.
        why: String,
    },
    /// Another status line is set.
    #[error(
        "another status line is set in '{path}': `{command}`; add --chain to run it too, or --replace to put this one in \
        its place"
    )]
    OtherStatusLine {
        /// The file.
        path: PathBuf,
        /// The command that it runs.
        command: String,
    },
}

/// Returns the parts that an agent has, of all that there are.
pub fn parts(agent: Agent) -> Vec<Part> {
    let all = <Part as strum::VariantArray>::VARIANTS.iter().copied();
    let is_its = |part: &Part| match part {
        Part::Plugin => agent == Agent::ClaudeCode,
        part => place(agent, *part).is_some(),
    };
    all.filter(is_its).collect()
}

/// Returns the changes that enter these parts, one for each file.
///
/// # Errors
///
/// If the agent does not have a part, or a file of its settings is not understood.
pub fn enter(
    agent: Agent,
    parts: &[Part],
    user: &User,
    program: &Program,
    other: OtherCommand,
) -> Result<Vec<Change>, Refusal> {
    let entered = changes(agent, parts, user, |target, before| {
        let text = before.unwrap_or_default();
        let (path, mut text) = (&target.path, text.to_owned());
        for part in &target.parts {
            if text.starts_with(BYTE_ORDER_MARK) && !target.place.takes_mark {
                let why = "the agent does not read it, since it begins with a byte order mark: remove it first";
                return Err(unclear(path, why.to_owned()));
            }
            text = match target.place.form {
                Form::Toml => toml::enter(&text, program).map_err(|why| unclear(path, why))?,
                Form::Json(syntax) => {
                    let json = Json::read(&text, syntax).map_err(|why| unclear(path, why))?;
                    let entered = entries::enter(&json, agent, *part, program, other);
                    entered.map_err(|wrong| wrong.in_file(path))?;
                    json.text()
                }
            };
        }
        Ok((Some(text), true))
    });
    with_plugin(entered?, agent, parts, user, |folder| {
        plugin::enter(folder, program)
    })
}

/// Returns the changes that take these parts out again. What was entered by a program of another name or place is found
/// too.
///
/// # Errors
///
/// If the agent does not have a part, or a file of its settings is not understood.
pub fn take_out(
    agent: Agent,
    parts: &[Part],
    user: &User,
    program: &Program,
) -> Result<Vec<Change>, Refusal> {
    let taken_out = changes(agent, parts, user, |target, now| {
        let Some(now) = now else {
            return Ok((None, false));
        };
        let backup = Backup::of(&target.path, now).filter(|_| target.is_whole(agent));
        let original = backup.as_ref().and_then(Backup::read);
        let mut text = original.clone().unwrap_or_else(|| now.to_owned());
        for part in &target.parts {
            text = match target.place.form {
                Form::Toml => {
                    let taken_out = toml::take_out(&text, program);
                    taken_out.map_err(|why| unclear(&target.path, why))?
                }
                Form::Json(_) => {
                    let json = Json::read(&text, Syntax::Loose);
                    let json = json.map_err(|why| unclear(&target.path, why))?;
                    let is_unchanged = !entries::take_out(&json, agent, *part, program);
                    if is_unchanged {
                        continue;
                    }
                    json.text()
                }
            };
        }
        // A file that we made is gone again.
        let is_ours = original.is_none() && !Backup::exists(&target.path);
        let is_empty = match target.place.form {
            Form::Toml => text.trim().is_empty(),
            Form::Json(_) => entries::is_empty(&text),
        };
        let is_changed = text != now;
        let after = Some(text).filter(|_| !(is_ours && is_empty && is_changed));
        Ok((after, !target.is_whole(agent)))
    });
    with_plugin(taken_out?, agent, parts, user, plugin::take_out)
}

/// Returns the changes, with those of the plugin if it is one of the parts.
fn with_plugin(
    mut changes: Vec<Change>,
    agent: Agent,
    parts: &[Part],
    user: &User,
    of_plugin: impl Fn(&Path) -> Result<Vec<Change>, Refusal>,
) -> Result<Vec<Change>, Refusal> {
    if parts.contains(&Part::Plugin) {
        let folder = folder(agent, user).ok_or(Refusal::NoHome(agent.id()))?;
        changes.extend(of_plugin(&folder)?);
    }
    Ok(changes)
}

/// A file of settings, and the parts that are entered in it.
struct Target {
    path: PathBuf,
    place: Place,
    parts: Vec<Part>,
}

impl Target {
    /// Returns true if these are all the parts that can be in it.
    fn is_whole(&self, agent: Agent) -> bool {
        let is_here =
            |part: &Part| place(agent, *part).is_some_and(|it| it.below == self.place.below);
        parts(agent)
            .iter()
            .filter(|part| is_here(part))
            .all(|part| self.parts.contains(part))
    }
}

/// Returns the changes of the files in which these parts are. `edit` gives the text of a file after its change, and
/// whether something of ours is in it then.
fn changes(
    agent: Agent,
    parts: &[Part],
    user: &User,
    edit: impl Fn(&Target, Option<&str>) -> Result<(Option<String>, bool), Refusal>,
) -> Result<Vec<Change>, Refusal> {
    let mut targets: Vec<Target> = Vec::new();
    let has = self::parts(agent);
    if let Some(part) = parts.iter().find(|part| !has.contains(part)) {
        return Err(Refusal::NoPart(agent.id(), *part));
    }
    for part in parts {
        let Some(place) = place(agent, *part) else {
            continue;
        };
        let path = folder(agent, user).ok_or(Refusal::NoHome(agent.id()))?;
        let path = path.join(place.below);
        match targets.iter_mut().find(|target| target.path == path) {
            Some(target) => target.parts.push(*part),
            None => targets.push(Target {
                path,
                place,
                parts: vec![*part],
            }),
        }
    }
    let change = |target: &Target| {
        let before = file::read(&target.path)?;
        let (after, has_ours) = edit(target, before.as_deref())?;
        Ok(Change {
            path: target.path.clone(),
            before,
            after,
            has_ours,
        })
    };
    targets.iter().map(change).collect()
}

fn unclear(path: &Path, why: String) -> Refusal {
    Refusal::Unclear {
        path: path.to_path_buf(),
        why,
    }
}

#[cfg(test)]
mod tests;
