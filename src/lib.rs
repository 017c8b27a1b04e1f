//! ctxgauge, a terminal monitor for the context windows of LLM agents. This page describes its architecture.
//!
//! # Overview
//!
//! Agents write logs. A log contains one or more conversations and, in most formats, the provider's token
//! counts for each request. ctxgauge finds the logs, follows them, folds the records of each conversation
//! into a [`model::session::Session`], and shows how full its context is, which roles fill it, and how each
//! number is known. A usage report makes the past exact; what was added since is estimated, with an error
//! that is learned from the session itself.
//!
//! ```text
//!  log files            a worker and its threads                         one async task
//! ┌───────────┐ hint ┌─────────────────────────────────────┐ Update ┌───────────────────────────────┐
//! │ ~/.claude │ ───▶ │ ingest: store ─▶ records ─▶ decoder │ ─────▶ │ tui: select! { keys, updates, │
//! │ ~/.codex… │ stat │         ─▶ events ─▶ session        │bounded │      frames }                 │
//! └───────────┘ ◀─── │ ends of all logs first              │channel │ App::update(msg) ─▶ Effect    │
//!                    └─────────────────────────────────────┘        │ App ─▶ views ─▶ terminal      │
//!                      ▲ which file is on the screen ◀───────────── └───────────────────────────────┘
//! ```
//!
//! The [`report`]s use the same readers without threads: read, fold, print.
//!
//! Lists hold a [`model::summary::Summary`] of each session, a small value. All of a session is held while its log is written to
//! or the session is open. What was summarised is kept from run to run in [`ingest::index`].
//!
//! Threads of the worker fold what they read whole, and send the sessions or their summaries. What is appended to a log is
//! sent as entries, which the screens fold: they alone hold sessions, without a lock.
//!
//! From the system's notice that a line was appended to a log to the row of the list:
//!
//! ```text
//! notify ─▶ watch: Hint ─▶ inbox: Wake ─▶ Worker::changed ─▶ check (stat) ─▶ read_appended ─▶ Cursor::more ─▶ lines
//!   ─▶ decoder ─▶ event::Sink: entries ─▶ Reporter ─▶ channel ─▶ App::update ─▶ Sessions::apply ─▶ Session::apply
//!   ─▶ Sessions::gauge, once a frame asks ─▶ views: cell ─▶ Canvas ─▶ painter ─▶ terminal
//! ```
//!
//! A document that was rewritten takes the way of a whole reading, [`Update::Rebuilt`](model::sessions::Update); a log of which only
//! summaries are held is read again.
//!
//! # Crates
//!
//! Each layer is a crate below `src`; its manifest lists what it may import, so the compiler holds this table. This
//! crate puts them together and re-exports them.
//!
//! | crate | responsibility | imports |
//! |---|---|---|
//! | [`model`] | the domain: sessions, their sizes, windows, forecasts. Pure: no files, clock or terminal | nothing |
//! | [`tokens`] | counts o200k tokens, by a table that `build.rs` makes, with a cache and limits | `model` |
//! | [`decode`] | what decoders share: JSON that cannot be relied on, images, prompts | `model` |
//! | [`formats`] | what a log format is, as data | `model`, `decode` |
//! | [`agents`] | one decoder per format; the mapping language. Pure: bytes in, events out | `assets`, `model`, `decode`, `formats` |
//! | [`files`] | the only way to open a file: it must be one, and not too large; the user's folders; what depends on the platform | nothing |
//! | [`integrations`] | what agents' own programs pass to a status line or a hook; their settings files | `assets`, `model`, `files` |
//! | [`ingest`] | finds, reads and follows logs, in rooms: bytes, lines, databases, what a log is, stores, finding, the worker | `assets`, `model`, `decode`, `formats`, `tokens`, `files`, `integrations` |
//! | [`render`] | numbers, ages, sources and log text as strings | `model` |
//! | [`report`] | reports without a screen, in each output format | `model`, `formats`, `tokens`, `files`, `integrations`, `ingest`, `render` |
//! | [`mcp`] | a server of the Model Context Protocol: answers with parts of reports | `model`, `formats`, `tokens`, `files`, `ingest`, `render`, `report` |
//! | [`tui`] | the screens: `app` and `keymap` hold the state, `views` draw it in the words of `paint`, `runtime` does the I/O | `assets`, `model`, `render`; the runtime also `ingest`, `files` |
//! | [`config`] | in this crate: the configuration file and its list of keys ([`config::keys`]) | what it configures |
//! | [`commands`] | in this crate: the command line, a file for each command; puts all the others together | everything |
//!
//! [`commands::program`] parses the arguments and turns errors into messages and exit codes; `main.rs` passes it the
//! arguments, environment and streams of the process, tests pass it their own. The list of all formats is handed in
//! from `commands`. The test `tests/it/house/imports.rs` checks the imports of the rooms within a crate; `circles.rs` in the
//! same folder checks that no files import each other in a circle, and `platform.rs` that code for one platform stands in
//! `src/files/platform` and, for signals, in `src/tui/runtime/signals`.
//!
//! The parts of the program:
//!
//! - What a log can contain: [`model::event`]. The state that is folded of it: [`model::state`], whose
//!   parts are private modules (the tree of records, items, requests, earlier states); what takes in events and
//!   keeps answers: [`model::session`]. How full a context is: [`model::context`]. Estimates and their error: [`model::calibration`]. Windows and triggers:
//!   [`model::window`]. The session as of any record: [`model::replay`]. What lists show of a session: [`model::summary`]; that
//!   with the settings of its agent: [`model::gauge`]. All sessions: [`model::sessions`].
//! - What it costs: [`model::carried`], [`model::tools`], [`model::repeats`], [`model::children`]. Other
//!   policies: [`model::whatif`].
//! - How good the numbers are: [`model::estimators`], [`model::forecast`], [`report::audit`].
//! - The line that an agent's status line or tmux shows: [`report::line`]; what an agent passes to it: [`integrations::line`].
//!   What hooks say and note: [`report::hook`], [`integrations::hook_notes`]. The change to an agent's settings: [`integrations::settings`].
//! - Facts about models and agents: `assets/models.toml`. An agent's rule that needs its settings or its
//!   own token count is beside its decoder.
//! - What a log is to those who read it: [`ingest::log`]. What it is kept in (lines, a rewritten document, rows of a
//!   database, a pipe): [`ingest::store`], the implementations of [`ingest::log::Store`]. Only that module distinguishes
//!   them. Which bytes are read (a file, compressed, a chain, a folder, a tree): [`ingest::source`]. What
//!   they are found and read in, the files of this machine or others: [`ingest::source::file_system`].
//! - Threads and the order of reading: [`ingest`]. Files that agents write beside their logs:
//!   [`ingest::sidecar`]. Lines of any length in bounded memory: [`ingest::lines`], [`ingest::elide`].
//! - The keys: [`tui::keymap::BINDINGS`] is the table for dispatch, help, footer and `assets/docs/keys.md`.
//! - The output formats: [`report::OutputFormat`]; of tables, [`report::export::Format`]. What is left out where texts must not
//!   leave the machine: [`report::redact`]. Files that the user asks for: [`files::output`].
//! - Texts that match a pattern: [`ingest::search`]; the search on the screens: [`tui::app::search`]. The stream of changes for other programs: [`report::follow`].
//! - The pitfalls of each log format: `tests/fixtures/<agent>/<case>/`, a log and its expected report.
//!
//! # Invariants
//!
//! Property tests check for any input:
//!
//! - The roles sum to the total; known and estimated sum to the total; known is what the newest usable
//!   usage report contains.
//! - A decoder does not fail. What it cannot read is counted and listed.
//! - Growth that no logged item explains goes to the *system* role, never to a message.
//! - A log that is followed leads to the same state as one that is read at once.
//! - The replayed state at a record is the state that was shown when the log ended there.
//! - Log text passes [`render::text::inert`] before it reaches a terminal or a text report. What else could be done to
//!   a user, and what stops it: [`trust`].
//!
//! Design constraints:
//!
//! - Texts of conversations are not held in memory: only a preview and the place to read the rest.
//! - ctxgauge does not write to logs and does not use the network.
//! - Files are accessed in `ingest`, `config` and `integrations`; besides, the runtime writes a text to a temporary file for
//!   the pager or editor, and keeps the state of the screens.
//! - The clock is read in `ingest`, the runtime, `follow` and commands that have a deadline, and for the progress of long
//!   work; everything else is given the time.
//! - No unsafe code, no memory maps, no unbounded channels.
//! - Selections are session keys, not row numbers, since rows move.
//!
//! # How to add an agent
//!
//! [`agents`] lists the steps: a decoder in `src/agents/builtin/`, its entry in [`agents::ALL`], a policy in
//! `assets/models.toml`, hand-written logs in `tests/fixtures/`, and the tables of the README and of
//! `assets/docs/agents.md`. Tests name the step that is missing. A log that is of no use to others can be
//! read with a mapping, without code: [`agents::custom`].
#![forbid(unsafe_code)]

pub mod commands;
pub mod config;
mod nearest;

#[cfg(feature = "mcp")]
pub use mcp;
pub use {
    agents, decode, files, formats, ingest, integrations, model, render, report, tokens, tui,
};

#[doc = include_str!("trust.md")]
pub mod trust {}
