//! A session from the cache: trimmed, without any text but what it is called, and with what lists show of it computed beforehand.
//! A session that was put away is the same, but with its texts.
//!
//! The parts that lists do not show, its details, stay bytes until they are needed.

use super::Session;
use crate::Gone;
use crate::context::Context;
use crate::event::Lane;
use crate::history::{Coverage, PastReset};
use crate::limits::Sizes;
use crate::stored::details::{self, Details};
use crate::stored::name::is_kept;
use crate::window::Rules;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The number of prompts that are at hand without decoding all requests.
const RECENT_PROMPTS: usize = 16;

/// What lists show of a session that was read from the cache or put away.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stored {
    #[serde(with = "crate::stored::shared")]
    pub(crate) model: Option<Arc<str>>,
    pub(crate) context: Context,
    pub(crate) is_final: bool,
    pub(crate) is_own_count_final: bool,
    /// What its limits are computed from.
    pub(crate) sizes: Sizes,
    /// The size of its context by its own calibration.
    pub(crate) used: u64,
    is_unreported: bool,
    /// The newest prompts, in tokens, oldest first.
    prompts: Vec<u64>,
    newest_reset: Option<PastReset>,
    compactions: usize,
    requests: usize,
    /// Whether it has a title or a first prompt that is too long to be kept.
    has_long_name: bool,
    /// Whether its name in lists is a text of its log.
    is_named_by_text: bool,
    /// Whether the session has its texts: it was put away.
    #[serde(skip)]
    has_texts: bool,
}

impl Session {
    /// The session as the cache keeps it; what lists do not show is appended to the details. It is trimmed.
    ///
    /// Texts are left out: previews, types of records that were passed over, why a line could not be read.
    pub fn to_stored(&mut self, lane: Lane, details: &mut Vec<u8>) -> Vec<u8> {
        self.sum_up(lane);
        self.trim();
        let bytes = self.bytes(details);
        self.stored = None;
        bytes
    }

    /// Trims the session and keeps what lists do not show as bytes, since nobody looks at it. Returns what
    /// [`Session::to_stored`] would, if there are details to append to: it is to be stored.
    pub fn put_away(&mut self, lane: Lane, details: Option<&mut Vec<u8>>) -> Option<Vec<u8>> {
        self.sum_up(lane);
        self.trim();
        self.state.pack();
        let bytes = details.map(|details| self.bytes(details));
        self.state.pack_ledger();
        if let Some(stored) = &mut self.stored {
            stored.has_texts = true;
        }
        bytes
    }

    fn bytes(&self, details: &mut Vec<u8>) -> Vec<u8> {
        // No type in it can fail to be written.
        details::write_to(details, || postcard::to_stdvec(self).unwrap_or_default())
    }

    /// Computes what lists show of it.
    fn sum_up(&mut self, lane: Lane) {
        let context = self.context();
        let model = self.model_shared().cloned();
        self.stored = Some(Box::new(Stored {
            is_final: self.is_final(&context),
            is_own_count_final: self.is_own_count_final(&context),
            sizes: Sizes::now(&self.state),
            used: self.calibrated_context().used,
            is_unreported: self.is_unreported(),
            prompts: self.newest_prompts(RECENT_PROMPTS),
            newest_reset: self.resets().last().cloned(),
            compactions: self.compactions(),
            requests: self.requests().len(),
            has_long_name: !is_kept(self.meta.title.as_deref())
                || !is_kept(self.meta.prompt.as_deref()),
            is_named_by_text: self.is_named_by_text(lane),
            has_texts: false,
            context,
            model,
        }));
    }

    /// The session that [`Session::to_stored`] stored, read by the same agent and the same rules. `None`: these are
    /// not the bytes of one.
    pub fn from_stored(
        bytes: &[u8],
        details: Arc<dyn Details>,
        agent: &'static str,
        rules: &Arc<Rules>,
    ) -> Option<Session> {
        let read = details::read_from(details, || postcard::from_bytes::<Session>(bytes));
        let session = read.ok()?;
        let state = session.state.read_by(agent, Arc::clone(rules));
        Some(Session { state, ..session })
    }

    /// The sizes of the newest prompts, in tokens, oldest first: at most `most`.
    pub fn newest_prompts(&self, most: usize) -> Vec<u64> {
        let newest = |len: usize| len.saturating_sub(most);
        match &self.stored {
            Some(stored) if most <= RECENT_PROMPTS => {
                stored.prompts[newest(stored.prompts.len())..].to_vec()
            }
            _ => {
                let requests = self.requests().from(newest(self.requests().len()));
                requests.map(|request| request.prompt()).collect()
            }
        }
    }

    /// The last compaction or clear, and whether a usage report followed it.
    pub fn newest_reset(&self) -> Option<(&PastReset, bool)> {
        let (reset, requests) = match &self.stored {
            Some(stored) => (stored.newest_reset.as_ref(), stored.requests),
            None => (self.resets().last(), self.requests().len()),
        };
        reset.map(|reset| (reset, reset.request < requests))
    }

    /// How many compactions the part of the log that was read has.
    pub fn compactions(&self) -> usize {
        match &self.stored {
            Some(stored) => stored.compactions,
            None => {
                let resets = self.resets().iter();
                let is_compaction = |reset: &&PastReset| reset.gone == Gone::Compaction;
                resets.filter(is_compaction).count()
            }
        }
    }

    /// How many items its size is computed from; `None`: its size was computed beforehand.
    pub fn items_to_sum(&self) -> Option<usize> {
        let is_summed = self.stored.is_some();
        (!is_summed).then(|| self.items().len())
    }

    /// Whether it was read from the cache, which has no texts.
    pub fn lacks_texts(&self) -> bool {
        self.stored.as_ref().is_some_and(|stored| !stored.has_texts)
    }

    /// Whether its log must be read for its title: it is too long for the cache, and was not read since.
    pub fn lacks_title(&self) -> bool {
        let is_long = self
            .stored
            .as_ref()
            .is_some_and(|stored| stored.has_long_name);
        let is_kept = is_kept(self.meta.title.as_deref()) && is_kept(self.meta.prompt.as_deref());
        is_long && is_kept && self.lacks_texts()
    }

    /// Whether its name in lists is a text of its log.
    pub fn is_named_by_text(&self, lane: Lane) -> bool {
        let title = self.meta.title.as_deref().unwrap_or_default();
        let is_child = lane != Lane::Main || self.meta.parent.is_some();
        self.project().is_empty() || (is_child && !title.is_empty())
    }

    /// Whether its log must be read for its name in lists.
    pub fn lacks_name(&self) -> bool {
        let stored = self.stored.as_ref();
        let has_title = self
            .meta
            .title
            .as_deref()
            .is_some_and(|title| !title.is_empty());
        // Without a title, the first text of the user is its name; no text of an item is kept.
        let lacks = if has_title {
            self.lacks_title()
        } else {
            self.lacks_texts()
        };
        stored.is_some_and(|stored| stored.is_named_by_text) && lacks
    }

    /// Whether anything was said, or any request reported, as far as the log was read.
    pub fn has_begun(&self) -> bool {
        // What was put away stays packed, and what was not read has no ledger.
        let requests = || match &self.stored {
            Some(stored) => stored.requests,
            None => self.requests().len(),
        };
        self.turns > 0 || (self.records > 0 && requests() > 0)
    }

    /// Whether the log, read whole, has no usage report: all of its context is estimated.
    pub fn is_unreported(&self) -> bool {
        match &self.stored {
            Some(stored) => stored.is_unreported,
            None => self.coverage == Coverage::Whole && self.requests().is_empty(),
        }
    }
}
