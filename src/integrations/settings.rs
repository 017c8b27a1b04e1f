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

pub use file::{Backup, Change, sweep, write};
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
    let entered = changes(agent, parts, user, program, |target, before| {
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
    with_plugin(entered?, agent, parts, user, |folder, within| {
        plugin::enter(folder, within, program)
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
    let taken_out = changes(agent, parts, user, program, |target, now| {
        let Some(now) = now else {
            return Ok((None, false));
        };
        let backup = Backup::of(&target.path, now).filter(|_| target.is_whole(agent));
        let kept = backup.as_ref().and_then(Backup::read);
        // Earlier versions kept what they had made themselves.
        let is_original = |text: &String| !target.is_made_by_us(text, agent, program);
        let original = kept.clone().filter(is_original);
        let text = original.as_deref().unwrap_or(now);
        let text = target.without(text, &target.parts, agent, program)?;
        // A file that we made is gone again.
        let is_ours = original.is_none() && (kept.is_some() || !Backup::exists(&target.path));
        let is_changed = text != now;
        let after = Some(text).filter(|text| !(is_ours && target.is_empty(text) && is_changed));
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
    of_plugin: impl Fn(&Path, &Path) -> Result<Vec<Change>, Refusal>,
) -> Result<Vec<Change>, Refusal> {
    if parts.contains(&Part::Plugin) {
        let folder = folder(agent, user).ok_or(Refusal::NoHome(agent.id()))?;
        changes.extend(of_plugin(&folder, &around(&folder, user))?);
    }
    Ok(changes)
}

/// A file of settings, and the parts that are entered in it.
struct Target {
    path: PathBuf,
    /// A folder around it that stays.
    within: PathBuf,
    place: Place,
    parts: Vec<Part>,
}

impl Target {
    /// Returns a text of the file without these parts.
    fn without(
        &self,
        text: &str,
        parts: &[Part],
        agent: Agent,
        program: &Program,
    ) -> Result<String, Refusal> {
        let mut text = text.to_owned();
        for part in parts {
            let taken_out = match self.place.form {
                Form::Toml => toml::take_out(&text, program).map(Some),
                Form::Json(_) => Json::read(&text, Syntax::Loose).map(|json| {
                    entries::take_out(&json, agent, *part, program).then(|| json.text())
                }),
            };
            let taken_out = taken_out.map_err(|why| unclear(&self.path, why))?;
            text = taken_out.unwrap_or(text);
        }
        Ok(text)
    }

    /// Returns true if nothing is in a text of the file.
    fn is_empty(&self, text: &str) -> bool {
        match self.place.form {
            Form::Toml => text.trim().is_empty(),
            Form::Json(_) => entries::is_empty(text),
        }
    }

    /// Returns true if a text of the file has parts of ours and nothing else: there was no file before.
    fn is_made_by_us(&self, text: &str, agent: Agent, program: &Program) -> bool {
        let rest = self.without(text, &self.all(agent), agent, program);
        rest.is_ok_and(|rest| rest != text && self.is_empty(&rest))
    }

    /// Returns all the parts that can be in it.
    fn all(&self, agent: Agent) -> Vec<Part> {
        let mut all = parts(agent);
        all.retain(|part| place(agent, *part).is_some_and(|it| it.below == self.place.below));
        all
    }

    /// Returns true if these are all the parts that can be in it.
    fn is_whole(&self, agent: Agent) -> bool {
        let all = self.all(agent);
        all.iter().all(|part| self.parts.contains(part))
    }
}

/// Returns the changes of the files in which these parts are. `edit` gives the text of a file after its change, and
/// whether something of ours is in it then.
fn changes(
    agent: Agent,
    parts: &[Part],
    user: &User,
    program: &Program,
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
        let folder = folder(agent, user).ok_or(Refusal::NoHome(agent.id()))?;
        let path = folder.join(place.below);
        match targets.iter_mut().find(|target| target.path == path) {
            Some(target) => target.parts.push(*part),
            None => targets.push(Target {
                path,
                within: around(&folder, user),
                place,
                parts: vec![*part],
            }),
        }
    }
    let change = |target: &Target| {
        let before = file::read(&target.path)?;
        let (after, has_ours) = edit(target, before.as_deref())?;
        let is_made = |text: &String| target.is_made_by_us(text, agent, program);
        let has_original = Backup::exists(&target.path) || !before.as_ref().is_some_and(is_made);
        Ok(Change {
            path: target.path.clone(),
            before,
            after,
            has_ours: has_ours && has_original,
            within: target.within.clone(),
        })
    };
    targets.iter().map(change).collect()
}

/// Returns the folder around an agent's that stays: the user's home or, if it is elsewhere, the one that it is in.
fn around(agent: &Path, user: &User) -> PathBuf {
    let home = user.folders.home.as_deref();
    let home = home.filter(|home| agent.starts_with(home) && agent != *home);
    home.or(agent.parent()).unwrap_or(agent).to_path_buf()
}

fn unclear(path: &Path, why: String) -> Refusal {
    Refusal::Unclear {
        path: path.to_path_buf(),
        why,
    }
}

#[cfg(test)]
mod tests;
