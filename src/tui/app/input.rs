//! What keys do.

use super::{
    App, Cursor, Effect, Listed, Overlay, Panel, Prompt, Purpose, Replay, Screen, ShownItems, Top,
};
use crate::model::fleet::SessionKey;
use crate::model::replay::Step;
use crate::tui::keymap::{Action, Press};

impl App {
    pub(super) fn press(&mut self, press: Press) -> Effect {
        if let Some(effect) = self.typed(press) {
            return effect;
        }
        let action = self.keymap.action(self.scope(), press);
        if self.ui.overlay.is_some() {
            match action {
                Some(Action::Quit | Action::Suspend) if matches!(press, Press::Ctrl(_)) => {}
                action => {
                    self.act_on_overlay(action);
                    return Effect::None;
                }
            }
        }
        action.map_or(Effect::None, |action| self.act(action))
    }

    /// What lies over the screen is scrolled; it goes away with any other key, which does nothing else.
    fn act_on_overlay(&mut self, action: Option<Action>) {
        let page = isize::try_from(self.ui.size.1.saturating_sub(4)).unwrap_or(1);
        let by = match action {
            Some(Action::Up) => -1,
            Some(Action::Down) => 1,
            Some(Action::PageUp) => -page,
            Some(Action::PageDown) => page,
            Some(Action::First) => isize::MIN,
            Some(Action::Last) => isize::MAX,
            _ => {
                self.close_overlay();
                return;
            }
        };
        self.scroll_overlay(by);
    }

    pub(super) fn scroll_overlay(&mut self, by: isize) {
        let lines = match self.ui.overlay {
            Some(Overlay::Help) => {
                let all = self.help_lines().len();
                all.saturating_sub(usize::from(self.ui.size.1.saturating_sub(2)))
            }
            _ => self.notices.all().len().saturating_sub(1),
        };
        let top = self.ui.overlay_top.saturating_add_signed(by);
        self.ui.overlay_top = top.min(lines);
    }

    fn show_overlay(&mut self, overlay: Overlay) {
        self.ui.overlay = Some(overlay);
        self.ui.overlay_top = 0;
    }

    /// Returns whether there was one.
    pub(super) fn close_overlay(&mut self) -> bool {
        let overlay = self.ui.overlay.take();
        if overlay == Some(Overlay::Notices) {
            self.notices.look_at_all();
        }
        overlay.is_some()
    }

    pub(super) fn act(&mut self, action: Action) -> Effect {
        let page = self.page_rows();
        match action {
            Action::Up => return self.step(-1),
            Action::Down => return self.step(1),
            Action::PageUp => return self.step(-page),
            Action::PageDown => return self.step(page),
            Action::First => return self.step(isize::MIN),
            Action::Last => return self.step(isize::MAX),
            Action::Open => return self.open(),
            Action::Back => self.back(),
            Action::Filter if self.ui.screen == Screen::Overview => self.ask(Purpose::Filter),
            Action::Filter => {
                self.show(Panel::Items);
                self.ask(Purpose::ItemFilter);
            }
            Action::Window => self.ask_window(),
            Action::Theme => return Effect::Theme,
            Action::Help => self.show_overlay(Overlay::Help),
            Action::Notices => self.show_overlay(Overlay::Notices),
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
                if !self.act_on_time(action) {
                    self.act_on_page(key, action);
                }
            }
            Screen::Text(_) => return self.act_on_text(action),
        }
        Effect::None
    }

    fn act_on_sessions(&mut self, action: Action) -> Effect {
        match action {
            Action::Sort => self.ui.sort = self.ui.sort.next(),
            Action::Reverse => self.ui.direction = self.ui.direction.turned(),
            Action::Group => self.ui.grouping = self.ui.grouping.next(),
            Action::Idle => self.ui.idle = self.ui.idle.other(),
            Action::Newest => self.select_newest(),
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
        match action {
            Action::NextPanel => self.show(self.ui.panel.further(1)),
            Action::PreviousPanel => self.show(self.ui.panel.further(-1)),
            Action::Sort => self.ui.item_sort = self.ui.item_sort.next(),
            Action::Reverse => self.ui.item_direction = self.ui.item_direction.turned(),
            Action::All => {
                self.ui.listed = match self.ui.listed {
                    ShownItems::InContext => ShownItems::All,
                    ShownItems::All => ShownItems::InContext,
                };
                self.show(Panel::Items);
            }
            Action::OneTool => self.one_tool(),
            Action::NextOversized => self.step_oversized(1),
            Action::PreviousOversized => self.step_oversized(-1),
            Action::Oversized => self.ask(Purpose::Oversized),
            Action::Mark => self.mark(),
            Action::Unmark => self.ui.marked.retain(|(session, _)| *session != key),
            panel => {
                let panel = Panel::ALL.into_iter().find(|p| p.action() == panel);
                if let Some(panel) = panel {
                    self.show(panel);
                }
            }
        }
        self.stale();
    }

    /// What moves a replay. Returns whether the action was one of these.
    fn act_on_time(&mut self, action: Action) -> bool {
        match action {
            Action::Replay => self.play_from_start(),
            Action::Play => self.play_or_pause(),
            Action::StepOn => self.step_on(self.usual_step()),
            Action::StepBack => self.step_back(self.usual_step()),
            Action::RecordOn => self.step_on(Step::Record),
            Action::RecordBack => self.step_back(Step::Record),
            Action::TurnOn => self.step_on(Step::Turn),
            Action::TurnBack => self.step_back(Step::Turn),
            Action::ResetOn => self.step_on(Step::Reset),
            Action::ResetBack => self.step_back(Step::Reset),
            Action::Faster => self.faster(),
            Action::Slower => self.slower(),
            Action::Growth => self.go_to_growth(),
            Action::Find => self.ask(Purpose::Find),
            Action::FindNext => self.find_next(),
            Action::Moment => self.go_to_selected(),
            Action::Live => self.go_live(),
            _ => return false,
        }
        true
    }

    /// Shows another tab.
    pub(super) fn show(&mut self, panel: Panel) {
        self.ui.panel = panel;
        self.stale();
    }

    pub(super) fn open(&mut self) -> Effect {
        match self.ui.screen {
            Screen::Overview => match self.shown.lines.get(self.ui.sessions.index()) {
                Some(Listed::Session(row)) => return self.open_session_page(row.key),
                Some(Listed::Group(group)) => self.fold(group.id),
                None => {}
            },
            Screen::Session(key) => match self.ui.panel {
                Panel::Items | Panel::Compactions => return self.read_selected(),
                Panel::Tools => {
                    let tool = self.shown.page.as_ref().and_then(|page| {
                        Some(page.tools.get(self.ui.tools.index())?.name.to_string())
                    });
                    if let Some(tool) = tool {
                        self.filter_tool(&tool);
                    }
                }
                Panel::Agents => {
                    let agent = self
                        .shown
                        .page
                        .as_ref()
                        .and_then(|page| page.agents.get(self.ui.agents.index()));
                    if let Some(child) = agent.map(|agent| agent.key) {
                        self.ui.came_from = Some(key);
                        return self.open_session_page(child);
                    }
                }
                Panel::WhatIf | Panel::Course => {}
            },
            Screen::Text(_) => {}
        }
        Effect::None
    }

    pub(super) fn open_session_page(&mut self, key: SessionKey) -> Effect {
        if self
            .ui
            .prompt
            .as_ref()
            .is_some_and(|p| p.purpose == Purpose::Filter)
        {
            self.ui.prompt = None;
        }
        self.ui.sessions.pin(super::LineId::Session(key));
        self.ui.screen = Screen::Session(key);
        self.ui.replay = Replay {
            speed: self.ui.replay.speed,
            ..Replay::default()
        };
        self.ui.items = Cursor::new(Top::Follows);
        self.ui.tools = Cursor::new(Top::Follows);
        self.ui.facts = Cursor::new(Top::Follows);
        self.ui.policies = Cursor::new(Top::Follows);
        self.ui.agents = Cursor::new(Top::Follows);
        self.shown.page = None;
        self.stale();
        Effect::LookAt(key.file)
    }

    /// One step back: from a text to its session, from a replay to live, from a filter to all items, from
    /// a sub-agent to its parent, from a session to the list.
    fn back(&mut self) {
        match self.ui.screen {
            Screen::Text(_) => self.leave_text(),
            Screen::Session(_) if self.ui.replay.is_on() => self.go_live(),
            Screen::Session(_) if !self.ui.item_filter.is_empty() => self.ui.item_filter.clear(),
            Screen::Session(_) => {
                self.ui.screen = match self.ui.came_from.take() {
                    Some(parent) => Screen::Session(parent),
                    None => Screen::Overview,
                };
            }
            Screen::Overview => self.ui.filter.clear(),
        }
        self.stale();
    }

    pub(super) fn step(&mut self, by: isize) -> Effect {
        match self.ui.screen {
            Screen::Overview => self.ui.sessions.step(&self.shown.line_ids, by),
            Screen::Session(_) => {
                let Some(page) = &self.shown.page else {
                    return Effect::None;
                };
                match self.ui.panel {
                    Panel::Items => self.ui.items.step(&page.item_ids, by),
                    Panel::Tools => self.ui.tools.step(&page.tool_ids, by),
                    Panel::Compactions => self.ui.facts.step(&page.facts.ids, by),
                    Panel::WhatIf => self.ui.policies.step(&page.policy_ids, by),
                    Panel::Agents => self.ui.agents.step(&page.agent_ids, by),
                    Panel::Course => {}
                }
            }
            Screen::Text(_) => return self.scroll_text(by),
        }
        Effect::None
    }

    fn page_rows(&self) -> isize {
        let rows = match self.ui.screen {
            Screen::Overview => self.overview_layout().list.count,
            Screen::Session(_) => self.session_layout().list.count,
            Screen::Text(_) => self.ui.size.1.saturating_sub(super::AROUND + 1),
        };
        isize::try_from(rows).unwrap_or(1).max(1)
    }

    fn one_tool(&mut self) {
        let tool = self
            .selected_item()
            .map(|(_, _, item)| item.tool.as_deref().unwrap_or(item.kind.name()).to_owned());
        match tool {
            _ if self.ui.item_filter.contains("tool:") => self.ui.item_filter.clear(),
            Some(tool) => self.filter_tool(&tool),
            None => {}
        }
    }

    /// Lists the items of one tool alone.
    fn filter_tool(&mut self, tool: &str) {
        // A name with a space in it is told by its first word.
        let word = tool.split_whitespace().next().unwrap_or_default();
        self.ui.item_filter = format!("tool:{word}");
        self.ui.items = Cursor::new(Top::Follows);
        self.show(Panel::Items);
    }

    fn step_oversized(&mut self, by: isize) {
        self.show(Panel::Items);
        let Some(page) = &self.shown.page else {
            return;
        };
        let window = page.state.limits.window;
        let large = |at: &usize| {
            let item = page.items.get(*at);
            item.is_some_and(|item| self.ui.oversized.is_reached(item.tokens, window))
        };
        let here = self.ui.items.index();
        let found = if by > 0 {
            let after = (here + 1..page.items.len()).find(large);
            after.or_else(|| (0..=here).find(large))
        } else {
            let before = (0..here).rev().find(large);
            before.or_else(|| (here..page.items.len()).rev().find(large))
        };
        match found {
            Some(at) => self.ui.items.select(&page.item_ids, at),
            None => self.tell(format!(
                "no item listed is oversized: none has {} or more",
                self.ui.oversized
            )),
        }
    }

    fn mark(&mut self) {
        if self.ui.panel != Panel::Items {
            return;
        }
        let Some((key, _, item)) = self.selected_item() else {
            return;
        };
        let mark = (key, super::page::id(item));
        if !self.ui.marked.remove(&mark) {
            self.ui.marked.insert(mark);
        }
        // The next one is at hand.
        self.step(1);
    }

    /// To the moment at which what is selected came; from there to the one at which it left.
    fn go_to_selected(&mut self) {
        let here = self.moment().filter(|_| self.ui.replay.is_on());
        let there = match self.ui.panel {
            Panel::Items => {
                let found = self.selected_item().and_then(|(_, _, item)| {
                    let timeline = &self.shown.page.as_ref()?.timeline;
                    let came = timeline.of_item(item)?;
                    let left = timeline.of_leaving(item).filter(|_| here == Some(came));
                    Some((super::page::id(item), left.unwrap_or(came)))
                });
                if let Some((item, _)) = found {
                    self.ui.items.pin(item);
                }
                found.map(|(_, there)| there)
            }
            Panel::Compactions => self.shown.page.as_ref().and_then(|page| {
                let reset = page.facts.reset_at(self.ui.facts.index())?;
                page.timeline.of_reset(reset)
            }),
            _ => None,
        };
        if let Some(there) = there {
            self.ui.replay.playing = None;
            self.go_to(there);
        }
    }

    /// Whether something is typed for this.
    pub fn is_typing(&self, purpose: Purpose) -> Option<&Prompt> {
        self.ui.prompt.as_ref().filter(|p| p.purpose == purpose)
    }
}
