//! What is asked of an item of a list: of a packed one, no more is unpacked than that.

use super::presence::Presence;
use super::{Item, ItemIx, Left, PreviousSize, RequestIx};
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
        match self.form() {
            Form::Whole(item) => item.place,
            Form::Packed(block, at, _) => block.place(*at),
        }
    }

    /// When it was written.
    pub fn at(&self) -> Option<Timestamp> {
        match self.form() {
            Form::Whole(item) => item.at(),
            Form::Packed(block, at, _) => block.time(*at).get(),
        }
    }

    /// Who added it.
    pub fn role(&self) -> Role {
        match self.form() {
            Form::Whole(item) => item.role,
            Form::Packed(block, at, _) => block.role(*at),
        }
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        match self.form() {
            Form::Whole(item) => item.kind,
            Form::Packed(block, at, _) => block.kind(*at),
        }
    }

    /// The tool, for calls and results.
    pub fn tool(&self) -> Option<&'a str> {
        match self.form() {
            Form::Whole(item) => item.logged.tool.as_deref(),
            Form::Packed(block, at, names) => block.tool(*at, names).map(|name| &**name),
        }
    }

    /// The tool call's id, for calls and results.
    pub fn call(&self) -> Option<Key> {
        match self.form() {
            Form::Whole(item) => item.call,
            Form::Packed(block, at, _) => block.call(*at),
        }
    }

    /// How large it is.
    pub fn size(&self) -> Size {
        match self.form() {
            Form::Whole(item) => item.size,
            Form::Packed(block, at, _) => block.size(*at),
        }
    }

    /// Whether its preview was left in the log, so that it is empty here.
    pub fn leaves_preview(&self) -> bool {
        match self.form() {
            Form::Whole(_) => false,
            Form::Packed(block, at, _) => block.leaves_preview(*at),
        }
    }

    /// Its beginning.
    pub fn preview(&self) -> &'a str {
        match self.form() {
            Form::Whole(item) => &item.logged.preview,
            Form::Packed(block, at, _) => block.preview(*at),
        }
    }

    /// A hash of its text.
    pub fn hash(&self) -> u64 {
        match self.form() {
            Form::Whole(item) => item.hash,
            Form::Packed(block, at, _) => block.hash(*at),
        }
    }

    /// Its index among the items of its record.
    pub fn nth(&self) -> u32 {
        match self.form() {
            Form::Whole(item) => item.nth,
            Form::Packed(block, at, _) => block.nth(*at),
        }
    }

    /// Whether it leaves at the end of its turn.
    pub(crate) fn is_ephemeral(&self) -> bool {
        match self.form() {
            Form::Whole(item) => item.ephemeral,
            Form::Packed(block, at, _) => block.is_ephemeral(*at),
        }
    }

    /// Its size in tokens, once a usage report has settled it.
    pub fn settled(&self) -> Option<(u64, Source)> {
        match self.form() {
            Form::Whole(item) => item.settled,
            Form::Packed(block, at, _) => block.settled(*at),
        }
    }

    /// The request whose output it is.
    pub fn output_of(&self) -> Option<Key> {
        match self.form() {
            Form::Whole(item) => item.output_of,
            Form::Packed(block, at, _) => block.output_of(*at),
        }
    }

    /// The first request whose prompt held it; `None`: not sent yet.
    pub fn entered(&self) -> Option<RequestIx> {
        match self.form() {
            Form::Whole(item) => item.entered(),
            Form::Packed(block, at, _) => block.entered(*at).get(),
        }
    }

    /// When and why it left; `None`: it is in the context.
    pub fn left(&self) -> Option<Left> {
        match self.form() {
            Form::Whole(item) => item.left,
            Form::Packed(block, at, _) => block.left(*at),
        }
    }

    /// Whether it is in the context now.
    pub fn in_context(&self) -> bool {
        match self.form() {
            Form::Whole(item) => item.in_context(),
            Form::Packed(block, at, _) => block.is_in_context(*at),
        }
    }

    /// Whether it belongs to what precedes the conversation: the system prompt, the tools.
    pub fn is_prefix(&self) -> bool {
        self.kind().is_prefix()
    }

    /// Its node in the chain.
    pub(crate) fn node(&self) -> usize {
        let node = match self.form() {
            Form::Whole(item) => item.node,
            Form::Packed(block, at, _) => block.node(*at),
        };
        node as usize
    }

    /// Its size before the last change of its size.
    pub(crate) fn previous(&self) -> Option<PreviousSize> {
        match self.form() {
            Form::Whole(item) => item.previous,
            Form::Packed(block, at, _) => block.previous(*at),
        }
    }

    /// The record that added it, counted from 1.
    pub(crate) fn record(&self) -> u32 {
        match self.form() {
            Form::Whole(item) => item.record,
            Form::Packed(block, at, _) => block.record(*at),
        }
    }

    /// When it was in the context.
    pub fn presence(&self) -> Presence<'a> {
        match self.form() {
            Form::Whole(item) => item.presence(),
            Form::Packed(block, at, _) => block.presence(*at),
        }
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
            FormMut::Whole(item) => item.settled = settled,
            FormMut::Packed(block, at, _) => block.set_settled(at, settled),
        }
    }
}

/// The first items, whose previews are kept: one of them may name the session, and most sessions have no more.
const KEPT_PREVIEWS: usize = if cfg!(test) { 6 } else { 1 << 16 };
