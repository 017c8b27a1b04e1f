//! Contains the code that decoders share. It knows of no agent.

pub mod anthropic;
pub mod bodies;
pub mod damage;
mod date;
pub mod genai;
pub mod image;
pub mod lenient;
pub mod openai;
pub mod pdf;
pub mod prompts;
pub mod protobuf;
pub mod rows;
pub mod sums;
mod text;
pub mod time;

pub use text::text;
