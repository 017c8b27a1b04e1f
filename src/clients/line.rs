//! The JSON that a status line is given.
//!
//! Four agents run a command for their status line and hand it an object of nearly one shape. Which of them it was is read
//! from the fields that only it has. The percentages in it are never used: Claude Code's is a whole number without the
//! output, Copilot's is cumulative, Cursor's is all that it has.

use super::kept::Kept;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The most bytes of input that are read. The agents write a few kilobytes.
pub const LARGEST_INPUT: u64 = 4 << 20;
/// The smallest window that is believed, in tokens.
const SMALLEST_WINDOW: u64 = 1_000;
/// The largest number of tokens that is believed.
const MOST_TOKENS: u64 = 1_000_000_000;
/// The longest id, model or version that is taken, in bytes.
const LONGEST_WORD: usize = 256;
/// The longest path that is taken, in bytes.
const LONGEST_PATH: usize = 4096;

/// An agent that runs a command for its status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Dialect {
    /// Claude Code.
    ClaudeCode,
    /// Cursor's command line.
    Cursor,
    /// Copilot's command line.
    CopilotCli,
    /// Qwen Code.
    QwenCode,
}

impl Dialect {
    /// The columns beside a status line that the client takes for itself. Claude Code 2.1.330 passes those of the terminal,
    /// indents the line by two, and cuts what comes within two of the end.
    pub fn margin(self) -> usize {
        match self {
            Dialect::ClaudeCode => 4,
            Dialect::Cursor | Dialect::CopilotCli | Dialect::QwenCode => 0,
        }
    }

    /// The agent's id, as in reports.
    pub fn agent(self) -> &'static str {
        self.into()
    }
}

/// What the client says of the size of its context.
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

/// What a status line was given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Input {
    /// Whose it is; `None`: of no agent that is known.
    pub dialect: Option<Dialect>,
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
    /// How much the model is to think, in the agent's word.
    pub effort: Option<String>,
    /// The window, in tokens.
    pub window: Option<u64>,
    /// The size of the context.
    pub size: Option<Size>,
    /// The columns that the line may take, where the client passes them.
    pub columns: Option<usize>,
}

/// Why there is no input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoInput {
    /// There were no bytes.
    #[error("standard input is empty: an agent passes JSON to its status line")]
    Empty,
    /// It ended within the JSON.
    #[error("the JSON on standard input is cut")]
    Cut,
    /// It is something else.
    #[error("standard input is not the JSON object that an agent passes to its status line")]
    Other,
}

impl NoInput {
    /// One word for it.
    pub fn word(self) -> &'static str {
        match self {
            NoInput::Empty => "no input",
            NoInput::Cut => "input cut",
            NoInput::Other => "unknown input",
        }
    }
}

/// Reads what an agent passes to its status line. Fields of another type, and numbers that cannot be true, are left out.
///
/// # Errors
///
/// If it is no JSON object.
pub fn read(input: &[u8]) -> Result<Input, NoInput> {
    if input.trim_ascii().is_empty() {
        return Err(NoInput::Empty);
    }
    match serde_json::from_slice(input) {
        Ok(Value::Object(fields)) => Ok(of(&fields)),
        Err(error) if error.is_eof() => Err(NoInput::Cut),
        _ => Err(NoInput::Other),
    }
}

fn of(fields: &Map<String, Value>) -> Input {
    let context = object(fields, "context_window");
    let dialect = dialect(fields, context);
    let model = fields.get("model");
    let named = |name: &str| model.and_then(Value::as_object).and_then(|m| word(m, name));
    // Qwen Code has no other name for it.
    let shown = || named("display_name").filter(|_| dialect == Some(Dialect::QwenCode));
    let model = named("id").or_else(shown);
    let workspace = object(fields, "workspace");
    let cwd = path(fields, "cwd").or_else(|| path(workspace?, "current_dir"));
    Input {
        dialect,
        session: word(fields, "session_id").filter(|id| is_id(id)),
        log: path(fields, "transcript_path"),
        cwd,
        model,
        version: word(fields, "version"),
        effort: object(fields, "effort").and_then(|effort| word(effort, "level")),
        window: context.and_then(|context| window(context, dialect)),
        size: dialect.and_then(|dialect| size(context?, dialect)),
        columns: fields
            .get("render_width_chars")
            .and_then(|columns| usize::try_from(columns.as_u64()?).ok()),
    }
}

/// Whose fields these are.
fn dialect(fields: &Map<String, Value>, context: Option<&Map<String, Value>>) -> Option<Dialect> {
    let has = |name: &str| context.is_some_and(|context| context.contains_key(name));
    let model = object(fields, "model");
    let model_has = |name: &str| model.is_some_and(|model| model.contains_key(name));
    let cost = object(fields, "cost");
    if has("current_context_tokens")
        || has("displayed_context_limit")
        || fields.contains_key("ai_used")
        || cost.is_some_and(|cost| cost.contains_key("total_premium_requests"))
    {
        return Some(Dialect::CopilotCli);
    }
    let usage = context.and_then(|context| context.get("current_usage"));
    if usage.is_some_and(Value::is_number) || fields.contains_key("metrics") {
        return Some(Dialect::QwenCode);
    }
    if fields.contains_key("render_width_chars")
        || model_has("param_summary")
        || model_has("max_mode")
    {
        return Some(Dialect::Cursor);
    }
    let is_claudes = context.is_some() || fields.contains_key("transcript_path");
    (is_claudes && fields.contains_key("session_id")).then_some(Dialect::ClaudeCode)
}

fn window(context: &Map<String, Value>, dialect: Option<Dialect>) -> Option<u64> {
    let names: &[&str] = match dialect {
        Some(Dialect::CopilotCli) => &["displayed_context_limit", "context_window_size"],
        _ => &["context_window_size"],
    };
    let mut sizes = names.iter().filter_map(|name| tokens(context, name));
    sizes.find(|size| *size >= SMALLEST_WINDOW)
}

fn size(context: &Map<String, Value>, dialect: Dialect) -> Option<Size> {
    let size = match dialect {
        Dialect::ClaudeCode => {
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
        Dialect::QwenCode => Size::Reported {
            prompt: tokens(context, "current_usage")?,
            cached: 0,
            output: None,
        },
        // It is computed from the percentage.
        Dialect::Cursor => Size::Estimated(tokens(context, "total_input_tokens")?),
        Dialect::CopilotCli => Size::Estimated(tokens(context, "current_context_tokens")?),
    };
    let is_some = match size {
        Size::Reported { prompt, .. } => prompt > 0,
        Size::Estimated(tokens) => tokens > 0,
    };
    is_some.then_some(size)
}

/// A model's id without what a client adds about its window: `claude-opus-5[1m]` is `claude-opus-5` in logs.
pub fn logged_model(id: &str) -> &str {
    match id.split_once('[') {
        Some((logged, added)) if added.ends_with(']') => logged,
        _ => id,
    }
}

/// Whether a text can be a session's id: a path is none.
pub fn is_id(id: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    !id.is_empty() && id.len() <= LONGEST_WORD && id.chars().all(is_part) && !id.starts_with('.')
}

fn object<'v>(of: &'v Map<String, Value>, name: &str) -> Option<&'v Map<String, Value>> {
    of.get(name).and_then(Value::as_object)
}

fn word(of: &Map<String, Value>, name: &str) -> Option<String> {
    of.get(name).and_then(Value::as_str).and_then(short)
}

fn short(text: &str) -> Option<String> {
    (!text.is_empty() && text.len() <= LONGEST_WORD).then(|| text.to_owned())
}

fn path(of: &Map<String, Value>, name: &str) -> Option<PathBuf> {
    let text = of.get(name).and_then(Value::as_str)?;
    let fits = !text.is_empty() && text.len() <= LONGEST_PATH && !text.contains('\0');
    fits.then(|| PathBuf::from(text))
}

/// A number of tokens; a fraction is rounded.
fn tokens(of: &Map<String, Value>, name: &str) -> Option<u64> {
    let value = of.get(name)?;
    let rounded = || {
        let number = value.as_f64()?.round();
        (0.0..=MOST_TOKENS as f64)
            .contains(&number)
            .then_some(number as u64)
    };
    let tokens = value.as_u64().or_else(rounded)?;
    (tokens <= MOST_TOKENS).then_some(tokens)
}

impl Input {
    /// The input as what is kept of it; `None`: it names no session or says nothing that a log lacks.
    pub fn to_keep(&self) -> Option<Kept> {
        let is_some = self.window.is_some() || self.version.is_some() || self.effort.is_some();
        let kept = Kept {
            agent: self.dialect?.agent().to_owned(),
            session: self.session.clone()?,
            window: self.window,
            model: self.model.clone(),
            version: self.version.clone(),
            effort: self.effort.clone(),
            log: None,
        };
        is_some.then_some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        assert_eq!(claude.dialect, Some(Dialect::ClaudeCode));
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
            claude.model.as_deref().map(logged_model),
            Some("claude-opus-5")
        );
        let qwen = of(QWEN);
        assert_eq!(qwen.dialect, Some(Dialect::QwenCode));
        assert_eq!(qwen.log, None);
        assert_eq!(qwen.model.as_deref(), Some("qwen3-coder-plus"));
        let prompt = |size| match size {
            Some(Size::Reported { prompt, .. }) => prompt,
            _ => 0,
        };
        assert_eq!(prompt(qwen.size), 89_915);
        let cursor = of(CURSOR);
        assert_eq!(cursor.dialect, Some(Dialect::Cursor));
        assert_eq!(cursor.size, Some(Size::Estimated(69_000)));
        assert_eq!((cursor.columns, claude.columns), (Some(80), None));
        let copilot = of(COPILOT);
        assert_eq!(copilot.dialect, Some(Dialect::CopilotCli));
        assert_eq!(copilot.window, Some(128_000));
        assert_eq!(copilot.size, Some(Size::Estimated(41_000)));
        assert_eq!(Dialect::CopilotCli.agent(), "copilot-cli");
    }

    #[test]
    fn a_session_before_its_first_answer_has_no_size() {
        let before = CLAUDE.replace(
            r#"{"input_tokens":3,"output_tokens":210,
        "cache_creation_input_tokens":1297,"cache_read_input_tokens":89000}"#,
            "null",
        );
        let input = read(before.as_bytes()).expect("an input");
        assert_eq!(
            (input.dialect, input.size),
            (Some(Dialect::ClaudeCode), None)
        );
    }

    #[test]
    fn what_is_no_object_is_named() {
        let of = |text: &str| read(text.as_bytes());
        assert_eq!(of(""), Err(NoInput::Empty));
        assert_eq!(of(" \n"), Err(NoInput::Empty));
        for other in ["null", "[1]", "7", "\"x\"", "{]", "\u{feff}{}"] {
            assert_eq!(of(other), Err(NoInput::Other), "{other}");
        }
        assert_eq!(of("{}"), Ok(Input::default()));
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
    fn a_path_is_no_id() {
        for id in [
            "../../etc/passwd",
            "/etc/passwd",
            "a/b",
            "..",
            ".",
            "a\\b",
            "",
            "a b",
            "a\u{1b}[2J",
        ] {
            assert!(!is_id(id), "{id}");
        }
        assert!(is_id("3f2a1b00-0000-4000-8000-000000000001"));
        let text = CLAUDE.replace("\"session_id\":\"3f2a\"", "\"session_id\":\"../3f2a\"");
        assert_eq!(read(text.as_bytes()).expect("an input").session, None);
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
