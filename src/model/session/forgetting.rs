//! Folds the items of a session whose size alone is asked for into their sum (see [`ForgottenItems`](crate::forgotten)).

use super::Session;
use crate::forgotten::ForgottenItems;
use crate::history::ItemRef;
use crate::window::Base;

impl Session {
    /// Folds from here on: only its size will be asked for.
    pub fn fold(&mut self) {
        self.state.set_forgotten(Some(Box::default()));
    }

    /// Returns true if something that was forgotten is needed, so that nothing of the session holds.
    pub fn needs_forgotten(&self) -> bool {
        self.folded().is_some_and(|folded| folded.is_wrong)
    }

    /// Like [`Session::needs_forgotten`], but for a session that was read to its end: its agent's count may have turned
    /// out to be another one.
    pub fn has_needed_forgotten(&self) -> bool {
        let has_folded = self.folded().is_some_and(|folded| folded.last.is_some());
        self.needs_forgotten() || (has_folded && !self.counts_by_sums())
    }

    /// Returns true if the size of the context is computed from the sums of its items.
    fn counts_by_sums(&self) -> bool {
        let by_report = |base| matches!(base, Base::Prompt | Base::Total | Base::Logged);
        self.count_rule().is_none_or(|rule| by_report(rule.base))
    }

    /// Folds, if a user turn has just begun and enough has come since the last time.
    pub(super) fn forget_turn(&mut self) {
        let Some(mut folded) = self.state.take_forgotten() else {
            return;
        };
        if self.chain().len() >= folded.front + NODES_TO_FOLD && !folded.is_over {
            folded.is_over = self.forget_items_into(&mut folded).is_none();
        }
        self.state.set_forgotten(Some(folded));
    }

    /// Folds the session; `None`: it cannot be folded.
    fn forget_items_into(&mut self, folded: &mut ForgottenItems) -> Option<()> {
        let is_plain = self.state.has_items_alone() && self.counts_by_sums();
        let last = self.chain().end_of_branch().filter(|_| is_plain)?;
        if folded.last.is_none() {
            let first = self.items().iter().take(KEPT_FIRST_ITEMS);
            folded.front = first.map(|item| item.node() + 1).max()?;
            let mut front = 0..folded.front;
            if folded.front >= NODES_TO_FOLD || !front.all(|node| self.chain().is_live(node)) {
                return None;
            }
        }
        let is_kept = |item: &ItemRef<'_>| item.node() < folded.front || item.node() == last;
        let mut sums = folded.sums;
        for (ix, item) in self.items().iter().enumerate() {
            if is_kept(&item) {
                continue;
            }
            // Pictures may turn out to cost something else, and the newest notice is shown.
            let size = item.size();
            let is_plain = size.fixed == 0 && item.attributed().is_none() && !item.is_ephemeral();
            if item.is_notice() || (item.in_context() && !is_plain) {
                return None;
            }
            let (tokens, source) = self.tokens(ix);
            sums.add(&item, self.part(&item, tokens, source, None), 1);
        }
        folded.sums = sums;
        folded.keys.extend(self.state.forget_items(folded.front));
        folded.last = Some(self.chain().last());
        Some(())
    }
}

/// The number of the first items that are kept.
const KEPT_FIRST_ITEMS: usize = if cfg!(test) { 8 } else { 64 };

/// The number of nodes at which they are folded.
const NODES_TO_FOLD: usize = if cfg!(test) { 20 } else { 16 << 10 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{
        Conversation, Entry, Event, Key, NewItem, Node, Parent, Part, Place, Usage,
    };
    use crate::properties::{events, session};
    use crate::testing::new_item;
    use crate::{Kind, Role};
    use proptest::prelude::*;

    /// A message, which begins a turn if it is the user's.
    fn says(n: usize) -> Event {
        let role = if n.is_multiple_of(3) {
            Role::User
        } else {
            Role::Assistant
        };
        let item = NewItem {
            preview: n.to_string().into(),
            ..new_item(role, Kind::Text, 100 + n as u64)
        };
        let part = if role == Role::User {
            Part::Input
        } else {
            Part::Output
        };
        let key = Key::new(1_000 + n as u64);
        Event::Node(Box::new(Node {
            turn: role == Role::User,
            request: (part == Part::Output).then_some(key),
            ..Node::new(Some(key), part, vec![item])
        }))
    }

    /// The session of these events, folded as they come and not.
    fn both(events: Vec<Event>) -> [Session; 2] {
        let mut both = [(); 2].map(|()| session());
        both[0].fold();
        for session in &mut both {
            session.coverage = crate::history::Coverage::Whole;
            session.forget_past();
        }
        for (n, event) in events.into_iter().enumerate() {
            let line = n as u64 + 1;
            let place = Place::of_line(line);
            for session in &mut both {
                session.take_in(Entry {
                    conversation: Conversation::Main,
                    place,
                    at: None,
                    event: event.clone(),
                });
            }
        }
        for session in &mut both {
            session.catch_up();
            session.end();
        }
        both
    }

    fn says_the_same([folded, whole]: &[Session; 2]) {
        assert_eq!(folded.context(), whole.context());
        assert_eq!(folded.limits(), whole.limits());
        assert_eq!(
            folded.is_final(&folded.context()),
            whole.is_final(&whole.context())
        );
        assert_eq!(folded.is_unreported(), whole.is_unreported());
        assert_eq!((folded.turns, folded.records), (whole.turns, whole.records));
        assert_eq!(folded.model(), whole.model());
        let first = |session: &Session| {
            let first = session.items().iter().take(KEPT_FIRST_ITEMS);
            let logged = |item: ItemRef<'_>| {
                let text = (item.preview().to_owned(), item.hash(), item.size());
                (item.role(), item.kind(), item.call(), item.nth(), text)
            };
            first.map(logged).collect::<Vec<_>>()
        };
        assert_eq!(first(folded), first(whole));
    }

    #[test]
    fn a_long_log_without_reports_is_a_few_items_and_their_sum() {
        let both = both((0..1_000).map(says).collect());
        assert!(!both[0].has_needed_forgotten());
        assert!(
            both[0].items().len() < KEPT_FIRST_ITEMS + 2 * NODES_TO_FOLD,
            "{}",
            both[0].items().len()
        );
        says_the_same(&both);
        assert_eq!(both[0].summary().context, both[1].context());
    }

    #[test]
    fn what_needs_a_forgotten_item_is_noticed() {
        let plain = || (0..400).map(says);
        let below = |key: u64| {
            let mut node = Node::new(None, Part::Input, Vec::new());
            node.parent = Parent::Key(Key::new(key));
            Event::Node(Box::new(node))
        };
        let report = Usage::reported(Key::new(5), 9_000);
        for event in [
            below(1_100),
            Event::Rollback { turns: 100 },
            Event::Usage(Box::new(report)),
        ] {
            let [folded, _] = both(plain().chain([event.clone()]).collect());
            assert!(folded.has_needed_forgotten(), "{event:?}");
        }
        // All records since the last time are there.
        let rewound = |n: u64| {
            let again = [below(1_000 + n - 1), below(1_000 + n - 2)];
            both((0..n as usize).map(says).chain(again).collect())
        };
        let rewound = (400..420)
            .map(rewound)
            .filter(|[folded, _]| !folded.has_needed_forgotten());
        let rewound: Vec<[Session; 2]> = rewound.collect();
        rewound.iter().for_each(says_the_same);
        assert!(rewound.len() > 10, "{}", rewound.len());
    }

    proptest! {
        #[test]
        fn a_folded_session_says_the_same_or_that_it_cannot(
            parts in prop::collection::vec((0..60_usize, events(), any::<bool>()), 1..5),
        ) {
            let mut all = Vec::new();
            for (plain, any, reports) in parts {
                let from = all.len();
                all.extend((from..from + plain).map(says));
                all.extend(any.into_iter().filter(|e| reports || !matches!(e, Event::Usage(_))));
            }
            let both = both(all);
            if !both[0].has_needed_forgotten() {
                says_the_same(&both);
            }
        }
    }
}
