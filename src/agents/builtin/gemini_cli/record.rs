//! The records as they are written.

use decode::genai::{Call, Parts};
use decode::lenient::{Count, Pieces, Raw, Repair, Text, Texts, UsageParts, record};
use decode::{image, pdf};
use model::event::{BilledUsage, Event, EventSink, Key, Meta, Usage};

const PDF: &str = "application/pdf";
/// The tokens that Gemini CLI counts for an image whose size cannot be read, and for other files.
const IMAGE_TOKENS: u64 = 3_000;
/// The tokens that Gemini CLI counts for any PDF.
const PDF_TOKENS: u64 = 25_800;
/// Tokens of a page of a PDF for Gemini 3; 258 for earlier models (Google, "Media resolution").
const PAGE_TOKENS: u64 = 560;

record! {
    /// A message, or a change to the session.
    pub(super) struct Record<'a> {
        pub(super) rewind_to: Text<'a> = "$rewindTo",
        pub(super) set: Option<Facts<'a>> = "$set",
        pub(super) id: Text<'a>,
        pub(super) timestamp: Text<'a>,
        pub(super) kind: Text<'a> = "type",
        pub(super) content: Pieces<Parts<'a>>,
        pub(super) tool_calls: Vec<Call<'a>> = "toolCalls",
        pub(super) tokens: Option<Tokens>,
        pub(super) model: Text<'a>,
    }

    /// The head of a session, a change to it, or a whole document.
    pub(super) struct Facts<'a> {
        pub(super) session_id: Text<'a> = "sessionId",
        pub(super) start_time: Text<'a> = "startTime",
        pub(super) last_updated: Text<'a> = "lastUpdated",
        pub(super) summary: Text<'a>,
        pub(super) directories: Texts<'a>,
        pub(super) messages: Option<Vec<Raw<'a>>>,
    }

    #[derive(Copy)]
    mended whole pub(super) struct Tokens {
        pub(super) input: Count,
        pub(super) output: Count,
        pub(super) cached: Count,
        pub(super) thoughts: Count,
        pub(super) tool: Count,
    }
}

impl Repair for Tokens {
    fn parts(&mut self) -> UsageParts<'_> {
        let prompt = vec![("input", &mut self.input), ("tool", &mut self.tool)];
        UsageParts::new(prompt, ("output", &mut self.output)).output_needs(&["thoughts"])
    }
}

/// Returns the tokens of a file, and its label.
pub(super) fn media<'p>(part: &'p Parts<'_>) -> Option<(u64, &'p str)> {
    let media = part.media()?;
    Some(match media.mime_type.or_empty() {
        PDF => {
            let tokens = pdf::tokens(media.data.or_empty(), PAGE_TOKENS, PDF_TOKENS);
            (tokens, "[pdf]")
        }
        _ => {
            let tokens = image::tokens(media.data.or_empty(), image::gemini, IMAGE_TOKENS);
            (tokens, "[image]")
        }
    })
}

/// Returns the tokens that Gemini CLI itself counts for a file.
pub(super) fn own_tokens(part: &Parts<'_>) -> u64 {
    match part.media() {
        Some(media) if media.mime_type.get() == Some(PDF) => PDF_TOKENS,
        _ => media(part).map_or(0, |(tokens, _)| tokens),
    }
}

/// Returns the usage that a message reports.
pub(super) fn usage(tokens: Tokens, request: Key, message: &Record<'_>) -> Usage {
    let prompt = tokens.input.or_zero() + tokens.tool.or_zero();
    let thoughts = tokens.thoughts.or_zero();
    let billed = BilledUsage::new(prompt, tokens.output.or_zero())
        .with_cache(tokens.cached.or_zero(), 0)
        .with_reasoning(thoughts);
    Usage {
        model: message.model.boxed(),
        cached: tokens.cached.or_zero().min(prompt),
        output: tokens.output.0.map(|output| output + thoughts),
        reasoning: tokens.thoughts.0.filter(|thoughts| *thoughts > 0),
        ..Usage::billed(request, prompt, billed)
    }
}

/// Emits the facts of a session.
pub(super) fn meta(facts: &Facts<'_>, out: &mut EventSink<'_>) {
    out.set_time(facts.last_updated.time().or(facts.start_time.time()));
    // Even an empty one counts as a record, and its time is the session's.
    out.emit(Event::Meta(Box::new(Meta {
        id: facts.session_id.boxed(),
        title: facts.summary.boxed(),
        cwd: facts.directories.iter().next().map(Box::from),
        ..Meta::default()
    })));
}
