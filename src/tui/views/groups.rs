//! Groups of words that several parts of the screens show in the same way: the window, the trigger, the next
//! compaction, the roles, the agent's own number, its notice, sums of sessions.

use crate::app::listed::requests_left;
use crate::app::{Nearness, Page, Stage, Totals};
use crate::paint::{Pieces, Tone, piece, plain, quiet, strong, width};
use model::outlook::forecast::Forecast;
use model::session::Session;
use model::session::context::Context;
use model::state::agent_estimate::AgentEstimate;
use model::window::{Limits, TriggerSource};
use model::{Role, Source};
use render::item::{self, sign};
use render::{number, spending, text};

/// Returns the window and its source.
pub(super) fn window(limits: &Limits) -> Pieces {
    vec![
        quiet("window "),
        plain(number::short(limits.window)),
        quiet(format!(" ({})", limits.window_from())),
    ]
}

/// Returns the trigger and its source.
pub(super) fn trigger(limits: &Limits) -> Pieces {
    match limits.trigger {
        None => {
            let why = limits.no_trigger();
            vec![quiet(why.unwrap_or_else(|| {
                "no automatic compaction known".to_owned()
            }))]
        }
        Some(trigger) => vec![
            quiet("compacts at "),
            plain(number::short(trigger)),
            quiet(trigger_from(limits)),
        ],
    }
}

/// Returns the source of the trigger in brackets, unless it is the usual one: the agent's own rule.
pub(super) fn trigger_from(limits: &Limits) -> String {
    match limits.trigger_source {
        TriggerSource::Policy => String::new(),
        _ => format!(" ({})", limits.trigger_from()),
    }
}

/// Returns the share of the context in its trigger, `82% of 167k trigger`, or in its window.
pub(super) fn share(context: &Context, limits: &Limits, stage: Stage) -> Pieces {
    let (counted, end) = context.filled(limits);
    let Some(percent) = number::percent(counted, end).filter(|_| context.used > 0) else {
        return Pieces::new();
    };
    let of = format!(" of {} {}", number::short(end), limits.end_name());
    let stage = stage.of_share(limits);
    let percent = stage.number(format!("{percent}%"));
    vec![piece(percent, stage.tone(Tone::Strong)), plain(of)]
}

/// Returns the requests until the next compaction, with their sign: `next ~9 (6–14)`.
pub(super) fn next_requests(stage: Stage, forecast: &Forecast, nearness: Nearness) -> Pieces {
    if forecast.is_now() {
        return vec![piece("compacts now", nearness)];
    }
    let band = stage.number(number::band(&forecast.requests));
    vec![quiet("next "), piece(band, nearness)]
}

/// Returns the context without the marked items, when it would compact, and how many requests later that is:
/// `without 1 marked: 147k, next 21 (12–30), 14 more`, and how many marked items are not in the context; `None`: nothing
/// is marked. It is beside the forecast with them.
pub(super) fn without_marked(page: &Page) -> Option<Pieces> {
    let items = page.marked_items.len();
    let gone = (page.marked_gone > 0).then(|| {
        let text = format!("{} marked not in the context", page.marked_gone);
        piece(text, Tone::Marked)
    });
    if items == 0 {
        return gone.map(|gone| vec![gone]);
    }
    let size = number::short(page.without_marked);
    let mut pieces = vec![
        piece(format!("without {items} marked: "), Tone::Marked),
        strong(size),
    ];
    if let Ok(then) = page.forecast_without_marked {
        let band = number::band(&then.requests);
        pieces.push(plain(format!(", next {band}")));
        if let Ok(now) = page.forecast {
            let [now, then] = [now, then].map(|forecast| requests_left(&forecast));
            let more = then.saturating_sub(now);
            pieces.push(plain(format!(", {more} more")));
        }
    }
    pieces.extend(gone.into_iter().flat_map(|gone| [plain(", "), gone]));
    Some(pieces)
}

/// Returns the roles' letters and tokens in a line.
pub(super) fn roles(context: &Context, stage: Stage) -> Pieces {
    let mut pieces = Pieces::new();
    for role in Role::ALL {
        let tokens = context.role(role).tokens;
        if tokens == 0 {
            continue;
        }
        if !pieces.is_empty() {
            pieces.push(plain(" "));
        }
        pieces.push(piece(item::letter(role).to_string(), role));
        let tokens = stage.number(number::short(tokens));
        pieces.push(piece(format!(" {tokens}"), stage.tone(Tone::Plain)));
    }
    pieces
}

/// Returns the agent's own number and its difference from ours, or our count without it, as far as they fit.
pub(super) fn agent(estimate: AgentEstimate, columns: usize) -> Option<Pieces> {
    let tokens = number::tokens(estimate.tokens);
    let off = number::error(estimate.difference().unsigned_abs(), estimate.tokens);
    let off = match estimate.difference() {
        _ if estimate.source == Source::Agent => {
            format!(", ours {}", number::tokens(estimate.ours))
        }
        0 => " (the same)".to_owned(),
        1.. => format!(" (+{off})"),
        _ => format!(" (−{off})"),
    };
    let ways = [
        ("agent's count ", &*off),
        ("agent ", &*off),
        ("agent ", ""),
        (sign(Source::Agent), ""),
    ];
    let mut ways = ways.into_iter().map(|(label, off)| {
        let tokens = piece(&tokens, Tone::Estimated);
        vec![quiet(label), tokens, quiet(off)]
    });
    ways.find(|pieces| width(pieces) <= columns)
}

/// Returns the agent's notice about its context; only its subject where the whole does not fit.
pub(super) fn notice(session: &Session, page: &Page, columns: usize) -> Option<Pieces> {
    let notice = session.items().get(page.state.notice?)?;
    let text = match text::width(&notice.preview) {
        width if width > columns => notice.preview.split(':').next()?,
        _ => &*notice.preview,
    };
    Some(vec![piece(text, Tone::Warn)])
}

/// Returns the sums of some sessions, which `sessions` names, and what was spent on them today.
pub(super) fn sums(sessions: &str, totals: &Totals, narrow: bool) -> Vec<Pieces> {
    let tokens = if narrow {
        number::short
    } else {
        number::tokens
    };
    let sizes = match (totals.known, totals.estimated) {
        (known, 0) => format!("{} known", tokens(known)),
        (0, estimated) => format!("~{} est", tokens(estimated)),
        (known, estimated) => format!("{} known + {} est", tokens(known), tokens(estimated)),
    };
    let mut groups = vec![vec![quiet(format!("{sessions}: {sizes}"))]];
    if totals.near > 0 {
        let near = if narrow {
            "near"
        } else {
            "near the trigger (/near)"
        };
        groups.push(vec![piece(format!("{} {near}", totals.near), Tone::Near)]);
    }
    let cost = spending::cost(&totals.today);
    let stage = Stage::settled_if(!totals.is_today_partial);
    groups.push(vec![
        quiet("today "),
        piece(stage.number(cost), stage.tone(Tone::Plain)),
    ]);
    let left_out = spending::left_out(&totals.today).filter(|_| !totals.today.is_unpriced());
    groups.extend(left_out.map(|what| vec![quiet(what)]));
    groups
}
