//! What lies where on the screen that was drawn last, for the mouse.

use super::{Column, Panel};
use crate::tui::keymap::Action;
use ratatui::layout::{Position, Rect};

/// What a click on a zone means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    /// The same as a key.
    Action(Action),
    /// The rows of the list on screen: selects, and on what is selected already opens.
    List,
    /// The heading of a column: orders the sessions by it, then the other way round.
    Column(Column),
    /// A tab of a session's screen.
    Tab(Panel),
    /// The course of a session: each column stands for a request.
    Course,
    /// The line of a replay: each column stands for a moment.
    Transport,
    /// What lies over the screen: nothing happens behind it.
    Overlay,
}

/// The zones of a screen, those drawn last on top.
#[derive(Debug, Clone, Default)]
pub struct Zones(Vec<(Rect, Hit)>);

impl Zones {
    /// Adds a zone above all others.
    pub fn add(&mut self, area: Rect, hit: Hit) {
        if !area.is_empty() {
            self.0.push((area, hit));
        }
    }

    /// What lies at a column and row, and the area that it is part of.
    pub fn at(&self, column: u16, row: u16) -> Option<(Rect, Hit)> {
        let here = Position::new(column, row);
        let zones = self.0.iter().rev();
        zones.copied().find(|(area, _)| area.contains(here))
    }
}
