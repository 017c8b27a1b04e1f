//! Contents as Google's GenAI interface has them, which Gemini CLI and Qwen Code write to their logs
//! (googleapis/js-genai, `src/types.ts`: `Content`, `Part`).

use super::lenient::{self, Raw, Text, record};
use model::event::ItemBuilder;

record! {
    /// A part of a content.
    pub struct Parts<'a> {
        pub text: Text<'a>,
        pub thought: Option<bool>,
        pub function_call: Option<Call<'a>> = "functionCall",
        pub function_response: Option<Response<'a>> = "functionResponse",
        pub inline_data: Option<Media<'a>> = "inlineData",
        pub file_data: Option<Media<'a>> = "fileData",
    }

    pub struct Call<'a> {
        pub id: Text<'a>,
        pub name: Text<'a>,
        pub args: Option<Raw<'a>>,
        pub result: Vec<Parts<'a>>,
    }
}

impl Call<'_> {
    /// Adds the call to an item.
    pub fn add_to<'s, 'm>(&self, item: ItemBuilder<'s, 'm>) -> ItemBuilder<'s, 'm> {
        let item = item.tool(self.name.get()).call(self.id.get());
        lenient::raw(item.text(self.name.or_empty()), self.args)
    }
}

record! {
    pub struct Response<'a> {
        pub id: Text<'a>,
        pub name: Text<'a>,
        pub response: Option<Raw<'a>>,
    }

    pub struct Media<'a> {
        pub mime_type: Text<'a> = "mimeType",
        pub data: Text<'a>,
    }
}

impl<'a> Parts<'a> {
    /// Returns a file: its bytes, or a reference to it.
    pub fn media(&self) -> Option<&Media<'a>> {
        self.inline_data.as_ref().or(self.file_data.as_ref())
    }
}
