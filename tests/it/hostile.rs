//! What reaches the terminal, and how the program behaves as a process: hostile text, closed pipes, signals,
//! terminals of every kind.

mod bytes;
mod content;
#[cfg(unix)]
mod locale;
mod messages;
mod pipes;
mod plant;
mod screen;
mod sizes;
mod threats;
