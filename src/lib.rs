//! ctxgauge: a terminal monitor for the context windows of LLM agents. This page is its architecture.
//!
//! # Bird's-eye view
//!
//! Agents write logs. Each log is a conversation, and somewhere in it the provider's numbers for each
//! request. ctxgauge finds the logs, follows them, folds each into a [`model::session::Session`], and
//! shows how full its context is, who filled it, and how each number is known. A provider's report
//! settles the past to the token; what has come since is estimated, with an error that is learned from
//! the session itself.
//!
//! ```text
//!  log files            one thread                                      one async task
//! ┌───────────┐ hint ┌────────────────────────────────────┐ Update ┌───────────────────────────────┐
//! │ ~/.claude │ ───▶ │ ingest: bytes ─▶ lines ─▶ agents   │ ─────▶ │ tui: select! { keys, updates, │
//! │ ~/.codex… │ stat │         ends first, then the rest  │bounded │      frames }                 │
//! └───────────┘ ◀─── │         tokens: counts of texts    │channel │ App::update(msg, now)─▶Effect │
//!                    └────────────────────────────────────┘        │ Fleet ▷ Session ▷ views       │
//!                      ▲ "somebody looks at this file" ◀────────── └───────────────────────────────┘
//! ```
//!
//! The headless faces ([`report`]) take the same way without threads: read, fold, print.
//!
//! # Code map
//!
//! | room | its job | may use |
//! |---|---|---|
//! | [`model`] | what is true. Pure: no file, no clock, no terminal | nothing of ours |
//! | [`tokens`] | counts o200k tokens, behind guards and a cache | `model` |
//! | [`agents`] | how it is written down: a decoder for each log format, pure | `model` |
//! | [`ingest`] | how it gets here: finds, reads, follows; the demo | `model`, `agents`, `tokens` |
//! | [`render`] | numbers, ages, sources and log text as strings, for screens and reports; pure | `model` |
//! | [`tui`] | how it is shown: `app` and `keymap` know no terminal, `views` draw, `runtime` runs | `model`; `runtime` what it is handed |
//! | [`report`] | how it is told: text and JSON for scripts | `model`, `agents`, `ingest`, `tokens` |
//! | [`paths`] | the user's folders and environment variables | nothing of ours |
//! | [`config`], [`cli`] | what the user can set, and what is remembered of it | `model`; keys, themes and `app` of `tui` |
//!
//! `main.rs` parses, chooses a face, and turns errors into words and exit codes.
//!
//! Where to look for what:
//!
//! - What a log can say: [`model::event`]. What follows from it: [`model::session`] (the conversation,
//!   resets, sub-agents), [`model::ledger`] (who cost what), [`model::context`] (how full it is),
//!   [`model::calibration`] (estimates and their error), [`model::window`] (windows, triggers),
//!   [`model::said`] (what the agent itself says of it), [`model::replay`] (all of it as of any moment),
//!   [`model::fleet`] (all sessions).
//! - What it costs and what would have been: [`model::carried`] (items, in tokens and money),
//!   [`model::tools`], [`model::repeats`], [`model::children`] (sub-agents), [`model::whatif`] (other
//!   policies).
//! - How good the numbers are: [`model::estimators`] (other rules beside the learned one),
//!   [`report::audit`] (all of them against what was reported).
//! - What is known of models and agents: `assets/models.toml`, nothing of it in code.
//! - Reading order and threads: [`ingest`]; the demo: [`ingest::demo`].
//! - What a log is kept in: [`ingest::store`], with a module for each kind: lines, documents that are
//!   rewritten, folders of files, pipes. Lines of any length in bounded memory: [`ingest::lines`],
//!   [`ingest::elide`]. What agents write beside their logs, such as telemetry: [`ingest::sidecar`].
//! - Keys: one table, [`tui::keymap::BINDINGS`], drives dispatch, help, footer and the README.
//! - The traps of each format: `tests/fixtures/<agent>/<case>/`, a log and the report expected of it.
//!
//! # Invariants
//!
//! For any input, held by property tests:
//!
//! - Roles sum to the total; known and estimated sum to the total; known is what the newest usable
//!   report says.
//! - A decoder never fails. What it cannot read is counted and shown, not dropped.
//! - What cannot be explained goes to the *system* role, never to a message.
//! - A log that is followed ends in the same state as one that is read afresh.
//! - The state as of a moment is the one that was told when the log ended there.
//! - Text of a log is hostile: nothing of it reaches a terminal before it is made inert.
//!
//! Deliberately absent:
//!
//! - the texts of conversations in memory: a preview, and where to read the rest;
//! - writing to a log, and the network;
//! - clock reads outside of `ingest` and `tui::runtime`, file access outside of `ingest` and `config`;
//! - unsafe code, memory maps, unbounded channels;
//! - selection by row number: rows move, sessions have keys.
//!
//! # How to add an agent
//!
//! One file in `src/agents/`, its line in [`agents::ALL`], a policy in `assets/models.toml`, a folder of
//! hand-written logs in `tests/fixtures/`, and the README's table made anew of what the format says of
//! itself: [`agents`] tells the steps, and tests name the one that was forgotten. Where a log is of no
//! use to others, a mapping does it without code: [`agents::custom`].
#![forbid(unsafe_code)]

pub mod agents;
pub mod cli;
pub mod commands;
pub mod config;
pub mod ingest;
pub mod model;
pub mod paths;
pub mod render;
pub mod report;
pub mod tokens;
pub mod tui;
