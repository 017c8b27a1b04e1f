//! Images, files and sounds in a part.

use super::Part;
use crate::bodies::json::{Object, object, object_if, string};
use crate::image::{self, Formula};
use crate::lenient::{FieldPlace, Text, record};
use crate::prompts::Content;

/// Tokens of a document: 1,500 to 3,000 a page by Anthropic's account, and the pages are unknown.
const DOCUMENT: u64 = 2_000;

record! {
    struct Media<'a> {
        data: Text<'a>,
        url: Text<'a>,
        detail: Text<'a>,
        mime: Text<'a> = "mimeType" | "mime_type",
    }
}

/// Returns content that is no text as its tokens, by the formula of its dialect, and its label.
pub(super) fn media<'a>(part: &Part<'a>, at: FieldPlace<'_>) -> Option<Content<'a>> {
    let sized = |tokens: Formula, base64: &str, unknown: u64| {
        let base64 = base64
            .rsplit_once("base64,")
            .map_or(base64, |(_, data)| data);
        match image::dimensions(base64) {
            Some((w, h)) => Content::Media(tokens(w, h), format!("[image {w}×{h}]").into()),
            None => Content::Media(unknown, "[image]".into()),
        }
    };
    if let Some(Object(raw)) = part.inline {
        let media: Media<'_> = object(raw, at.field("inlineData"));
        let mime = media.mime.or_empty();
        return Some(if mime.starts_with("image/") {
            sized(image::gemini, media.data.or_empty(), 258)
        } else {
            Content::Media(DOCUMENT, format!("[{mime}]").into())
        });
    }
    if part.file.is_some() && part.kind.get().is_none() {
        return Some(Content::Media(DOCUMENT, "[file]".into()));
    }
    match part.kind.or_empty() {
        "image" => {
            let media: Media<'_> = object_if(part.image, at.field("source"));
            let bare = part.image.and_then(string).unwrap_or_default();
            let data = media.data.get().or(part.data.get()).unwrap_or(&bare);
            Some(sized(image::claude, data, 1_500))
        }
        "image_url" | "input_image" => {
            let raw = part.image_url?;
            let media: Media<'_> = object_if(Some(raw), at.field("image_url"));
            let bare = string(raw).unwrap_or_default();
            Some(match media.detail.get().or(part.detail.get()) {
                // 85 tokens whatever its size (OpenAI, guide "Images and vision").
                Some("low") => Content::Media(85, "[image, low detail]".into()),
                _ => sized(
                    image::openai,
                    media.url.get().unwrap_or(&bare),
                    image::DEFAULT,
                ),
            })
        }
        "document" | "file" | "input_file" => Some(Content::Media(DOCUMENT, "[document]".into())),
        // OpenTelemetry's, of any type.
        "blob" | "uri" => {
            let mime = part.mime.get().unwrap_or("file");
            let tokens = if mime.starts_with("image/") {
                image::DEFAULT
            } else {
                DOCUMENT
            };
            Some(Content::Media(tokens, format!("[{mime}]").into()))
        }
        "input_audio" | "audio" => Some(Content::Media(0, "[audio]".into())),
        _ => None,
    }
}
