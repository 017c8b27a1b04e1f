//! Keeps a calibration for each model of a session.

use crate::sizes::calibration::{Calibration, Tokenizer};
use std::collections::HashMap;
use std::sync::Arc;

/// The calibrations of a session by exact model id, and the one that is in use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calibrations {
    model: Option<Arc<str>>,
    current: Calibration,
    others: HashMap<Arc<str>, Calibration>,
}

impl Calibrations {
    /// Returns the calibrations before any model was named.
    pub(crate) fn new(prior: Tokenizer) -> Calibrations {
        Calibrations {
            current: Calibration::new(prior),
            ..Calibrations::default()
        }
    }

    /// Returns the exact id of the model in use.
    pub(crate) fn model(&self) -> Option<&Arc<str>> {
        self.model.as_ref()
    }

    pub(crate) fn current(&self) -> &Calibration {
        &self.current
    }

    pub(crate) fn current_mut(&mut self) -> &mut Calibration {
        &mut self.current
    }

    /// Uses another model, with what was learned about it before, else with a calibration to begin with.
    pub(crate) fn switch(&mut self, id: &str, new: impl FnOnce() -> Calibration) {
        let known = self.others.remove(id);
        let next = known.unwrap_or_else(new);
        let last = std::mem::replace(&mut self.current, next);
        if let Some(old) = self.model.replace(id.into()) {
            self.others.insert(old, last);
        }
    }
}
