//! The limits of a session, and the ways in which they are known.

use super::NOT_KNOWN;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// The way in which the window's size is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "lowercase")]
pub enum WindowSource {
    /// It is in the log.
    Log,
    /// The user set it on screen.
    #[strum(serialize = "set here")]
    Here,
    /// The user set it in the configuration.
    Config,
    /// The agent's client said it to a status line.
    Client,
    /// It is in the agent's settings.
    Settings,
    /// The models table has the model.
    #[strum(serialize = "model table")]
    ModelTable,
    /// The smaller of the model's two windows: nothing says which it is used with, and the context fits into it.
    #[strum(serialize = "smaller of two")]
    SmallerOfTwo,
    /// Unknown: the usual size, or the next one above what was seen in the context.
    Guessed,
}

/// The way in which the trigger is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "lowercase")]
pub enum TriggerSource {
    /// It is in the log.
    Log,
    /// The user set the rule.
    Config,
    /// The agent's client said it.
    Client,
    /// The agent's settings change its rule.
    Settings,
    /// The sizes at which the session's own automatic compactions took place.
    #[strum(serialize = "past compactions")]
    Past,
    /// The agent's documented rule.
    Policy,
    /// There is none: by the agent's rule it compacts when the provider refuses a prompt as too long.
    #[strum(serialize = "when refused")]
    Refused,
    /// The agent's rule does not hold for this session: it sent larger prompts.
    #[strum(serialize = "not by its rule")]
    Contradicted,
    /// The agent is not known to compact before the window is full.
    None,
}

impl WindowSource {
    /// Returns the source's name, as screens and reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl TriggerSource {
    /// Returns the source's name, as screens and reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The size of the window, the size at which the agent compacts, and the way in which both are known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The window, in tokens.
    pub window: u64,
    /// The way in which the window is known.
    pub window_source: WindowSource,
    /// The file or variable of the settings that the window is from; empty: none, or the usual one.
    #[serde(skip)]
    pub window_setting: &'static str,
    /// The size at which the agent compacts; `None`: it is not known to compact before the window is
    /// full, or does so only when a prompt is refused.
    pub trigger: Option<u64>,
    /// The size from which on it also compacts at the end of a turn, where that is below the trigger.
    pub turn_end: Option<u64>,
    /// The size at which prompts were refused before, where the agent compacts only then.
    pub refused_at: Option<u64>,
    /// The way in which the trigger is known.
    pub trigger_source: TriggerSource,
    /// The file or variable of the settings that the trigger is from; empty: none, or the usual one.
    #[serde(skip)]
    pub trigger_setting: &'static str,
    /// The policy's name.
    pub policy: String,
    /// True if the session ends with its first answer: it is near nothing, however full it is.
    pub ends: bool,
    /// True if a report on the whole log may show another window.
    pub is_window_provisional: bool,
    /// True if a report on the whole log may show another trigger, or none.
    pub is_trigger_provisional: bool,
}

impl Limits {
    /// Returns the way in which the window is known, with the setting that it is from.
    pub fn window_from(&self) -> String {
        let name = match self.window_source {
            // The two windows of the model are in the table; the reader wants to know what follows from that.
            WindowSource::SmallerOfTwo => "may be larger",
            source => source.name(),
        };
        with_setting(name, self.window_setting)
    }

    /// Returns the size near which the agent compacts because a prompt is refused: where one was before, or the window.
    pub fn refused_near(&self) -> Option<u64> {
        let is_refused = self.trigger_source == TriggerSource::Refused;
        let near = self.refused_at.unwrap_or(self.window);
        (is_refused && self.trigger.is_none()).then_some(near)
    }

    /// Returns the size at which the agent is to compact: its trigger or, about, the size at which a prompt is refused.
    pub fn compacts_near(&self) -> Option<u64> {
        self.trigger.or_else(|| self.refused_near())
    }

    /// Returns the limit that sizes are compared with, in tokens: the trigger or, where none is known, the window.
    pub fn end(&self) -> u64 {
        self.trigger.unwrap_or(self.window)
    }

    /// Returns the word for [`Limits::end`].
    pub fn end_name(&self) -> &'static str {
        match self.trigger {
            Some(_) => "trigger",
            None => "window",
        }
    }

    /// Returns true if a report on the whole log may show another [`Limits::end`].
    pub fn is_end_provisional(&self) -> bool {
        self.is_trigger_provisional || (self.trigger.is_none() && self.is_window_provisional)
    }

    /// Returns the way in which the trigger is known, with the setting that it is from.
    pub fn trigger_from(&self) -> String {
        with_setting(self.trigger_source.name(), self.trigger_setting)
    }

    /// Returns the reason for which there is no trigger, if settings, config or policy exclude one.
    pub fn no_trigger(&self) -> Option<String> {
        match (self.trigger, self.trigger_source) {
            (None, source @ (TriggerSource::Settings | TriggerSource::Client)) => {
                Some(format!("compaction is off ({})", source.name()))
            }
            (None, TriggerSource::Config) => Some(format!("{} (config)", self.compacts())),
            (None, TriggerSource::Refused) => Some(self.compacts()),
            (None, TriggerSource::Contradicted) => Some(format!(
                "sent larger prompts than its rule allows ({})",
                self.policy
            )),
            (None, TriggerSource::None) if !matches!(&*self.policy, "" | NOT_KNOWN) => {
                Some(self.compacts())
            }
            _ => None,
        }
    }

    /// Returns a clause about the agent from its policy, which says when it compacts: `compacts when a prompt is refused`.
    pub fn compacts(&self) -> String {
        match self.policy.strip_prefix("never") {
            Some(rest) => format!("never compacts{rest}"),
            None => format!("compacts {}", self.policy),
        }
    }
}

fn with_setting(source: &str, setting: &str) -> String {
    match setting {
        "" => source.to_owned(),
        setting => format!("{source}, {setting}"),
    }
}
