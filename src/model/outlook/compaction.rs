//! Computes the effect of each compaction or clear: the items that left and stayed, the size of its summary, and the
//! difference between the agent's own number and ours. One pass over the session's items is enough for any number of
//! resets.

use crate::history::{Departure, Item, PastReset, RequestIx, SizedItem};
use crate::session::Session;
use crate::values::hooked::{self, HookedCompaction};
use crate::{Kind, LeaveReason, Source};
use std::cmp::Reverse;
use std::ops::Range;

/// The number of the items that left which are named.
pub const NAMED_ITEMS: usize = 3;

/// The effect of one reset. Sizes before it and the roles of the items that left are in its [`PastReset`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compaction {
    /// Its index in the session's resets.
    pub reset: usize,
    /// The size after: the first prompt reported since, else the agent's own number; while nothing has
    /// been sent since, the context as it is now.
    pub after: Option<(u64, Source)>,
    /// The tokens that it freed: the size before less the size after. It is derived where both are known.
    pub freed: Option<(u64, Source)>,
    /// The number of items that left.
    pub left_items: usize,
    /// The tokens of those whose size is only estimated.
    pub left_estimated: u64,
    /// The largest of them, at most [`NAMED_ITEMS`], the largest first.
    pub largest: Vec<SizedItem>,
    /// The number of items that were in the context before and stayed in it.
    pub kept_items: usize,
    /// Their tokens.
    pub kept_tokens: u64,
    /// The tokens of those whose size is only estimated.
    pub kept_estimated: u64,
    /// The summary that took the place of what left: its first item, with the tokens of all items of its record.
    pub summary: Option<SizedItem>,
    /// Our size before less the agent's; `None`: the agent logged none.
    pub difference: Option<i64>,
    /// True if it compacted an earlier log, of which this one has nothing. Only the agent's numbers are known then.
    pub is_of_earlier_log: bool,
}

/// Returns the effect of each of the session's resets, in the order of the log. Items that the session no longer keeps
/// are not counted.
pub fn compactions(session: &Session) -> Vec<Compaction> {
    let resets = &session.resets();
    let mut done: Vec<Compaction> = (0..resets.len()).map(|ix| sizes(session, ix)).collect();
    let mut left: Vec<Vec<SizedItem>> = vec![Vec::new(); resets.len()];
    // The items that each reset keeps, as changes from the one before it: an item may stay through many.
    let mut kept = vec![(0_i64, 0_i128, 0_i128); resets.len() + 1];
    for (ix, item) in session.items().iter().enumerate() {
        let (tokens, source) = session.tokens(ix);
        let PresenceSpan {
            first,
            end,
            dropped,
        } = PresenceSpan::of(resets, item);
        if let Some(reset) = dropped {
            left[reset].push((ix, tokens, source));
        }
        let estimated = if source.is_known() { 0 } else { tokens };
        let mut stays = |range: Range<usize>, sign: i64| {
            if range.start < range.end {
                for (at, sign) in [(range.start, sign), (range.end, -sign)] {
                    kept[at].0 += sign;
                    kept[at].1 += i128::from(sign) * i128::from(tokens);
                    kept[at].2 += i128::from(sign) * i128::from(estimated);
                }
            }
        };
        stays(first..end, 1);
        for away in absences(resets, item) {
            stays(away.start.max(first)..away.end.min(end), -1);
        }
        if item.kind == Kind::Summary
            && let Some(reset) = summarised_by(session, item, first)
        {
            add_summary(session, &mut done[reset].summary, (ix, tokens, source));
        }
    }
    let whole = |sum: i128| u64::try_from(sum.max(0)).unwrap_or(u64::MAX);
    let (mut items, mut tokens, mut estimated) = (0, 0, 0);
    for ((done, mut left), change) in done.iter_mut().zip(left).zip(kept) {
        items += change.0;
        tokens += change.1;
        estimated += change.2;
        done.kept_items = usize::try_from(items).unwrap_or(0);
        done.kept_tokens = whole(tokens);
        done.kept_estimated = whole(estimated);
        done.left_items = left.len();
        let guessed = left.iter().filter(|(.., source)| !source.is_known());
        done.left_estimated = whole(guessed.map(|(_, tokens, _)| i128::from(*tokens)).sum());
        let is_empty = left.is_empty() && items == 0;
        done.is_of_earlier_log = is_empty && done.is_of_earlier_log;
        if done.is_of_earlier_log {
            done.difference = None;
        }
        left.sort_by_key(|(_, tokens, _)| Reverse(*tokens));
        left.truncate(NAMED_ITEMS);
        done.largest = left;
    }
    done
}

/// Takes in an item of a summary. Later ones count if they are of the same record.
fn add_summary(session: &Session, summary: &mut Option<SizedItem>, item: SizedItem) {
    let node = |ix: usize| session.items()[ix].node;
    match summary {
        Some((first, tokens, source)) if node(*first) == node(item.0) => {
            *tokens = tokens.saturating_add(item.1);
            if !item.2.is_known() {
                *source = item.2;
            }
        }
        Some(_) => {}
        None => *summary = Some(item),
    }
}

/// Returns the compactions that hooks of the agent noted and its log does not have.
pub fn unlogged(session: &Session) -> Vec<&HookedCompaction> {
    let at = session.resets().iter().filter_map(|reset| reset.at);
    hooked::unlogged(&session.overrides().hooked, &at.collect::<Vec<_>>())
}

/// Returns all that a reset took out of the context, and all that stayed in it, the largest first.
pub fn contents(session: &Session, reset: usize) -> (Vec<SizedItem>, Vec<SizedItem>) {
    let resets = session.resets();
    let (mut left, mut kept) = (Vec::new(), Vec::new());
    for (ix, item) in session.items().iter().enumerate() {
        let stay = PresenceSpan::of(resets, item);
        let is_away = || absences(resets, item).any(|away| away.contains(&reset));
        let items = if stay.dropped == Some(reset) {
            &mut left
        } else if (stay.first..stay.end).contains(&reset) && !is_away() {
            &mut kept
        } else {
            continue;
        };
        items.push(session.sized(ix));
    }
    for items in [&mut left, &mut kept] {
        items.sort_by_key(|(_, tokens, _)| Reverse(*tokens));
    }
    (left, kept)
}

/// The resets during which an item was in the context, absences aside.
struct PresenceSpan {
    /// The first reset after it had come.
    first: usize,
    /// The reset at which it was gone.
    end: usize,
    /// That reset, if it took the item out.
    dropped: Option<usize>,
}

impl PresenceSpan {
    fn of(resets: &[PastReset], item: &Item) -> PresenceSpan {
        let first = resets.partition_point(|reset| item.place >= reset.place);
        let dropped = dropped_by(resets, item, first);
        let end = match (dropped, item.left) {
            (Some(reset), _) => reset,
            (None, Some(left)) => from(resets, left.request),
            (None, None) => resets.len(),
        };
        PresenceSpan {
            first,
            end,
            dropped,
        }
    }
}

/// Returns the resets during which an item was out of the context, and came back.
fn absences<'r>(
    resets: &'r [PastReset],
    item: &'r Item,
) -> impl Iterator<Item = Range<usize>> + use<'r> {
    let away = item.away.iter();
    away.map(|away| from(resets, away.from)..from(resets, away.to))
}

/// Returns the part that comes from the reset itself: the sizes, without items.
pub(crate) fn sizes(session: &Session, ix: usize) -> Compaction {
    let reset = &session.resets()[ix];
    let is_newest = ix + 1 == session.resets().len() && reset.request >= session.requests().len();
    let now = || is_newest.then(|| (session.context().used, Source::Estimated));
    let after = reset
        .after
        .map(|after| (after, reset.after_source))
        .or_else(now);
    let difference = i128::from(reset.ours) - i128::from(reset.before);
    Compaction {
        reset: ix,
        after,
        freed: after.map(|(after, source)| {
            let is_known = source.is_known() && reset.before_source.is_known();
            let source = if is_known {
                Source::Derived
            } else {
                Source::Estimated
            };
            (reset.before.saturating_sub(after), source)
        }),
        difference: (reset.before_source == Source::Agent)
            .then(|| i64::try_from(difference).unwrap_or(i64::MAX)),
        is_of_earlier_log: reset.ours == 0 && reset.before > 0,
        ..Compaction::default()
    }
}

/// Returns the first reset at or after this request.
fn from(resets: &[PastReset], request: RequestIx) -> usize {
    resets.partition_point(|reset| reset.request < request)
}

/// Returns the resets directly before this request.
fn before(resets: &[PastReset], request: RequestIx) -> Range<usize> {
    from(resets, request)..from(resets, request.saturating_add(1))
}

/// Returns the reset that took an item out: the one of the same record. Without one, and with several between two
/// requests, the first after the item.
fn dropped_by(resets: &[PastReset], item: &Item, first_after: usize) -> Option<usize> {
    let Departure {
        request,
        why,
        record,
    } = item.left?;
    if !matches!(why, LeaveReason::Compaction | LeaveReason::Clear) {
        return None;
    }
    let all = before(resets, request);
    let is_before = |reset: &PastReset| {
        #[cfg(test)]
        tests::COMPARED.set(tests::COMPARED.get() + 1);
        reset.record < record
    };
    let first = all.start + resets[all.clone()].partition_point(is_before);
    let mut same = (first..all.end).take_while(|ix| resets[*ix].record == record);
    if let Some(reset) = same.find(|ix| resets[*ix].gone == why) {
        return Some(reset);
    }
    let mut after = first_after.max(all.start)..all.end;
    let is_it = |ix: &usize| resets[*ix].gone == why;
    after.find(is_it).or_else(|| all.rev().find(is_it))
}

/// Returns the reset that a summary belongs to: the last one before it, of those directly before its first request.
fn summarised_by(session: &Session, item: &Item, first_after: usize) -> Option<usize> {
    let request = item.entered.unwrap_or(session.requests().len());
    let all = before(session.resets(), request);
    let last = all.end.checked_sub(1).filter(|last| *last >= all.start)?;
    Some(first_after.saturating_sub(1).clamp(all.start, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use crate::event::{
        Cause, Conversation, Entry, Event, Key, NewItem, Node, Part, Place, Reset, RetainedItems,
        Size, Usage, count,
    };
    use crate::history::ItemIx;
    use std::cell::Cell;
    use std::sync::Arc;

    thread_local! {
        /// The resets that were compared with an item.
        pub(super) static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    struct Log(Session, u64);

    impl Log {
        fn new() -> Log {
            Log(Session::new("claude-code", Arc::default()), 0)
        }

        fn event(mut self, event: Event) -> Log {
            self.1 += 1;
            let place = Place::new(self.1, self.1 * 100, 99);
            self.0.apply(Entry {
                conversation: Conversation::Main,
                place,
                at: None,
                event,
            });
            self
        }

        fn item(self, key: &str, kind: Kind, tokens: u64) -> Log {
            self.items(key, kind, &[tokens])
        }

        fn items(self, key: &str, kind: Kind, tokens: &[u64]) -> Log {
            let item = |tokens: &u64| NewItem {
                role: Role::User,
                kind,
                tool: None,
                call: None,
                size: Size {
                    local: count(*tokens),
                    counted: true,
                    ..Size::default()
                },
                preview: key.into(),
                hash: *tokens,
                nth: 0,
                is_failed: false,
            };
            self.event(Event::Node(Box::new(Node {
                key: Some(Key::of(key)),
                part: Part::Injected,
                items: tokens.iter().map(item).collect(),
                ..Node::default()
            })))
        }

        fn report(self, prompt: u64) -> Log {
            let request = Key::of_number("request", self.1);
            self.event(Event::Usage(Box::new(Usage::reported(request, prompt))))
        }

        fn compact(self, before: Option<u64>, kept: &[&str]) -> Log {
            let keys = kept.iter().map(|key| Key::of(key)).collect();
            self.event(Event::Reset(Box::new(Reset {
                key: None,
                gone: LeaveReason::Compaction,
                cause: Cause::Automatic,
                before,
                after: None,
                kept: RetainedItems::Nodes(keys),
            })))
        }

        /// Returns for each reset the items that left, the largest of them, the number of items kept, and the summary.
        fn summary_of_all(&self) -> Vec<(usize, Vec<&str>, usize, Option<&str>)> {
            let name = |ix: ItemIx| &*self.0.items()[ix].preview;
            compactions(&self.0)
                .iter()
                .map(|c| {
                    let largest = c.largest.iter().map(|(ix, ..)| name(*ix)).collect();
                    let summary = c.summary.map(|(ix, ..)| name(ix));
                    (c.left_items, largest, c.kept_items, summary)
                })
                .collect()
        }
    }

    #[test]
    fn what_left_what_stayed_and_the_summary() {
        let log = Log::new()
            .item("a", Kind::Text, 10)
            .item("b", Kind::Text, 4_000)
            .item("c", Kind::Text, 300)
            .item("d", Kind::Text, 20)
            .item("e", Kind::Text, 50)
            .report(9_000)
            .compact(Some(9_500), &["e"])
            .item("s", Kind::Summary, 100)
            .report(5_000);
        assert_eq!(
            log.summary_of_all(),
            [(4, vec!["b", "c", "d"], 1, Some("s"))]
        );
        let (left, kept) = contents(&log.0, 0);
        let names = |items: Vec<SizedItem>| -> Vec<String> {
            let names = items.iter().map(|(ix, ..)| &log.0.items()[*ix].preview);
            names.map(ToString::to_string).collect()
        };
        assert_eq!(
            (names(left), names(kept)),
            (
                ["b", "c", "d", "a"].map(String::from).to_vec(),
                vec!["e".to_owned()],
            )
        );
        let done = compactions(&log.0).remove(0);
        assert_eq!(done.after, Some((5_000, Source::Reported)));
        // The size before is the agent's own number.
        assert_eq!(done.freed, Some((4_500, Source::Estimated)));
        assert_eq!((done.left_estimated, done.kept_estimated), (0, 0));
        assert_eq!(done.difference, Some(-500));
        let kept = log
            .0
            .items()
            .iter()
            .position(|i| &*i.preview == "e")
            .unwrap();
        assert_eq!(done.kept_tokens, log.0.tokens(kept).0);
    }

    #[test]
    fn a_compaction_of_an_earlier_log_has_the_agent_s_numbers_alone() {
        let log = Log::new()
            .compact(Some(998_700), &[])
            .item("s", Kind::Summary, 400);
        let log = log.report(69_300).compact(Some(70_000), &[]);
        let done = compactions(&log.0);
        assert!(
            done[0].is_of_earlier_log && !done[1].is_of_earlier_log,
            "{done:#?}"
        );
        assert_eq!((done[0].difference, done[1].difference), (None, Some(-700)));
        assert_eq!(done[0].after, Some((69_300, Source::Reported)));
    }

    #[test]
    fn a_summary_is_all_items_of_its_record() {
        let log = Log::new().item("a", Kind::Text, 10).report(1_000);
        let log = log
            .compact(None, &[])
            .items("s", Kind::Summary, &[400, 35, 200]);
        let (_, tokens, _) = compactions(&log.0)[0].summary.unwrap();
        let all = log.0.in_context().map(|(_, tokens, _)| tokens);
        assert_eq!(tokens, all.sum::<u64>());
    }

    #[test]
    fn what_no_report_settled_is_estimated() {
        let log = Log::new()
            .item("a", Kind::Text, 400)
            .report(1_000)
            .item("b", Kind::Text, 300)
            .item("c", Kind::Text, 200)
            .compact(None, &["c"]);
        let done = compactions(&log.0).remove(0);
        let tokens = |name: &str| {
            let mut items = log.0.items().iter();
            log.0
                .tokens(items.position(|item| &*item.preview == name).unwrap())
                .0
        };
        assert_eq!(done.left_estimated, tokens("b"));
        assert_eq!(done.kept_estimated, tokens("c"));
        assert!(matches!(done.freed, Some((_, Source::Estimated))));
    }

    #[test]
    fn resets_without_a_request_between_do_not_share() {
        let log = Log::new()
            .item("a", Kind::Text, 10)
            .item("b", Kind::Text, 20)
            .report(1_000)
            .compact(None, &[])
            .item("s1", Kind::Summary, 5)
            .compact(None, &[])
            .item("s2", Kind::Summary, 6);
        let first = (2, vec!["b", "a"], 0, Some("s1"));
        assert_eq!(
            log.summary_of_all(),
            [first, (1, vec!["s1"], 0, Some("s2"))]
        );
    }

    #[test]
    fn many_resets_without_a_request_between_are_not_compared_with_each_item() {
        let mut log = Log::new().report(1_000);
        for n in 0..1_000 {
            log = log.item(&n.to_string(), Kind::Text, 10).compact(None, &[]);
        }
        COMPARED.set(0);
        assert!(compactions(&log.0).iter().all(|done| done.left_items == 1));
        assert!((1..20_000).contains(&COMPARED.get()), "{}", COMPARED.get());
    }

    #[test]
    fn without_a_report_since_the_size_after_is_the_size_now() {
        let log = Log::new()
            .item("a", Kind::Text, 500)
            .report(1_000)
            .compact(None, &[]);
        let done = compactions(&log.0).remove(0);
        assert_eq!(done.after, Some((log.0.context().used, Source::Estimated)));
        assert_eq!(done.difference, None);
    }

    #[test]
    fn an_item_may_stay_through_many() {
        let mut log = Log::new().item("a", Kind::Text, 10);
        for _ in 0..4 {
            log = log.report(1_000).compact(None, &["a"]);
        }
        log = log.report(900).compact(None, &[]).report(800);
        let kept: Vec<usize> = log
            .summary_of_all()
            .iter()
            .map(|summary_of_all| summary_of_all.2)
            .collect();
        assert_eq!(kept, [1, 1, 1, 1, 0]);
    }
}
