//! Messages as OpenAI's Chat Completions has them, which many agents write to their logs.

use super::anthropic::ToolNames;
use super::lenient::{self, Pieces, Raw, Text, record};
use model::event::{EventSink, ItemBuilder, NewItem};
use model::{Kind, Role};

record! {
    /// A call of a tool.
    pub struct Call<'a> {
        pub id: Text<'a>,
        pub function: Function<'a>,
    }

    pub struct Function<'a> {
        pub name: Text<'a>,
        pub arguments: Text<'a>,
    }

    /// A tool on offer.
    pub struct Tool<'a> {
        pub name: Text<'a>,
        pub description: Text<'a>,
        pub parameters: Option<Raw<'a>>,
    }

    /// A part of a content.
    pub struct Block<'a> {
        pub text: Text<'a>,
    }
}

impl Tool<'_> {
    /// Begins its item: its name, its description, and the schema of its parameters.
    pub fn item<'s, 'm>(&self, out: &'s mut EventSink<'m>) -> ItemBuilder<'s, 'm> {
        let item = out.item(Role::Container, Kind::ToolList);
        let item = item.tool(self.name.get()).text(self.name.or_empty());
        lenient::raw(item.text(self.description.or_empty()), self.parameters)
    }
}

/// A content, of which the texts are read.
pub type Content<'a> = Pieces<Block<'a>>;

/// Returns the texts of a content.
pub fn texts<'c>(content: &'c Content<'_>) -> impl Iterator<Item = &'c str> {
    content.0.iter().filter_map(|block| block.text.get())
}

/// Returns all texts of a content as one item.
pub fn whole(content: &Content<'_>, item: ItemBuilder<'_, '_>) -> NewItem {
    texts(content).fold(item, ItemBuilder::text).done()
}

/// Returns the items of an answer: its thinking, its text, its calls, whose tools are remembered.
pub fn answer(
    thinking: &Text<'_>,
    content: &Content<'_>,
    calls: &[Call<'_>],
    tools: &mut ToolNames,
    out: &mut EventSink<'_>,
) -> Vec<NewItem> {
    let mut items = Vec::new();
    if let Some(text) = thinking.get().filter(|text| !text.is_empty()) {
        items.push(out.text(Role::Assistant, Kind::Thinking, text));
    }
    if texts(content).any(|text| !text.is_empty()) {
        items.push(whole(content, out.item(Role::Assistant, Kind::Text)));
    }
    for call in calls {
        let Function {
            name, arguments, ..
        } = &call.function;
        items.push(tools.written_call(call.id.get(), name.get(), arguments.or_empty(), out));
    }
    items
}
