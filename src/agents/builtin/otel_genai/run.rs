//! LangSmith's runs, as its clients and its command line export them: one a line, with the runs below it
//! inside or in lines of their own.
//!
//! What langchain-ai/langsmith-sdk (`schemas.py`) and langchain-ai/langchain (`tracers`, `messages/ai.py`)
//! document:
//!
//! * A run of the type `llm` is a call of a model. Those of chains and graphs sum up the calls below them.
//! * `inputs` and `outputs` are as the library had them: LangChain's messages by class, or the bodies of a
//!   provider. Tools are in `extra.invocation_params`.
//! * LangChain's `usage_metadata` includes in `input_tokens` what was read from and written to a cache. The
//!   run's own `prompt_tokens` are the same number.
//! * `session_id` is the project; a conversation goes by `thread_id` or the like in `extra.metadata`.
//! * Times have no zone: they are UTC.

use super::body;
use super::content;
use super::shape;
use super::span::{Call, Record, number};
use jiff::Timestamp;
use kit::lenient::{Lost, model_name};
use model::event::Key;
use serde_json::Value;

/// Runs inside of runs are read to this depth.
const DEPTH: usize = 32;

/// Whether a line is a run.
pub(super) fn is_run(line: &Value) -> bool {
    let is_text = |name| line.get(name).is_some_and(Value::is_string);
    is_text("dotted_order") || is_text("run_type") && (is_text("trace_id") || is_text("id"))
}

/// Whether a line that begins so is one.
pub(super) fn is_like_a_run(line: &[u8]) -> bool {
    use format::head::has;
    let marks = [r#""trace_id""#, r#""dotted_order""#, r#""parent_run_id""#];
    line.starts_with(b"{") && has(line, r#""run_type""#) && marks.iter().any(|mark| has(line, mark))
}

/// A run and those inside of it, in their order.
pub(super) fn records(run: &Value, lost: &Lost) -> Vec<Record> {
    shape::check(run, lost);
    let mut found = Vec::new();
    collect(run, DEPTH, lost, &mut found);
    found
}

fn collect(run: &Value, depth: usize, lost: &Lost, found: &mut Vec<Record>) {
    let kind = run.get("run_type").and_then(Value::as_str);
    found.push(match kind {
        Some("llm") => Record::Call(Box::new(call(run, lost))),
        other => Record::Other(other.unwrap_or("run").to_owned()),
    });
    let below = run.get("child_runs").and_then(Value::as_array);
    if let (Some(below), Some(depth)) = (below, depth.checked_sub(1)) {
        for run in below.iter().filter(|run| run.is_object()) {
            collect(run, depth, lost, found);
        }
    }
}

fn call(run: &Value, lost: &Lost) -> Call {
    let text = |path: &str| run.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let first_text = |paths: &[&str]| paths.iter().find_map(|path| text(path));
    let side = |name: &'static str| {
        let side = content::parsed(run.get(name).unwrap_or(&Value::Null));
        if !(side.is_object() || side.is_null()) {
            lost.note(name);
        }
        side
    };
    let (inputs, outputs) = (side("inputs"), side("outputs"));
    let answer = answer(&outputs);
    let model_of = |of: &Value, path: &str| of.pointer(path)?.as_str().map(str::to_owned);
    let model = model_of(answer, "/response_metadata/model_name")
        .or_else(|| model_of(answer, "/response_metadata/model"))
        .or_else(|| model_of(&outputs, "/llm_output/model_name"))
        .or_else(|| model_of(&outputs, "/model"));
    let model = model.or_else(|| {
        first_text(&[
            "/extra/metadata/ls_model_name",
            "/extra/invocation_params/model",
            "/extra/invocation_params/model_name",
        ])
    });
    let trace = first_text(&["/trace_id", "/id"]);
    let begun = text("/start_time").as_deref().and_then(time);
    let mut call = Call {
        key: text("/id").map(|id| Key::of_parts(&["langsmith", &id])),
        conversation: first_text(&[
            "/extra/metadata/thread_id",
            "/extra/metadata/session_id",
            "/extra/metadata/conversation_id",
        ]),
        trace,
        model: model.map(|model| model_name(&model).to_owned()),
        begun,
        at: text("/end_time").as_deref().and_then(time).or(begun),
        ..usage(run, &outputs, answer)
    };
    let parameters = run.pointer("/extra/invocation_params");
    let parameters = parameters.unwrap_or(&Value::Null);
    let tools = ["tools", "functions"];
    let tools = tools.iter().find_map(|name| parameters.get(name));
    if inputs.get("tools").is_none() {
        call.input.extend(tools.and_then(body::tool_list));
    }
    body::of_request(&inputs, &mut call.input);
    body::of_reply(&outputs, &mut call.output);
    content::pair(&mut call.input);
    call
}

/// The fields of the message that was answered.
fn answer(outputs: &Value) -> &Value {
    let message = outputs.pointer("/generations/0/0/message");
    let message = message.or_else(|| outputs.pointer("/generations/0/message"));
    let message = message.unwrap_or(outputs);
    let fields = message.get("kwargs").or_else(|| message.get("data"));
    fields.unwrap_or(message)
}

/// A call with its numbers: the message's own, else the library's, else the run's.
fn usage(run: &Value, outputs: &Value, answer: &Value) -> Call {
    let all = [
        answer.get("usage_metadata"),
        outputs.get("usage_metadata"),
        outputs.pointer("/llm_output/token_usage"),
        outputs.get("usage"),
        Some(run),
    ];
    let has_input = |usage: &&Value| input_of(usage).is_some() || is_unreadable(usage);
    let usage = all.into_iter().flatten().find(has_input);
    usage.map_or_else(Call::default, numbers)
}

fn input_of(usage: &Value) -> Option<u64> {
    let names = ["input_tokens", "prompt_tokens"];
    names
        .iter()
        .find_map(|name| number(usage.get(name)?))
        .filter(|input| *input > 0)
}

/// Where the numbers of a usage are.
const NUMBERS: [&str; 12] = [
    "/input_tokens",
    "/prompt_tokens",
    "/output_tokens",
    "/completion_tokens",
    "/input_token_details/cache_read",
    "/input_token_details/cache_creation",
    "/prompt_token_details/cache_read",
    "/prompt_token_details/cache_creation",
    "/prompt_tokens_details/cached_tokens",
    "/output_token_details/reasoning",
    "/completion_token_details/reasoning",
    "/completion_tokens_details/reasoning_tokens",
];

/// Whether a number of a usage is there and cannot be read.
fn is_unreadable(usage: &Value) -> bool {
    let mut numbers = NUMBERS.iter().filter_map(|path| usage.pointer(path));
    numbers.any(|value| !value.is_null() && number(value).is_none())
}

/// The numbers of LangChain's `usage_metadata` or of Chat Completions' `usage`.
pub(super) fn numbers(usage: &Value) -> Call {
    let count = |paths: &[&str]| {
        let mut found = paths.iter().filter_map(|path| usage.pointer(path));
        found.find_map(number)
    };
    let cached = ["/input_token_details", "/prompt_token_details"].map(|of| {
        let one = |name: &str| count(&[&format!("{of}/{name}")]).unwrap_or(0);
        (one("cache_read"), one("cache_creation"))
    });
    let [of_message, of_run] = cached;
    let (mut read, creation) = (of_message.0.max(of_run.0), of_message.1.max(of_run.1));
    read = read.max(count(&["/prompt_tokens_details/cached_tokens"]).unwrap_or(0));
    Call {
        prompt: input_of(usage),
        answered: count(&["/output_tokens", "/completion_tokens"]),
        reasoning: count(&[
            "/output_token_details/reasoning",
            "/completion_token_details/reasoning",
            "/completion_tokens_details/reasoning_tokens",
        ]),
        cache_read: read,
        cache_creation: creation,
        is_unreadable: is_unreadable(usage),
        ..Call::default()
    }
}

/// A time, in UTC where it has no zone.
fn time(text: &str) -> Option<Timestamp> {
    let with_zone = text.parse().ok();
    with_zone.or_else(|| {
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        let utc = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(utc.timestamp())
    })
}
