//! Handles keys.

use super::tabs::{COMPACTIONS, ITEMS, TABS, Tab, Target, WHY};
use super::{
    App, Cursor, Effect, ListLine, NOTICE_ROWS, Overlay, Prompt, Purpose, Replay, Screen, Syntax,
    order,
};
use crate::keymap::{Action, KeyPress};
use model::lists::sessions::SessionKey;
use model::session::replay::Step;
use render::number;

impl App {
    pub(super) fn key(&mut self, key: KeyPress) -> Effect {
        if let Some(effect) = self.typed(key) {
            return effect;
        }
        let action = self.keymap.action(self.scope(), key);
        let ends = matches!(action, Some(Action::Quit | Action::Suspend));
        if self.ui.overlay.is_some() && !(ends && matches!(key, KeyPress::Ctrl(_))) {
            if self.type_in_help(key) {
                return Effect::None;
            }
            if let Some(effect) = self.choose(key) {
                return effect;
            }
            let opens = key == KeyPress::Enter || action == Some(Action::Open);
            if self.ui.overlay == Some(Overlay::Notices) && opens {
                return self.open_notice();
            }
            self.act_on_overlay(action);
            return Effect::None;
        }
        action.map_or(Effect::None, |action| self.act(action))
    }

    /// Scrolls the overlay; the key of the help goes on from the signs to the keys. Any other key closes it and does
    /// nothing else.
    fn act_on_overlay(&mut self, action: Option<Action>) {
        if action == Some(Action::Help) && self.ui.overlay == Some(Overlay::Signs) {
            return self.show_overlay(Overlay::Help);
        }
        let mut page = isize::try_from(self.ui.size.1.saturating_sub(4)).unwrap_or(1);
        if self.ui.overlay == Some(Overlay::Notices) {
            page /= NOTICE_ROWS as isize;
        }
        match action.and_then(|action| rows(action, page)) {
            Some(rows) => self.scroll_overlay(rows),
            None => {
                self.close_overlay();
            }
        }
    }

    pub(super) fn scroll_overlay(&mut self, by: isize) {
        let lines = match self.ui.overlay {
            Some(Overlay::Notices) => {
                return self.ui.notices.step(&self.notices.newest_first(), by);
            }
            Some(Overlay::Signs) => self.hidden_lines(self.legend_lines().len()),
            Some(Overlay::Help) => self.hidden_lines(self.help_lines().len()),
            _ => return,
        };
        let top = self.ui.overlay_top.saturating_add_signed(by);
        self.ui.overlay_top = top.min(lines);
    }

    /// Returns the number of an overlay's lines that do not fit.
    fn hidden_lines(&self, lines: usize) -> usize {
        lines.saturating_sub(usize::from(self.ui.size.1.saturating_sub(2)))
    }

    fn show_overlay(&mut self, overlay: Overlay) {
        self.ui.overlay = Some(overlay);
        self.ui.overlay_top = 0;
        self.ui.help_filter = None;
        self.ui.notices = Cursor::default();
    }

    /// Returns whether there was one.
    pub(super) fn close_overlay(&mut self) -> bool {
        let overlay = self.ui.overlay.take();
        if overlay == Some(Overlay::Notices) {
            self.notices.mark_seen();
        }
        overlay.is_some()
    }

    pub(super) fn act(&mut self, action: Action) -> Effect {
        if self.is_refused_there(action) {
            return Effect::None;
        }
        if let Some(rows) = rows(action, self.page_rows()) {
            return self.step(rows);
        }
        match action {
            Action::Open => return self.open(),
            Action::Back => return self.back(),
            Action::Filter if self.ui.screen == Screen::Overview => self.ask(Purpose::Filter),
            Action::Filter => {
                self.show(ITEMS);
                self.ask(Purpose::ItemFilter);
            }
            Action::Window => self.ask_window(),
            Action::Share => self.open_menu(Overlay::HandOn),
            Action::Menu => self.open_menu(Overlay::Actions),
            Action::Copy | Action::Editor if matches!(self.ui.screen, Screen::Text(_)) => {
                return self.act_on_text(action);
            }
            Action::Copy => self.open_menu(Overlay::Copy),
            Action::Resume | Action::Pane | Action::Folder | Action::Editor => {
                return self.run_program(action);
            }
            Action::Theme => return Effect::Theme,
            Action::Help => self.show_overlay(Overlay::Signs),
            Action::Notices => {
                self.notices.remove_info();
                self.show_overlay(Overlay::Notices);
            }
            Action::Suspend => return Effect::Suspend,
            Action::Quit => return Effect::Quit,
            other => return self.act_on_screen(other),
        }
        Effect::None
    }

    fn act_on_screen(&mut self, action: Action) -> Effect {
        match self.ui.screen {
            Screen::Overview => return self.act_on_sessions(action),
            Screen::Session(key) => {
                if !self.act_on_replay(action) {
                    self.act_on_page(key, action);
                }
            }
            Screen::Text(_) => return self.act_on_text(action),
            Screen::Results if action == Action::Search => self.ask_pattern(),
            Screen::Results => {}
        }
        Effect::None
    }

    fn act_on_sessions(&mut self, action: Action) -> Effect {
        let ui = &mut self.ui;
        match action {
            Action::Sort => return self.open_order(Overlay::Sort),
            Action::Group => return self.open_order(Overlay::Group),
            Action::Reverse => {
                self.reverse();
                return Effect::None;
            }
            Action::Idle => ui.is_live_only = !ui.is_live_only,
            Action::Newest => self.select_newest(),
            Action::Fold => self.fold_selected(),
            Action::LastOpened => return self.open_last(),
            Action::Search => self.ask_pattern(),
            Action::Largest => return self.begin_to_search(String::new(), Syntax::Any),
            Action::Replay => {
                let effect = self.open();
                if let Screen::Session(key) = self.ui.screen {
                    self.prepare_page(key);
                    self.play_from_start();
                }
                return effect;
            }
            _ => {}
        }
        self.stale();
        Effect::None
    }

    fn act_on_page(&mut self, key: SessionKey, action: Action) {
        let ui = &mut self.ui;
        match action {
            Action::NextTab => self.show(self.ui.tab.further(1)),
            Action::PreviousTab => self.show(self.ui.tab.further(-1)),
            Action::Sort => ui.item_sort = order::next(ui.item_sort),
            Action::Reverse => ui.item_direction = order::next(ui.item_direction),
            Action::All => {
                ui.listed = order::next(ui.listed);
                ui.listed_before = None;
                self.show(ITEMS);
            }
            Action::OneTool => self.one_tool(key),
            Action::NextOversized => self.step_oversized(key, 1),
            Action::PreviousOversized => self.step_oversized(key, -1),
            Action::Oversized => self.ask(Purpose::Oversized),
            Action::Mark if ui.tab == WHY => self.show_without_finding(key),
            Action::Mark => self.mark(),
            Action::Unmark => ui.marked.retain(|(session, _)| *session != key),
            other => {
                if let Some(tab) = TABS.iter().find(|tab| tab.action == other) {
                    self.show(tab);
                }
            }
        }
        self.stale();
    }

    /// Moves a replay. Returns whether the action does that.
    fn act_on_replay(&mut self, action: Action) -> bool {
        match action {
            Action::Replay => self.play_from_start(),
            Action::Play => self.play_or_pause(),
            Action::StepForward => self.move_by(self.usual_step(), 1),
            Action::StepBack => self.move_by(self.usual_step(), -1),
            Action::NextRecord => self.move_by(Step::Record, 1),
            Action::PreviousRecord => self.move_by(Step::Record, -1),
            Action::NextTurn => self.move_by(Step::Turn, 1),
            Action::PreviousTurn => self.move_by(Step::Turn, -1),
            Action::NextCompaction => self.move_by(Step::Reset, 1),
            Action::PreviousCompaction => self.move_by(Step::Reset, -1),
            Action::Faster => self.change_speed(1),
            Action::Slower => self.change_speed(-1),
            Action::Growth => self.go_to_next_jump(),
            Action::Search => self.ask_pattern(),
            Action::GoTo => self.ask(Purpose::GoTo),
            Action::Moment => self.go_to_selected(),
            Action::Live => self.go_live(),
            _ => return false,
        }
        true
    }

    /// Shows a tab.
    pub(super) fn show(&mut self, tab: &'static Tab) {
        self.ui.tab = tab;
        self.ui.back_to = None;
        self.stale();
    }

    /// Shows the items at once, for an action on them.
    fn show_items(&mut self, key: SessionKey) {
        self.show(ITEMS);
        self.prepare_page(key);
    }

    pub(super) fn open(&mut self) -> Effect {
        self.notices.remove_info();
        match self.ui.screen {
            Screen::Overview => match self.shown.lines.get(self.ui.sessions.index()) {
                Some(ListLine::Session(row)) => return self.open_session_page(row.key),
                Some(ListLine::Group(group)) => self.fold(group.id),
                None => {}
            },
            Screen::Session(key) => match self.selected_target() {
                Target::Nothing => {}
                Target::Text(ix) => return self.open_text(key, ix),
                Target::Tool(tool) => {
                    let tools = self.ui.tab;
                    self.filter_items("tool:", &tool);
                    self.ui.back_to = Some(tools);
                }
                Target::Reset(reset) => self.open_reset(key, reset),
                Target::Jump(rank) => self.go_to_jump(rank),
                Target::Finding(rank, place) => self.go_to_place(key, rank, place),
                Target::Policies => self.fold_policies(),
                Target::Session(child) => {
                    self.ui.came_from = Some(key);
                    return self.open_session_page(child);
                }
            },
            Screen::Text(key) => {
                self.leave_text();
                self.ui.screen = Screen::Session(key);
            }
            Screen::Results => return self.open_found(),
        }
        Effect::None
    }

    /// Returns the target that Enter opens in the list of the active tab.
    pub(super) fn selected_target(&self) -> Target {
        let row = self.ui.cursor().index();
        let target = self.list().map(|(list, _)| list.target(row));
        target.unwrap_or(Target::Nothing)
    }

    pub(super) fn open_session_page(&mut self, key: SessionKey) -> Effect {
        if let Some(effect) = self.open_there(key) {
            return effect;
        }
        if matches!(self.ui.screen, Screen::Overview | Screen::Results) {
            self.ui.home = self.ui.screen;
        }
        self.sought = None;
        if self.is_typing(Purpose::Filter).is_some() {
            self.ui.prompt = None;
        }
        self.ui.sessions.pin(super::LineId::Session(key));
        self.ui.screen = Screen::Session(key);
        self.note_last(key);
        self.ui.replay = Replay {
            speed: self.ui.replay.speed,
            ..Replay::default()
        };
        self.ui.cursors.clear();
        self.ui.listed = self.ui.listed_before.take().unwrap_or(self.ui.listed);
        self.ui.opened_reset = None;
        (self.ui.opened_finding, self.ui.back_to) = (None, None);
        self.ui.lists_policies = false;
        self.shown.page = None;
        self.is_opening = true;
        self.rest.asked = Some(key.file);
        self.stale();
        Effect::LookAt(key.file)
    }

    /// Lists all that a reset dropped and kept, or the resets again.
    fn open_reset(&mut self, key: SessionKey, reset: usize) {
        let session = self.sessions.get(key);
        let reset = session.and_then(|session| session.resets().get(reset));
        let place = reset.map(|reset| reset.place);
        let opened = std::mem::take(&mut self.ui.opened_reset);
        self.ui.opened_reset = place.filter(|place| opened != Some(*place));
        self.stale();
    }

    /// Lists the policies of the what-if tab, or what the user can do again.
    fn fold_policies(&mut self) {
        self.ui.lists_policies = !self.ui.lists_policies;
        self.ui.cursors.remove(self.ui.tab.name);
        self.stale();
    }

    /// Goes back one step: from a text to where it was opened, from a place to its finding, from a tool's items to the
    /// tools, from a replay to live, from a compaction to all of them, from a filter to all items, from a sub-agent to its
    /// parent, from a session to where it was opened, from the results of a search to the list.
    fn back(&mut self) -> Effect {
        self.notices.remove_info();
        if let (Screen::Session(_), Some(tab)) = (self.ui.screen, self.ui.back_to) {
            self.ui.item_filter.clear();
            self.show(tab);
            return Effect::None;
        }
        match self.ui.screen {
            Screen::Results => return self.leave_results(),
            Screen::Text(_) => self.leave_text(),
            Screen::Session(_) if self.ui.replay.is_on() => self.go_live(),
            Screen::Session(_) if self.ui.tab == COMPACTIONS && self.ui.opened_reset.is_some() => {
                self.ui.opened_reset = None;
            }
            Screen::Session(_)
                if self.ui.tab.action == Action::WhatIf && self.ui.lists_policies =>
            {
                self.fold_policies();
            }
            Screen::Session(_) if !self.ui.item_filter.is_empty() => self.ui.item_filter.clear(),
            Screen::Session(_) => {
                self.ui.screen = match self.ui.came_from.take() {
                    Some(parent) => Screen::Session(parent),
                    None => self.ui.home,
                };
            }
            Screen::Overview if !self.ui.filter.is_empty() => {
                self.ui.filter.clear();
                self.ui.sessions.settle(&self.shown.line_ids);
            }
            Screen::Overview => {}
        }
        self.stale();
        Effect::None
    }

    pub(super) fn step(&mut self, by: isize) -> Effect {
        if !matches!(self.ui.screen, Screen::Text(_)) {
            // The result of the last action is about the row that was selected.
            self.notices.remove_info();
        }
        match self.ui.screen {
            Screen::Overview => self.ui.sessions.step(&self.shown.line_ids, by),
            Screen::Session(_) => {
                let mut cursor = self.ui.cursor();
                if let Some(ids) = self.list_ids() {
                    cursor.step(ids, by);
                }
                self.ui.set_cursor(cursor);
                self.unfold_finding();
                self.sought = None;
            }
            Screen::Text(_) => return self.scroll_text(by),
            Screen::Results => self.step_results(by),
        }
        Effect::None
    }

    fn page_rows(&self) -> isize {
        let rows = match self.ui.screen {
            Screen::Overview | Screen::Results => self.overview_layout().list.height,
            Screen::Session(_) => self.session_layout().list.height,
            Screen::Text(_) => self.ui.size.1.saturating_sub(super::FRAME_ROWS + 1),
        };
        isize::try_from(rows).unwrap_or(1).max(1)
    }

    /// Lists the items of the selected item's tool, or of its kind if it has none, or all again.
    fn one_tool(&mut self, key: SessionKey) {
        let is_one = |name| self.ui.item_filter.contains(name);
        if is_one("tool:") || is_one("kind:") {
            self.ui.item_filter.clear();
            return;
        }
        self.show_items(key);
        let item = self.selected_item().map(|(_, _, item)| item);
        let of = item.map(|item| match item.tool.as_deref() {
            Some(tool) => ("tool:", tool.to_owned()),
            None => ("kind:", item.kind.name().to_owned()),
        });
        if let Some((name, value)) = of {
            self.filter_items(name, &value);
        }
    }

    /// Lists only the items that have this value of a name of the filter's language.
    fn filter_items(&mut self, name: &str, value: &str) {
        // The filter is split at spaces: the first word of a value must do.
        let word = value.split_whitespace().next().unwrap_or_default();
        self.ui.item_filter = format!("{name}{word}");
        self.ui.cursors.remove(ITEMS.name);
        self.show(ITEMS);
    }

    fn step_oversized(&mut self, key: SessionKey, by: isize) {
        self.show_items(key);
        let Some((list, view)) = self.list() else {
            return;
        };
        let window = view.page.state.limits.window;
        let large = |row: &usize| {
            let item = list.item(*row);
            item.is_some_and(|(_, tokens, _)| self.oversized().is_reached(tokens, window))
        };
        let mut cursor = self.ui.cursor();
        let (here, ids) = (cursor.index(), list.ids());
        // Around the ends; the selected row comes last.
        let len = ids.len() as isize;
        let mut others = (1..=len).map(|n| (here as isize + by * n).rem_euclid(len) as usize);
        match others.find(large) {
            Some(row) => {
                cursor.select(ids, row);
                self.ui.set_cursor(cursor);
            }
            None => self.notify(format!(
                "no listed item is oversized ({} or more)",
                self.oversized()
            )),
        }
    }

    /// Marks the selected item and selects the next.
    fn mark(&mut self) {
        let Some((key, _, item)) = self.selected_item() else {
            return;
        };
        let mark = (key, super::items::item_id(item));
        if !self.ui.marked.remove(&mark) {
            self.ui.marked.insert(mark);
        }
        self.step(1);
    }

    /// Goes to the record of the selected item or compaction; from there to the item's removal.
    fn go_to_selected(&mut self) {
        let here = self.moment().filter(|_| self.ui.replay.is_on());
        let mut cursor = self.ui.cursor();
        let Some((list, view)) = self.list() else {
            return;
        };
        let timeline = &view.page.timeline;
        let row = cursor.index();
        let there = match self.selected_item() {
            Some((_, _, item)) => timeline.of_item(item).map(|came| {
                let left = timeline.of_leaving(item).filter(|_| here == Some(came));
                left.unwrap_or(came)
            }),
            None => list.reset(row).and_then(|reset| timeline.of_reset(reset)),
        };
        if let (Some(_), Some(id)) = (self.selected_item(), list.ids().get(row)) {
            cursor.pin(*id);
        }
        if let Some(there) = there {
            let at = timeline.moment(there).and_then(|moment| moment.at);
            self.ui.set_cursor(cursor);
            self.jump_to(there);
            if let Some(at) = at {
                let age = number::age(super::seconds_since(at, self.now));
                self.notify(format!(
                    "{}, {age} ago",
                    at.strftime("%Y-%m-%d %H:%M:%S UTC")
                ));
            }
        }
    }

    /// Returns the prompt, if it is for this.
    pub fn is_typing(&self, purpose: Purpose) -> Option<&Prompt> {
        self.ui.prompt.as_ref().filter(|p| p.purpose == purpose)
    }
}

/// Returns the rows that an action moves by, with `page` rows on a page; `None`: it does not move.
pub(super) fn rows(action: Action, page: isize) -> Option<isize> {
    Some(match action {
        Action::Up => -1,
        Action::Down => 1,
        Action::PageUp => -page,
        Action::PageDown => page,
        Action::First => isize::MIN,
        Action::Last => isize::MAX,
        _ => return None,
    })
}
