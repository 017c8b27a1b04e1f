//! Explains the signs that are on screen, and no others.

use super::columns::fitting;
use super::help::{Sign, explained, in_lines, sign};
use super::hosts::AWAY_SIGN;
use super::listed::just_compacted;
use super::tabs::{ITEMS, MARKED, Mark, OVERSIZED};
use super::{App, Page, Screen};
use crate::keymap::{Action, Scope};
use crate::paint::{Pieces, Tone};
use model::lists::sessions::SessionKey;
use model::session::Session;
use model::window::{Limits, TriggerSource, WindowSource};
use model::{Role, Source};
use render::item::letter;
use std::collections::BTreeSet;

/// Lines of the legend before they are wrapped.
#[derive(Debug, Default)]
struct Legend {
    lines: Vec<Pieces>,
    columns: usize,
    keys: usize,
}

impl App {
    /// Returns the signs of the screen, in lines that fit.
    pub fn legend_lines(&self) -> Vec<Pieces> {
        let mut legend = Legend {
            columns: self.help_columns(),
            keys: self.help_keys(),
            ..Legend::default()
        };
        let page = self.page();
        let session = page.and_then(|page| self.sessions.get(page.key));
        match (self.ui.screen, page.zip(session)) {
            (Screen::Overview, _) => legend.overview(self),
            (Screen::Results, _) => legend.results(self),
            (Screen::Session(_), Some((page, _))) => legend.session(self, page),
            (Screen::Text(_), Some((_, session))) => legend.text(self, session),
            _ => {}
        }
        legend.lines
    }
}

impl Legend {
    fn overview(&mut self, app: &App) {
        for (column, _) in fitting(app.ui.size.0, app.ui.sort) {
            self.word(column.heading, column.help);
        }
        let provisional = "may still change: not all of the log was read or counted yet";
        self.word("~46k", provisional);
        let mut listed = app.shown.matching.iter();
        let just = |key: &SessionKey| just_compacted(app.sessions.gauge(*key)?, app.now);
        if listed.any(|key| just(key).is_some()) {
            self.word("↓188k", "compacted a moment ago, from this size");
        }
        self.signs([
            sign("●", Tone::Live, "working"),
            sign("○", Tone::Quiet, "waiting for you"),
            sign("·", Tone::Live, "log written recently"),
        ]);
        if !app.shown.meetings.is_empty() {
            let means = "another agent at work in its folder has changed the same file in the last ten minutes";
            self.word("!", means);
        }
        if !app.shown.families.is_empty() {
            let key = app.keymap.key_text(Scope::Overview, Action::Fold);
            self.word(
                "▸ ▾",
                &format!("it has sub-agents; {key} lists or hides them"),
            );
        }
        if app.sessions.hosts_away() > 0 {
            let means = "its machine does not answer; this is the last state that it sent";
            self.word(AWAY_SIGN, means);
        }
        self.shown_signs(of_gauge(true, true));
        self.signs(Role::ALL.map(of_role));
    }

    fn results(&mut self, app: &App) {
        self.word("WHEN", "the request that the item entered the context with");
        self.word("ITEM", "its role, and its tool or kind");
        let tokens = "its size; the sign after it shows the source";
        self.word("TOKENS", tokens);
        self.word(
            "TEXT",
            "the first line that matches; grey: not in the context",
        );
        let found = app.search.iter().flat_map(|search| &search.found);
        self.sources(found.map(|found| found.source));
        self.signs(Role::ALL.map(of_role));
    }

    fn session(&mut self, app: &App, page: &Page) {
        let layout = app.session_layout();
        let (context, limits) = (&page.state.context, &page.state.limits);
        self.signs(Role::ALL.map(of_role));
        self.word(
            "system",
            "system prompt, tool definitions, and growth that no log shows",
        );
        let container = "text that the agent adds: skills, memory files, reminders, summaries";
        self.word("container", container);
        let (is_estimated, has_trigger) = (context.estimated > 0, limits.trigger.is_some());
        self.shown_signs(of_gauge(is_estimated, has_trigger));
        if is_estimated {
            let means = "90 % interval; `ctxgauge audit` shows how often it was right";
            self.word("±", means);
        }
        if !layout.chart.is_empty() || !app.ui.tab.has_list() {
            let (steps, is_forecast) = (&page.steps, page.forecast.is_ok());
            let resets = sign("▾", Tone::Compaction, "compaction");
            let jumps = sign("↑", Tone::Chart, "largest growths");
            let rebuilt = sign("∘", Tone::Warn, "cache rebuilt");
            self.shown_signs([
                (has_trigger, sign("──", Tone::Trigger, "compacts here")),
                (is_forecast, sign("▒▒", Tone::Forecast, "forecast")),
                (is_forecast, sign("░░", Tone::Forecast, "its 80% band")),
                (!steps.resets.is_empty(), resets),
                (!steps.jumps.is_empty(), jumps),
                (!steps.rebuilt.is_empty(), rebuilt),
            ]);
        }
        self.limits(
            limits,
            &app.keymap.key_text(Scope::Anywhere, Action::Window),
        );
        if let Some((list, view)) = app.list() {
            for (heading, help) in list.legend(&view) {
                self.word(heading, help);
            }
            let items = || (0..list.ids().len()).filter_map(|row| list.item(row));
            self.sources(items().map(|(_, _, source)| source));
            if app.ui.tab == ITEMS {
                let is_shown = |mark: &Mark| items().any(|item| view.mark(item) == Some(*mark));
                let marks = [MARKED, OVERSIZED].into_iter().filter(is_shown);
                self.signs(marks.map(|(mark, tone, means)| sign(mark, tone, means)));
            }
        }
    }

    fn text(&mut self, app: &App, session: &Session) {
        let Some((ix, item)) = app.item_read() else {
            return;
        };
        self.signs([of_role(item.role)]);
        self.sources([session.tokens(ix).1]);
        self.word(
            "#20 +1h04",
            "entered with request 20, 1 h 4 min after the session began",
        );
        let carried = "its tokens times the requests whose prompts held it, the first one included";
        self.word("sent in all", carried);
        self.word(
            "at least",
            "the price of those tokens if each was read from the provider's cache",
        );
    }

    /// Adds the sources of the window and of the trigger.
    fn limits(&mut self, limits: &Limits, key: &str) {
        let window = match limits.window_source {
            WindowSource::Log => "from the log",
            WindowSource::Here => "set by you on the screen",
            WindowSource::Config => "set by you in the configuration",
            WindowSource::Client => "from the agent's client",
            WindowSource::Settings => "from the agent's settings",
            WindowSource::ModelTable => "from the list of known models",
            WindowSource::SmallerOfTwo => "the smaller of the two windows of this model",
            WindowSource::Guessed => "not known: a usual size, at least that of the context",
        };
        let set = match key {
            "" => String::new(),
            key => format!("; {key} sets it"),
        };
        self.word(
            "window",
            &format!("({}) {window}{set}", limits.window_from()),
        );
        let trigger = match limits.trigger_source {
            TriggerSource::Log => "from the log",
            TriggerSource::Config => "set by you in the configuration",
            TriggerSource::Client => "from the agent's client",
            TriggerSource::Settings => "the agent's rule, changed by its settings",
            TriggerSource::Past => "the size at which this session compacted before",
            TriggerSource::Policy => "the agent's documented rule",
            TriggerSource::Refused => {
                let means = "only when the provider refuses a prompt as too long";
                return self.word("compacts", means);
            }
            TriggerSource::Contradicted => {
                let means = "not by its rule: it sent larger prompts and did not compact";
                return self.word("compacts", means);
            }
            TriggerSource::None => return,
        };
        let from = limits.trigger_from();
        self.word("compacts", &format!("({from}) {trigger}"));
    }

    /// Adds the signs of these sources, those that are known first.
    fn sources(&mut self, sources: impl IntoIterator<Item = Source>) {
        // To collect a million of them would sort them.
        let mut all = BTreeSet::new();
        all.extend(sources);
        for source in all {
            let means = match source {
                Source::Reported => "reported by the provider",
                Source::Derived => "derived: the rest of a report, for the only new item",
                Source::Shared => {
                    "shared: part of a reported sum, in proportion to the counts here"
                }
                Source::Estimated => "estimated: counted here",
                Source::Agent => "the agent's own count",
            };
            self.word(render::item::sign(source), means);
        }
    }

    /// Adds a word or a sign, and its meaning.
    fn word(&mut self, word: &str, means: &str) {
        self.lines
            .extend(explained(word, means, self.keys, self.columns));
    }

    /// Adds those of these signs that are shown.
    fn shown_signs(&mut self, signs: impl IntoIterator<Item = (bool, Sign)>) {
        let shown = signs.into_iter().filter(|(is_shown, _)| *is_shown);
        self.signs(shown.map(|(_, sign)| sign));
    }

    /// Signs and their words, as many in a line as fit.
    fn signs(&mut self, signs: impl IntoIterator<Item = Sign>) {
        self.lines.extend(in_lines(signs, self.columns));
    }
}

fn of_role(role: Role) -> Sign {
    sign(&letter(role).to_string(), role, role.name())
}

/// Returns the signs of a gauge, each with whether it is shown.
fn of_gauge(is_estimated: bool, has_trigger: bool) -> [(bool, Sign); 4] {
    [
        (true, sign("███", Role::Tool, "known")),
        (is_estimated, sign("╱╱╱", Role::Tool, "estimated")),
        (is_estimated, sign("┄┄", Tone::Plain, "error margin")),
        (has_trigger, sign("┃", Tone::Trigger, "compacts here")),
    ]
}
