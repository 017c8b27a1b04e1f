//! Aider.
//!
//! Its chat history is Markdown with rounded numbers, and is not read. `--analytics-log FILE` appends an event
//! a line, whether or not analytics are sent. What its sources document (Aider-AI/aider, `aider/analytics.py`,
//! `aider/coders/base_coder.py`):
//!
//! * `message_send` has the numbers of one request: those that were cut off or failed before it are not
//!   added. The texts are in no event, so that all of a prompt is unlogged.
//! * The numbers are the provider's only where the response was not streamed. Otherwise, which is the default,
//!   Aider counts the messages and the answer itself. No event shows which, so that all of them are read as its own.
//!   Where the provider reports a cache, `prompt_tokens` has what was written to it once more.
//! * A request that exceeded the window has an output of 0.
//! * All runs with the same option are in one file. `launched` begins a run, in which the talk starts again,
//!   as it does with `/clear` and `/reset`.
//! * A model whose name is not public is `None` or `provider/REDACTED`. No event has a folder or a version.
//! * Requests that summarise the talk or write commit messages have no event.

use format::{Claim, Decoder, Facts, Format, Root, decoder, facts, head};
use kit::lenient::{self, Count, Reported, Text, record};
use model::Gone;
use model::event::{Cause, Kept, Key, Meta, Node, Reset, Sink, Usage};
use std::path::Path;

/// The format.
pub static AIDER: Format = Format {
    id: "aider",
    label: "aider",
    // The file lies where its user wants it: it is found here if its name is right.
    roots: &[
        Root::home(".aider", "").flat(),
        Root::named("AIDER_ANALYTICS_LOG", ""),
    ],
    places: &[
        "--analytics-log FILE",
        "$AIDER_ANALYTICS_LOG",
        "~/.aider/analytics*.jsonl",
    ],
    facts: Facts {
        mark: "`event`, `properties` and `user_id`",
        live: facts::EACH_LINE,
        known: "",
        estimated: "the texts; the sizes are its own count",
        sub_agents: "it has none",
        compactions: "none logged",
        tried: "invented lines after its sources",
    },
    claims: &claims,
    recognise: &recognise,
    decoder: &decoder::<AiderDecoder>,
    reset_marks: &[r#""launched""#, r#""command_clear""#, r#""command_reset""#],
    terms: &[],
    harmless: "message_send_starting message_send_exception repo no-repo auto_commits \
        auto_model_selection exit",
    ..Format::DEFAULT
};

/// The beginnings of the names of other events that do not concern the context.
const HARMLESS: &[&str] = &[
    "command_",
    "ai-comments ",
    "cli session",
    "copy-paste mode",
    "gui session",
    "interactive help",
    "model warning",
    "oauth_flow_",
];

/// Claims `analytics*.jsonl`.
fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_name()?.to_str()?;
    (name.starts_with("analytics") && name.ends_with(".jsonl")).then_some(Claim::LINES)
}

fn recognise(head: &[u8]) -> bool {
    let line = head::first_line(head);
    let marks = [r#""event""#, r#""properties""#, r#""user_id""#];
    head::is_object(line) && marks.iter().all(|mark| head::has(line, mark))
}

record! {
    struct Record<'a> {
        event: Text<'a>,
        properties: Properties<'a>,
        time: Count,
    }

    struct Properties<'a> {
        model: Text<'a> = "main_model",
        prompt: Reported = "prompt_tokens",
        completion: Reported = "completion_tokens",
    }
}

impl Properties<'_> {
    /// Returns the model, where its name is public.
    fn model(&self) -> Option<Box<str>> {
        let is_public = |name: &str| name != "None" && !name.ends_with("/REDACTED");
        self.model.boxed().filter(|name| is_public(name))
    }
}

/// Decodes the events of all runs.
#[derive(Default)]
struct AiderDecoder {
    model: Option<Box<str>>,
    /// True if anything was sent since the talk began.
    has_talk: bool,
}

impl Decoder for AiderDecoder {
    fn read_line(&mut self, line: &str, out: &mut Sink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        out.set_time(record.time.0.and_then(|_| record.time.time()));
        let model = record.properties.model();
        if model.is_some() && model != self.model {
            self.model.clone_from(&model);
            out.meta(Meta::of_model(model));
        }
        match record.event.or_empty() {
            "message_send" => self.sent(&record.properties, out),
            // No other event has it.
            "" if record.properties.prompt != Reported::Absent => {
                self.sent(&record.properties, out)
            }
            "launched" => self.clear("new run", out),
            "command_clear" | "command_reset" => self.clear("manual", out),
            "" => out.unreadable("no event"),
            other => match HARMLESS.iter().find(|name| other.starts_with(**name)) {
                Some(name) => out.skip(name.trim_end_matches(['_', ' '])),
                None => AIDER.pass_over(other, out),
            },
        }
    }
}

impl AiderDecoder {
    /// Emits a request, by its numbers alone.
    fn sent(&mut self, numbers: &Properties<'_>, out: &mut Sink<'_>) {
        let [prompt, completion] = Reported::mended([numbers.prompt, numbers.completion]);
        let Some(prompt) = prompt.0.filter(|prompt| *prompt > 0) else {
            return out.skip("message_send without numbers");
        };
        self.has_talk = true;
        let request = Key::of_number("aider", out.place().id());
        out.node(Node::output(None, Some(request), Vec::new()));
        out.usage(Usage {
            model: numbers.model().or(self.model.clone()),
            output: completion.0,
            ..Usage::estimated(request, prompt)
        });
    }

    /// The talk starts again.
    fn clear(&mut self, cause: &str, out: &mut Sink<'_>) {
        if std::mem::take(&mut self.has_talk) {
            out.reset(Reset::new(Gone::Clear, Cause::named(cause), Kept::Nothing))
        } else {
            out.skip("beginning of a talk")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_told_by_name_and_by_content() {
        assert!(
            AIDER
                .claims(Path::new("/home/dev/.aider/analytics.jsonl"))
                .is_some()
        );
        assert!(
            AIDER
                .claims(Path::new("/home/dev/.aider/analytics.json"))
                .is_none()
        );
        let line =
            br#"{"event": "launched", "properties": {}, "user_id": "u", "time": 1790000000}"#;
        assert!(AIDER.recognise(line));
        assert!(!AIDER.recognise(br#"{"event": "launched", "user_id": "u"}"#));
    }
}
