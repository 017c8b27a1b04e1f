//! Lists how the session would have gone under other policies.
//!
//! ```text
//!   TRIGGER TIMES LARGEST DROPPED   INPUT    AT REQUEST            POLICY
//! ▌    167k     2    171k    227k   38.2M    118, 301              actual
//!      100k     5    101k    385k   21.0M ~  61, 118, 170, …       gemini-cli: half of the window
//! ```

use crate::app::tabs::{Column, Row, TabList, Target, View, columns, table};
use crate::paint::{Pieces, Tone, piece, plain, quiet};
use model::Source;
use model::outlook::whatif::{RuleOwner, WhatIf, what_if, what_if_without};
use render::item::sign;
use render::{self, number, text};

/// Lists the session's own resets, then those of each policy.
pub(super) fn list(view: &View<'_>) -> Box<dyn TabList> {
    // Policies are tried on reported requests.
    let policies = match view.page.state.requests {
        0 => Vec::new(),
        requests => rows(view, requests),
    };
    let mut places = 0_usize..;
    table(policies, |_| places.next())
}

/// Returns the row without the marked items is after the one that it compares with.
fn rows(view: &View<'_>, requests: usize) -> Vec<WhatIf> {
    let mut rows = what_if(view.session, requests);
    let marked = &view.page.marked_items;
    if !marked.is_empty() {
        let own = rows.iter().position(|row| row.whose == RuleOwner::Own);
        let without = what_if_without(view.session, requests, marked);
        rows.insert(own.map_or(0, |own| own + 1), without);
    }
    rows
}

impl Row for WhatIf {
    const COLUMNS: &'static [Column<WhatIf>] = columns! { WhatIf;
        right "TRIGGER" [8; 3] |_, policy| plain(render::or_none(policy.trigger.map(number::short))),
            means "the size at which it compacts";
        right "TIMES" [6; 3] |view, policy| view.number(policy.compactions.len().to_string(), Tone::Strong),
            means "its compactions";
        right "LARGEST" [0, 8, 8] |view, policy| {
            let tone = policy.over.map_or(Tone::Text, |_| Tone::Warn);
            view.number(number::short(policy.largest), tone)
        }, means "the largest context";
        right "DROPPED" [0, 8, 8] |view, policy| view.number(number::short(policy.dropped()), Tone::Plain),
            means "what the compactions freed";
        right "INPUT" [0, 8, 8] |view, policy| view.number(number::tokens(policy.prompts), Tone::Plain),
            means "all prompts together";
        right "PRICE" [0, 7, 7] |view, policy| {
            let usd = render::or_none(policy.usd.map(number::usd));
            view.number(usd, Tone::Plain)
        }, means "list price of the prompts and compactions, each prompt read from the cache";
        left "" [2; 3] |_, policy| quiet(match policy.whose {
            RuleOwner::Real => String::new(),
            _ => format!(" {}", sign(Source::Estimated)),
        });
        left "  AT REQUEST" [0, 0, 22] |_, policy| {
            let done = policy.compactions.iter();
            let at: Vec<String> = done.map(|c| (c.request + 1).to_string()).collect();
            quiet(format!("  {}", at.join(", ")))
        }, means "the first request after each compaction";
    };
    const TEXT: &'static str = "POLICY";
    const WORDS: &'static [(&'static str, &'static str)] = &[(
        sign(Source::Estimated),
        "estimated: this rule was not in use",
    )];

    fn text(&self, view: &View<'_>) -> Pieces {
        let tone = match self.whose {
            RuleOwner::Real | RuleOwner::Own => Tone::Strong,
            _ => Tone::Text,
        };
        let mut pieces = vec![piece(text::cut(&name(self), Self::room(view)), tone)];
        if self.over.is_some() {
            pieces.push(piece("  exceeds the window", Tone::Warn));
        }
        pieces
    }

    fn empty(_: &View<'_>) -> Vec<String> {
        vec!["no reported requests to simulate".to_owned()]
    }

    fn captions(_: &[WhatIf], _: &View<'_>) -> [String; 2] {
        [
            "policies, over the whole session; Enter goes back",
            "Enter goes back",
        ]
        .map(str::to_owned)
    }

    fn target(&self) -> Target {
        Target::Policies
    }
}

fn name(policy: &WhatIf) -> String {
    match &policy.whose {
        RuleOwner::Real => "actual".to_owned(),
        RuleOwner::Own => format!("own rule: {}", policy.policy),
        // The words that differ come first.
        RuleOwner::Smaller => format!("own rule, {}", policy.policy.trim_start_matches("with a ")),
        RuleOwner::Agent(agent) => format!("as {agent}: {}", policy.policy),
        RuleOwner::Generic => policy.policy.clone(),
    }
}
