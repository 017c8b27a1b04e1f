//! The gauge in numbers, always in this shape:
//! `124.1k known + 3.9k ±0.4k est · 77% of 167k trigger (settings) · headroom 39k`,
//! with the agent's own number if it logs one: `agent's count 123.5k (−4.5k)`, or, where our estimate is based
//! on it, `agent's count 123.5k, ours 98.2k`. Where the share is of another count than the numbers before it, that count
//! is in it: `98%: Pi counts 181k of 184k`.

use super::{NARROW_COLUMNS, SessionNumbers};
use crate::app::Stage;
use crate::app::listed::size_stage;
use crate::paint::{Pieces, Tone, joined, joined_width, piece, plain, quiet, strong, width};
use crate::views::{empty_context, groups};
use model::session::context::Context;
use render::own_count::own_count;
use render::sure::{AT_LEAST, AT_MOST};
use render::{number, text};

pub(super) fn numbers(shown: &SessionNumbers<'_>, columns: usize) -> Pieces {
    let (context, limits) = (shown.context, shown.limits);
    if context.used == 0 {
        return vec![quiet(empty_context(shown.gauge))];
    }
    let narrow = columns < NARROW_COLUMNS;
    let stage = size_stage(shown.gauge);
    let mut groups = vec![amount(context, stage, narrow)];
    // A count of which only a part was read is larger, as `ls` says too.
    let is_least = limits.trigger.is_some() && !shown.gauge.is_own_count_whole;
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
            Some(_) => groups::trigger_from(limits),
            None => format!(" ({})", limits.window_from()),
        };
        share.push(quiet(from));
    }
    let own = own_count(shown.label, context, limits.trigger).filter(|_| !narrow);
    let about = limits.refused_near();
    let headroom = limits.trigger.or(about).map(|trigger| {
        let left = number::short(context.headroom(trigger));
        let mut left = stage.of_share(limits).number(left);
        if about.is_some() {
            left.insert_str(0, "about ");
        } else if is_least {
            left.insert_str(0, AT_MOST);
        }
        if narrow {
            vec![piece(format!("{left} left"), shown.nearness)]
        } else {
            vec![plain("headroom "), piece(left, shown.nearness)]
        }
    });
    if narrow {
        groups.push(share);
        groups.extend(headroom);
        return joined(groups, columns);
    }
    let taken = |group: &Pieces| width(group) + 3;
    let kept = headroom.as_ref().map_or(0, taken);
    if let Some(own) = &own {
        let beside = piece(format!(", {}", own.counted), Tone::Warn);
        let room = (columns + 3).saturating_sub(joined_width(&groups) + kept + 3);
        if width(&share) + text::width(&beside.text) <= room {
            share.push(beside);
        } else {
            share.truncate(1);
            share.push(piece(format!(": {}", own.of_trigger()), Tone::Warn));
        }
    }
    groups.push(share);
    let is_said = |tokens| own.as_ref().is_some_and(|own| own.counts(tokens));
    if let Some(estimate) = shown.agent_estimate.filter(|it| !is_said(it.tokens)) {
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
        let error = number::error(context.high.saturating_sub(context.used), context.estimated);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Nearness;
    use crate::tests::testing::{app, logs};
    use model::event::Conversation;
    use model::lists::sessions::{FileId, SessionKey};
    use model::session::own_count::OwnCount;

    #[test]
    fn the_count_that_the_share_is_of_is_in_it() {
        let app = app(logs(), 80, 24);
        let key = SessionKey {
            file: FileId(1),
            conversation: Conversation::Main,
        };
        let gauge = app.sessions.gauge(key).unwrap();
        let mut limits = gauge.limits().clone();
        limits.trigger = Some(184_000);
        let mut context = gauge.context;
        (context.used, context.known, context.estimated) = (201_400, 168_000, 33_400);
        (context.low, context.high) = (199_200, 203_600);
        context.own = Some(OwnCount {
            tokens: 181_000,
            earlier_reasoning: 0,
            not_sent: 0,
            since: 0,
        });
        let shown = |columns, context: &Context| -> String {
            let shown = SessionNumbers {
                label: "pi",
                context,
                limits: &limits,
                agent_estimate: None,
                gauge,
                nearness: Nearness::Next,
                spending: None,
                is_counting: false,
            };
            let pieces = numbers(&shown, columns);
            pieces.into_iter().map(|piece| piece.text).collect()
        };
        assert_eq!(
            shown(80, &context),
            "168.0k known + 33.4k ±2.2k est · 98%: Pi counts 181k of 184k · headroom 3.0k"
        );
        assert_eq!(
            shown(120, &context),
            "168.0k known + 33.4k ±2.2k est · 98% of 184k trigger, Pi counts 181k · headroom 3.0k"
        );
        context.own = None;
        assert!(!shown(80, &context).contains("counts"));
    }
}
