//! The live screens.
//!
//! ```text
//!  keys, mouse ─┐                          ┌─ views ─▶ buffer ─▶ paint ─▶ terminal
//!               ├─▶ Msg ─▶ App::update ──▶ App
//!  updates ─────┘             │            └─ prepare: computes what is on screen
//!                             └─▶ Effect (quit, suspend, read a file)
//! ```
//!
//! [`app`] and [`keymap`] use no terminal and no clock: the time is passed in. [`views`] turn an
//! [`app::App`] into cells and change nothing. Only [`runtime`] touches the terminal.
//!
//! A new column of the list of sessions is an entry of [`app::columns::COLUMNS`]; a new tab of a session is an
//! entry of [`app::tabs::TABS`] and its file; a new key is an entry of [`keymap::BINDINGS`].

pub mod app;
pub mod keymap;
mod pacer;
pub mod paint;
pub mod runtime;
#[cfg(test)]
mod screens;
mod signals;
pub mod state;
mod terminal;
#[cfg(test)]
mod testing;
pub mod theme;
pub mod views;
pub mod widgets;

pub use runtime::{Console, Happening, Start, check_output, run, run_on};
pub use signals::{EndedBy, Signal};

/// Prepares for the signals of job control. Call it before any thread is started.
pub fn prepare_for_signals() {
    signals::hold_stops();
}
