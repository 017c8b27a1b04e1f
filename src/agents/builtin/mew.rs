//! MEW protocol: the envelope history of a space, in which people, agents and tools exchange messages.
//!
//! `<space>/.mew/logs/envelope-history.jsonl`, a line for each envelope that the gateway received, and one
//! for each participant that it was delivered to. What rjcorwin/mew-protocol documents (`cli/src/commands/
//! gateway.ts`, `src/participant/MEWParticipant.ts`, `src/agent/MEWAgent.ts`, `src/types/protocol.ts`);
//! no log of a real space was found:
//!
//! * Everybody receives every envelope, so one of them is in the log as often as there are participants,
//!   and once more. It is known by its id. One that the gateway rejects is received, then `rejected`:
//!   what was received counts once another line has followed.
//! * Each participant has a context of its own: its messages, thinking and calls, and the chat of the
//!   others. Results go to whoever asked: by the id of the request, or of the proposal that it fulfils. The
//!   welcome and who comes and goes are not sent to a model.
//! * `participant/status` has `tokens` of `max_tokens`: four characters to a token, summed up by the
//!   participant itself, so its own estimate and no provider's number. Its status is `near_limit` at 0.9 of it. That is shown
//!   among the items, and is in nobody's context.
//! * Above 0.95 of it an agent drops its oldest messages until it is at 0.7, and reports `compacted`. Where
//!   somebody asked for it, `participant/compact-done` has the number of messages, before or after that
//!   report; `participant/clear` and
//!   `participant/restart` drop all, `participant/forget` some or half, of whoever they are addressed to.
//! * No envelope names a model or has a provider's numbers.
//!
//! Nothing distinguishes people from agents but what they do. The gateway is neither; people go by the name that
//! the templates give them (`human`), or by `user`, unless they think aloud or count tokens; whoever else
//! sends chat, requests or thinking, or is addressed, is an agent. Tools answer only. What was delivered to an
//! agent before it was known to be one is in its context.

mod participant;
mod space;
mod wire;

use formats::{Claim, Format, Recognition, Root, Totals, decoder, head};
use space::Space;
use std::path::Path;

/// The format.
pub static MEW: Format = Format {
    id: "mew",
    // A space lies where its user made it; `.mew` below the home is the space of the home folder.
    roots: &[Root::home(".mew", "logs")],
    claims: &claims,
    // A file that holds several sessions is read from its beginning.
    recognition: Recognition::new(&recognise).several(),
    decoder: &decoder::<Space>,
    harmless: "rejected system/welcome system/presence system/register system/error chat/acknowledge \
        chat/cancel reasoning/start reasoning/conclusion reasoning/cancel mcp/withdraw mcp/reject \
        capability/grant capability/revoke capability/grant-ack space/invite space/kick \
        participant/joined participant/left participant/pause participant/resume \
        participant/request-status participant/shutdown participant/compact stream/request \
        stream/open stream/close stream/complete stream/error",
    totals: Totals::new(&[]),
    ..Format::DEFAULT
};

fn claims(path: &Path) -> Option<Claim> {
    (path.file_name()? == "envelope-history.jsonl").then_some(Claim::LINES)
}

fn recognise(head: &[u8]) -> bool {
    let line = head::first_line(head);
    let marks = [r#""envelope""#, r#""event""#, r#""kind""#];
    line.starts_with(b"{") && marks.iter().all(|mark| head::has(line, mark))
}

#[cfg(test)]
mod tests;
