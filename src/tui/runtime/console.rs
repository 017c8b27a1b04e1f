//! The terminal and the system's signals, as the event loop uses them. Tests have a console without a terminal.

use crate::runtime::input::Input;
use crate::runtime::signals::{self, EndedBy, Signal, Signals};
use crate::runtime::terminal::Terminal;
use crossterm::event::Event;
use std::future::{Future, pending};
use std::io;

/// Something that happens outside of the program.
#[derive(Debug)]
pub enum ConsoleEvent {
    /// An event of the terminal: a key, the mouse, another size.
    Event(Event),
    /// A signal of the system.
    Signal(Signal),
    /// The terminal is gone.
    Gone,
}

/// The terminal that the screens run on.
pub trait Console {
    /// Returns the columns and rows of the terminal.
    ///
    /// # Errors
    ///
    /// If the terminal does not say.
    fn size(&self) -> io::Result<(u16, u16)>;

    /// Takes the terminal, at first and after [`Console::leave`]: sets its modes and reads its events. In the
    /// background it waits, stopped, until the program has the terminal. Returns the signal that ended it meanwhile.
    ///
    /// # Errors
    ///
    /// If the modes cannot be set.
    fn enter(&mut self) -> impl Future<Output = io::Result<Option<EndedBy>>>;

    /// Leaves the terminal to another program: restores its modes and reads no events.
    fn leave(&mut self) -> impl Future<Output = ()>;

    /// Suspends the program as the shell's job control does. Returns when it is resumed, with the modes set, or the
    /// signal that ended it meanwhile.
    ///
    /// # Errors
    ///
    /// If the modes cannot be set.
    fn suspend(&mut self) -> impl Future<Output = io::Result<Option<EndedBy>>>;

    /// Returns the next thing that happens. While another program has the terminal, only signals do. The future may be
    /// dropped and created again without a loss.
    fn next(&mut self) -> impl Future<Output = ConsoleEvent>;
}

/// The terminal of the process.
pub(super) struct Tty {
    signals: Signals,
    terminal: Option<Terminal>,
    input: Option<Input>,
}

impl Tty {
    /// Returns the terminal in its own modes, until it is entered.
    pub(super) fn new(signals: Signals) -> Tty {
        Tty {
            signals,
            terminal: None,
            input: None,
        }
    }
}

impl Console for Tty {
    fn size(&self) -> io::Result<(u16, u16)> {
        crossterm::terminal::size()
    }

    async fn enter(&mut self) -> io::Result<Option<EndedBy>> {
        let (mut was_stopped, mut was_resumed) = (false, false);
        while !signals::has_terminal() {
            match self.signals.next_soon().await {
                Some(Signal::End(by) | Signal::Interrupt(by)) => return Ok(Some(by)),
                // A signal that ends the program may arrive later though it was sent before: another thread may have
                // received it.
                Some(_) => was_resumed = true,
                None if was_stopped && !was_resumed => break,
                None => {
                    signals::stop();
                    (was_stopped, was_resumed) = (true, false);
                }
            }
        }
        match &self.terminal {
            Some(terminal) => terminal.enter()?,
            None => self.terminal = Some(Terminal::open()?),
        }
        if self.input.is_none() {
            self.input = Some(Input::begin());
        }
        Ok(None)
    }

    async fn leave(&mut self) {
        // Two readers of the keys would steal them from each other.
        if let Some(input) = self.input.take() {
            input.end().await;
        }
        if let Some(terminal) = &self.terminal {
            terminal.leave();
        }
    }

    async fn suspend(&mut self) -> io::Result<Option<EndedBy>> {
        if let Some(terminal) = &self.terminal {
            terminal.leave();
            signals::stop();
        }
        self.enter().await
    }

    async fn next(&mut self) -> ConsoleEvent {
        tokio::select! {
            biased;
            signal = self.signals.next() => ConsoleEvent::Signal(signal),
            event = next_event(&mut self.input) => match event {
                Some(Ok(event)) => ConsoleEvent::Event(event),
                Some(Err(_)) | None => ConsoleEvent::Gone,
            },
        }
    }
}

async fn next_event(input: &mut Option<Input>) -> Option<io::Result<Event>> {
    match input {
        Some(input) => input.next().await,
        None => pending().await,
    }
}
