//! The fields of OpenHands' events that are read.

use decode::lenient::{
    Count, FieldPlace, NotJson, Pieces, Raw, Record as Fields, Report, Scanner, Text, Texts,
    Window, record,
};

record! {
    pub(super) struct Record<'a> {
        pub(super) kind: Text<'a>,
        pub(super) id: Text<'a>,
        pub(super) parent_id: Text<'a>,
        pub(super) timestamp: Text<'a>,
        pub(super) source: Text<'a>,
        pub(super) llm_response_id: Text<'a>,
        pub(super) tool_name: Text<'a>,
        pub(super) tool_call_id: Text<'a>,
        /// The text that the harness adds to a message or a result.
        pub(super) extended_content: Pieces<Content<'a>>,

        // SystemPromptEvent
        pub(super) system_prompt: Pieces<Content<'a>>,
        pub(super) dynamic_context: Pieces<Content<'a>>,
        pub(super) tools: Vec<Tool<'a>>,

        // MessageEvent
        pub(super) llm_message: Option<Message<'a>>,
        pub(super) activated_skills: Texts<'a>,

        // ActionEvent
        pub(super) thought: Pieces<Content<'a>>,
        pub(super) reasoning_content: Text<'a>,
        pub(super) thinking_blocks: Vec<Block<'a>>,
        pub(super) responses_reasoning_item: Option<Reasoning<'a>>,
        pub(super) arguments: Text<'a> = "tool_call" / "arguments",

        // ObservationEvent, UserRejectObservation, AgentErrorEvent
        pub(super) observation: Observation<'a>,
        pub(super) rejection_reason: Text<'a>,
        pub(super) error: Text<'a>,

        // Condensation, CondensationRequest
        pub(super) forgotten_event_ids: Vec<Text<'a>>,
        pub(super) summary: Text<'a>,
        pub(super) reason: Text<'a>,

        // TokenEvent
        pub(super) prompt_token_ids: Option<Raw<'a>>,
        pub(super) response_token_ids: Option<Raw<'a>>,

        // ConversationStateUpdateEvent
        pub(super) key: Text<'a>,
        pub(super) value: Option<Raw<'a>>,
    }

    /// Text, or images by their addresses.
    pub(super) struct Content<'a> {
        pub(super) text: Text<'a>,
        pub(super) image_urls: Vec<Text<'a>>,
    }

    pub(super) struct Tool<'a> {
        pub(super) title: Text<'a>,
        pub(super) description: Text<'a>,
        /// The definition that an MCP server gave, schema and all.
        pub(super) mcp_tool: Option<Raw<'a>>,
    }

    pub(super) struct Message<'a> {
        pub(super) role: Text<'a>,
        pub(super) content: Pieces<Content<'a>>,
        pub(super) reasoning_content: Text<'a>,
        pub(super) thinking_blocks: Vec<Block<'a>>,
        pub(super) responses_reasoning_item: Option<Reasoning<'a>>,
    }

    /// A block of Claude's thinking, readable or not.
    pub(super) struct Block<'a> {
        pub(super) thinking: Text<'a>,
        pub(super) data: Text<'a>,
    }

    /// A reasoning item of OpenAI's Responses.
    pub(super) struct Reasoning<'a> {
        pub(super) summary: Texts<'a>,
        pub(super) content: Texts<'a>,
        pub(super) encrypted_content: Text<'a>,
    }

    pub(super) struct Observation<'a> {
        pub(super) content: Pieces<Content<'a>>,
        pub(super) is_error: Option<bool>,
        pub(super) metadata: Option<Terminal<'a>>,
    }

    /// The terminal's report of a command.
    pub(super) struct Terminal<'a> {
        pub(super) prefix: Text<'a>,
        pub(super) suffix: Text<'a>,
        pub(super) working_dir: Text<'a>,
        pub(super) py_interpreter_path: Text<'a>,
        /// -1 while it is running.
        pub(super) exit_code: Option<f64>,
    }

    /// The state of a conversation: `base_state.json`, or an update of all of it.
    pub(super) struct State<'a> {
        pub(super) id: Text<'a>,
        pub(super) agent: Agent<'a>,
        pub(super) working_dir: Text<'a> = "workspace" / "working_dir",
        pub(super) stats: Stats<'a>,
    }

    pub(super) struct Agent<'a> {
        pub(super) llm: Llm<'a>,
        pub(super) trigger: Window = "condenser" / "max_tokens",
    }

    pub(super) struct Llm<'a> {
        pub(super) model: Text<'a>,
        pub(super) usage_id: Text<'a>,
        pub(super) max_input_tokens: Window,
    }

    pub(super) struct Stats<'a> {
        pub(super) usage_to_metrics: Metrics<'a>,
    }
}

/// Metrics by the usage of a model: `agent`, `condenser`, …
#[derive(Debug, Default, Clone)]
pub(super) struct Metrics<'a>(pub(super) Vec<(Box<str>, Metric<'a>)>);

impl<'a> Fields<'a> for Metrics<'a> {
    fn set(
        &mut self,
        name: &str,
        json: &mut Scanner<'a>,
        at: FieldPlace<'_>,
    ) -> Result<(), NotJson> {
        let metric = at.field("usage_to_metrics").scan(json)?;
        self.0.extend(metric.map(|metric| (name.into(), metric)));
        Ok(())
    }
}

record! {
    pub(super) struct Metric<'a> {
        pub(super) accumulated_token_usage: Report<Numbers<'a>>,
        pub(super) token_usages: Vec<Numbers<'a>>,
    }

    whole pub(super) struct Numbers<'a> {
        pub(super) model: Text<'a>,
        pub(super) prompt_tokens: Count,
        pub(super) completion_tokens: Count,
        pub(super) cache_read_tokens: Count,
        pub(super) cache_write_tokens: Count,
        pub(super) reasoning_tokens: Count,
        pub(super) context_window: Window,
        /// Prompt and output of the last call.
        pub(super) per_turn_token: Count,
        pub(super) response_id: Text<'a>,
    }
}
