//! One piece of context, in little memory: a session may have a million.

use super::presence::Presence;
use super::{RequestIx, UNLOGGED};
use crate::event::{Key, NewItem, Place, Size, count};
use crate::names::Name;
use crate::small::{MaybeIx, MaybeTime, short};
use crate::{Kind, LeaveReason, Role, Source};
use jiff::Timestamp;

/// One piece of context, with its size and when it was there.
///
/// Numbers of tokens have 32 bits, and what claims to be larger is taken for the largest. What belongs together is not in
/// structures of its own, which would be padded.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    place: Place,
    at: MaybeTime,
    hash: u64,
    call: Option<Key>,
    output_of: Option<Key>,
    tool: Option<Name>,
    preview: Box<str>,
    rare: Option<Box<RareFields>>,
    bytes: u32,
    chars: u32,
    local: u32,
    digits: u32,
    wide: u32,
    marks: u32,
    escapes: u32,
    nth: u32,
    /// The tokens of `attributed_source`.
    attributed: u32,
    pub(crate) entered: MaybeIx,
    /// The request and the record of `left_why`.
    left_request: u32,
    left_record: u32,
    /// The record and the tokens of `previous_source`.
    previous_until: u32,
    previous_tokens: u32,
    record: u32,
    pub(crate) node: u32,
    role: Role,
    kind: Kind,
    counted: bool,
    partial: bool,
    ephemeral: bool,
    attributed_source: Option<Source>,
    left_why: Option<LeaveReason>,
    previous_source: Option<Source>,
}

/// The data that few items have.
#[derive(Debug, Clone, PartialEq, Default)]
struct RareFields {
    /// The numbers of its size that most items do not have. The others are 0.
    size: Size,
    /// The spans in which it was out of the context and came back later: branches that were left and returned to.
    away: Vec<Absence>,
}

/// The way in which an item left the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// The first request whose prompt no longer held it.
    pub request: RequestIx,
    /// The record that made it leave.
    pub(crate) record: u32,
    /// Why.
    pub why: LeaveReason,
}

/// A time for which an item was out of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Absence {
    /// The first request that went without it.
    pub from: RequestIx,
    /// The first request that held it again; the same as `from`: no request went without it.
    pub to: RequestIx,
    /// The record that made it leave.
    pub(crate) gone: u32,
    /// Why.
    pub(crate) why: LeaveReason,
    /// The record that brought it back.
    pub(crate) back: u32,
}

/// The size that an item had before a record changed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PreviousSize {
    /// The record that changed it.
    pub(crate) until: u32,
    pub(crate) source: Source,
    pub(crate) tokens: u32,
}

impl Item {
    /// Returns an item that is in the context, not sent yet. `tool` is the name that it shares with others; `record` is
    /// the one that added it, counted from 1.
    pub(crate) fn new(
        logged: NewItem,
        tool: Option<Name>,
        place: Place,
        at: Option<Timestamp>,
        output_of: Option<Key>,
        record: u32,
        node: u32,
    ) -> Item {
        let size = logged.size;
        let mut item = Item {
            place,
            at: at.into(),
            hash: logged.hash,
            call: logged.call,
            output_of,
            tool,
            preview: logged.preview,
            rare: None,
            bytes: size.bytes,
            chars: size.chars,
            local: size.local,
            digits: size.digits,
            wide: size.wide,
            marks: size.marks,
            escapes: size.escapes,
            nth: logged.nth,
            attributed: 0,
            entered: MaybeIx::default(),
            left_request: 0,
            left_record: 0,
            previous_until: 0,
            previous_tokens: 0,
            record,
            node,
            role: logged.role,
            kind: logged.kind,
            counted: size.counted,
            partial: size.partial,
            ephemeral: logged.ephemeral,
            attributed_source: None,
            left_why: None,
            previous_source: None,
        };
        let rare = Size {
            bytes: 0,
            chars: 0,
            local: 0,
            digits: 0,
            wide: 0,
            marks: 0,
            escapes: 0,
            counted: false,
            partial: false,
            ..size
        };
        if rare != Size::default() {
            item.rare_mut().size = rare;
        }
        item
    }

    fn rare_mut(&mut self) -> &mut RareFields {
        self.rare.get_or_insert_default()
    }

    /// Returns its place in the log.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns the time at which it was written.
    pub fn at(&self) -> Option<Timestamp> {
        self.at.get()
    }

    /// Returns the role that added it.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the kind of its content.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the tool, for calls and results.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// Returns the tool call's id, for calls and results.
    pub fn call(&self) -> Option<Key> {
        self.call
    }

    /// Returns its size.
    pub fn size(&self) -> Size {
        let rare = self.rare.as_ref().map(|rare| rare.size);
        Size {
            bytes: self.bytes,
            chars: self.chars,
            local: self.local,
            digits: self.digits,
            wide: self.wide,
            marks: self.marks,
            escapes: self.escapes,
            counted: self.counted,
            partial: self.partial,
            ..rare.unwrap_or_default()
        }
    }

    /// Returns its beginning.
    pub fn preview(&self) -> &str {
        &self.preview
    }

    /// Returns a hash of its text.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns its index among the items of its record.
    pub fn nth(&self) -> u32 {
        self.nth
    }

    /// Returns true if the log shows it.
    pub(crate) fn is_logged(&self) -> bool {
        self.nth != UNLOGGED
    }

    /// Returns true if it precedes the conversation: the system prompt, the tools.
    pub fn is_prefix(&self) -> bool {
        self.kind.is_prefix()
    }

    /// Returns its node in the chain.
    pub(crate) fn node(&self) -> usize {
        self.node as usize
    }

    /// Returns true if it leaves at the end of its turn.
    pub fn is_ephemeral(&self) -> bool {
        self.ephemeral
    }

    /// Returns its size in tokens, once a usage report has attributed it; see [`crate::state::State::tokens`].
    pub fn attributed(&self) -> Option<(u64, Source)> {
        Some((self.attributed.into(), self.attributed_source?))
    }

    /// Returns the request whose output it is.
    pub fn output_of(&self) -> Option<Key> {
        self.output_of
    }

    /// Returns the first request whose prompt held it; `None`: not sent yet.
    pub fn entered(&self) -> Option<RequestIx> {
        self.entered.get()
    }

    /// Returns the request at which it left, and why; `None`: it is in the context.
    pub fn left(&self) -> Option<Departure> {
        Some(Departure {
            request: self.left_request as RequestIx,
            record: self.left_record,
            why: self.left_why?,
        })
    }

    /// Returns true if it is in the context now.
    pub fn in_context(&self) -> bool {
        self.left_why.is_none()
    }

    /// Returns its size before the last change of its size.
    pub(crate) fn previous(&self) -> Option<PreviousSize> {
        Some(PreviousSize {
            until: self.previous_until,
            source: self.previous_source?,
            tokens: self.previous_tokens,
        })
    }

    /// Returns the spans in which it was out of the context and came back later.
    pub(super) fn away(&self) -> &[Absence] {
        self.rare.as_ref().map_or(&[], |rare| &rare.away)
    }

    /// Returns the times of [`Item::away`], to be changed.
    pub(crate) fn away_mut(&mut self) -> &mut [Absence] {
        self.rare.as_mut().map_or(&mut [], |rare| &mut rare.away)
    }

    /// Returns the record that added it, counted from 1.
    pub(crate) fn record(&self) -> u32 {
        self.record
    }

    /// Returns the span in which it was in the context.
    pub fn presence(&self) -> Presence<'_> {
        Presence {
            entered: self.entered(),
            left: self.left(),
            away: self.away(),
            record: self.record,
        }
    }

    /// Attributes its tokens, or takes that back.
    pub(crate) fn set_attributed(&mut self, attributed: Option<(u64, Source)>) {
        let (tokens, source) = attributed.unzip();
        (self.attributed, self.attributed_source) = (tokens.map_or(0, count), source);
    }

    /// Sets when and why it left, or takes that back.
    pub(crate) fn set_left(&mut self, left: Option<Departure>) {
        self.left_request = left.map_or(0, |left| short(left.request));
        self.left_record = left.map_or(0, |left| left.record);
        self.left_why = left.map(|left| left.why);
    }

    pub(crate) fn set_previous(&mut self, size: Option<PreviousSize>) {
        self.previous_until = size.map_or(0, |size| size.until);
        self.previous_tokens = size.map_or(0, |size| size.tokens);
        self.previous_source = size.map(|size| size.source);
    }

    pub(crate) fn add_away(&mut self, away: Absence) {
        self.rare_mut().away.push(away);
    }
}
