//! What is asked of an item of a list: of a packed one, no more is unpacked than that.

use super::item_row::ItemBlock;
use super::presence::Presence;
use super::{Item, ItemIx, Left, PreviousSize, RequestIx, UNLOGGED};
use crate::event::{Key, Place, Size};
use crate::rows::{Form, FormMut, RowRef, Rows};
use crate::{Kind, Role, Source};
use jiff::Timestamp;

/// All items of a session.
pub type ItemList = Rows<Item>;

/// An item of a session's. Its fields can be read as those of an [`Item`]; the functions of the same names take less time
/// where it is packed.
pub type ItemRef<'a> = RowRef<'a, Item>;

impl<'a> RowRef<'a, Item> {
    /// Its place in the log.
    pub fn place(&self) -> Place {
        self.read(Item::place, ItemBlock::place)
    }

    /// When it was written.
    pub fn at(&self) -> Option<Timestamp> {
        self.read(Item::at, |block, at| block.time(at).get())
    }

    /// Who added it.
    pub fn role(&self) -> Role {
        self.read(Item::role, ItemBlock::role)
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.read(Item::kind, ItemBlock::kind)
    }

    /// The tool, for calls and results.
    pub fn tool(&self) -> Option<&'a str> {
        match self.form() {
            Form::Whole(item) => item.tool(),
            Form::Packed(block, at, names) => block.tool(*at, names).map(|name| &**name),
        }
    }

    /// The tool call's id, for calls and results.
    pub fn call(&self) -> Option<Key> {
        self.read(Item::call, ItemBlock::call)
    }

    /// How large it is.
    pub fn size(&self) -> Size {
        self.read(Item::size, ItemBlock::size)
    }

    /// Whether its preview was left in the log, so that it is empty here.
    pub fn leaves_preview(&self) -> bool {
        self.read(|_| false, ItemBlock::leaves_preview)
    }

    /// Its beginning.
    pub fn preview(&self) -> &'a str {
        self.read(Item::preview, ItemBlock::preview)
    }

    /// A hash of its text.
    pub fn hash(&self) -> u64 {
        self.read(Item::hash, ItemBlock::hash)
    }

    /// Its index among the items of its record.
    pub fn nth(&self) -> u32 {
        self.read(Item::nth, ItemBlock::nth)
    }

    /// Whether the log shows it.
    pub(crate) fn is_logged(&self) -> bool {
        self.nth() != UNLOGGED
    }

    /// Whether it leaves at the end of its turn.
    pub fn is_ephemeral(&self) -> bool {
        self.read(Item::is_ephemeral, ItemBlock::is_ephemeral)
    }

    /// Its size in tokens, once a usage report has settled it.
    pub fn settled(&self) -> Option<(u64, Source)> {
        self.read(Item::settled, ItemBlock::settled)
    }

    /// The request whose output it is.
    pub fn output_of(&self) -> Option<Key> {
        self.read(Item::output_of, ItemBlock::output_of)
    }

    /// The first request whose prompt held it; `None`: not sent yet.
    pub fn entered(&self) -> Option<RequestIx> {
        self.read(Item::entered, |block, at| block.entered(at).get())
    }

    /// When and why it left; `None`: it is in the context.
    pub fn left(&self) -> Option<Left> {
        self.read(Item::left, ItemBlock::left)
    }

    /// Whether it is in the context now.
    pub fn in_context(&self) -> bool {
        self.read(Item::in_context, ItemBlock::is_in_context)
    }

    /// Whether it belongs to what precedes the conversation: the system prompt, the tools.
    pub fn is_prefix(&self) -> bool {
        self.kind().is_prefix()
    }

    /// Its node in the chain.
    pub(crate) fn node(&self) -> usize {
        self.read(|item| item.node, ItemBlock::node) as usize
    }

    /// Its size before the last change of its size.
    pub(crate) fn previous(&self) -> Option<PreviousSize> {
        self.read(Item::previous, ItemBlock::previous)
    }

    /// The record that added it, counted from 1.
    pub(crate) fn record(&self) -> u32 {
        self.read(Item::record, ItemBlock::record)
    }

    /// When it was in the context.
    pub fn presence(&self) -> Presence<'a> {
        self.read(Item::presence, ItemBlock::presence)
    }
}

impl ItemList {
    /// Leaves the previews of packed items in the log, but for the first.
    pub(crate) fn leave_previews(&mut self) {
        for block in self.last_packed(KEPT_PREVIEWS) {
            block.leave_previews();
        }
    }

    /// Settles an item's tokens, or takes that back.
    pub(crate) fn set_settled(&mut self, ix: ItemIx, settled: Option<(u64, Source)>) {
        match self.form_mut(ix) {
            FormMut::Whole(item) => item.set_settled(settled),
            FormMut::Packed(block, at, _) => block.set_settled(at, settled),
        }
    }
}

/// The first items, whose previews are kept: one of them may name the session, and most sessions have no more.
const KEPT_PREVIEWS: usize = if cfg!(test) { 6 } else { 1 << 16 };
