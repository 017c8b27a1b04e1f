//! The provider's numbers of requests, in Grok's own log of all sessions.

use super::{About, Sum};
use decode::lenient::{self, Count, Text, record};
use formats::{SidecarRecord, SidecarSpec};
use model::event::{BilledUsage, ByLength, EventSink, Key, NewItem, Node, Usage};

pub(super) static SIDECAR: SidecarSpec = SidecarSpec {
    env: None,
    folder: |log| {
        let sessions = log.ancestors().find(|dir| dir.ends_with("sessions"))?;
        Some(sessions.parent()?.join("logs"))
    },
    read,
    database: None,
};

record! {
    struct Record<'a> {
        at: Text<'a> = "ts",
        session: Text<'a> = "sid",
        message: Text<'a> = "msg",
        numbers: Numbers = "ctx",
    }

    #[derive(Copy)]
    mended [prompt => output] whole struct Numbers {
        prompt: Count = "prompt_tokens",
        cached: Count = "cached_prompt_tokens",
        output: Count = "completion_tokens",
        reasoning: Count = "reasoning_tokens",
    }
}

/// Reads a line; `None`: it is not of a request. One of which the provider reported nothing has the prompt 0: without
/// it, its response would be given the numbers of the next.
fn read(line: &[u8]) -> Option<SidecarRecord> {
    memchr::memmem::find(line, b"\"shell.turn.inference_done\"")?;
    let line = String::from_utf8_lossy(line);
    let record: Record<'_> = lenient::object(&line, &mut EventSink::new(&ByLength))?;
    let session = record.session.boxed()?;
    let numbers = record.numbers;
    let prompt = numbers.prompt.or_zero();
    let request = Key::of_parts(&["grok", &session, record.at.or_empty(), &prompt.to_string()]);
    let is_done = record.message.get() == Some("shell.turn.inference_done");
    let billed = BilledUsage::new(prompt, numbers.output.or_zero())
        .with_cache(numbers.cached.or_zero().min(prompt), 0)
        .with_reasoning(numbers.reasoning.or_zero());
    is_done.then_some(SidecarRecord {
        session,
        keys: Vec::new(),
        at: None,
        window: None,
        about: None,
        usage: Usage {
            output: numbers.output.0,
            reasoning: numbers.reasoning.0,
            ..Usage::billed(request, prompt, billed)
        },
    })
}

impl Sum {
    fn billed(self) -> BilledUsage {
        let input = self.input.or_zero();
        BilledUsage::new(input, self.output.or_zero())
            .with_cache(self.cached.or_zero().min(input), 0)
            .with_reasoning(self.reasoning.or_zero())
    }
}

/// The requests of a session, and the response that is being read.
#[derive(Default)]
pub(super) struct Requests {
    /// The numbers, in the order of the requests.
    usages: Vec<Usage>,
    has_begun: bool,
    /// The first of them whose response has not been read; unknown where reading began in the middle.
    next: Option<usize>,
    /// The response that is being read, and whether its numbers were emitted.
    open: Option<(Key, bool)>,
    /// The number of requests of the turn whose numbers were emitted, and their cost.
    turn: (u64, BilledUsage),
}

impl Requests {
    pub(super) fn of(records: &[SidecarRecord]) -> Requests {
        Requests {
            usages: records.iter().map(|record| record.usage.clone()).collect(),
            ..Requests::default()
        }
    }

    /// Emits a part of a response.
    pub(super) fn output(&mut self, about: About, items: Vec<NewItem>, out: &mut EventSink<'_>) {
        if !std::mem::replace(&mut self.has_begun, true) && out.place().line() > 0 {
            self.next = Some(0);
        }
        let began = about.stream.map(|millis| millis.0.unsigned_abs());
        let stream = Key::of_number("grok response", began.unwrap_or(out.place().id()));
        if self.open.is_none_or(|(open, _)| open != stream) {
            self.end(out);
        }
        let (request, _) = *self.open.get_or_insert((stream, false));
        out.node(Node::output(None, Some(request), items));
    }

    /// Emits the numbers of the response that is being read, whose prompt and output are this together.
    pub(super) fn total(&mut self, total: Option<u64>, out: &mut EventSink<'_>) {
        let (Some(total), Some((request, false))) = (total, self.open) else {
            return;
        };
        let is_its = |usage: &Usage| usage.prompt + usage.output.unwrap_or(0) == total;
        let found = match self.next {
            Some(next) => {
                let rest = self.usages.get(next..).unwrap_or_default();
                rest.iter().position(is_its).map(|at| next + at)
            }
            None => self.usages.iter().rposition(is_its),
        };
        match found {
            Some(at) => self.emit(at, out),
            // Grok's own numbers are no longer there.
            None => {
                self.next = None;
                out.usage(Usage::estimated(request, total));
                self.open = Some((request, true));
            }
        }
    }

    /// The response is complete.
    pub(super) fn end(&mut self, out: &mut EventSink<'_>) {
        self.settle(out);
        self.open = None;
    }

    /// The turn is complete. Of its requests that have no numbers, the sum is emitted.
    pub(super) fn end_turn(&mut self, sum: Option<Sum>, out: &mut EventSink<'_>) {
        self.end(out);
        let (calls, billed) = std::mem::take(&mut self.turn);
        let sum = sum.filter(|sum| sum.calls.0.is_none_or(|all| all > calls));
        let rest = sum.map(|sum| sum.billed().saturating_sub(billed));
        if let Some(rest) = rest.filter(|rest| *rest != BilledUsage::default()) {
            let turn = Key::of_number("grok turn", out.place().id());
            out.billed_rest(turn, rest);
        }
    }

    /// Emits the numbers of the response that is being read, if they are there: those of the next request.
    /// They are written when it has ended.
    pub(super) fn settle(&mut self, out: &mut EventSink<'_>) {
        if let (Some((_, false)), Some(next)) = (self.open, self.next)
            && next < self.usages.len()
        {
            self.emit(next, out);
        }
    }

    fn emit(&mut self, at: usize, out: &mut EventSink<'_>) {
        self.next = Some(at + 1);
        if let (Some((request, emitted)), Some(usage)) = (&mut self.open, self.usages.get(at)) {
            *emitted = true;
            if usage.prompt > 0 {
                let (calls, billed) = self.turn;
                self.turn = (calls + 1, billed.plus(usage.billed));
                out.usage(Usage {
                    request: *request,
                    ..usage.clone()
                });
            }
        }
    }
}
