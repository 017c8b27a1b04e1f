//! One conversation of a file, and how its requests are recognised.

use decode::bodies::{Request, Response};
use decode::prompts::{Block, Prompt, PromptHistory, Step, front_of, hash, passages};
use model::event::{Conversation, Event, EventSink, Key, Meta, Node, Part, Usage};
use model::{Kind, Role};
use std::collections::HashSet;

/// A response of at least this many bytes is recognised where it is quoted.
const MIN_QUOTED: usize = 400;

/// A conversation.
pub(super) struct Thread {
    pub(super) conversation: Conversation,
    /// Its id, which other conversations may share.
    pub(super) scope: Option<Key>,
    pub(super) prompt_history: PromptHistory,
    /// Passages of the newest response, where it is long.
    passages: Vec<Box<str>>,
    /// Hashes of the system prompts and tools so far.
    pub(super) fronts: HashSet<u64>,
    /// Responses so far.
    pub(super) responses: u64,
    /// The hash of the newest request's system prompt and tools.
    pub(super) front: u64,
    /// The model of the newest request.
    requested: Option<Box<str>>,
}

impl Thread {
    pub(super) fn new(conversation: Conversation, scope: Option<Key>) -> Thread {
        Thread {
            conversation,
            scope,
            prompt_history: PromptHistory::default(),
            passages: Vec::new(),
            fronts: HashSet::new(),
            responses: 0,
            front: 0,
            requested: None,
        }
    }

    /// Takes in a request that builds on the first `kept` things held.
    pub(super) fn add_request(
        &mut self,
        request: &Request<'_>,
        kept: usize,
        step: Step,
        out: &mut EventSink<'_>,
    ) {
        out.set_conversation(self.conversation);
        // Until a response names it, the model is the one that was requested.
        if let Some(model) = request.model.as_deref()
            && self.requested.as_deref() != Some(model)
        {
            self.requested = Some(model.into());
            out.meta(Meta::of_model(self.requested.clone()));
        }
        let prompt = Prompt {
            front: &request.front,
            keeps_front: false,
            kept,
            blocks: &request.blocks,
            step,
        };
        self.prompt_history.add_request(&prompt, out);
        self.front = fingerprint(&request.front);
        self.fronts.insert(self.front);
    }

    /// Takes in a response.
    pub(super) fn add_response(
        &mut self,
        response: &Response<'_>,
        usage: Option<Usage>,
        request: Key,
        out: &mut EventSink<'_>,
    ) {
        out.set_conversation(self.conversation);
        self.responses += 1;
        let built_in = response.numbers.tools.filter(|tokens| {
            let is_new = !self.prompt_history.has_response(request);
            *tokens > 0 && is_new
        });
        let built_in = built_in.map(|tokens| add_built_in(tokens, request, out));
        let blocks = &response.blocks;
        self.prompt_history
            .add_response(request, blocks, usage, out);
        let texts = blocks.iter().flat_map(Block::texts);
        let longest = texts.max_by_key(|text| text.len());
        let longest = longest.filter(|text| text.len() >= MIN_QUOTED);
        self.passages = longest.map(passages).into_iter().flatten().collect();
        if let Some(key) = built_in {
            out.emit(Event::cleared_node(key));
        }
    }

    /// Returns true if one of these blocks quotes the newest response, as a summary does.
    pub(super) fn is_quoted<'b, 'a: 'b>(
        &self,
        mut by: impl Iterator<Item = &'b Block<'a>>,
    ) -> bool {
        let quotes =
            |block: &Block<'_>, passage: &str| block.texts().any(|text| text.contains(passage));
        by.any(|block| self.passages.iter().any(|passage| quotes(block, passage)))
    }
}

/// Adds what the provider's own tools put into this one prompt. Returns the node, which leaves with the response.
fn add_built_in(tokens: u64, request: Key, out: &mut EventSink<'_>) -> Key {
    let key = request.under("built-in");
    let item = out.item(Role::Tool, Kind::ToolResult);
    let item = item.tool(Some("built-in"));
    let items = vec![item.reported(tokens, "(not in the log)").done()];
    out.node(Node::new(Some(key), Part::Link, items));
    key
}

/// Returns a hash that is the same for requests with the same system prompt and tools.
pub(super) fn fingerprint(front: &[Block<'_>]) -> u64 {
    hash(&front_of(front))
}
