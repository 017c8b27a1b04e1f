//! The records of the tree, in little memory: a log may have millions.

use super::NodeIx;
use crate::event::{Key, Part};
use crate::history::ItemIx;
use crate::names::Names;
use crate::rows::{FormMut, Numbers, Row, RowRef, Rows};
use crate::small::{MaybeIx, short};
use std::collections::HashMap;
use std::ops::Range;
use strum::EnumCount;

/// A record in the tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Link {
    pub(super) key: Option<Key>,
    pub(super) parent: MaybeIx,
    /// The response whose output it is, by its index in [`super::Chain::responses`].
    pub(super) response: MaybeIx,
    /// The next node of the same response.
    pub(super) next_output: MaybeIx,
    pub(super) held: Held,
    pub(super) part: Part,
    pub(super) turn: bool,
    /// Whether it is a reset's.
    pub(super) reset: bool,
    pub(super) live: bool,
}

/// The items of a node, which follow each other mostly.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Held {
    first: u32,
    /// [`LISTED`]: they are in a list.
    count: u32,
}

/// Stands for a number of items that do not follow each other.
const LISTED: u32 = u32::MAX;

impl Held {
    fn range(self) -> Range<ItemIx> {
        let (first, count) = (self.first as ItemIx, self.count as ItemIx);
        match self.count {
            LISTED => 0..0,
            _ => first..first + count,
        }
    }
}

/// The numbers of a link. Where there may be none, 0 is none.
#[derive(Debug, Clone, Copy, EnumCount)]
enum Column {
    Key,
    Parent,
    Response,
    NextOutput,
    FirstItem,
    Items,
    /// The part and the flags.
    Part,
    Live,
}

const TURN: u64 = 16;
const RESET: u64 = 32;

/// Some packed links.
#[derive(Debug, Clone)]
pub(super) struct LinkBlock(Numbers<{ Column::COUNT }>);

impl LinkBlock {
    #[inline]
    fn number(&self, column: Column, at: usize) -> u64 {
        self.0.get(column as usize, at)
    }

    fn ix(&self, column: Column, at: usize) -> MaybeIx {
        let ix = self.number(column, at).checked_sub(1);
        ix.map(|ix| ix as usize).into()
    }

    fn key(&self, at: usize) -> Option<Key> {
        Some(Key::new(self.number(Column::Key, at).checked_sub(1)?))
    }

    fn part(&self, at: usize) -> Part {
        let part = self.number(Column::Part, at) % TURN;
        Part::from_repr(part as usize).unwrap_or_default()
    }

    fn held(&self, at: usize) -> Held {
        Held {
            first: self.number(Column::FirstItem, at) as u32,
            count: self.number(Column::Items, at) as u32,
        }
    }

    fn is_live(&self, at: usize) -> bool {
        self.number(Column::Live, at) != 0
    }

    fn has(&self, flag: u64, at: usize) -> bool {
        self.number(Column::Part, at) & flag != 0
    }
}

fn numbers_of(link: &Link) -> [u64; Column::COUNT] {
    let mut numbers = [0; Column::COUNT];
    let mut put = |column: Column, number: u64| numbers[column as usize] = number;
    put(Column::Key, link.key.map_or(0, |key| key.get() + 1));
    for (column, ix) in [
        (Column::Parent, link.parent),
        (Column::Response, link.response),
        (Column::NextOutput, link.next_output),
    ] {
        put(column, ix.get().map_or(0, |ix| ix as u64 + 1));
    }
    put(Column::FirstItem, link.held.first.into());
    put(Column::Items, link.held.count.into());
    let flag = |is: bool, flag: u64| if is { flag } else { 0 };
    let flags = flag(link.turn, TURN) | flag(link.reset, RESET);
    put(Column::Part, link.part as u64 | flags);
    put(Column::Live, link.live.into());
    numbers
}

impl Row for Link {
    type Block = LinkBlock;

    fn pack(links: &[Link], _: &mut Names) -> LinkBlock {
        LinkBlock(Numbers::of(
            &links.iter().map(numbers_of).collect::<Vec<_>>(),
        ))
    }

    fn replace(block: &mut LinkBlock, at: usize, link: &Link, _: &mut Names) {
        block.0.put(at, &numbers_of(link));
    }

    fn unpack(block: &LinkBlock, at: usize, _: &Names) -> Link {
        Link {
            key: block.key(at),
            parent: block.ix(Column::Parent, at),
            response: block.ix(Column::Response, at),
            next_output: block.ix(Column::NextOutput, at),
            held: block.held(at),
            part: block.part(at),
            turn: block.has(TURN, at),
            reset: block.has(RESET, at),
            live: block.is_live(at),
        }
    }
}

impl RowRef<'_, Link> {
    pub(super) fn key(&self) -> Option<Key> {
        self.read(|link| link.key, LinkBlock::key)
    }

    pub(super) fn parent(&self) -> Option<NodeIx> {
        self.read(
            |link| link.parent.get(),
            |block, at| block.ix(Column::Parent, at).get(),
        )
    }

    /// The response whose output it is, by its index.
    pub(super) fn response(&self) -> Option<usize> {
        self.read(
            |link| link.response.get(),
            |block, at| block.ix(Column::Response, at).get(),
        )
    }

    pub(super) fn part(&self) -> Part {
        self.read(|link| link.part, LinkBlock::part)
    }

    pub(super) fn is_live(&self) -> bool {
        self.read(|link| link.live, LinkBlock::is_live)
    }

    fn held(&self) -> Held {
        self.read(|link| link.held, LinkBlock::held)
    }
}

impl Rows<Link> {
    pub(super) fn set_live(&mut self, node: NodeIx, live: bool) {
        match self.form_mut(node) {
            FormMut::Whole(link) => link.live = live,
            FormMut::Packed(block, at, _) => block.0.set(Column::Live as usize, at, live.into()),
        }
    }

    /// The items of a node. `listed`: those of nodes whose items do not follow each other.
    pub(super) fn items<'l>(
        &self,
        node: NodeIx,
        listed: &'l Listed,
    ) -> impl DoubleEndedIterator<Item = ItemIx> + Clone + use<'l> {
        let held = self.get(node).map(|link| link.held()).unwrap_or_default();
        let list = match held.count {
            LISTED => listed.get(&short(node)).map_or(&[][..], |list| list),
            _ => &[],
        };
        held.range().chain(list.iter().map(|ix| *ix as ItemIx))
    }

    /// Adds an item to a node.
    pub(super) fn hold(&mut self, node: NodeIx, item: ItemIx, listed: &mut Listed) {
        let held = self.at(node).held();
        let held = match held.count {
            LISTED => held,
            0 => Held {
                first: short(item),
                count: 1,
            },
            count if held.range().end == item => Held {
                count: count + 1,
                ..held
            },
            _ => Held {
                count: LISTED,
                ..held
            },
        };
        if held.count == LISTED {
            let before = self.at(node).held().range();
            let list = listed.entry(short(node));
            let list = list.or_insert_with(|| before.map(short).collect());
            list.push(short(item));
        }
        self.change(node, |link| link.held = held);
    }
}

/// The items of nodes whose items do not follow each other.
pub(super) type Listed = HashMap<u32, Vec<u32>>;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    prop_compose! {
        fn links()(
            key in prop::option::of(any::<u64>()),
            n in prop::array::uniform3(prop::option::of(0_usize..1 << 30)),
            held in any::<(u32, u32)>(),
            part in 0..7_usize,
            flags in any::<[bool; 3]>(),
        ) -> Link {
            let [turn, reset, live] = flags;
            Link {
                key: key.map(Key::new),
                parent: n[0].into(),
                response: n[1].into(),
                next_output: n[2].into(),
                held: Held { first: held.0, count: held.1 },
                part: Part::from_repr(part).unwrap(),
                turn,
                reset,
                live,
            }
        }
    }

    proptest! {
        #[test]
        fn packed_links_come_back(links in prop::collection::vec(links(), 1..9)) {
            let mut names = Names::default();
            let block = Link::pack(&links, &mut names);
            for (at, link) in links.iter().enumerate() {
                prop_assert_eq!(&Link::unpack(&block, at, &names), link);
            }
        }

        #[test]
        fn a_node_has_the_items_that_were_added(
            added in prop::collection::vec(0..12_usize, 0..60),
        ) {
            let mut nodes: Rows<Link> = vec![Link::default(); 12].into_iter().collect();
            let (mut listed, mut expected) = (Listed::default(), vec![Vec::new(); 12]);
            for (item, node) in added.into_iter().enumerate() {
                nodes.hold(node, item, &mut listed);
                expected[node].push(item);
            }
            for (node, expected) in expected.into_iter().enumerate() {
                let items = nodes.items(node, &listed);
                prop_assert_eq!(items.clone().collect::<Vec<_>>(), expected.clone());
                prop_assert!(items.rev().eq(expected.into_iter().rev()));
            }
        }
    }
}
