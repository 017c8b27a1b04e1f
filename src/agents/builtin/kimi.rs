//! Kimi Code, and kimi-cli before it.
//!
//! Three kinds of line logs, which differ in every line. After the sources (MoonshotAI/kimi-code,
//! `packages/agent-core/src/agent`: `context`, `compaction`, `records`; MoonshotAI/kimi-cli,
//! `src/kimi_cli`: `soul/context.py`, `soul/compaction.py`, `wire`), checked on two real sessions of
//! Kimi Code with a sub-agent's and on eleven of kimi-cli:
//!
//! * **Kimi Code, `…/agents/<agent>/wire.jsonl`**: changes to the context. `step.begin` begins a
//!   request, `step.end` has its numbers, after the results of its calls; `usage.record` repeats
//!   them or, in 2.1, precedes the calls. With `usageScope: "session"` it is a call outside of all turns, such as
//!   the one that wrote a summary, which repeats nothing: totals include it, the context does not.
//!   Each following prompt was at least the one before with its output, in 22 of 22 pairs.
//! * A compaction keeps the messages of persons, 20,000 tokens of them: `keptUserMessageCount` messages, of
//!   which `keptHeadUserMessageCount` are the oldest; those at the cuts are shortened, which no record
//!   shows, so they are counted whole. Without that count (older versions) all after the first
//!   `compactedCount` messages stayed; a step counts as one, even without output.
//!   `tokensBefore` and `tokensAfter` are estimates without system prompt and tools.
//! * An undo removes messages of persons, and what followed but for notes of the harness; it does
//!   nothing beyond a compaction. A micro compaction clears results of 100 tokens or more among the
//!   first `cutoff` messages.
//! * `origin` names the author of a message that is sent as the user's: a skill by `skillName`, a plugin's
//!   command by `commandName`, a command that the user ran in two messages by `phase` (`input`,
//!   `output`); what is not listed there is the harness's (`context/types.ts`).
//! * `maxTokens` of a request is what is left of the window, or a cap where one is set: no window.
//! * **kimi-cli, `wire.jsonl`**: what it sent to its screen, with times, the window and sub-agents' events
//!   in theirs. It shows neither notes of the harness nor summaries: they are unlogged. A compaction
//!   keeps the last two messages. A message that begins with `/` is a command and is not sent.
//!   Arguments of calls may come in pieces: items of their own.
//! * **kimi-cli, `context.jsonl`**: the context itself, without times, model and window. A number of
//!   tokens precedes the model's message (the prompt) and follows it (with the output); one
//!   elsewhere is an estimate. A revert, a clear and a compaction start a new file, the old
//!   one becomes `context_1.jsonl` and so on: such a file is read from its start again. It is the
//!   other half of the `wire.jsonl` beside it, which older versions did not write: it is read where
//!   that is missing, and where it is named.

use decode::lenient::{self, Text, record};
use formats::names;
use formats::{Claim, Decoder, Format, Recognition, Root, Totals, decoder, head};
use model::event::{EventSink, Key, Meta};
use std::path::Path;

mod cli;
mod context;
mod history;
mod message;
mod settings;
#[cfg(test)]
mod tests;
mod wire;

/// The names of its files.
const WIRE: &str = "wire.jsonl";
const CONTEXT: &str = "context.jsonl";

/// The format.
pub static KIMI: Format = Format {
    id: "kimi",
    roots: &[
        Root::home(".kimi-code", "sessions").env("KIMI_CODE_HOME"),
        Root::home(".kimi", "sessions").env("KIMI_SHARE_DIR"),
    ],
    claims: &claims,
    recognition: Recognition::new(&recognise),
    decoder: &decoder::<KimiDecoder>,
    reset_marks: &[
        r#""type":"context.apply_compaction""#,
        r#""type":"context.clear""#,
    ],
    harmless: "_checkpoint agent.message.appended agent.turn.ended agent.turn.started config.update \
        context.undo cron.add cron.cursor cron.delete file_history.checkpoint file_history.tracked \
        forked full_compaction.begin full_compaction.cancel full_compaction.complete goal.clear \
        goal.create goal.update interaction.request interaction.resolved \
        interruptionReminder.recorded llm.request llm.tools_snapshot mcp.tools_discovered \
        permission.record_approval_result permission.set_mode plan.revision plan_mode.cancel \
        plan_mode.enter plan_mode.exit plugin.session_start profile.bind prompt.aborted \
        prompt.completed prompt.steered runtime.set_binding swarm_mode.enter swarm_mode.exit \
        task.started task.terminated task.waitDelivered token_counting.measured \
        token_counting.rebased token_counting.truncated token_counting.turn_recorded \
        tools.register_user_tool tools.reset_active_tools tools.set_active_tools \
        tools.unregister_user_tool tools.update_store tower_mode.enter tower_mode.exit turn.cancel \
        turn.ended turn.prompt turn.started turn.steer turn.step.interrupted turn.step.retrying \
        usage.record ApprovalRequest ApprovalResponse BtwBegin BtwEnd CompactionBegin HookRequest \
        HookResolved HookTriggered MCPLoadingBegin MCPLoadingEnd Notification PlanDisplay \
        QuestionRequest StepInterrupted StepRetry ToolCallRequest TurnEnd",
    turn_over: "turn.ended TurnEnd",
    totals: Totals::new(&[
        ("input_other", |b| b.input),
        ("cache_creation", |b| b.cache_creation),
        ("cache_read", |b| b.cache_read),
        ("output", |b| b.output),
    ])
    .cached_beside(),
    settings: Some(&settings::SETTINGS),
    ..Format::DEFAULT
};

/// Claims `<folder>/<session>/agents/<agent>/wire.jsonl`, where the agent `main` is the session itself, and kimi-cli's
/// `<folder>/<session>/wire.jsonl` and `context.jsonl`. A sub-agent of kimi-cli is in its session's.
fn claims(path: &Path) -> Option<Claim> {
    let mut names = names(path);
    let name = names.next().filter(|name| [WIRE, CONTEXT].contains(name))?;
    let (own, folder) = (names.next()?, names.next()?);
    let claim = match folder {
        "subagents" => return None,
        "agents" => {
            let session = names.next()?;
            match own {
                "main" => Claim::session(session),
                _ => Claim::session(&format!("{session}/{own}")).child_of(session),
            }
        }
        _ => Claim::session(own),
    };
    Some(Claim {
        superseded_by: (name == CONTEXT).then(|| path.with_file_name(WIRE)),
        ..claim
    })
}

fn recognise(head: &[u8]) -> bool {
    let start = head::solid(head, 64);
    [
        &br#"{"type":"metadata","protocol_version":"#[..],
        br#"{"role":"_system_prompt","#,
        br#"{"role":"_checkpoint","#,
        br#"{"role":"_usage","#,
    ]
    .iter()
    .any(|mark| start.starts_with(mark))
        || start.starts_with(br#"{"timestamp":"#)
            && head::has(&start, r#","message":{"type":"TurnBegin""#)
}

record! {
    /// The fields that distinguish lines.
    struct Head<'a> {
        kind: Text<'a> = "type",
        role: Text<'a>,
        time: Option<f64>,
        created_at: Option<f64>,
        timestamp: Option<f64>,
        message: Option<cli::WireEvent<'a>>,
    }
}

/// Decodes one file.
#[derive(Default)]
struct KimiDecoder {
    wire: wire::Wire,
    cli: cli::Cli,
    context: context::Context,
}

impl Decoder for KimiDecoder {
    fn skip_to_end(&mut self, _head: &Meta) {
        self.wire.skip_to_end();
    }

    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(head) = lenient::object::<Head<'_>>(line, out) else {
            return;
        };
        let time = head.time.or(head.timestamp).or(head.created_at);
        out.set_time(time.and_then(message::time));
        match (head.kind.get(), head.role.get(), &head.message) {
            (Some(kind), ..) => self.wire.read(kind, line, out),
            (None, Some(role), _) => self.context.read(role, line, out),
            (None, None, Some(event)) => self.cli.read(event, out),
            (None, None, None) => out.unreadable("no type and no role"),
        }
    }
}

/// Returns the key of this line's node: lines have no ids.
fn here(out: &EventSink<'_>) -> Key {
    Key::of_number("kimi", out.place().id())
}

/// Returns the request that this line begins, the same in every copy of it: by its time, to the microsecond.
fn request(out: &EventSink<'_>) -> Key {
    match out.time() {
        Some(time) => Key::of_parts(&["kimi", &time.to_string()]),
        None => Key::of_number("kimi request", out.place().id()),
    }
}
