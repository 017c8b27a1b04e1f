//! Reads the usage of a line, without the content of the conversation.

use super::ClaudeCodeDecoder;
use super::fork;
use super::responses::{Ids, Responses};
use super::wire::{Bill, Params, Progress, ResponseUsage};
use decode::lenient::{self, Dollars, LostFields, Raw, Text, record};
use memchr::memmem;
use model::event::{Cause, CostOf, Event, EventSink, Key, Meta, Node, Reset, RetainedItems, Usage};

/// One of these is in every line that concerns usage: of a response, of what a sub-agent does, of a compaction, of how
/// a request was made.
pub(super) const MARKS: &[&str] = &[
    "\"assistant\"",
    "\"usage\"",
    "\"compact_boundary\"",
    "\"api-request\"",
    "{\"type\":\"cost-state\"",
];

record! {
    struct Line<'a> {
        kind: Text<'a> = "type",
        uuid: Text<'a>,
        parent_uuid: Text<'a> = "parentUuid",
        agent_id: Text<'a> = "agentId",
        is_sidechain: Option<bool> = "isSidechain",
        timestamp: Text<'a>,
        message: Bill<'a>,
        request_id: Text<'a> = "requestId",
        subtype: Text<'a>,
        is_api_error_message: Option<bool> = "isApiErrorMessage",
        data: Option<Raw<'a>>,
        id: Text<'a>,
        params: Params<'a>,
        request_ref: Text<'a> = "requestRef",
        model_usage: Option<Raw<'a>> = "modelUsage",
        total_cost: Dollars = "totalCostUSD",
    }
}

impl ClaudeCodeDecoder {
    /// Reads a line for what concerns usage. `None`: it is damaged, or only all of the record shows that.
    pub(super) fn spend(&mut self, line: &str, out: &mut EventSink<'_>) -> Option<()> {
        let lost = LostFields::default();
        let line = lenient::parse::<Line<'_>>(line, &lost).ok()?;
        lost.report(out);
        out.set_time(line.timestamp.time());
        let ids = [&line.uuid, &line.parent_uuid, &line.agent_id];
        out.set_conversation(self.conversation(ids, line.is_sidechain));
        match line.kind.or_empty() {
            fork::KIND => return None,
            // Not billed here.
            "assistant" if self.is_inherited(&line.agent_id) => return None,
            "assistant" => return self.response(&line, out),
            "api-request" => {
                let known = self.metas.entry(out.conversation()).or_default();
                out.meta(Meta::of_model(line.params.model()).changes(known));
                self.requests.note_window(line.id.key(), &line.params);
            }
            "progress" => _ = bill_progress(line.data, &mut self.responses, out),
            "cost-state" => {
                self.chosen.costs(line.model_usage, out);
                out.own_cost(None, line.total_cost.0);
            }
            "system" if line.subtype.get() == Some("compact_boundary") => {
                out.reset(Reset {
                    key: line.uuid.key(),
                    ..Reset::compaction(Cause::Unlogged, RetainedItems::Nothing)
                });
            }
            _ => {}
        }
        Some(())
    }

    /// Reads a line of a response; `None` as above.
    fn response(&mut self, line: &Line<'_>, out: &mut EventSink<'_>) -> Option<()> {
        // One without an id counts if it has content.
        line.uuid.get()?;
        let message = &line.message;
        if is_synthetic(message.model.get(), line.is_api_error_message) {
            return Some(());
        }
        let ids = Ids {
            message: &message.id,
            request: &line.request_id,
            record: &line.uuid,
            parent: &line.parent_uuid,
        };
        let is_long = self.requests.is_long(&line.request_ref);
        let model = self.chosen.name(&message.model, &line.request_ref, is_long);
        let usage = message.usage.as_ref();
        let context = usage.map(|usage| usage.context().billed());
        let request = self.responses.key_of(&ids, context)?;
        bill_iterations(request, usage, out);
        let report = usage.zip(context);
        match report.filter(|(_, context)| self.responses.is_report(context)) {
            Some((usage, context)) => {
                out.usage(Usage {
                    model,
                    billed: usage.billed(),
                    ..Usage::reported(request, context.prompt())
                });
            }
            None => {
                out.meta(Meta::of_model(model));
                out.node(Node::output(None, Some(request), Vec::new()));
            }
        }
        Some(())
    }
}

/// Returns true if an assistant's record is not part of a response: nothing of it was sent or paid for.
pub(super) fn is_synthetic(model: Option<&str>, is_error: Option<bool>) -> bool {
    model == Some("<synthetic>") || is_error == Some(true)
}

/// Bills the iterations of a response that its usage does not contain: they have a model of their own, or wrote a
/// summary. Attempts that another model took over are not paid for (ccusage issues 1115 and 1423).
pub(super) fn bill_iterations(
    request: Key,
    usage: Option<&ResponseUsage<'_>>,
    out: &mut EventSink<'_>,
) {
    let iterations = usage.iter().flat_map(|usage| usage.billed_apart());
    for (n, iteration) in iterations {
        out.emit(Event::Billed {
            request: request.under(&format!("iteration {n}")),
            billed: iteration.billed(),
            of: CostOf::Response,
            model: iteration.model.boxed(),
        });
    }
}

/// Bills a sub-agent's response that its parent's log repeats, if it does: the sub-agent's own log may be gone.
pub(super) fn bill_progress(
    data: Option<Raw<'_>>,
    responses: &mut Responses,
    out: &mut EventSink<'_>,
) -> Option<()> {
    let data = data?.get();
    // Few of these records hold a response.
    memmem::find(data.as_bytes(), b"\"usage\"")?;
    let progress: Progress<'_> = lenient::parse(data, &LostFields::default()).ok()?;
    let message = progress.message;
    let bill = &message.message;
    let usage = bill.usage.as_ref()?;
    let ids = Ids {
        message: &bill.id,
        request: &message.request_id,
        record: &message.uuid,
        parent: &Text(None),
    };
    out.emit(Event::Billed {
        request: responses.key_of(&ids, Some(usage.context().billed()))?,
        billed: usage.billed(),
        of: CostOf::Response,
        model: bill.model.boxed(),
    });
    Some(())
}

/// Returns true if a sub-agent wrote this line. The field is near its beginning.
pub(super) fn is_side(line: &[u8]) -> bool {
    const FIELD: &[u8] = b"\"isSidechain\"";
    let Some(at) = memmem::find(line, FIELD) else {
        return false;
    };
    let rest = line[at + FIELD.len()..].trim_ascii_start();
    let value = rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
    value.is_some_and(|value| value.starts_with(b"true"))
}
