//! The agents' own programs: what they pass to a status line or a hook, what of that is kept for the session, and the
//! settings files in which ctxgauge is entered.
//!
//! - [`agent`]: the agents that do so.
//! - [`mod@line`]: the JSON that a status line is given, by four of them.
//! - [`hook`]: the JSON that a hook is given, by six, and what it answers.
//! - [`client_record`], [`hook_notes`]: what of it is kept for the session, each in a [`store`] in the state folder.
//! - [`settings`]: the change to an agent's settings that enters ctxgauge, made and taken back.

pub mod agent;
pub mod client_record;
mod fields;
pub mod hook;
pub mod hook_notes;
pub mod line;
pub mod settings;
pub mod store;

pub use fields::{LARGEST_INPUT, NoInput, is_id};
