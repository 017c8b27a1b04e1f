//! mini-SWE-agent and SWE-agent: trajectories.
//!
//! A run is one JSON document, rewritten as a whole with every step, wherever its user wants it: by
//! default mini-SWE-agent keeps the last one alone, SWE-agent all of them in its own copy. After their
//! sources (SWE-agent/mini-swe-agent, `agents/default.py` and `models`; SWE-agent/SWE-agent,
//! `sweagent/agent`), checked on whole runs of mini-SWE-agent 2.4.6 and on three runs of SWE-agent:
//!
//! * mini-SWE-agent's `messages` are OpenAI's, and all of them are sent every time. An answer has the whole
//!   response in `extra`, with its usage. An answer that could not be read is not kept: its response is in
//!   the message of the user's that says so.
//! * SWE-agent's `history` has no usage; `info.model_stats` are sums of the run. Which of its observations
//!   are sent in full its configuration says, and this does not: all are counted here.
//! * Neither compacts. The tools' schemas are in no file.

use format::{
    Base, Claim, Decoder, Facts, Format, List, Root, StoreKind, Tier, decoder, facts, head,
};
use jiff::Timestamp;
use kit::anthropic::ToolNames;
use kit::bodies::Numbers;
use kit::lenient::{self, Lost, Raw, Text, record};
use kit::openai::{self, Call, Content, whole};
use model::event::{Key, Meta, Node, Part, Sink, Usage};
use model::{Kind, Role};
use std::path::Path;

/// mini-SWE-agent.
pub static MINI_SWE_AGENT: Format = Format {
    id: "mini-swe-agent",
    label: "mini-swe",
    tier: Tier::Read,
    roots: &[
        Root::new(Base::XdgConfig("mini-swe-agent"), "").env("MSWEA_GLOBAL_CONFIG_DIR"),
        Root::home("Library/Application Support/mini-swe-agent", ""),
    ],
    facts: Facts {
        mark: "`info.model_stats` before `messages` of a document",
        live: facts::EACH_REWRITE,
        known: "prompts, outputs, reasoning",
        estimated: "",
        sub_agents: "it has none",
        compactions: "it has none",
        tried: "whole runs of 2.4.6",
    },
    claims: &|path| claims(path, ".traj.json"),
    recognise: &|head| {
        let start = head::solid(head, 64);
        start.starts_with(br#"{"info":{"model_stats":{"instance_cost":"#)
    },
    decoder: &decoder::<Trajectory>,
    store: &|_| Some(StoreKind::Document),
    list: Some(List::Json("messages")),
    ..Format::DEFAULT
};

/// SWE-agent.
pub static SWE_AGENT: Format = Format {
    id: "swe-agent",
    label: "swe",
    roots: &[Root::home("SWE-agent/trajectories", "").env("SWE_AGENT_TRAJECTORY_DIR")],
    facts: Facts {
        mark: "`environment` and `trajectory` of a document",
        live: facts::EACH_REWRITE,
        known: "",
        estimated: "the tools",
        sub_agents: "none logged",
        compactions: "none logged",
        tried: "three runs with GPT-4",
    },
    tier: Tier::Read,
    claims: &|path| claims(path, ".traj"),
    recognise: &|head| {
        let start = head::solid(head, 512);
        start.starts_with(br#"{"environment":"#) && head::has(&start, r#""trajectory":["#)
    },
    decoder: &decoder::<Trajectory>,
    store: &|_| Some(StoreKind::Document),
    list: Some(List::Json("history")),
    terms: &[],
    ..Format::DEFAULT
};

fn claims(path: &Path, extension: &str) -> Option<Claim> {
    let name = path.file_name()?.to_str()?.strip_suffix(extension)?;
    // Every run of one user may write to this file.
    let id = Some(name).filter(|name| *name != "last_mini_run");
    Some(Claim {
        id: id.map(str::to_owned),
        store: StoreKind::Document,
        ..Claim::LINES
    })
}

record! {
    struct Document<'a> {
        info: Info<'a>,
        list: Option<Vec<Raw<'a>>> = "messages" | "history",
    }

    struct Info<'a> {
        version: Text<'a> = "mini_version" | "swe_agent_version",
        config: Config<'a>,
    }

    struct Config<'a> {
        model: Text<'a> = "model" / "model_name",
        cwd: Text<'a> = "environment" / "cwd",
    }

    struct Message<'a> {
        role: Text<'a>,
        content: Content<'a>,
        reasoning: Text<'a> = "reasoning_content",
        calls: Vec<Call<'a>> = "tool_calls",
        call: Text<'a> = "tool_call_id",
        of: Vec<Text<'a>> = "tool_call_ids",
        is_demo: bool,
        extra: Extra<'a>,
    }

    struct Extra<'a> {
        timestamp: Option<f64>,
        response: Option<Response<'a>>,
    }

    struct Response<'a> {
        model: Text<'a>,
        usage: Option<Raw<'a>>,
    }
}

/// Decodes one run.
#[derive(Clone, Default)]
struct Trajectory {
    tools: ToolNames,
    has_answered: bool,
    meta: Meta,
}

impl Decoder for Trajectory {
    fn read_document(&mut self, document: &str, out: &mut Sink<'_>) {
        let Some(document) = lenient::object::<Document<'_>>(document, out) else {
            return;
        };
        if document.list.is_none() {
            return out.unreadable("no messages");
        }
        let meta = Meta {
            version: document.info.version.boxed(),
            cwd: document.info.config.cwd.boxed(),
            ..Meta::of_model(model(&document.info.config.model).map(Into::into))
        };
        out.meta(meta.changes(&mut self.meta));
    }

    fn read_line(&mut self, element: &str, out: &mut Sink<'_>) {
        let Some(message) = lenient::object::<Message<'_>>(element, out) else {
            return;
        };
        let seconds = message.extra.timestamp;
        out.set_time(seconds.and_then(|at| Timestamp::from_millisecond((at * 1e3) as i64).ok()));
        self.message(&message, out);
    }

    fn copy(&self) -> Option<Box<dyn Decoder>> {
        Some(Box::new(self.clone()))
    }
}

fn model<'n>(name: &'n Text<'_>) -> Option<&'n str> {
    let name = name.get().filter(|name| !name.is_empty())?;
    Some(lenient::model_name(name))
}

impl Trajectory {
    fn message(&mut self, message: &Message<'_>, out: &mut Sink<'_>) {
        let line = out.place().line();
        let key = Some(Key::of_number("trajectory", line));
        let request = Key::of_number("trajectory response", line);
        let call = message
            .call
            .get()
            .or(message.of.first().and_then(Text::get));
        let node = match message.role.or_empty() {
            "system" => {
                let item = whole(&message.content, out.item(Role::Container, Kind::Prompt));
                Node::new(key, Part::Front, vec![item])
            }
            "assistant" => {
                self.has_answered = true;
                let Message {
                    reasoning,
                    content,
                    calls,
                    ..
                } = message;
                let items = openai::answer(reasoning, content, calls, &mut self.tools, out);
                out.node(Node::output(key, Some(request), items));
                return self.report(message, request, true, out);
            }
            "tool" => {
                let tool = self.tools.get(call);
                let item = whole(&message.content, out.tool_result(tool, call));
                Node::new(key, Part::Result, vec![item])
            }
            // An answer that could not be read: only this message of it is sent.
            "user" if message.extra.response.is_some() => {
                self.report(message, request, false, out);
                let item = whole(&message.content, out.item(Role::Container, Kind::Reminder));
                Node::new(key, Part::Injected, vec![item])
            }
            "user" if message.is_demo => {
                let item = whole(&message.content, out.item(Role::Container, Kind::Reminder));
                Node::new(key, Part::Injected, vec![item])
            }
            "user" if self.has_answered => {
                let item = whole(&message.content, out.tool_result(None, None));
                Node::new(key, Part::Result, vec![item])
            }
            "user" => {
                let item = whole(&message.content, out.item(Role::User, Kind::Text));
                Node::new(key, Part::Input, vec![item])
            }
            "exit" => return out.skip("exit"),
            "" => return out.unreadable("no role"),
            other => return out.unknown(format!("{other} message")),
        };
        out.node(node);
    }

    /// Emits the numbers of a response, of which the output stays or does not.
    fn report(&mut self, message: &Message<'_>, request: Key, stays: bool, out: &mut Sink<'_>) {
        let Some(response) = &message.extra.response else {
            return;
        };
        let lost = Lost::default();
        let numbers = response
            .usage
            .map(|usage| Numbers::read(usage, lost.at("usage")));
        lost.report(out);
        let usage = numbers.and_then(|numbers| numbers.usage(request, model(&response.model)));
        usage.into_iter().for_each(|usage| {
            out.usage(Usage {
                output: usage.output.filter(|_| stays),
                reasoning: usage.reasoning.filter(|_| stays),
                ..usage
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trajectories_are_told_by_name_and_by_content() {
        let id = |format: &Format, path: &str| format.claims(Path::new(path)).map(|claim| claim.id);
        let named = Some(Some("pydicom-1458".to_owned()));
        assert_eq!(id(&MINI_SWE_AGENT, "out/pydicom-1458.traj.json"), named);
        assert_eq!(id(&SWE_AGENT, "out/pydicom-1458.traj"), named);
        assert_eq!(id(&MINI_SWE_AGENT, "last_mini_run.traj.json"), Some(None));
        assert_eq!(id(&SWE_AGENT, "out/pydicom-1458.json"), None);
        let mini = b"{\n  \"info\": {\n    \"model_stats\": {\n      \"instance_cost\": 0.0,";
        let swe = b"{\n  \"environment\": \"main\",\n  \"trajectory\": [\n    {";
        assert!(MINI_SWE_AGENT.recognise(mini) && !MINI_SWE_AGENT.recognise(swe));
        assert!(SWE_AGENT.recognise(swe) && !SWE_AGENT.recognise(mini));
    }
}
