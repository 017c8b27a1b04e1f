//! Packed items. Most numbers of an item are near those of the items beside it, or 0.

use super::presence::Presence;
use super::{Away, Item, Left, NOT_LOGGED, PreviousSize, UNLOGGED};
use crate::event::{Key, NewItem, Place, Size};
use crate::names::{Name, Names};
use crate::rows::{Numbers, Row};
use crate::small::{MaybeIx, MaybeTime};
use crate::{Gone, Kind, Role, Source};
use strum::EnumCount;

/// The numbers of an item. Where there may be none, 0 is none.
#[derive(Debug, Clone, Copy, EnumCount)]
enum Column {
    Offset,
    Line,
    Len,
    Second,
    Millisecond,
    Nanosecond,
    Role,
    Kind,
    Flags,
    Tool,
    Call,
    Bytes,
    /// What the text has more bytes than characters.
    MoreBytes,
    Local,
    Digits,
    Wide,
    Marks,
    Fixed,
    Documents,
    Opaque,
    Reported,
    Tools,
    Escapes,
    Cl100kMore,
    CallId,
    OwnBytes,
    Hash,
    Nth,
    Settled,
    SettledSource,
    OutputOf,
    Entered,
    LeftRequest,
    LeftRecord,
    LeftWhy,
    PreviousUntil,
    PreviousTokens,
    PreviousSource,
    Record,
    Node,
    /// Where its preview ends in those of its block.
    PreviewEnd,
}

const COUNTED: u64 = 1;
const PARTIAL: u64 = 2;
const EPHEMERAL: u64 = 4;

/// Some packed items.
#[derive(Debug, Clone)]
pub struct ItemBlock {
    numbers: Numbers<{ Column::COUNT }>,
    /// `None`: they were left in the log.
    previews: Option<Box<str>>,
    /// The times for which items were out of the context, by their places in the block.
    away: Vec<(usize, Vec<Away>)>,
}

impl ItemBlock {
    #[inline]
    fn number(&self, column: Column, at: usize) -> u64 {
        self.numbers.get(column as usize, at)
    }

    #[inline]
    fn short(&self, column: Column, at: usize) -> u32 {
        self.number(column, at) as u32
    }

    pub(super) fn call(&self, at: usize) -> Option<Key> {
        self.key(Column::Call, at)
    }

    pub(super) fn output_of(&self, at: usize) -> Option<Key> {
        self.key(Column::OutputOf, at)
    }

    pub(super) fn hash(&self, at: usize) -> u64 {
        self.number(Column::Hash, at)
    }

    pub(super) fn node(&self, at: usize) -> u32 {
        self.short(Column::Node, at)
    }

    pub(super) fn record(&self, at: usize) -> u32 {
        self.short(Column::Record, at)
    }

    fn key(&self, column: Column, at: usize) -> Option<Key> {
        Some(Key::new(self.number(column, at).checked_sub(1)?))
    }

    pub(super) fn place(&self, at: usize) -> Place {
        Place::new(
            self.number(Column::Line, at),
            self.number(Column::Offset, at),
            self.number(Column::Len, at),
        )
    }

    pub(super) fn time(&self, at: usize) -> MaybeTime {
        MaybeTime::of_numbers([
            self.number(Column::Second, at),
            self.number(Column::Millisecond, at),
            self.number(Column::Nanosecond, at),
        ])
    }

    pub(super) fn role(&self, at: usize) -> Role {
        let role = Role::from_repr(self.number(Column::Role, at) as usize);
        role.unwrap_or(Role::System)
    }

    pub(super) fn kind(&self, at: usize) -> Kind {
        let kind = Kind::from_repr(self.number(Column::Kind, at) as usize);
        kind.unwrap_or(Kind::Text)
    }

    pub(super) fn tool<'n>(&self, at: usize, names: &'n Names) -> Option<&'n Name> {
        names.get(self.short(Column::Tool, at).checked_sub(1)?)
    }

    pub(super) fn preview(&self, at: usize) -> &str {
        let end = |at| self.number(Column::PreviewEnd, at) as usize;
        let start = at.checked_sub(1).map_or(0, end);
        match &self.previews {
            Some(previews) => previews.get(start..end(at)).unwrap_or_default(),
            None if !self.is_logged(at) => NOT_LOGGED,
            None => "",
        }
    }

    fn is_logged(&self, at: usize) -> bool {
        self.nth(at) != UNLOGGED
    }

    /// Whether its preview was left in the log.
    pub(super) fn leaves_preview(&self, at: usize) -> bool {
        self.previews.is_none() && self.is_logged(at)
    }

    /// Leaves the previews in the log.
    pub(super) fn leave_previews(&mut self) {
        self.previews = None;
    }

    pub(super) fn size(&self, at: usize) -> Size {
        let short = |column| self.short(column, at);
        let flags = self.number(Column::Flags, at);
        Size {
            bytes: short(Column::Bytes),
            chars: short(Column::Bytes).wrapping_sub(short(Column::MoreBytes)),
            local: short(Column::Local),
            digits: short(Column::Digits),
            wide: short(Column::Wide),
            marks: short(Column::Marks),
            counted: flags & COUNTED != 0,
            partial: flags & PARTIAL != 0,
            fixed: short(Column::Fixed),
            documents: short(Column::Documents),
            opaque: short(Column::Opaque),
            reported: short(Column::Reported),
            tools: short(Column::Tools),
            escapes: short(Column::Escapes),
            cl100k_more: short(Column::Cl100kMore).cast_signed(),
            call_id: short(Column::CallId) as u16,
            own_bytes: self
                .number(Column::OwnBytes, at)
                .checked_sub(1)
                .map(|bytes| bytes as u32),
        }
    }

    pub(super) fn nth(&self, at: usize) -> u32 {
        self.short(Column::Nth, at)
    }

    pub(super) fn is_ephemeral(&self, at: usize) -> bool {
        self.number(Column::Flags, at) & EPHEMERAL != 0
    }

    pub(super) fn settled(&self, at: usize) -> Option<(u64, Source)> {
        let source = source_of(self.number(Column::SettledSource, at))?;
        Some((self.number(Column::Settled, at), source))
    }

    pub(super) fn entered(&self, at: usize) -> MaybeIx {
        let entered = self.number(Column::Entered, at).checked_sub(1);
        entered.map(|ix| ix as usize).into()
    }

    pub(super) fn left(&self, at: usize) -> Option<Left> {
        let why = self.number(Column::LeftWhy, at).checked_sub(1)?;
        Some(Left {
            request: self.number(Column::LeftRequest, at) as usize,
            record: self.short(Column::LeftRecord, at),
            why: Gone::from_repr(why as usize)?,
        })
    }

    pub(super) fn is_in_context(&self, at: usize) -> bool {
        self.number(Column::LeftWhy, at) == 0
    }

    pub(super) fn presence(&self, at: usize) -> Presence<'_> {
        Presence {
            entered: self.entered(at).get(),
            left: self.left(at),
            away: self.away(at),
            record: self.record(at),
        }
    }

    fn away(&self, at: usize) -> &[Away] {
        let found = self.away.binary_search_by_key(&at, |(of, _)| *of);
        found.map_or(&[], |found| &self.away[found].1)
    }

    fn set_away(&mut self, at: usize, away: Vec<Away>) {
        match self.away.binary_search_by_key(&at, |(of, _)| *of) {
            Ok(found) => self.away[found].1 = away,
            Err(found) => self.away.insert(found, (at, away)),
        }
    }

    pub(super) fn set_settled(&mut self, at: usize, settled: Option<(u64, Source)>) {
        let (tokens, source) = settled.unzip();
        let numbers = &mut self.numbers;
        numbers.set(Column::Settled as usize, at, tokens.unwrap_or(0));
        numbers.set(
            Column::SettledSource as usize,
            at,
            source.map_or(0, source_number),
        );
    }

    pub(super) fn previous(&self, at: usize) -> Option<PreviousSize> {
        Some(PreviousSize {
            until: self.short(Column::PreviousUntil, at),
            source: source_of(self.number(Column::PreviousSource, at))?,
            tokens: self.short(Column::PreviousTokens, at),
        })
    }
}

/// A source as a number above 0.
fn source_number(source: Source) -> u64 {
    source as u64 + 1
}

fn source_of(number: u64) -> Option<Source> {
    Source::from_repr(number.checked_sub(1)? as usize)
}

fn key_number(key: Option<Key>) -> u64 {
    key.map_or(0, |key| key.get().saturating_add(1))
}

fn numbers_of(item: &Item, names: &mut Names) -> [u64; Column::COUNT] {
    let mut numbers = [0; Column::COUNT];
    let mut put = |column: Column, number: u64| numbers[column as usize] = number;
    let place = item.place();
    put(Column::Offset, place.offset());
    put(Column::Line, place.line());
    put(Column::Len, place.length());
    let [second, millisecond, nanosecond] = MaybeTime::from(item.at()).numbers();
    put(Column::Second, second);
    put(Column::Millisecond, millisecond);
    put(Column::Nanosecond, nanosecond);
    put(Column::Role, item.role() as u64);
    put(Column::Kind, item.kind() as u64);
    let tool = item.tool();
    let tool = tool.map_or(0, |name| u64::from(names.number(name)) + 1);
    put(Column::Tool, tool);
    put(Column::Call, key_number(item.call()));
    let size = item.size();
    let flag = |is: bool, flag: u64| if is { flag } else { 0 };
    let flags = flag(size.counted, COUNTED)
        | flag(size.partial, PARTIAL)
        | flag(item.is_ephemeral(), EPHEMERAL);
    put(Column::Flags, flags);
    let more_bytes = size.bytes.wrapping_sub(size.chars);
    for (column, number) in [
        (Column::Bytes, size.bytes),
        (Column::MoreBytes, more_bytes),
        (Column::Local, size.local),
        (Column::Digits, size.digits),
        (Column::Wide, size.wide),
        (Column::Marks, size.marks),
        (Column::Fixed, size.fixed),
        (Column::Documents, size.documents),
        (Column::Opaque, size.opaque),
        (Column::Reported, size.reported),
        (Column::Tools, size.tools),
        (Column::Escapes, size.escapes),
        (Column::Cl100kMore, size.cl100k_more.cast_unsigned()),
        (Column::CallId, size.call_id.into()),
        (Column::Nth, item.nth()),
        (Column::Record, item.record()),
        (Column::Node, item.node),
    ] {
        put(column, number.into());
    }
    let own_bytes = size.own_bytes.map_or(0, |bytes| u64::from(bytes) + 1);
    put(Column::OwnBytes, own_bytes);
    put(Column::Hash, item.hash());
    if let Some((tokens, source)) = item.settled() {
        put(Column::Settled, tokens);
        put(Column::SettledSource, source_number(source));
    }
    put(Column::OutputOf, key_number(item.output_of()));
    put(
        Column::Entered,
        item.entered().map_or(0, |ix| ix as u64 + 1),
    );
    if let Some(left) = item.left() {
        put(Column::LeftRequest, left.request as u64);
        put(Column::LeftRecord, left.record.into());
        put(Column::LeftWhy, left.why as u64 + 1);
    }
    if let Some(previous) = item.previous() {
        put(Column::PreviousUntil, previous.until.into());
        put(Column::PreviousTokens, previous.tokens.into());
        put(Column::PreviousSource, source_number(previous.source));
    }
    numbers
}

impl Row for Item {
    type Block = ItemBlock;

    fn pack(items: &[Item], names: &mut Names) -> ItemBlock {
        let mut previews = String::new();
        let rows = items.iter().map(|item| {
            previews.push_str(item.preview());
            let mut numbers = numbers_of(item, names);
            numbers[Column::PreviewEnd as usize] = previews.len() as u64;
            numbers
        });
        let numbers = Numbers::of(&rows.collect::<Vec<_>>());
        let away = items.iter().enumerate();
        let away = away.filter(|(_, item)| !item.away().is_empty());
        ItemBlock {
            numbers,
            previews: Some(previews.into()),
            away: away.map(|(at, item)| (at, item.away().to_vec())).collect(),
        }
    }

    fn replace(block: &mut ItemBlock, at: usize, item: &Item, names: &mut Names) {
        let mut numbers = numbers_of(item, names);
        numbers[Column::PreviewEnd as usize] = block.number(Column::PreviewEnd, at);
        block.numbers.put(at, &numbers);
        if !item.away().is_empty() {
            block.set_away(at, item.away().to_vec());
        }
    }

    fn unpack(block: &ItemBlock, at: usize, names: &Names) -> Item {
        let logged = NewItem {
            role: block.role(at),
            kind: block.kind(at),
            tool: None,
            call: block.call(at),
            size: block.size(at),
            preview: block.preview(at).into(),
            hash: block.hash(at),
            ephemeral: block.is_ephemeral(at),
            nth: block.nth(at),
        };
        let mut item = Item::new(
            logged,
            block.tool(at, names).cloned(),
            block.place(at),
            block.time(at).get(),
            block.output_of(at),
            block.record(at),
            block.node(at),
        );
        item.entered = block.entered(at);
        item.set_settled(block.settled(at));
        item.set_left(block.left(at));
        item.set_previous(block.previous(at));
        for away in block.away(at) {
            item.add_away(*away);
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::ItemList;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), 0..3_000_u64, any::<u64>(), Just(u64::MAX)]
    }

    fn sources() -> impl Strategy<Value = Source> {
        (0..5_usize).prop_filter_map("a source", Source::from_repr)
    }

    prop_compose! {
        fn sizes()(
            n in prop::array::uniform16(prop_oneof![Just(0), 0..300_u32, any::<u32>()]),
            own_bytes in prop::option::of(any::<u32>()),
        ) -> Size {
            Size {
                bytes: n[0],
                chars: n[1],
                local: n[2],
                digits: n[3],
                wide: n[4],
                marks: n[5],
                counted: n[6] % 2 == 0,
                partial: n[7] % 2 == 0,
                fixed: n[8],
                documents: n[9],
                opaque: n[10],
                reported: n[11],
                tools: n[12],
                escapes: n[13],
                cl100k_more: n[14].cast_signed(),
                call_id: n[15] as u16,
                own_bytes,
            }
        }
    }

    prop_compose! {
        fn items()(
            n in prop::array::uniform16(numbers()),
            size in sizes(),
            [call, output_of] in prop::array::uniform2(prop::option::of(numbers())),
            settled in prop::option::of((numbers(), sources())),
            previous in prop::option::of((any::<u32>(), any::<u32>(), sources())),
            left in prop::option::of((0..1_u64 << 40, any::<u32>(), 0..7_usize)),
            away in 0..3_u32,
            tool in prop::option::of("[ab]"),
            preview in "[aé\n]{0,5}",
        ) -> Item {
            let time = |n: u64| {
                let (second, nanosecond) = ((n % 200_000) as i64 - 100_000, n * 10_007 % 1_000_000_000);
                jiff::Timestamp::new(second, nanosecond as i32).ok()
            };
            let left = left.and_then(|(request, record, why)| {
                let request = request as usize;
                Some(Left { request, record, why: Gone::from_repr(why)? })
            });
            let logged = NewItem {
                role: Role::from_repr(n[4] as usize % 5).unwrap(),
                kind: Kind::from_repr(n[5] as usize % 11).unwrap(),
                tool: None,
                call: call.map(Key::new),
                size,
                preview: preview.into(),
                hash: n[6],
                ephemeral: n[7] % 2 == 1,
                nth: n[8] as u32,
            };
            let place = Place::new(n[1], n[0], n[2]);
            let at = Some(n[3]).filter(|n| *n > 0).and_then(|n| time(n % 1_000_000));
            let tool = tool.map(|name| Name::from(&*name));
            let output_of = output_of.map(Key::new);
            let mut item = Item::new(logged, tool, place, at, output_of, n[10] as u32, n[11] as u32);
            item.entered = Some(n[9] as usize).filter(|ix| *ix > 0).into();
            item.set_settled(settled);
            item.set_left(left);
            item.set_previous(previous.map(|(until, tokens, source)| PreviousSize { until, source, tokens }));
            for gone in 0..away {
                let (from, to, why) = (n[12] as usize, n[13] as usize, Gone::Rewind);
                item.add_away(Away { from, to, gone, why, back: n[14] as u32 });
            }
            item
        }
    }

    proptest! {
        #[test]
        fn packed_items_come_back(items in prop::collection::vec(items(), 1..9)) {
            let mut names = Names::default();
            let block = Item::pack(&items, &mut names);
            for (at, item) in items.iter().enumerate() {
                prop_assert_eq!(&Item::unpack(&block, at, &names), item);
            }
        }

        #[test]
        fn a_packed_item_says_the_same(items in prop::collection::vec(items(), 1..9)) {
            let packed: ItemList = items.iter().cycle().take(40).cloned().collect();
            for (row, item) in packed.iter().zip(&items) {
                prop_assert_eq!((row.place(), row.at(), row.size()), (item.place(), item.at(), item.size()));
                prop_assert_eq!((row.role(), row.kind()), (item.role(), item.kind()));
                prop_assert_eq!((row.tool(), row.preview()), (item.tool(), item.preview()));
                prop_assert_eq!((row.call(), row.output_of()), (item.call(), item.output_of()));
                prop_assert_eq!((row.hash(), row.settled()), (item.hash(), item.settled()));
                prop_assert_eq!((row.entered(), row.left()), (item.entered(), item.left()));
                prop_assert_eq!((row.node(), row.record()), (item.node as usize, item.record()));
                prop_assert_eq!(row.previous(), item.previous());
                prop_assert_eq!(row.is_ephemeral(), item.is_ephemeral());
                prop_assert_eq!(row.in_context(), item.in_context());
                prop_assert_eq!(row.is_prefix(), item.kind().is_prefix());
                let (here, there) = (row.presence(), item.presence());
                prop_assert_eq!((here.entered, here.left, here.record), (there.entered, there.left, there.record));
                prop_assert_eq!(here.away, there.away);
            }
        }
    }
}
