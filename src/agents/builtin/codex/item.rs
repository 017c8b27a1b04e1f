//! Pieces of history as the items that the model gets.

use super::wire::{ContentPart, Item, string_or_json};
use super::{fragment, own};
use decode::image;
use decode::lenient::{self, Raw, Text, full_length, record, tool_count};
use json::each_element;
use model::event::cut::beginning;
use model::event::{ELIDED, EventSink, ItemBuilder, NewItem, Part, split_elided};
use model::{Kind, Role};

record! {
    /// The tools of a server.
    struct Namespace<'a> {
        name: Text<'a>,
        description: Text<'a>,
        tools: Vec<Raw<'a>>,
    }

    struct NamedTool<'a> {
        name: Text<'a>,
    }
}

/// The most bytes of a tool's output that the model usually gets: the log keeps all of it, the middle of
/// what is longer was cut. Measured: in bytes, not tokens.
pub(super) const OUTPUT_BYTES: u64 = 48_000;

/// A piece of history, by its part of the exchange and its items. It is input if the user wrote something in it.
pub(super) type Piece = (Part, Vec<NewItem>);

/// The context in which an item is decoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemContext<'s> {
    /// The tool whose output it is.
    pub tool: Option<&'s str>,
    /// A summary that may be among the user messages, word for word.
    pub summary: &'s str,
    /// True if a message of another agent would be the one that starts the turn.
    pub opens: bool,
    /// The most bytes of a tool's output that the model gets.
    pub budget: u64,
    /// The model; empty: not known.
    pub model: &'s str,
}

/// Turns a piece of history into items. `None`: not sent to the model, or of an unknown type.
pub(super) fn piece(
    item: &Item<'_>,
    context: ItemContext<'_>,
    out: &mut EventSink<'_>,
) -> Option<Piece> {
    let (part, mut items) = content(item, context, out)?;
    if let (Some(counted), [first, rest @ ..]) = (own::bytes(item, context.budget), &mut *items)
        && (rest.is_empty() || first.kind == Kind::ToolList)
    {
        first.size.own_bytes = Some(u32::try_from(counted).unwrap_or(u32::MAX));
        rest.iter_mut()
            .for_each(|item| item.size.own_bytes = Some(0));
    }
    Some((part, items))
}

fn content(item: &Item<'_>, context: ItemContext<'_>, out: &mut EventSink<'_>) -> Option<Piece> {
    let call = item.call_id.get();
    Some(match item.kind.or_empty() {
        "message" => return message(item, context, out),
        "reasoning" => (Part::Output, vec![reasoning(item, out)]),
        "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call"
        | "web_search_call" => {
            let arguments = item.arguments.or(item.input).or(item.action);
            let name = tool_name(item);
            let call = out.tool_call(name.as_deref(), call);
            let call = call.text(&string_or_json(arguments));
            (Part::Output, vec![call.done()])
        }
        "image_generation_call" => {
            let call = out
                .tool_call(tool_name(item).as_deref(), call.or(item.id.get()))
                .text(item.revised_prompt.or_empty());
            let call = match item.result.get() {
                Some(base64) => {
                    let formula = image::openai_formula(context.model, "");
                    call.fixed(image_tokens(base64, formula), "[image]")
                }
                None => call,
            };
            (Part::Output, vec![call.done()])
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            let tool = context.tool.or(item.name.get());
            let result = out.tool_result(tool, call);
            let result = output(item, result, context);
            (Part::Result, vec![result.done()])
        }
        "tool_search_output" | "additional_tools" => {
            (Part::Result, tool_list(item, context.tool, out))
        }
        _ if item.is_summary() => {
            let summary = out
                .item(Role::Container, Kind::Summary)
                .opaque(full_length(item.encrypted_content.or_empty()))
                .label("[encrypted summary]");
            (Part::Injected, vec![summary.done()])
        }
        "agent_message" | "inter_agent_communication" => between_agents(item, context, out),
        _ => return None,
    })
}

/// Returns the definitions of tools: those of a server each by itself, all others together.
fn tool_list(item: &Item<'_>, tool: Option<&str>, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let (mut of_servers, mut others) = (Vec::new(), Vec::new());
    let list = item.tools.map_or("", Raw::get);
    let read = each_element(list, &mut |element| {
        let space: Namespace<'_> = lenient::value(Some(element), "tools", out);
        match space.name.get().filter(|name| name.starts_with(MCP)) {
            Some(_) if !space.tools.is_empty() => of_servers.push(space),
            _ => others.push(element.get()),
        }
    });
    let call = item.call_id.get();
    let of_others = |text: &str, tools: usize, out: &mut EventSink<'_>| {
        let list = out.item(Role::Container, Kind::ToolList).tool(tool);
        list.call(call).tools(tools).text(text).done()
    };
    if read.is_err() || of_servers.is_empty() {
        let text = string_or_json(item.tools);
        return vec![of_others(&text, tool_count(list), out)];
    }
    let mut items = Vec::new();
    if !others.is_empty() {
        items.push(of_others(&others.join(","), others.len(), out));
    }
    for space in &of_servers {
        let mut about = space.description.or_empty();
        for definition in &space.tools {
            let tool: NamedTool<'_> = lenient::value(Some(*definition), "tools", out);
            let name = name_in(space.name.or_empty(), tool.name.or_empty());
            let item = out.item(Role::Container, Kind::ToolList).tool(Some(&name));
            let item = item.call(call).tools(1).text(std::mem::take(&mut about));
            items.push(lenient::raw(item, *definition).done());
        }
    }
    items
}

/// The beginning of the namespace of a server's tools.
const MCP: &str = "mcp__";

/// Returns a tool's name with its namespace.
fn name_in(space: &str, name: &str) -> String {
    match space {
        "" => name.to_owned(),
        _ if space.ends_with("__") => format!("{space}{name}"),
        _ if space.starts_with(MCP) => format!("{space}__{name}"),
        _ => format!("{space}.{name}"),
    }
}

fn message(item: &Item<'_>, context: ItemContext<'_>, out: &mut EventSink<'_>) -> Option<Piece> {
    let parts = &item.content.0;
    Some(match item.role.or_empty() {
        "assistant" => {
            let answer = out.item(Role::Assistant, Kind::Text);
            let answer = add_all(answer, parts, context.model);
            (Part::Output, vec![answer.done()])
        }
        "developer" | "system" => {
            let items = parts.iter().enumerate().map(|(nth, part)| {
                let kind = fragment::of_developer(part.text.or_empty(), item.part_kind(nth));
                add(out.item(Role::Container, kind), part, context.model).done()
            });
            (Part::Injected, items.collect())
        }
        "user" => user_message(item, context, out),
        _ => return None,
    })
}

/// Adds a user message. It may contain texts that the harness put in, each of which is an item; what the user wrote is
/// one item, with the images.
fn user_message(item: &Item<'_>, context: ItemContext<'_>, out: &mut EventSink<'_>) -> Piece {
    let mut items = Vec::new();
    let mut typed = Vec::new();
    for (nth, part) in item.content.0.iter().enumerate() {
        let text = part.text.or_empty();
        let summary = !text.is_empty() && text == context.summary || fragment::is_summary(text);
        let kind = if summary {
            Some(Kind::Summary)
        } else {
            fragment::of_user(text, item.part_kind(nth))
        };
        match kind {
            Some(kind) => {
                items.push(add(out.item(Role::Container, kind), part, context.model).done())
            }
            None if part.has_content() => typed.push(part),
            None => {}
        }
    }
    if typed.is_empty() {
        return (Part::Injected, items);
    }
    let message = out.item(Role::User, Kind::Text);
    let message = if typed.iter().any(|part| part.is_image()) {
        message.own_bytes(own::sum(typed.iter().copied()))
    } else {
        message
    };
    items.push(add_all(message, typed, context.model).done());
    (Part::Input, items)
}

/// Reasoning goes back encrypted, or as plain text with models that show it. The summary is for
/// people alone.
fn reasoning(item: &Item<'_>, out: &mut EventSink<'_>) -> NewItem {
    let thinking = out
        .item(Role::Assistant, Kind::Thinking)
        .opaque(full_length(item.encrypted_content.or_empty()));
    let thinking = add_all(thinking, &item.content.0, "");
    match item.summary.0.first() {
        Some(first) => thinking.label(split_elided(first.text.or_empty()).0).done(),
        None => thinking.done(),
    }
}

/// Adds a message of another agent: the task of a sub-agent's turn, or a result that comes back.
fn between_agents(item: &Item<'_>, context: ItemContext<'_>, out: &mut EventSink<'_>) -> Piece {
    let (part, message) = if context.opens {
        (Part::Input, out.item(Role::User, Kind::Text))
    } else {
        (Part::Result, out.tool_result(Some("agent_message"), None))
    };
    let message = add_all(message, &item.content.0, context.model)
        .opaque(full_length(item.encrypted_content.or_empty()))
        .label(item.author.or_empty());
    (part, vec![message.done()])
}

/// Returns the name of a call's tool, with its server's.
pub(super) fn tool_name(item: &Item<'_>) -> Option<String> {
    let name = match (item.kind.or_empty(), item.name.get()) {
        (_, Some(name)) => name,
        ("local_shell_call", None) => "local_shell",
        ("tool_search_call", None) => "tool_search",
        ("web_search_call", None) => "web_search",
        ("image_generation_call", None) => "image_generation",
        _ => return None,
    };
    Some(name_in(item.namespace.or_empty(), name))
}

type Builder<'s, 'm> = ItemBuilder<'s, 'm>;

fn add_all<'p, 's, 'm>(
    item: Builder<'s, 'm>,
    parts: impl IntoIterator<Item = &'p ContentPart<'p>>,
    model: &str,
) -> Builder<'s, 'm> {
    let parts = parts.into_iter();
    parts.fold(item, |item, part| add(item, part, model))
}

fn add<'s, 'm>(item: Builder<'s, 'm>, part: &ContentPart<'_>, model: &str) -> Builder<'s, 'm> {
    match part.text.get() {
        Some(text) => item.text(text),
        None => add_other(item, part, model),
    }
}

/// Adds a part that is not text: an image, or what is encrypted. Sound is not counted.
fn add_other<'s, 'm>(
    item: Builder<'s, 'm>,
    part: &ContentPart<'_>,
    model: &str,
) -> Builder<'s, 'm> {
    match (part.image_url.get(), part.encrypted_content.get()) {
        (Some(url), _) => {
            let formula = image::openai_formula(model, part.detail.or_empty());
            item.fixed(image_tokens(url, formula), "[image]")
        }
        (None, _) if part.is_image_file() => item.fixed(image::DEFAULT, "[image]"),
        (None, Some(_)) => item.opaque(full_length(part.encrypted_content.or_empty())),
        (None, None) => item,
    }
}

/// Returns the tokens of an image, given as a data URL, as bare base64, or by an address.
fn image_tokens(url: &str, formula: image::Formula) -> u64 {
    let base64 = match url.split_once(";base64,") {
        Some((_, base64)) => base64,
        None => url,
    };
    image::tokens(base64, formula, image::DEFAULT)
}

/// Adds a tool's output as the model gets it: its texts share one budget.
fn output<'s, 'm>(
    item: &Item<'_>,
    result: Builder<'s, 'm>,
    context: ItemContext<'_>,
) -> Builder<'s, 'm> {
    let parts = &item.output.0;
    let first = parts.first().and_then(|part| part.text.get());
    let result = match first.and_then(exit_code) {
        None | Some(0) => result,
        Some(_) => result.failed(),
    };
    let mut left = usize::try_from(context.budget).unwrap_or(usize::MAX);
    parts.iter().fold(result, |result, part| {
        match part.text.get().or(part.content.get()) {
            Some(text) => add_clamped(result, text, &mut left),
            None => add_other(result, part, context.model),
        }
    })
}

/// Returns the exit code that the output of a command begins with, or that a log of before 2026 has in its JSON.
fn exit_code(output: &str) -> Option<i64> {
    const SIGNS: [&str; 3] = ["Exit code: ", "Process exited with code ", "\"exit_code\":"];
    let head = beginning(output, LONGEST_HEAD);
    let tail = &output[boundary_after(output, output.len().saturating_sub(LONGEST_HEAD))..];
    let [exit, process, json] = SIGNS;
    let found = [(head, exit), (head, process), (tail, json)].into_iter();
    let code = found.filter_map(|(text, sign)| text.split_once(sign));
    let digits = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '-');
        text[..end.unwrap_or(text.len())].parse().ok()
    };
    code.map(|(_, rest)| rest.trim_start()).find_map(digits)
}

/// The exit code is in the first lines of an output, or at the end of its JSON: within so many bytes.
const LONGEST_HEAD: usize = 300;

/// Adds a text with its middle cut out where it is longer than what is left of the budget.
fn add_clamped<'s, 'm>(item: Builder<'s, 'm>, text: &str, left: &mut usize) -> Builder<'s, 'm> {
    let (shown, cut) = split_elided(text);
    let bytes = cut.saturating_add(shown.len() as u64);
    let budget = *left;
    *left = left.saturating_sub(usize::try_from(bytes).unwrap_or(usize::MAX));
    if bytes <= budget as u64 {
        return item.text(text);
    }
    let item = item.cut(bytes - budget as u64);
    let head = beginning(shown, budget / 2);
    if cut > 0 {
        // The end is not there to be read, but its length is known.
        let rest = budget - head.len();
        return item.text(&format!("{head}{ELIDED}{rest}{ELIDED}"));
    }
    let tail = &shown[boundary_after(shown, shown.len() - budget / 2)..];
    item.text(&format!("{head}{tail}"))
}

fn boundary_after(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}
