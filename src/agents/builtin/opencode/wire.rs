//! The records of sessions, messages and parts.

use decode::lenient::{Count, Dollars, Raw, Repair, Text, UsageParts, record};
use jiff::Timestamp;
use model::event::{BilledUsage, Meta};

record! {
    /// A row, or an element of an export: about the session, or a message and its parts, which are one in 2.x.
    pub(super) struct Line<'a> {
        pub(super) session: Option<Info<'a>>,
        pub(super) id: Text<'a>,
        pub(super) info: Option<Raw<'a>>,
        pub(super) parts: Vec<Part<'a>>,
        /// The type of a row of 2.x.
        pub(super) kind: Text<'a> = "type",
        pub(super) data: Option<Raw<'a>>,
    }

    /// An export.
    pub(super) struct Document<'a> {
        pub(super) info: Option<Info<'a>>,
        /// The messages. Mostly they are taken out of the document and read as lines.
        pub(super) messages: Vec<Raw<'a>>,
    }

    /// Facts of a session or of a message.
    pub(super) struct Info<'a> {
        pub(super) id: Text<'a>,
        pub(super) title: Text<'a>,
        pub(super) directory: Text<'a>,
        pub(super) version: Text<'a>,
        /// The parent: of a session, the session that started it; of an answer, the user's message.
        pub(super) parent_id: Text<'a> = "parentID",
        pub(super) revert: Option<Revert<'a>>,
        pub(super) role: Text<'a>,
        /// The type of a message of 2.x.
        pub(super) kind: Text<'a> = "type",
        pub(super) model_id: Text<'a> = "modelID",
        pub(super) provider_id: Text<'a> = "providerID",
        pub(super) model: Option<Model<'a>>,
        /// `true` in answers that are a summary; something else in others.
        pub(super) summary: Option<Raw<'a>>,
        pub(super) error: Option<Failure<'a>>,
        pub(super) finish: Text<'a>,
        pub(super) tokens: Option<Tokens>,
        /// The cost of all requests of an answer.
        pub(super) cost: Dollars,
        pub(super) time: Times,
    }

    pub(super) struct Revert<'a> {
        pub(super) message: Text<'a> = "messageID",
        pub(super) part: Text<'a> = "partID",
    }

    pub(super) struct Model<'a> {
        pub(super) id: Text<'a> = "id" | "modelID",
        pub(super) provider: Text<'a> = "providerID",
    }

    pub(super) struct Failure<'a> {
        pub(super) name: Text<'a>,
    }

    /// All in milliseconds since 1970.
    #[derive(Copy)]
    pub(super) struct Times {
        pub(super) created: Option<f64>,
        pub(super) completed: Option<f64>,
        pub(super) compacted: Option<f64>,
    }

    pub(super) struct Part<'a> {
        pub(super) id: Text<'a>,
        pub(super) kind: Text<'a> = "type",
        pub(super) text: Text<'a>,
        pub(super) synthetic: Option<bool>,
        pub(super) ignored: Option<bool>,
        pub(super) metadata: Option<Raw<'a>>,
        pub(super) mime: Text<'a>,
        pub(super) url: Text<'a>,
        pub(super) tool: Text<'a>,
        pub(super) call: Text<'a> = "callID",
        pub(super) state: Option<State<'a>>,
        pub(super) tokens: Option<Tokens>,
        pub(super) auto: Option<bool>,
        pub(super) tail: Text<'a> = "tail_start_id",
    }

    /// The state of a tool's call.
    pub(super) struct State<'a> {
        pub(super) status: Text<'a>,
        pub(super) input: Option<Raw<'a>>,
        pub(super) output: Text<'a>,
        pub(super) error: Text<'a>,
        pub(super) time: Times,
        pub(super) attachments: Vec<File<'a>>,
    }

    pub(super) struct File<'a> {
        pub(super) mime: Text<'a>,
        pub(super) url: Text<'a>,
    }

    #[derive(Copy)]
    mended whole pub(super) struct Tokens {
        pub(super) total: Count,
        pub(super) input: Count,
        pub(super) output: Count,
        pub(super) reasoning: Count,
        pub(super) cache: Cache,
    }

    #[derive(Copy)]
    pub(super) struct Cache {
        pub(super) read: Count,
        pub(super) write: Count,
    }
}

impl Info<'_> {
    /// Returns the model's id.
    pub(super) fn model(&self) -> Option<Box<str>> {
        let model = self.model.as_ref();
        let named = model.and_then(|model| model.id.boxed());
        self.model_id.boxed().or(named)
    }

    /// Returns the model and its provider.
    pub(super) fn model_at(&self) -> Meta {
        let model = self.model.as_ref();
        let named = model.and_then(|model| model.provider.boxed());
        Meta::of_model_at(self.model(), self.provider_id.boxed().or(named))
    }

    pub(super) fn is_summary(&self) -> bool {
        self.summary.is_some_and(|summary| summary.get() == "true")
    }
}

impl Repair for Tokens {
    fn parts(&mut self) -> UsageParts<'_> {
        let prompt = vec![
            ("input", &mut self.input),
            ("read", &mut self.cache.read),
            ("write", &mut self.cache.write),
        ];
        UsageParts::new(prompt, ("output", &mut self.output))
            .output_needs(&["reasoning", "total"])
            .needs(&["cache"])
    }
}

impl Tokens {
    /// Returns all input, cached or not.
    pub(super) fn prompt(self) -> u64 {
        self.billed().prompt()
    }

    /// Returns the output with its reasoning, which the field for the output may lack.
    pub(super) fn whole_output(self) -> Option<u64> {
        let rest = self
            .total
            .0
            .and_then(|total| total.checked_sub(self.prompt()));
        rest.or(self.output.0)
    }

    /// Returns the numbers in the provider's own terms, but for the output: what `total` leaves for it, if there is
    /// one.
    pub(super) fn billed(self) -> BilledUsage {
        let rest = |prompt| self.total.0.and_then(|total| total.checked_sub(prompt));
        let billed = BilledUsage::new(self.input.or_zero(), self.output.or_zero())
            .with_cache(self.cache.read.or_zero(), self.cache.write.or_zero())
            .with_reasoning(self.reasoning.or_zero());
        BilledUsage {
            output: rest(billed.prompt()).unwrap_or(billed.output),
            ..billed
        }
    }
}

impl Times {
    /// Returns the time at which it began.
    pub(super) fn begun(self) -> Option<Timestamp> {
        time(self.created)
    }
}

/// Milliseconds since 1970 as a time.
pub(super) fn time(milliseconds: Option<f64>) -> Option<Timestamp> {
    Timestamp::from_millisecond(milliseconds? as i64).ok()
}
