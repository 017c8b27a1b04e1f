//! How it is shown: the live screens.
//!
//! ```text
//!  keys, mouse ─┐                          ┌─ views ─▶ buffer ─▶ paint ─▶ terminal
//!               ├─▶ Msg ─▶ App::update ──▶ App
//!  updates ─────┘             │            └─ prepare: only what is on screen is worked out
//!                             └─▶ Effect (quit, suspend, look at a file)
//! ```
//!
//! [`app`] and [`keymap`] know no terminal and no clock: the time is handed in. [`views`] turn an
//! [`app::App`] into cells and change nothing. [`runtime`] alone touches the terminal.

pub mod app;
pub mod keymap;
mod pacer;
pub mod paint;
pub mod runtime;
#[cfg(test)]
mod screens;
mod signals;
mod terminal;
#[cfg(test)]
mod testing;
pub mod theme;
pub mod views;
pub mod widgets;

pub use runtime::{Start, run};
