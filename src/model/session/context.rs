//! Computes the size of a context, the roles that fill it, and the known part of it: now, or as of any record.
//!
//! Invariants, for any input: the roles of a [`Context`] sum to its total; known plus estimated is the
//! total.

use crate::history::SizedItem;
use crate::history::{Coverage, Item, ItemIx, RequestIx};
use crate::session::own_count::OwnCount;
use crate::sizes::pictures::Media;
use crate::state::State;
use crate::state::content::Content;
use crate::state::past::{Inputs, UnloggedSource};
use crate::window::Limits;
use crate::{LeaveReason, Role, Source};
use serde::{Deserialize, Serialize};

/// One role's part of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Share {
    /// All its tokens.
    pub tokens: u64,
    /// The part that was reported, or is part of a reported sum.
    pub known: u64,
    /// The part that is only counted here.
    pub estimated: u64,
    /// Its items.
    pub items: usize,
}

/// The sums over the items of a context.
#[derive(Default)]
struct ContextSums {
    roles: [Share; 5],
    /// Tokens of system prompt and tools.
    shown: u64,
    /// Tokens of items that no report attributed, and how many items.
    guess: u64,
    guessed: usize,
    /// The tokens of those items whose text was not counted.
    by_length: u64,
    /// Tokens by formula of pictures in them.
    pictures: Media<u64>,
}

impl ContextSums {
    /// Adds an item. `known`: the part of its tokens that the anchor reported.
    fn add(&mut self, item: &Item, tokens: u64, source: Source, known: u64) {
        let add = |sum: &mut u64, tokens: u64| *sum = sum.saturating_add(tokens);
        let share = &mut self.roles[item.role.index()];
        add(&mut share.tokens, tokens);
        add(&mut share.known, known);
        add(&mut share.estimated, tokens - known);
        share.items += 1;
        if item.is_prefix() {
            add(&mut self.shown, tokens);
        }
        if !source.is_known() {
            let (size, pictures) = (item.size, Media::of(&item.size));
            add(&mut self.guess, tokens);
            self.guessed += 1;
            add(&mut self.pictures.images, pictures.images);
            add(&mut self.pictures.documents, pictures.documents);
            if !size.counted && size.local > 0 {
                add(&mut self.by_length, tokens);
            }
        }
    }
}

/// The way in which the size of a context is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Basis {
    /// Reported, nothing has come since.
    Exact,
    /// Reported, plus an estimate of what has come since.
    Delta,
    /// No usable report: all estimated.
    Estimated,
}

impl Basis {
    /// Returns the basis of a context with this anchor and this many estimated tokens.
    pub(crate) fn of(anchor: Option<RequestIx>, estimated: u64) -> Basis {
        match (anchor, estimated) {
            (None, _) => Basis::Estimated,
            (Some(_), 0) => Basis::Exact,
            (Some(_), _) => Basis::Delta,
        }
    }

    /// Returns its name, as reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The size of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// All tokens in it.
    pub used: u64,
    /// The reported part: prompt and output of the anchor, less what has left since.
    pub known: u64,
    /// The part that is only counted here.
    pub estimated: u64,
    /// The 90 % interval's lower end.
    pub low: u64,
    /// The 90 % interval's upper end.
    pub high: u64,
    /// The way in which `used` is known.
    pub basis: Basis,
    /// Its parts by role, in the order of [`Role::ALL`].
    pub roles: [Share; 5],
    /// The agent's own count, which it compares with its trigger; `None`: not known.
    pub own: Option<OwnCount>,
}

impl Context {
    /// Returns the tokens that the agent compares with its trigger: its own count, else the size of the context.
    pub fn counted(&self) -> u64 {
        self.own.map_or(self.used, |own| own.tokens)
    }

    /// Returns two sizes in tokens to compare: the agent's own count and its trigger or, where none is known, the
    /// context and its window.
    pub fn filled(&self, limits: &Limits) -> (u64, u64) {
        match limits.trigger {
            Some(trigger) => (self.counted(), trigger),
            None => (self.used, limits.window),
        }
    }

    /// Like [`Context::filled`], but in millionths, to compare sessions. Returns 0 for a session that ends with its
    /// first answer.
    pub fn fill(&self, limits: &Limits) -> u64 {
        if limits.ends {
            return 0;
        }
        let (counted, end) = self.filled(limits);
        let parts = u128::from(counted) * 1_000_000 / u128::from(end.max(1));
        u64::try_from(parts).unwrap_or(u64::MAX)
    }

    /// Returns the tokens left before the trigger or, where none is known, before the window is full. A session that
    /// ends is near nothing.
    pub fn left(&self, limits: &Limits) -> u64 {
        match limits.trigger {
            _ if limits.ends => u64::MAX,
            Some(trigger) => self.headroom(trigger),
            None => limits.window.saturating_sub(self.used),
        }
    }

    /// Returns the tokens left before the trigger.
    pub fn headroom(&self, trigger: u64) -> u64 {
        trigger.saturating_sub(self.counted())
    }

    /// Returns the size of the context at which the trigger will be reached, if the agent's count grows as the context
    /// does.
    pub fn trigger_here(&self, trigger: u64) -> u64 {
        self.used
            .saturating_add(trigger)
            .saturating_sub(self.counted())
    }

    /// Returns this context without so many tokens, which the agent counts too.
    pub(crate) fn without(mut self, tokens: u64) -> Context {
        self.used = self.used.saturating_sub(tokens);
        if let Some(own) = &mut self.own {
            own.tokens = own.tokens.saturating_sub(tokens);
        }
        self
    }

    /// Returns one role's part.
    pub fn role(&self, role: Role) -> &Share {
        &self.roles[role.index()]
    }
}

impl State {
    /// Returns the size of an item in tokens, and how it is known.
    pub fn tokens(&self, ix: ItemIx) -> (u64, Source) {
        self.attribution().items().tokens(ix)
    }

    /// Returns the items in the context now with their sizes, in the order of the log.
    pub fn in_context(&self) -> impl Iterator<Item = SizedItem> + Clone {
        self.alive_items().map(|ix| self.sized(ix))
    }

    /// Returns an item with its size.
    pub(crate) fn sized(&self, ix: ItemIx) -> SizedItem {
        let (tokens, source) = self.tokens(ix);
        (ix, tokens, source)
    }

    /// Returns true if the size of `context`, the present one, is the one that a report on the whole log would show.
    /// Then all of it is known, or the log was read whole and its texts were counted, not guessed from their length.
    pub fn is_final(&self, context: &Context) -> bool {
        if context.estimated == 0 {
            return self.has_whole_context()
                && self.has_report_of_epoch()
                && (self.coverage != Coverage::Epoch || self.shows_what_returns())
                && self.attribution().items().guessed_of_left() == 0;
        }
        // The estimated part depends on all that was counted: the unlogged part is what the texts leave of a prompt.
        self.coverage == Coverage::Whole && (self.is_counted || !self.has_guessed())
    }

    /// Returns true if the tokens of a text were guessed from its length.
    pub(crate) fn has_guessed(&self) -> bool {
        self.attribution().items().have_guessed()
    }

    /// Returns the data from which the present context is computed.
    pub(crate) fn content(&self) -> Content {
        Content {
            items: self.in_context().collect(),
            so_far: self.items().len(),
            inputs: self.inputs(),
        }
    }

    /// Returns the size of a context, with the agent's own count.
    pub(crate) fn context_of(&self, content: &Content) -> Context {
        Context {
            own: self.own_count_of(content),
            ..self.calibrated(content)
        }
    }

    /// Returns the size of a context, without the agent's own count.
    pub(crate) fn calibrated(&self, content: &Content) -> Context {
        let mut sums = ContextSums::default();
        for (ix, tokens, source) in &content.items {
            let item = &self.items()[*ix];
            let is_anchored = source.is_known() && self.is_anchored(item, content.inputs.anchor);
            let known = if is_anchored { *tokens } else { 0 };
            sums.add(item, *tokens, *source, known);
        }
        self.context_from(&content.inputs, sums)
    }

    /// Returns the context whose items have these sums.
    fn context_from(&self, inputs: &Inputs, sums: ContextSums) -> Context {
        let mut roles = sums.roles;
        let (guess, guessed) = (sums.guess as f64, sums.guessed);
        let sum = |numbers: [u64; 5]| numbers.into_iter().fold(0, u64::saturating_add);
        let logged = sum(roles.map(|share| share.tokens));
        let system = &mut roles[Role::System.index()];
        let by_length = sums.by_length as f64 * BY_LENGTH_SPREAD;
        let mut above = inputs.spread.around(guess, guessed) + by_length;
        let mut below = inputs.spread.below(guess, guessed, sums.pictures) + by_length;
        let (unlogged, spread) = self.expected_prefix(inputs, logged, sums.shown);
        system.tokens = system.tokens.saturating_add(unlogged);
        match spread {
            None => system.known = system.known.saturating_add(unlogged),
            Some(spread) => {
                system.estimated = system.estimated.saturating_add(unlogged);
                let [lower, upper] = spread;
                below += unlogged as f64 * lower;
                above += unlogged as f64 * upper;
            }
        }
        // It may stay away as well.
        let again = inputs.returning;
        system.tokens = system.tokens.saturating_add(again);
        system.estimated = system.estimated.saturating_add(again);
        below += again as f64;
        let used = logged.saturating_add(unlogged).saturating_add(again);
        let known = sum(roles.map(|share| share.known));
        let estimated = used - known;
        let below = (below.round() as u64).min(estimated);
        // A guess may be more than twice too small.
        let most = if sums.by_length > 0 {
            u64::MAX
        } else {
            estimated
        };
        let above = (above.round() as u64).min(most);
        // As much as another share of what has left is still here, or has left as well.
        let shared = (inputs.guessed_of_left as f64 * BY_LENGTH_SPREAD).round() as u64;
        let ([slack_below, slack_above], above) = match estimated {
            0 => ([0, 0], 0),
            _ => (inputs.spread.slack(), above.max(1)),
        };
        Context {
            used,
            known,
            estimated,
            low: (used - below).saturating_sub(shared.saturating_add(slack_below)),
            high: (used.saturating_add(above)).saturating_add(shared.saturating_add(slack_above)),
            basis: Basis::of(inputs.anchor, estimated),
            roles,
            own: None,
        }
    }

    /// Returns the unlogged prefix to expect, and how far its 90 % interval reaches below and above it, as shares of it;
    /// `None`: it is known. `items` is what is logged, `shown` what of it is system prompt and tools.
    pub(crate) fn expected_prefix(
        &self,
        inputs: &Inputs,
        items: u64,
        shown: u64,
    ) -> (u64, Option<[f64; 2]>) {
        let both = |spread: f64| Some([spread; 2]);
        match inputs.unlogged {
            UnloggedSource::Reported(system) => (system, None),
            UnloggedSource::Learned(prefix) => {
                let [below, above] = PREFIX_SPREAD_AFTER_RESET;
                // The summary is written to the log after the compaction.
                let summary = if items == 0 && self.is_compacted(inputs) {
                    self.rules().summary as f64 / prefix.max(1) as f64
                } else {
                    0.0
                };
                (prefix, Some([below, above + summary]))
            }
            UnloggedSource::Agent(rest) => (rest, both(LEARNED_PREFIX_SPREAD)),
            // Nothing was sent, or nothing of it could be read.
            UnloggedSource::Usual if items == 0 => (0, both(0.0)),
            UnloggedSource::Usual if let Some(whole) = self.expected_beginning() => {
                (whole.saturating_sub(shown), both(LEARNED_PREFIX_SPREAD))
            }
            UnloggedSource::Usual => {
                let model = self.past().facts_at(inputs).model;
                let usual = self
                    .rules()
                    .usual_prefix(self.agent, model.as_deref(), shown);
                if self.lacks_prefix() {
                    (usual, both(UNREAD_PREFIX_SPREAD))
                } else if self.is_sub_agent() {
                    (usual / 2, both(1.0))
                } else {
                    (usual, both(USUAL_PREFIX_SPREAD))
                }
            }
        }
    }

    /// Returns true if the last reset was a compaction.
    fn is_compacted(&self, inputs: &Inputs) -> bool {
        let last = inputs.resets.checked_sub(1);
        let last = last.and_then(|ix| self.resets().get(ix));
        last.is_some_and(|reset| reset.gone == LeaveReason::Compaction)
    }

    /// Returns true if the attributed number of an item in the context is part of what the anchor reported. A number that
    /// was attributed by a request on an abandoned branch is not.
    pub(crate) fn is_anchored(&self, item: &Item, anchor: Option<RequestIx>) -> bool {
        anchor.is_some_and(|anchor| {
            let request = &self.requests()[anchor];
            // When it left, if it did, may have been found out later.
            self.attribution().was_sent(item, anchor)
                || (request.output.is_some() && item.output_of == Some(request.key()))
        })
    }
}

/// Half the width of the 90 % interval of what the length of a text says of its tokens, as a share of it.
const BY_LENGTH_SPREAD: f64 = 0.4;

/// How far the 90 % interval of the unlogged prefix reaches below and above it, as shares of it, where the session's own
/// reports showed it before a reset. Agents add text again that the log does not have, such as files that were read:
/// after 16 compactions the prefix was 0.75 to 2.3 times the one before, 1.1 times in the middle.
const PREFIX_SPREAD_AFTER_RESET: [f64; 2] = [0.25, 0.6];

/// Half the width of the 90 % interval of the unlogged prefix, as a share of it: as other sessions of the user began;
/// as is usual with the agent; and as that, where the log shows it further back: it was up to 2.4 times the usual one.
/// A sub-agent's may be that of a session or much less: it is expected to be half of that, from none of it to all.
const LEARNED_PREFIX_SPREAD: f64 = 0.25;
const USUAL_PREFIX_SPREAD: f64 = 0.6;
const UNREAD_PREFIX_SPREAD: f64 = 1.5;
