//! Contents as Google's GenAI interface has them, which Gemini CLI and Qwen Code write to their logs
//! (googleapis/js-genai, `src/types.ts`: `Content`, `Part`).

use super::lenient::{self, Raw, Text, record};
use crate::model::event::ItemBuilder;

record! {
    /// A part of a content.
    pub(super) struct Parts<'a> {
        pub(super) text: Text<'a>,
        pub(super) thought: Option<bool>,
        pub(super) function_call: Option<Call<'a>> = "functionCall",
        pub(super) function_response: Option<Response<'a>> = "functionResponse",
        pub(super) inline_data: Option<Media<'a>> = "inlineData",
        pub(super) file_data: Option<Media<'a>> = "fileData",
    }
}

record! {
    pub(super) struct Call<'a> {
        pub(super) id: Text<'a>,
        pub(super) name: Text<'a>,
        pub(super) args: Option<Raw<'a>>,
        pub(super) result: Vec<Parts<'a>>,
    }
}

impl Call<'_> {
    /// Adds the call to an item.
    pub(super) fn add_to<'s, 'm>(&self, item: ItemBuilder<'s, 'm>) -> ItemBuilder<'s, 'm> {
        let item = item.tool(self.name.get()).call(self.id.get());
        let item = item.text(self.name.or_empty());
        match self.args {
            Some(args) => lenient::raw(item, args),
            None => item,
        }
    }
}

record! {
    pub(super) struct Response<'a> {
        pub(super) id: Text<'a>,
        pub(super) name: Text<'a>,
        pub(super) response: Option<Raw<'a>>,
    }
}

record! {
    pub(super) struct Media<'a> {
        pub(super) mime_type: Text<'a> = "mimeType",
        pub(super) data: Text<'a>,
    }
}

impl<'a> Parts<'a> {
    /// A file: its bytes, or a reference to it.
    pub(super) fn media(&self) -> Option<&Media<'a>> {
        self.inline_data.as_ref().or(self.file_data.as_ref())
    }
}
