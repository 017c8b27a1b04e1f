//! Packed requests. Most of their numbers are near those of the request before, or of the same request.

use super::{Circumstances, Request, RequestIx};
use crate::Source;
use crate::event::{Billed, Key, Place, Surcharges, Usage};
use crate::expected::Expected;
use crate::names::{Name, Names};
use crate::rows::{Form, Numbers, Row, RowRef, Rows};
use crate::small::MaybeTime;
use jiff::{SignedDuration, Timestamp};
use std::num::NonZeroU32;
use std::sync::Arc;
use strum::EnumCount;

/// All requests of a session.
pub type RequestList = Rows<Request>;

/// A request of a session's. Its fields can be read as those of a [`Request`]; the functions of the same names take less
/// time where it is packed.
pub type RequestRef<'a> = RowRef<'a, Request>;

/// The numbers of a request. Those of which [`Flags`] say that there is none are 0.
#[derive(Debug, Clone, Copy, EnumCount)]
enum Column {
    Flags,
    Key,
    Offset,
    Line,
    Len,
    Second,
    Millisecond,
    Nanosecond,
    Model,
    Prompt,
    /// The part of the prompt that did not come from a cache.
    Uncached,
    Output,
    Reasoning,
    /// The rest of the usage in the provider's own terms, each less the number that it mostly is.
    BilledInput,
    BilledCreation,
    BilledHour,
    BilledRead,
    BilledOutput,
    BilledReasoning,
    Surcharges,
    /// What was expected of the prompt, each less the one before, the first less the prompt.
    Predicted,
    PredictedLow,
    PredictedHigh,
    AgentEstimate,
    System,
    Turn,
    SentBefore,
    CacheMinutes,
    Start,
    Generation,
    Previous,
}

/// What a request has.
struct Flags;

impl Flags {
    const OUTPUT: u64 = 1;
    const REASONING: u64 = 2;
    const PREDICTED: u64 = 4;
    const AGENT_ESTIMATE: u64 = 8;
    const GENERATION: u64 = 16;
    const WHOLE: u64 = 32;
}

/// Some packed requests.
#[derive(Debug, Clone)]
pub struct RequestBlock {
    numbers: Numbers<{ Column::COUNT }>,
}

impl RequestBlock {
    #[inline]
    fn number(&self, column: Column, at: usize) -> u64 {
        self.numbers.get(column as usize, at)
    }

    /// A number, if the request has it.
    #[inline]
    fn number_if(&self, flag: u64, column: Column, at: usize) -> Option<u64> {
        let has = self.number(Column::Flags, at) & flag != 0;
        has.then(|| self.number(column, at))
    }

    fn key(&self, at: usize) -> Key {
        Key::new(self.number(Column::Key, at))
    }

    fn turn(&self, at: usize) -> u32 {
        self.number(Column::Turn, at) as u32
    }

    fn time(&self, at: usize) -> MaybeTime {
        MaybeTime::of_numbers([
            self.number(Column::Second, at),
            self.number(Column::Millisecond, at),
            self.number(Column::Nanosecond, at),
        ])
    }

    fn place(&self, at: usize) -> Place {
        Place::new(
            self.number(Column::Line, at),
            self.number(Column::Offset, at),
            self.number(Column::Len, at),
        )
    }

    fn model<'n>(&self, at: usize, names: &'n Names) -> Option<&'n Arc<str>> {
        let number = self.number(Column::Model, at).checked_sub(1)?;
        names.get(number as u32).map(Name::shared)
    }

    fn prompt(&self, at: usize) -> u64 {
        self.number(Column::Prompt, at)
    }

    fn cached(&self, at: usize) -> u64 {
        self.prompt(at)
            .wrapping_sub(self.number(Column::Uncached, at))
    }

    fn output(&self, at: usize) -> Option<u64> {
        self.number_if(Flags::OUTPUT, Column::Output, at)
    }

    fn reasoning(&self, at: usize) -> Option<u64> {
        self.number_if(Flags::REASONING, Column::Reasoning, at)
    }

    fn billed(&self, at: usize) -> Billed {
        let usual = usual(
            self.prompt(at),
            self.cached(at),
            self.output(at),
            self.reasoning(at),
        );
        let number = |column, usual: u64| usual.wrapping_add(signed(self.number(column, at)));
        Billed {
            input: number(Column::BilledInput, usual.input),
            cache_creation: number(Column::BilledCreation, usual.cache_creation),
            cache_creation_hour: number(Column::BilledHour, usual.cache_creation_hour),
            cache_read: number(Column::BilledRead, usual.cache_read),
            output: number(Column::BilledOutput, usual.output),
            reasoning: number(Column::BilledReasoning, usual.reasoning),
            surcharges: self.surcharges(at),
        }
    }

    fn surcharges(&self, at: usize) -> Surcharges {
        Surcharges::of_number(self.number(Column::Surcharges, at))
    }

    fn predicted(&self, at: usize) -> Option<Expected> {
        let number = |column, near: u64| near.wrapping_add(signed(self.number(column, at)));
        self.number_if(Flags::PREDICTED, Column::Predicted, at)?;
        let tokens = number(Column::Predicted, self.prompt(at));
        Some(Expected {
            tokens,
            low: number(Column::PredictedLow, tokens),
            high: number(Column::PredictedHigh, tokens),
        })
    }

    fn is_settled(&self, at: usize) -> bool {
        self.number(Column::Flags, at) & Flags::GENERATION != 0
    }

    fn previous(&self, at: usize) -> Option<RequestIx> {
        Some(self.number(Column::Previous, at).checked_sub(1)? as usize)
    }
}

/// What a provider mostly bills for such a request.
fn usual(prompt: u64, cached: u64, output: Option<u64>, reasoning: Option<u64>) -> Billed {
    Billed::new(prompt.saturating_sub(cached), output.unwrap_or(0))
        .with_cache(cached, 0)
        .with_reasoning(reasoning.unwrap_or(0))
}

/// A difference as a number that is small where the difference is, above or below 0.
fn unsigned(difference: u64) -> u64 {
    let difference = difference.cast_signed();
    ((difference << 1) ^ (difference >> 63)).cast_unsigned()
}

/// The difference of such a number.
fn signed(number: u64) -> u64 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

fn numbers_of(request: &Request, names: &mut Names) -> [u64; Column::COUNT] {
    let mut numbers = [0; Column::COUNT];
    let mut flags = 0;
    let mut put = |column: Column, number: u64| numbers[column as usize] = number;
    let (place, prompt, cached) = (request.place(), request.prompt(), request.cached());
    let (output, reasoning) = (request.output(), request.reasoning());
    let billed = request.billed();
    put(Column::Key, request.key().get());
    put(Column::Offset, place.offset());
    put(Column::Line, place.line());
    put(Column::Len, place.length());
    let [second, millisecond, nanosecond] = MaybeTime::from(request.at()).numbers();
    put(Column::Second, second);
    put(Column::Millisecond, millisecond);
    put(Column::Nanosecond, nanosecond);
    let model = request.model();
    let model = model.map_or(0, |name| u64::from(names.number(name)) + 1);
    put(Column::Model, model);
    put(Column::Prompt, prompt);
    put(Column::Uncached, prompt.wrapping_sub(cached));
    let usual = usual(prompt, cached, output, reasoning);
    for (column, number, near) in [
        (Column::BilledInput, billed.input, usual.input),
        (
            Column::BilledCreation,
            billed.cache_creation,
            usual.cache_creation,
        ),
        (
            Column::BilledHour,
            billed.cache_creation_hour,
            usual.cache_creation_hour,
        ),
        (Column::BilledRead, billed.cache_read, usual.cache_read),
        (Column::BilledOutput, billed.output, usual.output),
        (Column::BilledReasoning, billed.reasoning, usual.reasoning),
    ] {
        put(column, unsigned(number.wrapping_sub(near)));
    }
    put(Column::Surcharges, billed.surcharges.number());
    if let Some(Expected { tokens, low, high }) = request.predicted() {
        flags |= Flags::PREDICTED;
        put(Column::Predicted, unsigned(tokens.wrapping_sub(prompt)));
        put(Column::PredictedLow, unsigned(low.wrapping_sub(tokens)));
        put(Column::PredictedHigh, unsigned(high.wrapping_sub(tokens)));
    }
    for (flag, column, number) in [
        (Flags::OUTPUT, Column::Output, output),
        (Flags::REASONING, Column::Reasoning, reasoning),
        (
            Flags::AGENT_ESTIMATE,
            Column::AgentEstimate,
            request.agent_estimate(),
        ),
        (
            Flags::GENERATION,
            Column::Generation,
            request
                .generation()
                .map(|generation| generation.get().into()),
        ),
        (
            Flags::WHOLE,
            Column::System,
            request.is_whole().then_some(0),
        ),
    ] {
        if let Some(number) = number {
            flags |= flag;
            put(column, number);
        }
    }
    put(Column::System, request.system());
    put(Column::Turn, request.turn().into());
    put(Column::SentBefore, request.sent_before().into());
    put(Column::CacheMinutes, request.cache_minutes().into());
    put(Column::Start, request.start() as u64);
    put(
        Column::Previous,
        request.previous().map_or(0, |ix| ix as u64 + 1),
    );
    put(Column::Flags, flags);
    numbers
}

impl Row for Request {
    type Block = RequestBlock;

    fn pack(requests: &[Request], names: &mut Names) -> RequestBlock {
        let rows = requests.iter().map(|request| numbers_of(request, names));
        RequestBlock {
            numbers: Numbers::of(&rows.collect::<Vec<_>>()),
        }
    }

    fn replace(block: &mut RequestBlock, at: usize, request: &Request, names: &mut Names) {
        block.numbers.put(at, &numbers_of(request, names));
    }

    fn unpack(block: &RequestBlock, at: usize, names: &Names) -> Request {
        let flags = block.number(Column::Flags, at);
        let generation = block.number_if(Flags::GENERATION, Column::Generation, at);
        let usage = Usage {
            request: block.key(at),
            model: None,
            prompt: block.prompt(at),
            cached: block.cached(at),
            output: block.output(at),
            reasoning: block.reasoning(at),
            source: Source::Reported,
            billed: block.billed(at),
            is_whole: flags & Flags::WHOLE != 0,
            is_inherited: false,
        };
        let circumstances = Circumstances {
            place: block.place(at),
            at: block.time(at).get(),
            model: block.model(at, names).cloned(),
            agent_estimate: block.number_if(Flags::AGENT_ESTIMATE, Column::AgentEstimate, at),
            turn: block.turn(at),
            sent_before: block.number(Column::SentBefore, at) as u16,
            cache_minutes: block.number(Column::CacheMinutes, at) as u8,
        };
        let mut request = Request::new(&usage, circumstances);
        request.set_predicted(block.predicted(at));
        request.set_system(block.number(Column::System, at));
        request.set_start(block.number(Column::Start, at) as usize);
        request.generation = generation.and_then(|generation| NonZeroU32::new(generation as u32));
        request.previous = block.previous(at).into();
        request
    }
}

impl<'a> RowRef<'a, Request> {
    /// The model that answered.
    pub fn model(&self) -> Option<&'a Arc<str>> {
        match self.form() {
            Form::Whole(request) => request.model(),
            Form::Packed(block, at, names) => block.model(*at, names),
        }
    }

    /// All input, cached or not.
    pub fn prompt(&self) -> u64 {
        self.read(Request::prompt, RequestBlock::prompt)
    }

    /// The part of it that came from a cache.
    pub fn cached(&self) -> u64 {
        self.read(Request::cached, RequestBlock::cached)
    }

    /// When it was sent, as far as the log shows it, and for how many minutes its prompt is kept in a cache; 0: not known.
    pub(crate) fn sent(&self) -> (Option<Timestamp>, u8) {
        let (at, before, minutes) = self.read(
            |request| {
                let it = request;
                (it.at(), it.sent_before(), it.cache_minutes())
            },
            |block, at| {
                let number = |column| block.number(column, at);
                let before = number(Column::SentBefore) as u16;
                (
                    block.time(at).get(),
                    before,
                    number(Column::CacheMinutes) as u8,
                )
            },
        );
        let before = SignedDuration::from_secs(before.into());
        (at.and_then(|at| at.checked_sub(before).ok()), minutes)
    }

    /// Its identity in the log.
    pub fn key(&self) -> Key {
        self.read(Request::key, RequestBlock::key)
    }

    /// The output; `None`: the log's number is a placeholder.
    pub fn output(&self) -> Option<u64> {
        self.read(Request::output, RequestBlock::output)
    }

    /// The thinking in it, where the provider reports it.
    pub fn reasoning(&self) -> Option<u64> {
        self.read(Request::reasoning, RequestBlock::reasoning)
    }

    /// What changes its price besides its tokens.
    pub fn surcharges(&self) -> Surcharges {
        self.read(Request::surcharges, RequestBlock::surcharges)
    }

    /// The part of the prompt that no logged item explains: the system role.
    pub fn system(&self) -> u64 {
        self.read(Request::system, |block, at| {
            block.number(Column::System, at)
        })
    }

    /// The user turn it belongs to, counted from 1.
    pub fn turn(&self) -> u32 {
        self.read(Request::turn, RequestBlock::turn)
    }

    /// When its first line was written.
    pub fn at(&self) -> Option<Timestamp> {
        self.read(Request::at, |block, at| block.time(at).get())
    }

    /// Whether it settled what its prompt held.
    pub(crate) fn is_settled(&self) -> bool {
        self.read(
            |request| request.generation().is_some(),
            RequestBlock::is_settled,
        )
    }

    /// The node from which on items are no longer in its prompt.
    pub(crate) fn start(&self) -> usize {
        self.read(Request::start, |block, at| {
            block.number(Column::Start, at) as usize
        })
    }

    /// The report it was settled against; `None`: the first after a reset.
    pub(crate) fn previous(&self) -> Option<RequestIx> {
        self.read(Request::previous, RequestBlock::previous)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = u64> {
        prop_oneof![0..3_000_u64, any::<u64>(), Just(u64::MAX)]
    }

    prop_compose! {
        fn requests()(
            n in prop::array::uniform12(numbers()),
            options in prop::array::uniform6(prop::option::of(numbers())),
            is_whole in any::<bool>(),
            model in prop::option::of("[ab]"),
        ) -> Request {
            let second = options[5].map(|n| (n % 200_000) as i64 - 100_000);
            let time = |n: i64| jiff::Timestamp::new(n, (n * 10_007 % 1_000_000_000) as i32).ok();
            let usage = Usage {
                cached: n[5],
                output: options[0],
                reasoning: options[1],
                billed: Billed::new(n[6], n[7]).with_cache(n[8], n[9]).with_hour(n[11]).with_reasoning(n[10]).with_surcharges(Surcharges::of_number(n[9])),
                is_whole,
                ..Usage::reported(Key::new(n[0]), n[4])
            };
            let mut request = Request::new(&usage, Circumstances {
                place: Place::new(n[2], n[1], n[3]),
                at: second.and_then(time),
                model: model.map(Into::into),
                agent_estimate: options[3],
                turn: n[8] as u32,
                sent_before: n[6] as u16,
                cache_minutes: n[7] as u8,
            });
            request.set_predicted(options[2].map(|tokens| Expected { tokens, low: n[11], high: n[0] }));
            request.set_system(n[7]);
            request.set_start(n[9] as usize);
            request.generation = options[4].and_then(|n| NonZeroU32::new(n as u32));
            request.previous = options[5].map(|n| n as usize / 2).into();
            request
        }
    }

    proptest! {
        #[test]
        fn packed_requests_come_back(requests in prop::collection::vec(requests(), 1..9)) {
            let mut names = Names::default();
            let block = Request::pack(&requests, &mut names);
            for (at, request) in requests.iter().enumerate() {
                prop_assert_eq!(&Request::unpack(&block, at, &names), request);
                let packed: Rows<Request> = [request.clone()].into_iter().cycle().take(40).collect();
                let row = packed.at(0);
                prop_assert_eq!(row.model(), request.model());
                prop_assert_eq!((row.prompt(), row.start()), (request.prompt(), request.start()));
                prop_assert_eq!(row.previous(), request.previous());
                prop_assert_eq!(row.surcharges(), request.surcharges());
            }
        }
    }
}
