//! Finds the keys that the footer names: those that have an effect on the present screen.

use super::tabs::{ITEMS, Target, WHY};
use super::{App, Screen};
use crate::keymap::{Action, ActionGroup, Hint};
use render::text;

impl App {
    /// Returns the footer's hints, the most useful first; help and quit are the last.
    pub fn hints(&self) -> Vec<Hint> {
        let hints = |action| self.does_something(action);
        if !matches!(self.ui.screen, Screen::Session(_)) || !self.ui.replay.is_on() {
            return self.keymap.hints(self.scope(), hints);
        }
        // The keys of the replay come first, since no other line names them but the one that ends it.
        let of_replay = |action| is_of_replay(action) && hints(action);
        let others = |action| !is_of_replay(action) && hints(action);
        let mut all = self.keymap.hints(self.scope(), of_replay);
        all.extend(self.keymap.hints(self.scope(), others));
        let columns = |hint: &Hint| text::width(&hint.keys) + text::width(hint.word) + 2;
        if all.iter().map(columns).sum::<usize>() > usize::from(self.ui.size.0) {
            share_step(&mut all);
        }
        all
    }

    /// Returns true if an action has an effect now.
    fn does_something(&self, action: Action) -> bool {
        match (self.ui.screen, action) {
            (Screen::Session(_), _) => {}
            (Screen::Text(_), Action::Open) => return self.is_text_found(),
            (Screen::Results, Action::Open) => return self.found_item().is_some(),
            _ => return true,
        }
        let (tab, replays) = (self.ui.tab, self.ui.replay.is_on());
        match action {
            Action::Mark => tab == ITEMS || (tab == WHY && self.selected_finding().is_some()),
            Action::Filter | Action::Sort | Action::NextOversized => tab == ITEMS,
            Action::Moment => matches!(tab.action, Action::Items | Action::Compactions),
            Action::Open => self.selected_target() != Target::Nothing,
            Action::StepBack | Action::StepForward => replays || !tab.has_list(),
            Action::Replay => !replays,
            action if is_of_replay(action) => replays,
            _ => true,
        }
    }
}

/// Puts the keys of all steps into one hint, so that a screen of 80 columns names each of them.
fn share_step(hints: &mut Vec<Hint>) {
    let is_step = |hint: &Hint| matches!(hint.word, "record" | "turn" | "compaction");
    let keys: String = hints
        .iter()
        .filter(|hint| is_step(hint))
        .map(|hint| &*hint.keys)
        .collect();
    if let Some(step) = hints.iter_mut().find(|hint| hint.word == "step") {
        step.keys.push_str(&keys);
        hints.retain(|hint| !is_step(hint));
    }
}

/// Returns true if an action is of a replay alone. Its keys are hints while one is on the screen.
fn is_of_replay(action: Action) -> bool {
    let begins_or_ends_it = matches!(action, Action::Replay | Action::Moment | Action::Live);
    ActionGroup::of(action) == ActionGroup::Replay && !begins_or_ends_it
}
