//! What decoders share. No agent is in it.

pub(crate) mod anthropic;
pub(crate) mod bodies;
pub mod damage;
pub(crate) mod genai;
pub(crate) mod image;
pub mod lenient;
pub(crate) mod openai;
pub(crate) mod pdf;
pub(crate) mod prompts;
pub(crate) mod protobuf;
pub(crate) mod rows;
mod text;
pub(crate) mod time;

pub use text::text;
