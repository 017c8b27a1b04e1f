//! Reads the values that all of Kimi's files share: contents, tool calls, numbers, times.

use decode::anthropic::ToolNames;
use decode::image;
use decode::lenient::{self, Count, Pieces, Text, full_length, record, whole};
use jiff::Timestamp;
use model::event::{BilledUsage, EventSink, ItemBuilder, Key, NewItem, Usage};
use model::{Kind, Role};

/// The beginnings of texts that the harness puts in as the user's.
const NOTES: [&str; 2] = ["<system-reminder>", "<system>"];

/// Kimi Code's own counts: the bytes of a token of text, and the tokens of an image, a sound or a video.
const BYTES_PER_TOKEN: u64 = 4;
const MEDIA_TOKENS: u64 = 2_000;

record! {
    /// A part of a content.
    pub(super) struct Part<'a> {
        kind: Text<'a> = "type",
        text: Text<'a>,
        think: Text<'a>,
        encrypted: Text<'a>,
        image_url: Pieces<Link<'a>> = "image_url" | "imageUrl",
    }

    struct Link<'a> {
        url: Text<'a> = "url" | "text",
    }

    /// A call of a tool, as OpenAI's interface has it.
    pub(super) struct ToolCall<'a> {
        pub(super) id: Text<'a>,
        function: Function<'a>,
        name: Text<'a>,
        arguments: Text<'a>,
    }

    struct Function<'a> {
        name: Text<'a>,
        arguments: Text<'a>,
    }

    /// The provider's numbers for a request: what was not cached, read from a cache, written to one.
    #[derive(Copy)]
    mended [input_other + input_cache_read + input_cache_creation => output, .counts_without_prompt()]
    whole pub(super) struct Numbers {
        input_other: Count = "inputOther" | "input_other",
        output: Count,
        input_cache_read: Count = "inputCacheRead" | "input_cache_read",
        input_cache_creation: Count = "inputCacheCreation" | "input_cache_creation",
    }
}

/// A content: bare text, a part, or a list of either.
pub(super) type Content<'a> = Pieces<Part<'a>>;

impl ToolCall<'_> {
    /// Returns the tool's name.
    pub(super) fn name(&self) -> Option<&str> {
        self.function.name.get().or(self.name.get())
    }

    /// Returns the call as an item. Its tool is remembered, if it is named.
    pub(super) fn item(&self, tools: &mut ToolNames, out: &mut EventSink<'_>) -> NewItem {
        if let Some(name) = self.name() {
            tools.insert(self.id.get(), name);
        }
        let arguments = self.function.arguments.get();
        let arguments = arguments.or(self.arguments.get()).unwrap_or_default();
        lenient::written_call(self.name(), self.id.get(), arguments, out)
    }
}

impl Numbers {
    /// Returns the report, if it is one.
    pub(super) fn usage(self, request: Key, model: Option<Box<str>>) -> Option<Usage> {
        let (read, written) = (self.input_cache_read, self.input_cache_creation);
        let billed = BilledUsage::new(self.input_other.or_zero(), self.output.or_zero())
            .with_cache(read.or_zero(), written.or_zero());
        (billed.prompt() > 0).then(|| Usage {
            model,
            output: self.output.0,
            ..Usage::billed(request, billed.prompt(), billed)
        })
    }
}

/// Returns a time since 1970: seconds, or milliseconds where it would be too far from now otherwise.
pub(super) fn time(number: f64) -> Option<Timestamp> {
    const MAX_SECONDS: f64 = 1e11;
    let seconds = if number < MAX_SECONDS {
        number
    } else {
        number / 1e3
    };
    let is_plausible = (0.0..MAX_SECONDS).contains(&seconds);
    Timestamp::from_microsecond(is_plausible.then_some((seconds * 1e6) as i64)?).ok()
}

/// Returns all texts of a content.
pub(super) fn text_of(content: &Content<'_>) -> String {
    content
        .0
        .iter()
        .filter_map(|part| part.text.get())
        .collect()
}

/// Returns true if the harness wrote this as the user's.
pub(super) fn is_note(text: &str) -> bool {
    NOTES.iter().any(|note| text.trim_start().starts_with(note))
}

/// Adds texts and media to an item.
pub(super) fn add_content<'s, 'm>(
    item: ItemBuilder<'s, 'm>,
    content: &Content<'_>,
) -> ItemBuilder<'s, 'm> {
    let parts = content.0.iter();
    parts.fold(item, |item, part| part.add_to(item))
}

/// Returns the bytes that Kimi Code counts for a message with this content, at four a token: each text by itself, four
/// ASCII characters or one other a token, 2,000 tokens for media, and the name of its author, which is one token
/// (`llm-adapter/contract/tokens.ts`).
pub(super) fn own_bytes(content: &Content<'_>) -> u64 {
    let parts = content.0.iter();
    let sizes = parts.map(|part| match part.kind.or_empty() {
        "image_url" | "audio_url" | "video_url" => MEDIA_TOKENS * BYTES_PER_TOKEN,
        "think" => whole(part.think.or_empty(), bytes_of),
        _ => whole(part.text.or_empty(), bytes_of),
    });
    sizes.sum::<u64>() + BYTES_PER_TOKEN
}

fn bytes_of(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().filter(|c| !c.is_ascii()).count();
    (ascii as u64).next_multiple_of(BYTES_PER_TOKEN) + other as u64 * BYTES_PER_TOKEN
}

/// Returns the model's output: thoughts and texts, each an item.
pub(super) fn output_items(content: &Content<'_>, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let parts = content.0.iter();
    parts.map(|part| part.output_item(out)).collect()
}

impl Part<'_> {
    /// Returns the part as an item of the model's.
    pub(super) fn output_item(&self, out: &mut EventSink<'_>) -> NewItem {
        match self.kind.get() {
            Some("think") => out
                .item(Role::Assistant, Kind::Thinking)
                .text(self.think.or_empty())
                .opaque(full_length(self.encrypted.or_empty()))
                .done(),
            _ => self.add_to(out.item(Role::Assistant, Kind::Text)).done(),
        }
    }

    fn add_to<'s, 'm>(&self, item: ItemBuilder<'s, 'm>) -> ItemBuilder<'s, 'm> {
        match self.kind.or_empty() {
            "image_url" | "image" => {
                let url = self.image_url.0.first().and_then(|link| link.url.get());
                let base64 = url.and_then(|url| Some(url.split_once(";base64,")?.1));
                let base64 = base64.unwrap_or_default();
                let tokens = image::tokens(base64, image::openai, image::DEFAULT);
                item.fixed(tokens, "[image]")
            }
            // Their cost is unknown.
            kind @ ("audio_url" | "audio" | "video_url" | "video") => item.label(kind),
            _ => item.text(self.text.or_empty()),
        }
    }
}
