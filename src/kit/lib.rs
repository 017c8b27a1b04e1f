//! What decoders share. No agent is in it.

pub mod anthropic;
pub mod damage;
pub mod genai;
pub mod image;
pub mod lenient;
pub mod pdf;
pub mod prompts;
pub mod protobuf;
pub mod rows;
mod text;

pub use text::text;
