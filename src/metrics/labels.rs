//! Labels of sessions. Their values are text of a log: a name of a model, a title. They are made inert and are bounded, so
//! that no log can break the format, fill the memory of the program that stores them, or control a terminal there.

use crate::salt::Salt;
use model::lists::sessions::{SessionKey, Sessions};
use prometheus_client::encoding::{EncodeLabel, EncodeLabelSet, LabelSetEncoder};
use render::text::{inert, one_line};
use report::{joined_by, session_parts};
use std::collections::HashSet;
use std::fmt;
use strum::{EnumIter, EnumMessage, IntoStaticStr};

/// The most characters of a label's value.
pub const LONGEST: usize = 120;

/// A label that sessions have only where the user asks for it: it shows what somebody works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, EnumMessage, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ExtraLabel {
    /// The name of the session's project.
    Project,
    /// Its title, else the beginning of its first prompt.
    Title,
}

/// The way in which sessions are named.
#[derive(Debug, Clone)]
pub struct Naming {
    /// The salt of hashed ids; `None`: the ids of the logs are shown.
    pub salt: Option<Salt>,
    /// The labels besides the agent, the model and the session.
    pub extra: Vec<ExtraLabel>,
}

/// The labels of a session.
pub type Labels = Vec<(&'static str, String)>;

/// The labels of a sample: those of its session, and the one that divides its metric.
#[derive(Debug)]
pub(crate) struct SampleLabels<'a> {
    pub(crate) session: &'a Labels,
    pub(crate) by: Option<(&'static str, &'static str)>,
}

impl EncodeLabelSet for SampleLabels<'_> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        for (name, value) in self.session {
            (*name, value.as_str()).encode(encoder.encode_label())?;
        }
        if let Some(by) = self.by {
            by.encode(encoder.encode_label())?;
        }
        Ok(())
    }
}

impl Naming {
    /// Returns the labels of a session; `None`: there is none. No two sessions get the same: a store refuses all numbers of
    /// an answer in which a sample comes twice.
    pub fn labels(
        &self,
        sessions: &Sessions,
        key: SessionKey,
        taken: &mut HashSet<String>,
    ) -> Option<Labels> {
        let (gauge, facts) = (sessions.gauge(key)?, sessions.facts(key)?);
        let session = match &self.salt {
            Some(salt) => salt.name(&session_parts(facts, key.conversation)),
            None => {
                let id = value(gauge.meta.id.as_deref().unwrap_or_default());
                // A fork may have the id of its parent, and some logs have none.
                if id.is_empty() || taken.contains(&id) {
                    let name = joined_by(facts, key.conversation);
                    format!("{id}~{name}")
                } else {
                    id
                }
            }
        };
        taken.insert(session.clone());
        let mut labels = vec![
            ("agent", value(gauge.agent)),
            ("model", value(gauge.model().unwrap_or_default())),
            ("session", session),
        ];
        labels.extend(self.extra.iter().map(|extra| {
            let text = match extra {
                ExtraLabel::Project => value(sessions.project_of(gauge)),
                ExtraLabel::Title => value(&sessions.title(key).unwrap_or_default()),
            };
            ((*extra).into(), text)
        }));
        Some(labels)
    }
}

/// Returns a text as the value of a label.
pub fn value(text: &str) -> String {
    // Most are names of agents and models, and are made with each answer.
    if text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return text.to_owned();
    }
    let line = one_line(text);
    let shown = inert(&line);
    match shown.char_indices().nth(LONGEST) {
        None => shown.into_owned(),
        Some(_) => {
            let kept = shown.chars().take(LONGEST - 1);
            kept.chain(['…']).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_inert_and_bounded() {
        assert_eq!(value("gpt-5\n\"x\\"), "gpt-5 \"x\\");
        assert!(!value("\u{1b}[31m\u{202e}red").contains(['\u{1b}', '\u{202e}']));
        let long = value(&"é".repeat(1_000_000));
        assert_eq!(long.chars().count(), LONGEST);
        assert!(long.ends_with('…'));
        assert_eq!(value(&"é".repeat(LONGEST)).chars().count(), LONGEST);
    }
}
