//! The sub-agents of a session, and what they cost it.
//!
//! ```text
//!    CONTEXT  REQUESTS   INPUT  OUTPUT  RETURNED    AGE  SUB-AGENT
//! ▌    36.2k        31    1.1M    4.2k       2.1k    4s  Explore
//! ```

use super::{Column, Row, TabList, Target, View, columns, table};
use crate::paint::{Pieces, Tone, piece, plain, quiet, strong};
use model::lists::children::Child;
use render::{self, number, text};

/// Returns the sub-agents, the one that was started last first.
pub(super) fn list(view: &View<'_>) -> Box<dyn TabList> {
    table(view.page.agents.clone(), |agent| agent.key)
}

impl Row for Child {
    const COLUMNS: &'static [Column<Child>] = columns! { Child;
        right "CONTEXT" [8; 3] |_, agent| strong(number::tokens(agent.used)), means "the size of its own context";
        right "REQUESTS" [10; 3] |_, agent| plain(number::short_or_none(agent.requests as u64));
        right "INPUT" [0, 8, 8] |_, agent| plain(number::short_or_none(agent.prompts)), means "all its prompts together";
        right "OUTPUT" [0, 8, 8] |_, agent| plain(number::short_or_none(agent.outputs)), means "the output of its model";
        right "RETURNED" [0, 11, 11] |view, agent| {
            let tokens = agent.result.map(|ix| view.session.tokens(ix).0);
            plain(render::or_none(tokens.map(number::tokens)))
        }, means "tokens that it returned to this context";
        right "AGE" [0, 6, 6] |view, agent| {
            let age = view.app.age(agent.key).map(number::age);
            let is_live = view.app.is_live(agent.key);
            piece(age.unwrap_or_default(), if is_live { Tone::Strong } else { Tone::Quiet })
        }, means "time since its last record";
    };
    const TEXT: &'static str = "SUB-AGENT";

    fn text(&self, view: &View<'_>) -> Pieces {
        let sessions = &view.app.sessions;
        let gauge = sessions.gauge(self.key);
        // The list of sessions leaves it out.
        let is_run = gauge.is_some_and(|gauge| sessions.is_compaction_run(gauge));
        let name = if is_run {
            "summary of a compaction".to_owned()
        } else {
            sessions.name(self.key)
        };
        let mut pieces = vec![plain(name)];
        if let Some(gauge) = gauge {
            let model = gauge.model().map(text::short_model);
            // The first prompt is the task of the sub-agent.
            let parts = [model, gauge.meta.prompt.as_deref()];
            pieces.extend(
                parts
                    .into_iter()
                    .flatten()
                    .map(|part| quiet(format!("  {part}"))),
            );
        }
        pieces
    }

    fn empty(_: &View<'_>) -> Vec<String> {
        vec!["no sub-agents found".to_owned()]
    }

    fn target(&self) -> Target {
        Target::Session(self.key)
    }
}
