//! Amp.
//!
//! A thread is one JSON document, `threads/T-<id>.json`, rewritten as a whole. Newer versions keep their
//! threads on Amp's server; what lies there is not read. After public readers of the documents (ccusage,
//! splitrail; jonathan-kellerai/cross_agent_session_resumer, `src/providers/amp.rs`):
//!
//! * Messages are Anthropic's, with `tool_result` blocks of Amp's own: `toolUseID` and `run`, of which the
//!   model gets the `result` or an error.
//! * A response has its numbers in `usage`. `inputTokens` is without what was read from and written to a
//!   cache, `totalInputTokens` is all of them, and `maxInputTokens` the most that the model can take.
//! * A compaction, which only the user begins, is an `info` message with a `summary`: what was before leaves.
//! * `env.initial.trees` are the folders. A thread that was handed off is another document.

use format::{
    ANTHROPIC, Base, Cached, Claim, Decoder, Facts, Format, List, Root, StoreKind, decoder, facts,
    head,
};
use kit::anthropic::{self, ToolNames, part_of};
use kit::image;
use kit::lenient::{self, Count, Millis, Pieces, Raw, Text, Window, record};
use model::event::{Billed, Cause, Kept, Key, Meta, NewItem, Node, Part, Reset, Sink, Usage};
use model::{Gone, Kind, Role};
use std::path::Path;

/// The format.
pub static AMP: Format = Format {
    id: "amp",
    label: "amp",
    roots: &[Root::new(Base::XdgData("amp"), "threads")],
    facts: Facts {
        mark: "`id` that begins with `T-`, and `messages` of a document",
        live: facts::EACH_REWRITE,
        known: "prompts, outputs",
        estimated: "",
        sub_agents: "none logged",
        compactions: "yes",
        tried: "invented threads after public readers",
    },
    claims: &claims,
    recognise: &recognise,
    decoder: &decoder::<AmpDecoder>,
    store: &|_| Some(StoreKind::Document),
    list: Some(List::Json("messages")),
    terms: ANTHROPIC,
    cached: Cached::Beside,
    ..Format::DEFAULT
};

/// Claims `T-<id>.json`.
fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
    let claim = Claim::session(name).kept_in(StoreKind::Document);
    name.starts_with("T-").then_some(claim)
}

fn recognise(head: &[u8]) -> bool {
    let start = head::solid(head, 4096);
    start.starts_with(br#"{"v":"#)
        && [r#""id":"T-"#, r#""messages":["#]
            .iter()
            .all(|mark| head::has(&start, mark))
}

record! {
    struct Thread<'a> {
        id: Text<'a>,
        title: Text<'a>,
        initial: Initial<'a> = "env" / "initial",
        messages: Option<Vec<Raw<'a>>>,
    }

    struct Initial<'a> {
        cwd: Text<'a>,
        trees: Vec<Tree<'a>>,
    }

    struct Tree<'a> {
        uri: Text<'a>,
    }

    struct Message<'a> {
        role: Text<'a>,
        id: Option<Count> = "messageId",
        content: Option<Raw<'a>>,
        sent: Option<Millis> = "meta" / "sentAt",
        usage: Option<Numbers<'a>>,
    }

    mended [input + cache_write + cache_read => output, .whole(total).counts_without_prompt()]
    whole struct Numbers<'a> {
        model: Text<'a>,
        timestamp: Text<'a>,
        input: Count = "inputTokens",
        output: Count = "outputTokens",
        cache_write: Count = "cacheCreationInputTokens",
        cache_read: Count = "cacheReadInputTokens",
        total: Count = "totalInputTokens",
        window: Window = "maxInputTokens",
    }

    struct Block<'a> {
        kind: Text<'a> = "type",
        text: Text<'a>,
        call: Text<'a> = "toolUseID" | "tool_use_id",
        run: Run<'a>,
        content: Option<Raw<'a>>,
        summary: Summary<'a>,
    }

    struct Run<'a> {
        status: Text<'a>,
        result: Option<Raw<'a>>,
        error: Option<Raw<'a>>,
    }

    struct Summary<'a> {
        text: Text<'a> = "summary",
        thread: Text<'a>,
    }
}

/// Decodes one thread.
#[derive(Clone, Default)]
struct AmpDecoder {
    tools: ToolNames,
    has_begun: bool,
    meta: Meta,
}

impl Decoder for AmpDecoder {
    fn read_document(&mut self, document: &str, out: &mut Sink<'_>) {
        let Some(thread) = lenient::object::<Thread<'_>>(document, out) else {
            return;
        };
        if thread.messages.is_none() {
            return out.unreadable("no messages");
        }
        let initial = &thread.initial;
        let tree = initial.trees.first().and_then(|tree| tree.uri.get());
        let folder = tree.map(|uri| uri.strip_prefix("file://").unwrap_or(uri).into());
        let meta = Meta {
            id: thread.id.boxed(),
            title: thread.title.boxed(),
            cwd: initial.cwd.boxed().or(folder),
            ..Meta::default()
        };
        out.meta(meta.changes(&mut self.meta));
    }

    fn read_line(&mut self, element: &str, out: &mut Sink<'_>) {
        let Some(message) = lenient::object::<Message<'_>>(element, out) else {
            return;
        };
        let numbers = message.usage.as_ref();
        let answered = numbers.and_then(|numbers| numbers.timestamp.time());
        out.set_time(message.sent.and_then(Millis::time).or(answered));
        let id = message.id.and_then(|id| id.0).unwrap_or(out.place().line());
        let key = Some(Key::of_number("amp", id));
        match message.role.or_empty() {
            "assistant" => {
                let content = lenient::value(message.content, "content", out);
                let items = anthropic::assistant_items(&content, &mut self.tools, out);
                let request = Key::of_number("amp response", id);
                out.node(Node::output(key, Some(request), items));
                self.report(numbers, request, out);
            }
            "user" => {
                let items = self.user_items(message.content, out);
                out.node(Node::new(key, part_of(&items), items));
            }
            "info" => self.summary(message.content, key, out),
            "" => return out.unreadable("no role"),
            other => return out.unknown(format!("{other} message")),
        }
        self.has_begun = true;
    }

    fn copy(&self) -> Option<Box<dyn Decoder>> {
        Some(Box::new(self.clone()))
    }
}

impl AmpDecoder {
    fn report(&mut self, numbers: Option<&Numbers<'_>>, request: Key, out: &mut Sink<'_>) {
        let Some(numbers) = numbers else {
            return;
        };
        let model = numbers.model.get().map(lenient::model_name);
        let meta = Meta {
            window: numbers.window.0.filter(|window| *window > 0),
            ..Meta::of_model(model.map(Into::into))
        };
        out.meta(meta.changes(&mut self.meta));
        let billed = Billed::new(numbers.input.or_zero(), numbers.output.or_zero())
            .with_cache(numbers.cache_read.or_zero(), numbers.cache_write.or_zero());
        let prompt = numbers.total.0.unwrap_or(billed.prompt());
        if prompt > 0 {
            out.usage(Usage {
                model: self.meta.model.clone(),
                output: numbers.output.0,
                ..Usage::billed(request, prompt, billed)
            });
        }
    }

    fn user_items(&self, content: Option<Raw<'_>>, out: &mut Sink<'_>) -> Vec<NewItem> {
        let blocks: Pieces<Block<'_>> = lenient::value(content, "content", out);
        let blocks = blocks.0.iter();
        let items = blocks.map(|block| match (block.kind.or_empty(), block.text.get()) {
            ("tool_result", _) => self.result(block, out),
            (_, Some(text)) => out.text(Role::User, Kind::Text, text),
            (other, None) => {
                let tokens = if other == "image" { image::DEFAULT } else { 0 };
                let item = out.item(Role::User, Kind::Text);
                item.fixed(tokens, &format!("[{other}]")).done()
            }
        });
        items.collect()
    }

    fn result(&self, block: &Block<'_>, out: &mut Sink<'_>) -> NewItem {
        let call = block.call.get();
        let run = &block.run;
        let item = out.tool_result(self.tools.get(call), call);
        match run.result.or(run.error).or(block.content) {
            Some(value) => lenient::strings(item, value).done(),
            None => item.text(run.status.or_empty()).done(),
        }
    }

    /// Takes in a compaction, or, at the beginning, what was taken over from another thread.
    fn summary(&mut self, content: Option<Raw<'_>>, key: Option<Key>, out: &mut Sink<'_>) {
        let blocks: Pieces<Block<'_>> = lenient::value(content, "content", out);
        let is_summary = |block: &&Block<'_>| block.kind.get() == Some("summary");
        let summaries: Vec<&Block<'_>> = blocks.0.iter().filter(is_summary).collect();
        if summaries.is_empty() {
            return out.skip("info message");
        }
        if self.has_begun {
            out.reset(Reset::new(Gone::Compaction, Cause::Manual, Kept::Nothing));
        }
        let texts = summaries.iter().map(|block| {
            let summary = &block.summary;
            summary
                .text
                .get()
                .or(summary.thread.get())
                .unwrap_or_default()
        });
        let items = texts.map(|text| out.text(Role::Container, Kind::Summary, text));
        let items = items.collect();
        out.node(Node::new(key, Part::Injected, items));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_told_by_name_and_by_content() {
        let path = Path::new("/home/dev/.local/share/amp/threads/T-5e55.json");
        let claim = AMP.claims(path).map(|claim| claim.id);
        assert_eq!(claim, Some(Some("T-5e55".to_owned())));
        assert_eq!(AMP.claims(Path::new("threads/history.json")), None);
        let head = b"{\n  \"v\": 12,\n  \"id\": \"T-5e55\",\n  \"messages\": [\n";
        assert!(AMP.recognise(head));
        assert!(!AMP.recognise(b"{\"id\": \"T-5e55\", \"messages\": []}"));
    }
}
