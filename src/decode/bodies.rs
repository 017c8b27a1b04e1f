//! Bodies of requests to models and of their responses, in the words of each interface: OpenAI's Chat Completions and
//! Responses, Anthropic's Messages, Google's `generateContent`, Bedrock's Converse, the AI SDK, LangChain's messages,
//! the parts of OpenTelemetry's conventions and of VS Code's language models.
//!
//! Logs mix them, and gateways translate one into another, so nothing says beforehand which one a body is in: the names
//! of its fields show it. Each of them becomes the same [`Block`](crate::prompts::Block)s.

mod json;
mod message;
mod part;
pub mod request;
pub mod response;
pub mod stream;
pub mod usage;

pub use json::{NestedJson, Object, first, list, object_if, string};
pub use message::{blocks, calls, role_of};
pub use request::Request;
pub use response::{Response, Thoughts};
pub use usage::Numbers;

#[cfg(test)]
mod tests;
