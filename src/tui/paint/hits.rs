//! Keeps the areas of the drawn screen that react to the mouse.

use super::area::Area;
use crate::keymap::Action;

/// The effect of a click on an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    /// The effect of a key.
    Action(Action),
    /// Selects a row of the list; opens the selected one.
    List,
    /// Sorts the sessions by the column of this name; again reverses the sort.
    Column(&'static str),
    /// Shows the tab of this name.
    Tab(&'static str),
    /// Goes to the request of this column of the timeline.
    Timeline,
    /// Goes to the moment of this column of the replay's track.
    Transport,
    /// Selects a notice; opens the session of the selected one.
    Notices,
    /// Chooses a row of the menu.
    Menu,
    /// Closes the overlay; nothing behind it reacts.
    Overlay,
}

/// The areas of a screen, the topmost last.
#[derive(Debug, Clone, Default)]
pub struct HitMap(Vec<(Area, Hit)>);

impl HitMap {
    /// Adds an area above all others.
    pub fn add(&mut self, area: Area, hit: Hit) {
        if !area.is_empty() {
            self.0.push((area, hit));
        }
    }

    /// Returns the topmost area at a column and row, and what a click there does.
    pub fn at(&self, column: u16, row: u16) -> Option<(Area, Hit)> {
        let areas = self.0.iter().rev();
        areas.copied().find(|(area, _)| area.contains(column, row))
    }
}
