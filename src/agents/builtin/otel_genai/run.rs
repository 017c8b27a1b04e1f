//! LangSmith's runs, as its clients and its command line export them: one a line, with the runs below it
//! inside or in lines of their own.
//!
//! Reads runs as langchain-ai/langsmith-sdk (`schemas.py`) and langchain-ai/langchain (`tracers`, `messages/ai.py`)
//! document them:
//!
//! * A run of the type `llm` is a call of a model. Those of chains and graphs sum up the calls below them.
//! * `inputs` and `outputs` are as the library had them: LangChain's messages by class, or the bodies of a
//!   provider. Tools are in `extra.invocation_params`.
//! * LangChain's `usage_metadata` includes in `input_tokens` what was read from and written to a cache. The
//!   run's own `prompt_tokens` are the same number.
//! * `session_id` is the project; a conversation goes by `thread_id` or the like in `extra.metadata`.
//! * Times have no zone: they are UTC.

use super::call::{Call, Record};
use super::content;
use super::tools::tool_list;
use decode::bodies::{Numbers, first, object_if, string};
use decode::lenient::{LostFields, Raw, Text, model_name, record};
use decode::time::time_or_civil;
use model::Kind;
use model::event::Key;
use std::borrow::Cow;

/// Runs inside of runs are read to this depth.
const MOST_DEPTH: usize = 32;

/// Returns true if a line is a run.
pub(super) fn is_run(line: Raw<'_>) -> bool {
    let run: RunIdentity<'_> = object_if(Some(line), LostFields::default().at(""));
    let has_id = || run.trace.0.is_some() || run.id.0.is_some();
    run.order.0.is_some() || run.kind.0.is_some() && has_id()
}

/// Returns true if a line that begins so is a run.
pub(super) fn is_like_a_run(line: &[u8]) -> bool {
    use formats::head::has;
    let marks = [r#""trace_id""#, r#""dotted_order""#, r#""parent_run_id""#];
    line.starts_with(b"{") && has(line, r#""run_type""#) && marks.iter().any(|mark| has(line, mark))
}

record! {
    /// The fields by which a run is recognised.
    struct RunIdentity<'a> {
        id: Text<'a>,
        trace: Text<'a> = "trace_id",
        kind: Text<'a> = "run_type",
        order: Text<'a> = "dotted_order",
    }

    struct Run<'a> {
        id: Text<'a>,
        trace: Text<'a> = "trace_id",
        kind: Text<'a> = "run_type",
        begun: Text<'a> = "start_time",
        ended: Text<'a> = "end_time",
        inputs: Option<Raw<'a>>,
        outputs: Option<Raw<'a>>,
        extra: Extra<'a>,
        below: Vec<Raw<'a>> = "child_runs",
    }

    struct Extra<'a> {
        metadata: Metadata<'a>,
        parameters: Parameters<'a> = "invocation_params",
    }

    struct Metadata<'a> {
        thread: Text<'a> = "thread_id",
        session: Text<'a> = "session_id",
        conversation: Text<'a> = "conversation_id",
        model: Text<'a> = "ls_model_name",
    }

    struct Parameters<'a> {
        model: Text<'a> = "model" | "model_name",
        tools: Option<Raw<'a>> = "tools" | "functions",
    }

    /// The outputs of a run: a response's body, or an answer of LangChain's with its account of the response.
    struct Outputs<'a> {
        generations: Option<Raw<'a>>,
        model: Text<'a>,
        usage: Option<Raw<'a>>,
        account: Account<'a> = "llm_output",
    }

    struct Account<'a> {
        model: Text<'a> = "model_name",
        usage: Option<Raw<'a>> = "token_usage",
    }

    /// An answer, or an object around it.
    struct Answer<'a> {
        inner: Option<Raw<'a>> = "message" | "kwargs" | "data",
        id: Option<Raw<'a>>,
        metadata: Response<'a> = "response_metadata",
        usage: Option<Raw<'a>> = "usage_metadata",
    }

    struct Response<'a> {
        model: Text<'a> = "model" | "model_name",
    }
}

/// Returns a run and those inside of it, in their order.
pub(super) fn records(run: Raw<'_>, lost: &LostFields) -> Vec<Record> {
    let mut found = Vec::new();
    collect(run, MOST_DEPTH, lost, &mut found);
    found
}

fn collect(raw: Raw<'_>, depth: usize, lost: &LostFields, found: &mut Vec<Record>) {
    let run: Run<'_> = object_if(Some(raw), lost.at("child_runs"));
    found.push(match run.kind.get() {
        Some("llm") => Record::Call(Box::new(call(raw, &run, lost))),
        other => Record::Other(other.unwrap_or("run").to_owned()),
    });
    if let Some(depth) = depth.checked_sub(1) {
        let below = run.below.into_iter();
        for run in below.filter(|run| run.get().starts_with('{')) {
            collect(run, depth, lost, found);
        }
    }
}

fn call(raw: Raw<'_>, run: &Run<'_>, lost: &LostFields) -> Call {
    let inputs = side(run.inputs, "inputs", lost);
    let outputs = side(run.outputs, "outputs", lost);
    let outputs = Raw::of(&outputs);
    let fields: Outputs<'_> = object_if(outputs, lost.at("outputs"));
    let answer = answer(fields.generations.and_then(first).or(outputs), lost);
    let owned = |names: &[&Text<'_>]| names.iter().find_map(|name| name.boxed()).map(String::from);
    let about = &run.extra.metadata;
    let parameters = &run.extra.parameters;
    let (model, account) = (&answer.metadata.model, &fields.account);
    let model = owned(&[
        model,
        &account.model,
        &fields.model,
        &about.model,
        &parameters.model,
    ]);
    let begun = run.begun.get().and_then(time_or_civil);
    let usage = [answer.usage, account.usage, fields.usage, Some(raw)];
    let usage = usage.into_iter().flatten();
    let mut usage = usage.map(|usage| Numbers::read(usage, lost.at("usage")));
    let usage = usage.find(|numbers| numbers.is_unreadable || numbers.input() > Some(0));
    let mut call = Call {
        key: run.id.get().map(|id| Key::of_parts(&["langsmith", id])),
        conversation: owned(&[&about.thread, &about.session, &about.conversation]),
        trace: owned(&[&run.trace, &run.id]),
        model: model.map(|model| model_name(&model).to_owned()),
        begun,
        at: run.ended.get().and_then(time_or_civil).or(begun),
        numbers: usage.filter(is_usable).unwrap_or_default(),
        ..Call::default()
    };
    content::of_request(&inputs, lost, &mut call.input);
    let has_tools = call.input.iter().any(|block| block.kind == Kind::ToolList);
    if let Some(tools) = parameters.tools.filter(|_| !has_tools) {
        call.input.splice(0..0, tool_list(tools));
    }
    content::of_reply(outputs.map_or("null", Raw::get), lost, &mut call.output);
    content::pair(&mut call.input);
    call
}

/// Returns the inputs or outputs of a run: an object, perhaps in a string.
fn side<'a>(raw: Option<Raw<'a>>, name: &'static str, lost: &LostFields) -> Cow<'a, str> {
    let json = raw.map_or("null".into(), |raw| string(raw).unwrap_or(raw.get().into()));
    if !json.starts_with('{') && json != "null" {
        lost.note(name);
    }
    json
}

/// Returns the fields of the message that was answered, whatever is around them.
fn answer<'a>(raw: Option<Raw<'a>>, lost: &LostFields) -> Answer<'a> {
    let mut answer: Answer<'_> = object_if(raw, lost.at("message"));
    for _ in 0..MOST_DEPTH {
        match answer.inner.filter(|inner| inner.get().starts_with('{')) {
            Some(inner) => answer = object_if(Some(inner), lost.at("message")),
            None => break,
        }
    }
    answer
}

/// Returns the call that a message of LangChain's answers, by its own account.
pub(super) fn answered(message: Raw<'_>, lost: &LostFields) -> Call {
    let answer = answer(Some(message), lost);
    let numbers = answer
        .usage
        .map(|usage| Numbers::read(usage, lost.at("usage")));
    let id = answer.id.and_then(string);
    Call {
        key: id.map(|id| Key::of_parts(&["langchain", &id])),
        model: answer
            .metadata
            .model
            .get()
            .map(|model| model_name(model).to_owned()),
        numbers: numbers.filter(is_usable).unwrap_or_default(),
        ..Call::default()
    }
}

/// Returns true if all of a report can be read. One that cannot be read was noted.
fn is_usable(numbers: &Numbers) -> bool {
    !numbers.is_unreadable
}
