//! The methods of the protocol.

use super::hints::Hints;
use super::logs::Logs;
use super::tools::{self, Refused, Texts};
use super::wire::{Gone, Wire};
use super::{Setup, answers};
use anyhow::{Result, anyhow};
use render::text::inert;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError, serve_server};
use std::sync::{Mutex, PoisonError};

/// The server.
pub(crate) struct Server {
    logs: Mutex<Logs>,
    texts: Texts,
}

impl Server {
    pub(crate) fn new(setup: Setup) -> Server {
        let texts = setup.texts;
        let logs = Mutex::new(Logs::new(setup));
        Server { logs, texts }
    }

    /// Answers a call of a tool. The errors are for the model to read.
    fn answer(
        &self,
        call: CallToolRequestParams,
        hints: &Hints,
    ) -> Result<CallToolResult, Refused> {
        let tool = call.name;
        let asked = tools::parse(&tool, call.arguments, self.texts)?;
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        let of = logs.session(hints, &tool).map_err(Refused::Failed)?;
        let answer = answers::answer(&of, asked).map_err(Refused::Failed)?;
        Ok(CallToolResult::structured(answer))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("ctxgauge", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::definitions(
            self.texts,
        )))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let mut tools = tools::definitions(self.texts).into_iter();
        tools.find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = context.client_info().map(|client| client.name);
        let hints = Hints::of(client, &context.meta);
        match self.answer(call, &hints) {
            Ok(answer) => Ok(answer.into()),
            Err(Refused::Failed(why)) => {
                // It may name a path, or what the client has sent.
                let why = inert(&why).into_owned();
                Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into())
            }
            Err(Refused::Unknown) => Err(ErrorData::invalid_params("there is no such tool", None)),
        }
    }
}

/// Serves until there are no more requests.
///
/// # Errors
///
/// The client does not begin as the protocol wants it.
pub(crate) async fn run(server: Server, wire: Wire) -> Result<()> {
    match serve_server(server, wire).await {
        Ok(running) => {
            let ended = running.waiting().await;
            ended
                .map(drop)
                .map_err(|e| anyhow!("the server ended: {e}"))
        }
        // There was no request, or nobody reads the answer.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(ServerInitializeError::TransportError { error, .. }) if error.error.is::<Gone>() => {
            Ok(())
        }
        Err(error) => Err(anyhow!("the client did not begin: {error}")),
    }
}
