//! The rows of 2.x: `session_message`, one row a message, with everything in it.
//!
//! After `packages/core/src/session` of its sources (`message.ts`, `runner/to-llm-message.ts`, `compaction.ts`) and
//! public readers of its databases; no database of it was at hand. `output` of an answer is without its reasoning. A
//! completed compaction takes the place of all that came before, of which it repeats the newest part as text.

use super::OPENCODE;
use super::media::{add_file, is_sent_as_text, picture_formula};
use super::message::History;
use super::wire::{Model, Times, Tokens};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use decode::image::Formula;
use decode::lenient::{self, Dollars, Pieces, Raw, Text, record};
use model::event::{
    BilledUsage, Cause, EventSink, Key, Meta, NewItem, Node, Part, Reset, RetainedItems, Usage,
};
use model::{Kind, Role};

record! {
    /// A row's message.
    struct Data<'a> {
        text: Text<'a>,
        name: Text<'a>,
        files: Vec<File<'a>>,
        skills: Vec<Skill<'a>>,
        model: Model<'a>,
        content: Vec<Content<'a>>,
        tokens: Option<Tokens>,
        cost: Dollars,
        command: Text<'a>,
        output: Pieces<Shell<'a>>,
        status: Text<'a>,
        summary: Text<'a>,
        recent: Text<'a>,
        reason: Text<'a>,
        time: Times,
    }

    struct File<'a> {
        mime: Text<'a>,
        name: Text<'a>,
        data: Text<'a>,
    }

    struct Skill<'a> {
        name: Text<'a>,
        text: Text<'a>,
    }

    struct Shell<'a> {
        output: Text<'a> = "output" | "text",
    }

    struct Content<'a> {
        kind: Text<'a> = "type",
        id: Text<'a>,
        name: Text<'a>,
        text: Text<'a>,
        state: Option<Raw<'a>>,
    }

    /// The state of a tool's call.
    struct Call<'a> {
        status: Text<'a>,
        input: Option<Raw<'a>>,
        content: Pieces<Result<'a>>,
        structured: Option<Raw<'a>>,
        error: Option<Raw<'a>>,
    }

    struct Result<'a> {
        kind: Text<'a> = "type",
        text: Text<'a>,
        mime: Text<'a>,
        uri: Text<'a>,
    }
}

/// Takes in a row of this type.
pub(super) fn row(
    id: &str,
    kind: &str,
    data: Raw<'_>,
    history: &mut History,
    known: &mut Meta,
    out: &mut EventSink<'_>,
) {
    let data = &lenient::value::<Data<'_>>(Some(data), "data", out);
    let key = Key::of(id);
    let is_hidden = history.hides_message(key);
    out.set_time(data.time.begun());
    let is_copy = history.is_copy(&data.time);
    if !is_copy {
        out.own_cost(Some(history.request(id, 0)), data.cost.0);
    }
    let model = data.model.id.boxed();
    if matches!(kind, "assistant" | "model-switched") {
        let meta = Meta::of_model_at(model.clone(), data.model.provider.boxed());
        out.meta(meta.changes(known));
    }
    if is_hidden {
        out.skip("hidden message");
        // The cost of its request counts all the same.
        let billed = data.tokens.map(billed).filter(|_| !is_copy);
        if let Some(billed) = billed.filter(|b| b.prompt() > 0) {
            out.billed(history.request(id, 0), billed);
        }
        return;
    }
    let formula = picture_formula(known.model.as_deref());
    let (part, items) = match kind {
        "user" => (Part::Input, user(data, formula, out)),
        "assistant" => {
            let request = history.request(id, 0);
            let mut usage = reported(request, data, model);
            if let Some(usage) = usage.as_mut().filter(|_| is_copy) {
                (usage.billed, usage.is_inherited) = (BilledUsage::default(), true);
            }
            return answer(id, usage, data, formula, out);
        }
        "compaction" => return compaction(id, data, out),
        "synthetic" | "system" => (Part::Injected, one(Kind::Reminder, &data.text, out)),
        "skill" => (Part::Injected, one(Kind::Skill, &data.text, out)),
        "shell" => {
            let item = out.item(Role::Container, Kind::Reminder);
            let item = item.text("Shell command:").text(data.command.or_empty());
            let output = data.output.0.first();
            let output = output.map_or("", |shell| shell.output.or_empty());
            (Part::Injected, vec![item.text(output).done()])
        }
        other => return OPENCODE.pass_over(other, out),
    };
    out.node(Node::new(Some(key), part, items));
}

fn one(kind: Kind, text: &Text<'_>, out: &mut EventSink<'_>) -> Vec<NewItem> {
    vec![out.text(Role::Container, kind, text.or_empty())]
}

fn user(data: &Data<'_>, formula: Formula, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let mut items = vec![out.text(Role::User, Kind::Text, data.text.or_empty())];
    for skill in &data.skills {
        if let Some(text) = skill.text.get() {
            let item = out.item(Role::Container, Kind::Skill);
            items.push(item.tool(skill.name.get()).text(text).done());
        }
    }
    for file in &data.files {
        let (mime, base64) = (file.mime.or_empty(), file.data.or_empty());
        let item = if is_sent_as_text(mime) {
            let bytes = STANDARD.decode(base64).unwrap_or_default();
            let item = out.item(Role::Container, Kind::Reminder);
            let item = item.text("Attached file:").text(file.name.or_empty());
            item.text(&String::from_utf8_lossy(&bytes))
        } else {
            add_file(out.item(Role::User, Kind::Text), mime, base64, formula)
        };
        items.push(item.done());
    }
    items
}

/// Returns the usage of an answer, if it has numbers.
fn reported(request: Key, data: &Data<'_>, model: Option<Box<str>>) -> Option<Usage> {
    let billed = data.tokens.map(billed).filter(|b| b.prompt() > 0)?;
    Some(Usage {
        model,
        output: Some(billed.output),
        reasoning: Some(billed.reasoning).filter(|reasoning| *reasoning > 0),
        ..Usage::billed(request, billed.prompt(), billed)
    })
}

fn answer(
    id: &str,
    usage: Option<Usage>,
    data: &Data<'_>,
    formula: Formula,
    out: &mut EventSink<'_>,
) {
    let mut items = Vec::new();
    let mut calls = Vec::new();
    for content in &data.content {
        let text = content.text.or_empty();
        match content.kind.or_empty() {
            "text" => items.push(out.text(Role::Assistant, Kind::Text, text)),
            "reasoning" => items.push(out.text(Role::Assistant, Kind::Thinking, text)),
            "tool" => {
                let call: Call<'_> = lenient::value(content.state, "state", out);
                let (name, id) = (content.name.get(), content.id.get());
                items.push(lenient::call(name, id, call.input, out));
                calls.push((content, call));
            }
            other => OPENCODE.pass_over(other, out),
        }
    }
    let request = usage.as_ref().map(|usage| usage.request);
    out.node(Node::output(Some(Key::of(id)), request, items));
    out.usage(usage);
    for (content, call) in calls {
        if let Some(item) = result(content, &call, formula, out) {
            out.node(Node::new(None, Part::Result, vec![item]));
        }
    }
}

/// Returns the result of a tool; `None`: it still runs.
fn result(
    content: &Content<'_>,
    call: &Call<'_>,
    formula: Formula,
    out: &mut EventSink<'_>,
) -> Option<NewItem> {
    let is_error = match call.status.or_empty() {
        "completed" => false,
        "error" => true,
        _ => return None,
    };
    let item = out.tool_result(content.name.get(), content.id.get());
    let whole = if is_error {
        call.error
    } else {
        call.structured.filter(|_| call.content.0.is_empty())
    };
    let item = lenient::raw(item, whole);
    let pieces = call.content.0.iter();
    let item = pieces.fold(item, |item, part| match part.kind.or_empty() {
        "text" | "" => item.text(part.text.or_empty()),
        _ => add_file(item, part.mime.or_empty(), part.uri.or_empty(), formula),
    });
    Some(item.done())
}

fn compaction(id: &str, data: &Data<'_>, out: &mut EventSink<'_>) {
    // Before it had a status, it was written when it was complete.
    if !matches!(data.status.get(), None | Some("completed")) {
        return out.skip("compaction that came to nothing");
    }
    let cause = Cause::named(data.reason.or_empty());
    out.reset(Reset {
        key: Some(Key::of_parts(&["reset", id])),
        ..Reset::compaction(cause, RetainedItems::Nothing)
    });
    let texts = [
        (Kind::Summary, &data.summary),
        (Kind::Reminder, &data.recent),
    ];
    let texts = texts
        .into_iter()
        .filter(|(_, text)| !text.or_empty().is_empty());
    let items = texts
        .map(|(kind, text)| out.text(Role::Container, kind, text.or_empty()))
        .collect();
    out.node(Node::new(Some(Key::of(id)), Part::Injected, items));
}

/// Returns the numbers of an answer, its reasoning in the output.
fn billed(tokens: Tokens) -> BilledUsage {
    let billed = tokens.billed();
    BilledUsage {
        output: billed.output.saturating_add(billed.reasoning),
        ..billed
    }
}
