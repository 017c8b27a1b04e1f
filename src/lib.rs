//! ctxgauge is a terminal monitor for the context windows of LLM agents. This page describes its architecture.
//!
//! Agents write logs. Most logs contain the provider's token counts for each request. ctxgauge finds the logs, follows
//! them, and shows how full the context of each conversation is, which roles fill it, and how each number is known:
//! reported by the provider, derived from reports, or estimated. A usage report makes the past exact. What was added
//! since is estimated, with an error that is learned from the session itself.
//!
//! # Five nouns
//!
//! **A [`Format`](formats::Format)** describes the logs of one agent: where they are, how to recognise one, how long its
//! conversations last, and which [`Decoder`](formats::Decoder) reads it. A decoder gets bytes and returns events.
//! It opens no files and cannot fail: what it cannot read is counted.
//!
//! **A [`Store`](ingest::log::Store)** is what a log is kept in: a file of lines, a rewritten document, a folder, rows of a
//! database, a pipe. It returns records and notices what was appended or rewritten. Decoders and sessions do not distinguish stores.
//!
//! **An [`Event`](model::event::Event)** is a fact that a record contains: an item, a usage report, a compaction, a setting.
//!
//! **A [`Session`](model::session::Session)** is one conversation. It applies events in order and answers questions: how
//! full the context is, which items fill it, when the agent will compact, what it was at any earlier record. When a usage
//! report comes, its attribution shares the exact growth among the items that explain it.
//!
//! **A [`Summary`](model::lists::summary::Summary)** is what a list shows of a session: a small value without items. With the
//! settings of the session's agent it is a [`SessionGauge`](model::lists::gauge::SessionGauge). Whole sessions are held in memory
//! only while they are open on a screen, while their agent runs, or for ten minutes after the last write to their log. Summaries are kept from run to run in
//! [`ingest::index`].
//!
//! # How they relate
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
//! The worker reads the log on the screen in time slices, and passes other logs to a pool of threads. Both send sessions or
//! their summaries. Records that are appended to a followed log are sent as entries, an entry being the events of one
//! record, and the task of the screens applies them. So only that task holds sessions, and they need no lock. The
//! [`report`]s use the same readers without the worker: they read several logs at once, in order, and print.
//!
//! An appended line reaches its row in the list as follows:
//!
//! ```text
//! notify ─▶ watch: Hint ─▶ inbox: Wake ─▶ Worker::changed ─▶ check (stat) ─▶ read_appended ─▶ Cursor::more ─▶ lines
//!   ─▶ decoder ─▶ EventSink: entries ─▶ Reporter ─▶ channel ─▶ App::update ─▶ Sessions::apply ─▶ Session::apply
//!   ─▶ Sessions::gauge, once a frame asks ─▶ views: cell ─▶ Canvas ─▶ painter ─▶ terminal
//! ```
//!
//! A rewritten document is read whole again and replaces its sessions ([`Update::Rebuilt`](model::lists::sessions::Update)). A log
//! of which only summaries are held is read again from its end first, and whole later.
//!
//! # Crates
//!
//! Each layer is a crate below `src`; its manifest lists what it may import, so the compiler enforces this table. This
//! crate puts them together and re-exports them.
//!
//! | crate | responsibility | imports |
//! |---|---|---|
//! | `assets` | what is part of the program: models, agents, the demo's logs, the pages of the help, schemas | nothing |
//! | [`model`] | the domain: sessions, their sizes, windows, forecasts. Pure: no files, clock or terminal | nothing |
//! | [`tokens`] | counts o200k tokens, by a table that `build.rs` makes, with a cache and limits | `model` |
//! | [`json`] | a scanner of JSON that skips what nobody reads, sixteen bytes at a time | nothing |
//! | [`decode`] | what decoders share: JSON that cannot be relied on, images, prompts | `model`, `json` |
//! | [`formats`] | what a log format is, as data | `model`, `decode` |
//! | [`agents`] | one decoder per format; the mapping language. Pure: bytes in, events out | `assets`, `model`, `json`, `decode`, `formats` |
//! | [`files`] | the only way to open a file: it must be one, and not too large; lines of bounded length; the user's folders; what depends on the platform | nothing |
//! | [`integrations`] | what agents' own programs pass to a status line or a hook; their settings files | `assets`, `model`, `files` |
//! | [`ingest`] | finds, reads and follows logs. Its modules, each using those before it: bytes, lines, databases, logs, stores, finding, the worker | `assets`, `model`, `json`, `decode`, `formats`, `tokens`, `files`, `integrations` |
//! | [`render`] | numbers, ages, sources and log text as strings | `model` |
//! | [`hosts`] | the sessions of other machines, read through the user's own `ssh` | `model`, `formats`, `files`, `render` |
//! | [`report`] | reports without a screen, in each output format | `model`, `formats`, `hosts`, `tokens`, `files`, `integrations`, `ingest`, `render` |
//! | [`mcp`] | a server of the Model Context Protocol: answers with parts of reports | `model`, `formats`, `tokens`, `files`, `ingest`, `render`, `report` |
//! | [`metrics`] | the numbers of sessions for Prometheus: a file, or a server on a loopback address | `model`, `tokens`, `files`, `ingest`, `render`, `report` |
//! | [`tui`] | the screens: `app` and `keymap` hold the state, `views` draw it in the words of `paint`, `runtime` does the I/O | `assets`, `model`, `render`; the runtime also `ingest`, `files` |
//! | [`config`] | in this crate: the configuration file and its list of keys ([`config::keys`]) | what it configures |
//! | [`commands`] | in this crate: the command line, a file for each command; puts all the others together | everything |
//!
//! [`commands::program`] parses the arguments and turns errors into messages and exit codes. `main.rs` passes it the
//! arguments, environment and streams of the process; tests pass their own. `commands` passes the list of all formats to the
//! crates below it. Tests in `tests/it/house` check what the compiler does not: the imports of modules within a crate
//! (`imports.rs`), that no files import each other in a circle (`circles.rs`), and that code for one platform is in
//! `src/files/platform` or `src/tui/runtime/signals` (`platform.rs`).
//!
//! # Where to find things
//!
//! | subject | module |
//! |---|---|
//! | the facts that a log can contain | [`model::event`] |
//! | a session's state, made of private parts: the tree of records, items, requests, earlier states | [`model::state`] |
//! | a session's answers, which are kept until the state changes | [`model::session`] |
//! | how full a context is | [`model::session::context`] |
//! | estimates and their error | [`model::sizes::calibration`] |
//! | windows and triggers | [`model::window`], [`model::due::triggers`] |
//! | forecasts, and how good they were | [`model::outlook::forecast`], [`report::audit`] |
//! | the session as of any record | [`model::session::replay`] |
//! | tokens that are sent again with each request, by item, tool and sub-agent | [`model::cost::carried`], [`model::cost::tools`], [`model::lists::children`] |
//! | other policies, windows and triggers | [`model::outlook::whatif`] |
//! | what took the tokens and the money, and what to change | [`model::why`], [`report::why`]; in words [`render::finding`] |
//! | all sessions, as lists show them | [`model::lists::sessions`] |
//! | facts about models and agents | `assets/models.toml`, `assets/agents.toml` |
//! | an agent's rule that needs its settings or its own token count | beside its decoder in [`agents`] |
//! | the kinds of stores | [`ingest::store`] |
//! | the bytes of a store: a file, compressed, several in a row, a folder | [`ingest::bytes::source`] |
//! | threads, and the order of reading | [`ingest`] |
//! | the session that an id, a folder, a process or a tool call refers to | [`ingest::discover::which`] |
//! | folders that may be somebody else's, out of which no link leads | [`files::Root`], [`ingest::bytes::source::file_system::Rooted`] |
//! | files that agents write beside their logs | [`ingest::sidecar`] |
//! | lines of any length in bounded memory | [`ingest::bytes::lines`], [`ingest::bytes::elide`] |
//! | search | [`ingest::search`]; on the screens [`tui::app::search`] |
//! | keys: the table for dispatch, help, footer and `assets/docs/keys.md` | [`tui::keymap::BINDINGS`] |
//! | output formats | [`report::OutputFormat`]; of tables, [`report::export::Format`] |
//! | what a report shows, and the formats that are written from it | [`report::Document`] |
//! | texts that are left out where they must not leave the machine | [`report::output::redact`] |
//! | files that are written | [`files::output`] |
//! | changes as a stream for other programs, or in words for people | [`report::follow`] |
//! | the signs of numbers that may differ once more of a log is read | [`render::sure`] |
//! | the line of a status line or of tmux | [`report::client::line`]; its input from an agent, [`integrations::line`] |
//! | metrics of sessions: names, units, values | [`metrics::catalogue`] |
//! | hooks | [`report::client::hook`], [`integrations::hook_notes`] |
//! | changes to an agent's settings | [`integrations::settings`] |
//! | the pitfalls of each log format | `tests/fixtures/<agent>/<case>/`: a log, the numbers that it is about, its report |
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
//! - Log text passes [`render::text::inert`] before it reaches a terminal or a text report. What else an attacker could
//!   do, and what stops it: [`trust`].
//!
//! Design constraints:
//!
//! - Texts of conversations are not held in memory: only a preview and the place to read the rest.
//! - ctxgauge does not write to logs. It does not use the network itself, except for [`metrics::server`], which the user
//!   starts. [`hosts`] runs the user's own `ssh`.
//! - Files are opened by [`files`] alone. They are read in `ingest`, `config` and `integrations`. Files are written by
//!   `report` (pages and tables to share), `metrics` (a file for Prometheus and the salt of its hashes), `integrations`
//!   (settings that the user asked to change, and notes), the index in `ingest`, and `commands`; the runtime writes a text
//!   for the pager or editor, and keeps the state of the screens.
//! - The clock is read in `ingest`, `hosts`, `metrics`, the runtime, `follow`, where there is a deadline (`commands`, `mcp`),
//!   and for the progress of long work; everything else is given the time.
//! - No unsafe code and no memory maps. What a channel can hold is bounded by its size or by its only sender.
//! - Selections are session keys, not row numbers, since rows move.
//!
//! # How to add an agent
//!
//! [`agents`] lists the steps, and [`agents::keys_marks_sums`] says what counts twice: a decoder in
//! `src/agents/builtin/`, its entry in [`agents::ALL`], a policy in `assets/models.toml`, hand-written logs in
//! `tests/fixtures/`, and the tables of the README and of `assets/docs/agents.md`. Tests name the step that is missing.
//! A log that is of no use to others can be read with a mapping, without code: [`agents::custom`].
#![forbid(unsafe_code)]

pub mod commands;
pub mod config;
mod nearest;

#[cfg(feature = "mcp")]
pub use mcp;
pub use {
    agents, decode, files, formats, hosts, ingest, integrations, json, metrics, model, render,
    report, tokens, tui,
};

#[doc = include_str!("trust.md")]
pub mod trust {}
