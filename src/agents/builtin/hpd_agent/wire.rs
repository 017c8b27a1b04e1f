//! The fields of HPD-Agent's events that are read.

use decode::lenient::{Count, Pieces, Raw, Text, Texts, record};

record! {
    /// A branch around its events, as versions before the journal wrote it; before that, around the
    /// messages of its history.
    pub(super) struct Document<'a> {
        pub(super) schema: Text<'a>,
        pub(super) session_id: Text<'a> = "sessionId",
        pub(super) branch_id: Text<'a> = "branchId",
        pub(super) events: Option<Vec<Raw<'a>>>,
        // A saved history.
        pub(super) id: Text<'a>,
        pub(super) messages: Option<Vec<Message<'a>>>,
    }

    /// An event. Which of the fields are there depends on its type.
    pub(super) struct Record<'a> {
        pub(super) kind: Text<'a> = "type",
        pub(super) event_id: Text<'a> = "eventId",
        pub(super) session_id: Text<'a> = "sessionId",
        pub(super) thread_id: Text<'a> = "threadId" | "branchId",
        pub(super) timestamp: Text<'a>,
        pub(super) metadata: Agent<'a>,
        pub(super) message_id: Text<'a> = "messageId",
        pub(super) role: Text<'a>,
        pub(super) source: Text<'a>,
        pub(super) text: Text<'a>,
        pub(super) protected_data: Text<'a> = "protectedData",
        pub(super) content: Pieces<Content<'a>>,
        pub(super) call_id: Text<'a> = "callId",
        pub(super) name: Text<'a>,
        pub(super) args_json: Text<'a> = "argsJson",
        pub(super) call_type: Text<'a> = "callType",
        pub(super) harness: Text<'a> = "toolHarnessName" | "harnessName",
        pub(super) result: Pieces<ToolResult<'a>>,
        pub(super) container_name: Text<'a> = "containerName",
        pub(super) unlocked_functions: Texts<'a> = "unlockedFunctions",
        pub(super) operation_id: Text<'a> = "operationId",
        pub(super) model_id: Text<'a> = "modelId",
        pub(super) family: Text<'a>,
        pub(super) usage: Option<Usage<'a>>,
        pub(super) sub_agent_name: Text<'a> = "subAgentName",
        pub(super) parent_session_id: Text<'a> = "parentSessionId",
        pub(super) compaction_id: Text<'a> = "compactionId",
        pub(super) compacted_message_ids: Vec<Text<'a>> = "compactedMessageIds" | "modelCompactedMessageIds",
        pub(super) replacements: Vec<Message<'a>> = "replacementMessages" | "replacement",
    }

    /// The agent whose event it is.
    pub(super) struct Agent<'a> {
        pub(super) agent_name: Text<'a> = "agentName",
        pub(super) agent_id: Text<'a> = "agentId",
        pub(super) depth: Count,
    }

    /// A piece of a message, as Microsoft.Extensions.AI writes it.
    pub(super) struct Content<'a> {
        pub(super) kind: Text<'a> = "$type",
        pub(super) text: Text<'a>,
        pub(super) protected_data: Text<'a> = "protectedData",
        pub(super) call_id: Text<'a> = "callId",
        pub(super) name: Text<'a>,
        pub(super) arguments: Option<Raw<'a>>,
        pub(super) result: Option<Raw<'a>>,
        pub(super) uri: Text<'a>,
    }

    /// A message of a saved history, or one that takes the place of others.
    pub(super) struct Message<'a> {
        pub(super) created_at: Text<'a> = "createdAt",
        pub(super) role: Text<'a>,
        pub(super) message_id: Text<'a> = "messageId",
        pub(super) contents: Pieces<Content<'a>>,
        pub(super) text: Text<'a>,
    }

    /// A tool's result. `json` and `content` repeat `text`, where there is one.
    pub(super) struct ToolResult<'a> {
        pub(super) text: Text<'a>,
        pub(super) json: Option<Raw<'a>>,
    }

    /// Numbers of one call, or of a turn: its calls one by one, or all together.
    mended [input_token_count => output_token_count] whole pub(super) struct Usage<'a> {
        pub(super) input_token_count: Count = "inputTokenCount",
        pub(super) output_token_count: Count = "outputTokenCount",
        pub(super) cached_input_token_count: Count = "cachedInputTokenCount",
        pub(super) reasoning_token_count: Count = "reasoningTokenCount",
        pub(super) operations: Vec<Operation<'a>>,
    }

    /// One call of a turn.
    pub(super) struct Operation<'a> {
        pub(super) operation_id: Text<'a> = "operationId",
        pub(super) model_id: Text<'a> = "modelId",
        pub(super) family: Text<'a>,
        pub(super) usage: Option<Raw<'a>>,
    }
}
