//! The methods of the protocol. Until 2025 a session begins with `initialize`. Since 2026-07-28 there are no sessions: each
//! request has the version and the client in its metadata. Clients of both are served.

use super::deadline::Answers;
use super::hints::Hints;
use super::logs::Logs;
use super::tools::{self, Question, Refusal, Texts};
use super::wire::{Fault, Request};
use super::{Setup, answers};
use render::text::inert;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The revisions of the protocol that are spoken, the oldest first.
const VERSIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    WITHOUT_SESSIONS,
];
/// The newest one that has `initialize`.
const NEWEST_WITH_SESSIONS: &str = "2025-11-25";
const WITHOUT_SESSIONS: &str = "2026-07-28";

/// Keys of a request's metadata that describe its client.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";

/// The server.
pub(crate) struct Server {
    answers: Answers,
    texts: Texts,
    begun: Begun,
}

/// How the client has begun.
enum Begun {
    /// It has not.
    No,
    /// With `initialize`, and this name for itself.
    WithSession(Option<String>),
    /// With a request that has all metadata, as all its requests are to have.
    WithoutSession,
}

/// The parameters of `tools/call`.
#[derive(Deserialize)]
struct Call {
    name: String,
    arguments: Option<Map<String, Value>>,
}

impl Server {
    pub(crate) fn new(setup: Setup) -> Server {
        let longest = setup.longest;
        Server {
            texts: setup.texts,
            answers: Answers::new(Logs::new(setup), longest),
            begun: Begun::No,
        }
    }

    /// The result of a request.
    pub(crate) fn answer(&mut self, request: Request) -> Result<Value, Fault> {
        let (method, meta) = (request.method, request.meta);
        match &*method {
            "initialize" => return self.initialize(&request.params),
            "ping" if matches!(self.begun, Begun::No) => return Ok(json!({})),
            _ => {}
        }
        let version = meta.get(VERSION).and_then(Value::as_str);
        if let Some(asked) = version.filter(|asked| !VERSIONS.contains(asked)) {
            return Err(Fault::unsupported_version(asked, &VERSIONS));
        }
        let is_discovery = method == "server/discover";
        let is_without_session = version == Some(WITHOUT_SESSIONS);
        let has_session = matches!(self.begun, Begun::WithSession(_));
        let is_legacy = has_session && !is_discovery && !is_without_session;
        if !is_legacy {
            check(&meta)?;
        }
        if matches!(self.begun, Begun::No) && !is_discovery {
            self.begun = Begun::WithoutSession;
        }
        let mut result = match &*method {
            "ping" if is_legacy => json!({}),
            "server/discover" => json!({
                "supportedVersions": VERSIONS,
                "capabilities": capabilities(),
                "_meta": {"io.modelcontextprotocol/serverInfo": server_info()},
            }),
            "tools/list" => json!({"tools": tools::definitions(self.texts)}),
            "tools/call" => self.call(request.params, &meta)?,
            _ => return Err(Fault::no_such_method(method)),
        };
        if is_discovery || is_without_session {
            result["resultType"] = json!("complete");
            if method != "tools/call" {
                result["ttlMs"] = json!(0);
                result["cacheScope"] = json!("private");
            }
        }
        Ok(result)
    }

    fn initialize(&mut self, params: &Map<String, Value>) -> Result<Value, Fault> {
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let asked = asked.ok_or_else(|| Fault::wrong_params("there is no protocolVersion"))?;
        let is_spoken = asked < WITHOUT_SESSIONS && VERSIONS.contains(&asked);
        self.begun = Begun::WithSession(name(params.get("clientInfo")));
        Ok(json!({
            "protocolVersion": if is_spoken { asked } else { NEWEST_WITH_SESSIONS },
            "capabilities": capabilities(),
            "serverInfo": server_info(),
        }))
    }

    /// Calls a tool. What is wrong is for the model to read.
    fn call(
        &mut self,
        params: Map<String, Value>,
        meta: &Map<String, Value>,
    ) -> Result<Value, Fault> {
        let call: Call = serde_json::from_value(Value::Object(params))
            .map_err(|e| Fault::wrong_params(format!("the parameters are wrong: {e}")))?;
        let session_client = match &self.begun {
            Begun::WithSession(client) => client.clone(),
            _ => None,
        };
        let hints = Hints::of(name(meta.get(CLIENT)).or(session_client), meta);
        match self.tool(call, hints) {
            Ok(answer) => Ok(json!({
                "content": [{"type": "text", "text": answer.to_string()}],
                "structuredContent": answer,
                "isError": false,
            })),
            // It may name a path, or what the client has sent.
            Err(Refusal::Failed(why)) => Ok(json!({
                "content": [{"type": "text", "text": inert(&why)}],
                "isError": true,
            })),
            Err(Refusal::Unknown) => Err(Fault::wrong_params("there is no such tool")),
        }
    }

    fn tool(&mut self, call: Call, hints: Hints) -> Result<Value, Refusal> {
        let asked = tools::parse(&call.name, call.arguments, self.texts)?;
        let answer = self.answers.answer(move |logs| {
            if let Question::WhyOfAll(of) = &asked {
                return answers::of_all(logs.context(), of);
            }
            let of = logs.session(&hints, &call.name)?;
            answers::answer(&of, asked)
        });
        answer.map_err(Refusal::Failed)
    }
}

fn capabilities() -> Value {
    json!({"tools": {}})
}

fn server_info() -> Value {
    json!({"name": "ctxgauge", "version": env!("CARGO_PKG_VERSION")})
}

/// The name that a client has for itself.
fn name(client: Option<&Value>) -> Option<String> {
    client?.get("name")?.as_str().map(str::to_owned)
}

/// Checks that a request's metadata has what must be there without a session.
fn check(meta: &Map<String, Value>) -> Result<(), Fault> {
    let has_version = meta.get(VERSION).is_some_and(Value::is_string);
    let has_capabilities = meta.get(CAPABILITIES).is_some_and(Value::is_object);
    let missing: Vec<&str> = [(VERSION, has_version), (CAPABILITIES, has_capabilities)]
        .into_iter()
        .filter_map(|(key, is_there)| (!is_there).then_some(key))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Fault::wrong_params(format!(
        "request _meta is missing or has malformed required fields: {}",
        missing.join(", ")
    )))
}
