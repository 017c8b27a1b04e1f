//! The largest growths of the whole session, the largest first.
//!
//! ```text
//!   GROWTH            WHEN  WHAT CAME
//! ▌ +16.7k    #241 +1h04  rg -n packages 11.4k, bd list 5.2k
//!    +4.0k ±0.4k    next  Read src/db.rs 4.0k
//! ```

use super::{Column, Row, TabList, Target, View, columns, counted, table};
use crate::paint::{Pieces, Tone, piece, quiet};
use model::outlook::jumps::Jump;
use render::jump;

/// A jump, by its rank.
#[derive(Debug)]
struct RankedJump {
    rank: usize,
    jump: Jump,
    /// True if it is later than the moment on screen.
    is_later: bool,
}

/// Returns the jumps. Those after the moment on screen are listed too, since one goes there from here.
pub(super) fn list(view: &View<'_>) -> Box<dyn TabList> {
    let page = view.page;
    let now = view.app.ui.replay.moment(&page.timeline);
    let jumps = page.jumps.iter().cloned().enumerate();
    let jumps = jumps.map(|(rank, jump)| RankedJump {
        rank,
        is_later: jump
            .moment(&page.timeline)
            .is_some_and(|moment| moment > now),
        jump,
    });
    table(jumps.collect(), |ranked| {
        let first = ranked.jump.parts.first().map(|part| part.item);
        (ranked.jump.request, first)
    })
}

impl Row for RankedJump {
    const COLUMNS: &'static [Column<RankedJump>] = columns! { RankedJump;
        right "GROWTH" [13; 3] |view, ranked| {
            let tone = if ranked.is_later { Tone::Quiet } else { Tone::Strong };
            view.number_from(ranked.jump.source, jump::size(&ranked.jump), tone)
        }, means "by how much one prompt is larger than the one before it";
        right "WHEN" [7, 13, 13] |view, ranked| {
            let elapsed = view.elapsed(ranked.jump.at);
            let request = jump::request(&ranked.jump);
            let wide = view.fold().pick(false, true, true);
            quiet(match elapsed.filter(|_| wide) {
                Some(elapsed) => format!("{request} {elapsed}"),
                None => request,
            })
        }, means "#20 +1h04: the first request that held it, 1 h 4 min after the session began";
    };
    const TEXT: &'static str = "WHAT CAME";
    const WORDS: &'static [(&'static str, &'static str)] = &[(
        "without an item",
        "text that no log shows: other tools, thinking, a reminder",
    )];

    fn text(&self, view: &View<'_>) -> Pieces {
        let parts = jump::parts_in(
            view.session,
            &view.page.calls,
            &self.jump,
            view.app.name_columns(),
            Self::room(view),
        );
        if self.is_later {
            vec![quiet(parts)]
        } else {
            vec![piece(parts, Tone::Text)]
        }
    }

    fn empty(_: &View<'_>) -> Vec<String> {
        vec!["the context has not grown between two counts".to_owned()]
    }

    fn captions(rows: &[RankedJump], _: &View<'_>) -> [String; 2] {
        counted(rows.len(), ", largest first")
    }

    fn target(&self) -> Target {
        Target::Jump(self.rank)
    }
}
