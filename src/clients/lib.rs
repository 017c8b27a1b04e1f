//! The agents' own programs: what they pass to a status line or a hook, what of that is kept for the session, and the
//! settings files in which ctxgauge is entered.
//!
//! - [`line`]: the JSON that a status line is given, in four dialects.
//! - [`hook`]: the JSON that a hook is given, and what it may answer.
//! - [`kept`]: what clients reported about a session that its log does not contain, in the state folder.
//! - [`settings`]: the change to an agent's settings that enters ctxgauge, made and taken back.

pub mod hook;
pub mod kept;
pub mod line;
pub mod settings;
