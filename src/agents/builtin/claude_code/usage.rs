//! What a line says of usage, without what the conversation holds.

use super::requests::Requests;
use super::wire::{self, Params, Progress, ResponseUsage};
use super::{ClaudeCodeDecoder, Side};
use kit::lenient::{self, Lost, Raw, Text, record};
use memchr::memmem;
use model::Gone;
use model::event::{Cause, CostOf, Event, Kept, Key, Meta, Node, Reset, Sink, Usage};

/// One of these is in every line that concerns usage: of a response, of what a sub-agent does, of a compaction, of how
/// a request was made.
pub(super) const MARKS: &[&str] = &[
    "\"assistant\"",
    "\"usage\"",
    "\"compact_boundary\"",
    "\"api-request\"",
];

record! {
    struct Line<'a> {
        kind: Text<'a> = "type",
        uuid: Text<'a>,
        parent_uuid: Text<'a> = "parentUuid",
        agent_id: Text<'a> = "agentId",
        is_sidechain: Option<bool> = "isSidechain",
        timestamp: Text<'a>,
        message: Message<'a>,
        request_id: Text<'a> = "requestId",
        subtype: Text<'a>,
        is_api_error_message: Option<bool> = "isApiErrorMessage",
        data: Option<Raw<'a>>,
        id: Text<'a>,
        params: Params<'a>,
        request_ref: Text<'a> = "requestRef",
    }

    struct Message<'a> {
        id: Text<'a>,
        model: Text<'a>,
        usage: Option<ResponseUsage<'a>>,
    }
}

impl ClaudeCodeDecoder {
    /// Reads a line for what concerns usage. `None`: it is damaged, or only all of the record shows that.
    pub(super) fn spend(&mut self, line: &str, out: &mut Sink<'_>) -> Option<()> {
        let line = lenient::parse::<Line<'_>>(line, &Lost::default()).ok()?;
        out.set_time(line.timestamp.time());
        let ids = [&line.uuid, &line.parent_uuid, &line.agent_id];
        out.set_lane(self.lane(&Side::new(ids, line.is_sidechain)));
        match line.kind.or_empty() {
            "assistant" => line.response(&self.requests, out)?,
            "api-request" => {
                let known = self.metas.entry(out.lane()).or_default();
                out.meta(Meta::of_model(line.params.model()).changes(known));
                self.requests.note_window(line.id.key(), &line.params);
            }
            "progress" => bill_progress(line.data, out),
            "system" if line.subtype.get() == Some("compact_boundary") => {
                let reset = Reset::new(Gone::Compaction, Cause::Unlogged, Kept::Nothing);
                out.reset(reset);
            }
            _ => {}
        }
        Some(())
    }
}

impl Line<'_> {
    fn response(&self, requests: &Requests, out: &mut Sink<'_>) -> Option<()> {
        // One without an id counts if it has content.
        self.uuid.get()?;
        let model = self.message.model.get();
        if is_synthetic(model, self.is_api_error_message) {
            return Some(());
        }
        let request = request_key([&self.message.id, &self.request_id, &self.uuid])?;
        let is_long = requests.is_long(&self.request_ref);
        let usage = self.message.usage.as_ref();
        match usage.filter(|usage| usage.context().prompt() > 0) {
            Some(usage) => {
                out.usage(Usage {
                    model: model.map(|model| wire::model_name(model, is_long)),
                    billed: usage.billed(),
                    ..Usage::reported(request, usage.context().prompt())
                });
            }
            None => out.node(Node::output(None, Some(request), Vec::new())),
        }
        Some(())
    }
}

/// Whether an assistant's record is none of a response: nothing of it was sent or paid for.
pub(super) fn is_synthetic(model: Option<&str>, is_error: Option<bool>) -> bool {
    model == Some("<synthetic>") || is_error == Some(true)
}

/// The key of a response, by the first of its ids that it has.
pub(super) fn request_key(ids: [&Text<'_>; 3]) -> Option<Key> {
    ids.into_iter().find_map(Text::key)
}

/// Bills a sub-agent's response that its parent's log repeats: the sub-agent's own log may be gone.
pub(super) fn bill_progress(data: Option<Raw<'_>>, out: &mut Sink<'_>) {
    let data = data.map_or("", Raw::get);
    // Few of these records hold a response.
    if memmem::find(data.as_bytes(), b"\"usage\"").is_none() {
        return;
    }
    let Ok(Progress { message }) = lenient::parse::<Progress<'_>>(data, &Lost::default()) else {
        return;
    };
    let bill = &message.message;
    let request = request_key([&bill.id, &message.request_id, &message.uuid]);
    if let (Some(request), Some(usage)) = (request, &bill.usage) {
        out.emit(Event::Billed {
            request,
            billed: usage.billed(),
            of: CostOf::Response,
            model: bill.model.boxed(),
        });
    }
}

/// Whether a sub-agent wrote this line. The field is near its beginning.
pub(super) fn is_side(line: &[u8]) -> bool {
    const FIELD: &[u8] = b"\"isSidechain\"";
    let Some(at) = memmem::find(line, FIELD) else {
        return false;
    };
    let rest = line[at + FIELD.len()..].trim_ascii_start();
    let value = rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
    value.is_some_and(|value| value.starts_with(b"true"))
}
