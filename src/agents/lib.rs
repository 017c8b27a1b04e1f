//! Decoders: one module per log format, each of which turns bytes into [`model::event`]s. They do no
//! I/O.
//!
//! [`format`](mod@format) is what a format is, [`kit`] what decoders share, [`builtin`] holds one module for each agent,
//! [`custom`] is the language in which a user describes a format without code. None of them refers to the list of all
//! formats: it is handed in from the top.
//!
//! # How to add an agent
//!
//! If the mapping language can describe its log, put a mapping into `assets/mappings/` and list it in
//! [`assets::MAPPINGS`]; `mini-swe-agent.toml` is a small example. Its facts are in `[facts]`. Otherwise:
//!
//! 1. Write `src/agents/builtin/<agent>.rs` with a [`Format`], which is plain data, and a type that implements
//!    [`Decoder`]. [`mistral_vibe_2`] is the smallest example.
//! 2. Declare the module in `src/agents/builtin/mod.rs`, and add the format to [`ALL`] there.
//! 3. Add the agent's policy, and models that only it uses, to `assets/models.toml`. If its own settings
//!    files can change when it compacts, describe them in [`Format::settings`].
//! 4. Put hand-written logs into `tests/fixtures/<agent>/<case>/`, one trap per case; `cargo test`
//!    writes and checks the snapshots beside them.
//! 5. Fill in [`Format::facts`]. The README's list of agents and the table in `assets/docs/agents.md` are made from
//!    it; tests print both when they have changed.
//!
//! Most logs are files of lines. What else a log can be kept in is listed in [`StoreKind`]; several sessions in
//! one log, files beside the log and the like are optional fields of [`Format`].
//!
//! A decoder never fails: what it cannot read becomes an [`Event::Unreadable`], [`Event::Skipped`] or
//! [`Event::Unknown`]; see [`Format::harmless`]. It can be given any line of a log at any time. It keeps what it
//! needs from one line to the next, such as the names of tools by call id.
//!
//! [`Event::Unreadable`]: model::event::Event::Unreadable
//! [`Decoder`]: format::Decoder
//! [`StoreKind`]: format::StoreKind
//! [`mistral_vibe_2`]: builtin::mistral_vibe_2
//! [`Event::Skipped`]: model::event::Event::Skipped
//! [`Event::Unknown`]: model::event::Event::Unknown

pub mod builtin;
pub mod custom;
#[cfg(test)]
mod testing;

pub use builtin::ALL;

use format::Format;

/// Returns the format of this id.
pub fn by_id(id: &str) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| format.id == id)
}

/// Returns the format whose log begins with these bytes.
pub fn recognise(head: &[u8]) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| format.recognise(head))
}
