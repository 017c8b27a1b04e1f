//! The JSON that a status line is given.
//!
//! Four agents run a command for their status line and hand it an object of nearly one shape. Which of them it was is read
//! from the fields that only it has. The percentages in it are never used: Claude Code's is a whole number without the
//! output, Copilot's is cumulative, Cursor's is all that it has.

use super::agent::Agent;
use super::client_record::ClientRecord;
use super::fields::{NoInput, id, object, path, read_fields, tokens, window, word};
use jiff::Timestamp;
use model::event::PlanLimit;
use model::window::ClientMiss;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Returns the columns beside a status line that the client takes for itself. Claude Code 2.1.330 passes those of the
/// terminal, indents the line by two, and cuts what comes within two of the end.
pub fn margin(agent: Agent) -> usize {
    match agent {
        Agent::ClaudeCode => 4,
        _ => 0,
    }
}

/// The most causes of a miss that are taken, and the longest, in bytes.
const MOST_CAUSES: usize = 4;
const LONGEST_CAUSE: usize = 64;

/// The size of the context according to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// The provider's numbers for the newest request, in tokens.
    Reported {
        /// All input, cached or not.
        prompt: u64,
        /// The part of it that was read from a cache.
        cached: u64,
        /// The output; `None`: not passed.
        output: Option<u64>,
    },
    /// The client's own estimate, in tokens.
    Estimated(u64),
}

/// The input of a status line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Input {
    /// The agent that it is from; `None`: it is not a known one.
    pub agent: Option<Agent>,
    /// The session's id.
    pub session: Option<String>,
    /// The path of the log.
    pub log: Option<PathBuf>,
    /// The folder in which the session works.
    pub cwd: Option<PathBuf>,
    /// The model's id, as the client writes it.
    pub model: Option<String>,
    /// The agent's version.
    pub version: Option<String>,
    /// The effort with which the model is to think, in the agent's word.
    pub effort: Option<String>,
    /// The window, in tokens.
    pub window: Option<u64>,
    /// The size of the context.
    pub size: Option<Size>,
    /// The time until which the provider keeps the newest prompt in its cache, as the client counts it.
    pub cache_until: Option<Timestamp>,
    /// The newest prompt that was not in the cache.
    pub miss: Option<ClientMiss>,
    /// The limits of the user's plan.
    pub limits: Vec<PlanLimit>,
    /// The columns that the line may take, where the client passes them.
    pub columns: Option<usize>,
}

/// Reads what an agent passes to its status line. Fields of another type, and numbers that cannot be true, are left out.
///
/// # Errors
///
/// If it is no JSON object.
pub fn read(input: &[u8]) -> Result<Input, NoInput> {
    Ok(of(&read_fields(input)?))
}

fn of(fields: &Map<String, Value>) -> Input {
    let context = object(fields, "context_window");
    let agent = agent(fields, context);
    let model = fields.get("model");
    let named = |name: &str| model.and_then(Value::as_object).and_then(|m| word(m, name));
    // Qwen Code has no other name for it.
    let shown = || named("display_name").filter(|_| agent == Some(Agent::QwenCode));
    let model = named("id").or_else(shown);
    let workspace = object(fields, "workspace");
    let cwd = path(fields, "cwd").or_else(|| path(workspace?, "current_dir"));
    Input {
        agent,
        session: id(fields, "session_id"),
        log: path(fields, "transcript_path"),
        cwd,
        model,
        version: word(fields, "version"),
        effort: object(fields, "effort").and_then(|effort| word(effort, "level")),
        window: context.and_then(|context| window_of(context, agent)),
        size: agent.and_then(|agent| size(context?, agent)),
        cache_until: object(fields, "prompt_cache").and_then(|cache| time(cache, "expires_at")),
        miss: object(fields, "prompt_cache").and_then(miss),
        limits: object(fields, "rate_limits").map_or_else(Vec::new, limits),
        columns: fields
            .get("render_width_chars")
            .and_then(|columns| usize::try_from(columns.as_u64()?).ok()),
    }
}

/// Returns what the client says of prompts that were not in the cache; `None`: all were.
fn miss(cache: &Map<String, Value>) -> Option<ClientMiss> {
    let misses = tokens(cache, "misses").filter(|misses| *misses > 0)?;
    let cause = object(cache, "last_miss_cause");
    let causes = cause.and_then(|cause| cause.get("causes")?.as_array());
    let causes = causes.into_iter().flatten().filter_map(Value::as_str);
    let causes = causes.filter(|cause| cause.len() <= LONGEST_CAUSE);
    let changed = |name| cause.and_then(|cause| tokens(cause, name)).unwrap_or(0);
    Some(ClientMiss {
        misses,
        at: time(cache, "last_miss_at"),
        causes: causes.take(MOST_CAUSES).map(str::to_owned).collect(),
        tools_added: changed("tools_added"),
        tools_removed: changed("tools_removed"),
    })
}

/// Returns the limits of the plan.
fn limits(all: &Map<String, Value>) -> Vec<PlanLimit> {
    let limit = |(name, minutes)| {
        let limit = object(all, name)?;
        let percent = limit.get("used_percentage")?.as_f64()?;
        PlanLimit::new(minutes, percent, time(limit, "resets_at"))
    };
    let all = [("five_hour", 300), ("seven_day", 10_080)].into_iter();
    all.filter_map(limit).collect()
}

/// Returns a time in seconds since 1970.
fn time(of: &Map<String, Value>, name: &str) -> Option<Timestamp> {
    Timestamp::from_second(of.get(name)?.as_i64()?).ok()
}

/// Returns the agent that these fields are from.
fn agent(fields: &Map<String, Value>, context: Option<&Map<String, Value>>) -> Option<Agent> {
    let has = |name: &str| context.is_some_and(|context| context.contains_key(name));
    let model = object(fields, "model");
    let model_has = |name: &str| model.is_some_and(|model| model.contains_key(name));
    let cost = object(fields, "cost");
    if has("current_context_tokens")
        || has("displayed_context_limit")
        || fields.contains_key("ai_used")
        || cost.is_some_and(|cost| cost.contains_key("total_premium_requests"))
    {
        return Some(Agent::CopilotCli);
    }
    let usage = context.and_then(|context| context.get("current_usage"));
    if usage.is_some_and(Value::is_number) || fields.contains_key("metrics") {
        return Some(Agent::QwenCode);
    }
    if fields.contains_key("render_width_chars")
        || model_has("param_summary")
        || model_has("max_mode")
    {
        return Some(Agent::Cursor);
    }
    let is_claudes = context.is_some() || fields.contains_key("transcript_path");
    (is_claudes && fields.contains_key("session_id")).then_some(Agent::ClaudeCode)
}

fn window_of(context: &Map<String, Value>, agent: Option<Agent>) -> Option<u64> {
    let names: &[&str] = match agent {
        Some(Agent::CopilotCli) => &["displayed_context_limit", "context_window_size"],
        _ => &["context_window_size"],
    };
    names.iter().find_map(|name| window(context, name))
}

fn size(context: &Map<String, Value>, agent: Agent) -> Option<Size> {
    let reported = |prompt, output| Size::Reported {
        prompt,
        cached: 0,
        output,
    };
    let size = match agent {
        Agent::ClaudeCode => {
            let usage = object(context, "current_usage")?;
            let [input, written, cached] = [
                "input_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
            ]
            .map(|name| tokens(usage, name).unwrap_or(0));
            Size::Reported {
                prompt: input.saturating_add(written).saturating_add(cached),
                cached,
                output: tokens(usage, "output_tokens"),
            }
        }
        Agent::QwenCode => reported(tokens(context, "current_usage")?, None),
        // It is computed from the percentage.
        Agent::Cursor => Size::Estimated(tokens(context, "total_input_tokens")?),
        Agent::CopilotCli => match tokens(context, "last_call_input_tokens") {
            Some(prompt) if prompt > 0 => {
                reported(prompt, tokens(context, "last_call_output_tokens"))
            }
            _ => Size::Estimated(tokens(context, "current_context_tokens")?),
        },
        _ => return None,
    };
    let (Size::Reported { prompt: all, .. } | Size::Estimated(all)) = size;
    (all > 0).then_some(size)
}

impl Input {
    /// Returns the part of the input that is kept; `None`: it names no session or has nothing that a log lacks.
    pub fn to_keep(&self) -> Option<ClientRecord> {
        let is_some = self.window.is_some() || self.version.is_some() || self.effort.is_some();
        let kept = ClientRecord {
            agent: self.agent?.id().to_owned(),
            session: self.session.clone()?,
            window: self.window,
            model: self.model.clone(),
            version: self.version.clone(),
            effort: self.effort.clone(),
            cache_until: self.cache_until,
            miss: self.miss.clone(),
            ..ClientRecord::default()
        };
        is_some.then_some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{MOST_TOKENS, SMALLEST_WINDOW};
    use model::window::without_window;
    use proptest::prelude::*;

    const CLAUDE: &str = r#"{"session_id":"3f2a","transcript_path":"/h/.claude/projects/-p/3f2a.jsonl","cwd":"/p",
        "effort":{"level":"high"},"model":{"id":"claude-opus-5[1m]","display_name":"Opus 5 (1M)"},"version":"2.1.330",
        "workspace":{"current_dir":"/p","project_dir":"/p","added_dirs":[]},
        "context_window":{"total_input_tokens":90300,"total_output_tokens":210,"context_window_size":1000000,
        "used_percentage":9,"remaining_percentage":91,"current_usage":{"input_tokens":3,"output_tokens":210,
        "cache_creation_input_tokens":1297,"cache_read_input_tokens":89000}},"exceeds_200k_tokens":false,
        "cost":{"total_cost_usd":1.2}}"#;
    const QWEN: &str = r#"{"session_id":"3f2a","cwd":"/p","model":{"display_name":"qwen3-coder-plus"},"version":"0.24.4",
        "context_window":{"context_window_size":262144,"used_percentage":34.3,"current_usage":89915,
        "total_input_tokens":812345},"metrics":{"models":{}},"git":{"branch":"main"}}"#;
    const CURSOR: &str = r#"{"session_id":"3f2a","transcript_path":"/h/.cursor/x.jsonl","render_width_chars":80,
        "model":{"id":"composer-2","display_name":"Composer","param_summary":"","max_mode":false},"version":"2026.09",
        "context_window":{"total_input_tokens":69000,"context_window_size":200000,"used_percentage":34.5,"current_usage":null}}"#;
    const COPILOT: &str = r#"{"session_id":"3f2a","cwd":"/p","model":{"id":"gpt-5.4"},"version":"1.0.102",
        "context_window":{"current_context_tokens":41000,"displayed_context_limit":128000,"context_window_size":200000,
        "used_percentage":812,"total_input_tokens":990000},"cost":{"total_premium_requests":3}}"#;

    #[test]
    fn four_dialects_are_told_apart_by_their_fields() {
        let of = |text: &str| read(text.as_bytes()).expect("an input");
        let claude = of(CLAUDE);
        assert_eq!(claude.agent, Some(Agent::ClaudeCode));
        assert_eq!(claude.window, Some(1_000_000));
        assert_eq!(
            claude.size,
            Some(Size::Reported {
                prompt: 90_300,
                cached: 89_000,
                output: Some(210)
            })
        );
        assert_eq!(claude.effort.as_deref(), Some("high"));
        assert_eq!(
            claude.model.as_deref().map(without_window),
            Some("claude-opus-5")
        );
        let qwen = of(QWEN);
        assert_eq!(qwen.agent, Some(Agent::QwenCode));
        assert_eq!(qwen.log, None);
        assert_eq!(qwen.model.as_deref(), Some("qwen3-coder-plus"));
        let prompt = |size| match size {
            Some(Size::Reported { prompt, .. }) => prompt,
            _ => 0,
        };
        assert_eq!(prompt(qwen.size), 89_915);
        let cursor = of(CURSOR);
        assert_eq!(cursor.agent, Some(Agent::Cursor));
        assert_eq!(cursor.size, Some(Size::Estimated(69_000)));
        assert_eq!((cursor.columns, claude.columns), (Some(80), None));
        let copilot = of(COPILOT);
        assert_eq!(copilot.agent, Some(Agent::CopilotCli));
        assert_eq!(copilot.window, Some(128_000));
        assert_eq!(copilot.size, Some(Size::Estimated(41_000)));
        assert_eq!(Agent::CopilotCli.id(), "copilot-cli");
        let answered = COPILOT.replace(
            r#""used_percentage":812"#,
            r#""last_call_input_tokens":45184,"last_call_output_tokens":310"#,
        );
        assert_eq!(prompt(of(&answered).size), 45_184);
    }

    #[test]
    fn a_session_before_its_first_answer_has_no_size() {
        let before = CLAUDE.replace(
            r#"{"input_tokens":3,"output_tokens":210,
        "cache_creation_input_tokens":1297,"cache_read_input_tokens":89000}"#,
            "null",
        );
        let input = read(before.as_bytes()).expect("an input");
        assert_eq!((input.agent, input.size), (Some(Agent::ClaudeCode), None));
    }

    #[test]
    fn misses_and_limits_are_read_or_left_out() {
        let of = |fields: &str| {
            let text = CLAUDE.replacen('{', &format!("{{{fields},"), 1);
            let Input { miss, limits, .. } = read(text.as_bytes()).expect("an input");
            (miss, limits)
        };
        let (miss, limits) = of(r#""prompt_cache":{"misses":2,"last_miss_at":1795000000,
            "last_miss_cause":{"causes":["tools_changed"],"tools_added":3,"tools_removed":1}},
            "rate_limits":{"five_hour":{"used_percentage":42.5,"resets_at":1795000000},"seven_day":{"used_percentage":12}}"#);
        let at = Timestamp::from_second(1_795_000_000).ok();
        let expected = ClientMiss {
            misses: 2,
            at,
            causes: vec!["tools_changed".to_owned()],
            tools_added: 3,
            tools_removed: 1,
        };
        assert_eq!(miss, Some(expected));
        let limit = |minutes, percent, at| PlanLimit::new(minutes, percent, at).expect("a limit");
        assert_eq!(limits, [limit(300, 42.5, at), limit(10_080, 12.0, None)]);
        let hostile = of(
            r#""prompt_cache":{"misses":-1},"rate_limits":{"five_hour":{"used_percentage":1e300},"seven_day":7}"#,
        );
        assert_eq!(hostile, (None, vec![]));
        let causes = vec![format!("\"{}\"", "x".repeat(9_000)); 9].join(",");
        let fields = format!(
            r#""prompt_cache":{{"misses":1,"last_miss_at":"soon","last_miss_cause":{{"causes":[7,{causes}],"tools_added":[]}}}}"#
        );
        let empty = ClientMiss {
            misses: 1,
            ..ClientMiss::default()
        };
        assert_eq!(of(&fields).0, Some(empty));
    }

    #[test]
    fn every_cut_is_named() {
        for text in [CLAUDE, QWEN, CURSOR, COPILOT] {
            for end in 1..text.len() {
                assert_eq!(read(&text.as_bytes()[..end]), Err(NoInput::Cut), "{end}");
            }
        }
    }

    #[test]
    fn a_path_is_no_session() {
        let text = CLAUDE.replace("\"session_id\":\"3f2a\"", "\"session_id\":\"../3f2a\"");
        assert_eq!(read(text.as_bytes()).expect("an input").session, None);
        assert_eq!(read(b"{}"), Ok(Input::default()));
    }

    #[test]
    fn numbers_that_cannot_be_true_are_left_out() {
        for number in ["-1", "1e300", "18446744073709551615", "\"9\"", "[]", "0"] {
            let text = CLAUDE.replace("1000000", number);
            assert_eq!(
                read(text.as_bytes()).expect("an input").window,
                None,
                "{number}"
            );
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        let name = prop_oneof![
            Just("context_window"),
            Just("current_usage"),
            Just("model"),
            Just("id"),
            Just("session_id"),
            Just("cost"),
            Just("input_tokens"),
            Just("total_input_tokens"),
            Just("context_window_size"),
            Just("current_context_tokens"),
            Just("metrics"),
            Just("effort"),
            Just("transcript_path"),
        ];
        leaf.prop_recursive(4, 48, 8, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((name.clone(), inner), 0..8).prop_map(|fields| {
                    let fields = fields.into_iter();
                    Value::Object(
                        fields
                            .map(|(name, value)| (name.to_owned(), value))
                            .collect(),
                    )
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_is_read(value in any_json()) {
            let input = read(value.to_string().as_bytes());
            prop_assert_eq!(input.is_ok(), value.is_object());
            if let Ok(Input { window: Some(window), .. }) = input {
                prop_assert!((SMALLEST_WINDOW..=MOST_TOKENS).contains(&window));
            }
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = read(&bytes);
        }
    }
}
