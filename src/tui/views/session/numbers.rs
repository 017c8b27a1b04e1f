//! The gauge in numbers, always in this shape:
//! `124.1k known + 3.9k ±0.4k est · 77% of 167k trigger (policy) · headroom 39k`,
//! with the agent's own number if it logs one: `agent's count 123.5k (−4.5k)`, or, where our estimate is based
//! on it, `agent's count 123.5k, ours 98.2k`.

use super::{NARROW_COLUMNS, SessionNumbers};
use crate::app::Stage;
use crate::paint::{Pieces, Tone, joined, joined_width, piece, plain, quiet, strong, width};
use crate::views::groups;
use model::context::Context;
use render::number;
use render::sure::{AT_LEAST, AT_MOST};

pub(super) fn numbers(shown: &SessionNumbers<'_>, columns: usize) -> Pieces {
    let (context, limits) = (shown.context, shown.limits);
    if context.used == 0 {
        return vec![quiet(shown.nothing)];
    }
    let narrow = columns < NARROW_COLUMNS;
    let stage = shown.stage;
    let mut groups = vec![amount(context, stage, narrow)];
    // A count of which only a part was read is larger, as `ls` says too.
    let is_least = limits.trigger.is_some() && !shown.is_count_whole;
    let mut share = groups::share(context, limits, stage);
    if let Some(percent) = share.first_mut().filter(|_| is_least) {
        percent.text.insert_str(0, AT_LEAST);
    }
    if narrow {
        share.truncate(1);
        if limits.trigger.is_none() {
            share.push(plain(" of window"));
        }
    } else {
        let from = match limits.trigger {
            Some(_) => limits.trigger_from(),
            None => limits.window_from(),
        };
        share.push(quiet(format!(" ({from})")));
    }
    groups.push(share);
    let headroom = limits.trigger.map(|trigger| {
        let left = number::short(context.headroom(trigger));
        let mut left = stage.of_share(limits).number(left);
        if is_least {
            left.insert_str(0, AT_MOST);
        }
        if narrow {
            vec![piece(format!("{left} left"), shown.nearness)]
        } else {
            vec![plain("headroom "), piece(left, shown.nearness)]
        }
    });
    if narrow {
        groups.extend(headroom);
        return joined(groups, columns);
    }
    let taken = |group: &Pieces| width(group) + 3;
    let kept = headroom.as_ref().map_or(0, taken);
    if let Some(estimate) = shown.agent_estimate {
        let room = (columns + 3).saturating_sub(joined_width(&groups) + kept + 3);
        groups.extend(groups::agent(estimate, room));
    }
    groups.extend(headroom);
    joined(groups, columns)
}

fn amount(context: &Context, stage: Stage, narrow: bool) -> Pieces {
    let mut pieces = Pieces::new();
    if context.known > 0 {
        pieces.push(strong(number::tokens(context.known)));
        pieces.push(plain(if narrow { "" } else { " known" }));
    }
    if context.estimated > 0 {
        let error = number::error(context.high.saturating_sub(context.used));
        let estimated = number::tokens(context.estimated);
        let unit = if narrow { "" } else { " est" };
        let estimated = match context.known {
            0 => format!("~{estimated}"),
            _ => {
                pieces.push(plain(" + "));
                stage.number(estimated)
            }
        };
        let tone = stage.tone(Tone::Estimated);
        pieces.push(piece(format!("{estimated} ±{error}{unit}"), tone));
    }
    pieces
}
