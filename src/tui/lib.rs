//! The live screens.
//!
//! ```text
//!  keys, mouse ─┐                          ┌─ views ─▶ buffer ─▶ painter ─▶ terminal
//!               ├─▶ Msg ─▶ App::update ──▶ App
//!  updates ─────┘             │            └─ prepare: computes what is on screen
//!                             └─▶ Effect (quit, suspend, read a file)
//! ```
//!
//! [`app`] and [`keymap`] use no terminal and no clock: the time is passed in. They describe the screen in the terms of
//! [`paint`]: styled pieces, areas, what a click does. [`views`] turn an [`app::App`] into cells, with
//! [`widgets`] and a [`theme`], and change nothing. Only [`runtime`] touches the terminal.
//!
//! A new column of the list of sessions is an entry of [`app::columns::COLUMNS`]; a new tab of a session is an
//! entry of [`app::tabs::TABS`] and its file; a new key is an entry of [`keymap::BINDINGS`].

pub mod app;
pub mod keymap;
pub mod paint;
pub mod runtime;
#[cfg(test)]
mod tests;
pub mod theme;
pub mod views;
pub mod widgets;

pub use runtime::{
    Console, ConsoleEvent, EndedBy, Finder, Logs, OpenedFirst, Signal, Start, check_output, pager,
    prepare_for_signals, run, run_on, when_ended,
};
