//! Holds the changes that an agent's settings make to its window and trigger.

use super::client_status::ClientStatus;
use super::matches_model;
use super::other::OtherSettings;
use crate::sizes::pictures::{Media, Pictures};
use crate::values::hooked::HookedCompaction;
use crate::values::project::{Project, trimmed};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use xxhash_rust::xxh3::xxh3_64;

/// The windows and triggers in an agent's settings files. The policy holds for what they leave out. All
/// numbers are tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Overrides {
    /// The window, where the log has none.
    pub window: Option<u64>,
    /// The window of models that the agent does not know, where the log has none.
    pub unknown_window: Option<u64>,
    /// The window is no larger than this, whatever the model's.
    pub window_at_most: Option<u64>,
    /// Compaction uses this window where the model's is larger; it is proactive then, even where it
    /// would not be otherwise.
    pub compact_window: Option<u64>,
    /// The most output per request: this much is reserved for it, if that is less than usual.
    pub output: Option<u64>,
    /// Replaces the policy's reserve.
    pub reserve: Option<u64>,
    /// Replaces the policy's share of the window: 0 to 1.
    pub share: Option<f64>,
    /// Percent of what the output leaves of the window, 1 to 100: can only lower the trigger.
    pub percent: Option<f64>,
    /// Replaces the policy's budget: it fires at this many tokens, whatever the window.
    pub budget: Option<u64>,
    /// The trigger is no higher than this.
    pub limit: Option<u64>,
    /// True if the trigger is counted from the first prompt after the last compaction on. `limit` is the trigger then,
    /// if it is set, and the window the most that it can be.
    pub from_first_prompt: bool,
    /// The share of the window from which on the agent also compacts at the end of a turn: 0 to 1.
    pub turn_end_share: Option<f64>,
    /// The setting for compactions that the agent makes by itself.
    pub compaction: Compaction,
    /// The settings about compactions for other reasons than the size.
    pub others: OtherSettings,
    /// The treatment of pictures, where no report has shown it.
    pub pictures: Media<Pictures>,
    /// The provider of models that the log names without one; empty: not known.
    pub provider: String,
    /// Settings of single models; the first that matches holds. What is set for all models outranks their windows.
    pub models: Vec<ModelWindow>,
    /// The file or variable that `window` and `unknown_window` are from, to be shown; empty: the usual settings.
    #[serde(skip)]
    pub window_from: &'static str,
    /// The file or variable that `compact_window` and `limit` are from, to be shown; empty: the usual settings.
    #[serde(skip)]
    pub trigger_from: &'static str,
    /// The statement of the agent's client about the session.
    pub said: Option<ClientStatus>,
    /// The compactions that its hooks noted, oldest first.
    pub hooked: Vec<HookedCompaction>,
    /// The project, where it is not the working directory that the log names.
    pub project: Option<Project>,
}

static NONE: LazyLock<Arc<Overrides>> = LazyLock::new(Arc::default);

impl Overrides {
    /// Returns the settings of an agent that has none: one object for thousands of sessions.
    pub fn none() -> Arc<Overrides> {
        Arc::clone(&NONE)
    }

    /// Returns a hash of what a session takes from them while it is folded: the causes of its compactions, the agent's
    /// own count, its pictures, the results that it may clear. Two that have the same give the same summary of a log. 0:
    /// nothing is set.
    pub fn summary_hash(&self) -> u64 {
        let set = Overrides {
            said: None,
            others: OtherSettings {
                clearing_kept: self.others.clearing_kept,
                clearing_characters: self.others.clearing_characters,
                ..OtherSettings::default()
            },
            project: None,
            ..self.clone()
        };
        if set == Overrides::default() {
            return 0;
        }
        xxh3_64(format!("{set:?}").as_bytes())
    }

    /// Returns the folder of the project of a session with this working directory; empty: not known.
    pub fn folder<'a>(&'a self, cwd: Option<&'a str>) -> &'a str {
        let cwd = cwd.unwrap_or_default();
        let project = self.project.as_ref();
        match project.filter(|project| &*project.cwd == cwd) {
            Some(project) => trimmed(&project.folder),
            None => trimmed(cwd),
        }
    }
}

/// The window of a model in an agent's settings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelWindow {
    /// The model's id; `*` matches any text.
    pub id: String,
    /// The provider that it is for, as logs name it; empty: any.
    pub provider: String,
    /// The window, in tokens, where the log has none.
    pub window: Option<u64>,
    /// The window that compaction uses, in tokens.
    pub compact_window: Option<u64>,
    /// The most output per request, in tokens, as in [`Overrides::output`].
    pub output: Option<u64>,
    /// The trigger is no higher than this, in tokens.
    pub limit: Option<u64>,
    /// Replaces the policy's reserve, and the one that is set for all models.
    pub reserve: Option<u64>,
    /// Replaces the policy's share of the window, and the one that is set for all models: 0 to 1.
    pub share: Option<f64>,
    /// The treatment of pictures.
    pub pictures: Media<Pictures>,
    /// The file or variable that they are from.
    #[serde(skip)]
    pub from: &'static str,
}

/// The setting for compactions that an agent makes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Compaction {
    /// According to its policy.
    #[default]
    Usual,
    /// Never: it was switched off.
    Off,
}

impl Overrides {
    /// Returns the settings for one model: its own windows where none is set for all.
    pub(crate) fn of_model(
        &self,
        model: Option<&str>,
        provider: Option<&str>,
    ) -> Cow<'_, Overrides> {
        let is_at = |row: &ModelWindow| {
            row.provider.is_empty() || provider.is_none_or(|name| name == row.provider)
        };
        let is_its =
            |row: &&ModelWindow| is_at(row) && model.is_some_and(|id| matches_model(&row.id, id));
        let rows: Vec<&ModelWindow> = self.models.iter().filter(is_its).collect();
        if rows.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut set = self.clone();
        set.reserve = rows.iter().find_map(|row| row.reserve).or(set.reserve);
        set.share = rows.iter().find_map(|row| row.share).or(set.share);
        for row in rows {
            if set.window.is_none() && row.window.is_some() {
                (set.window, set.window_from) = (row.window, row.from);
            }
            set.output = set.output.or(row.output);
            set.pictures = set.pictures.or(row.pictures);
            if set.compact_window.is_none() && row.compact_window.is_some() {
                (set.compact_window, set.trigger_from) = (row.compact_window, row.from);
            }
            if set.limit.is_none() && row.limit.is_some() {
                (set.limit, set.trigger_from) = (row.limit, row.from);
            }
        }
        Cow::Owned(set)
    }

    /// Returns true if nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Overrides::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_session_does_not_take_from_settings_gives_no_other_summary() {
        let of = |set: &dyn Fn(&mut Overrides)| {
            let mut overrides = Overrides::default();
            set(&mut overrides);
            overrides.summary_hash()
        };
        let at = "/shop".to_owned();
        let project = Project {
            cwd: at.clone().into(),
            folder: at.into(),
        };
        assert_eq!(of(&|set| set.project = Some(project.clone())), 0);
        assert_eq!(of(&|set| set.others.idle = Some(true)), 0);
        let limits = [10_000, 20_000].map(|limit| of(&|set| set.limit = Some(limit)));
        assert!(limits[0] != 0 && limits[1] != 0 && limits[0] != limits[1]);
    }
}
