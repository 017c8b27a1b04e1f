//! The values of a status line as text.

use super::session::LineSession;
use super::template::{Field, Key, Length};
use model::cost::calls::Calls;
use model::cost::rebuilds::{self, Rebuild};
use model::due::late_turn::is_next_turn_late;
use model::lists::gauge::SessionGauge;
use model::outlook::forecast::{Forecast, NoForecast};
use model::session::Session;
use model::session::context::Context;
use model::values::threshold::Threshold;
use model::window::{Limits, WindowSource};
use model::{Role, Source};
use render::clock::Clock;
use render::item::{label, letter};
use render::number::{error, percent, short, tokens};
use render::sure::{ABOUT, Signs, of_item};
use render::text::{cut, short_model};
use render::{plan, rebuild, triggers};

/// The most columns of a text from a log.
const LONGEST_TEXT: usize = 24;
/// The characters of a session's id that are shown.
const ID_CHARS: usize = 8;

/// The values of a status line.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// The size of the context.
    pub context: Context,
    /// The window and the trigger.
    pub limits: Limits,
    /// The forecast of the next compaction.
    pub forecast: Result<Forecast, NoForecast>,
    /// The signs of its numbers.
    pub signs: Signs,
    /// True if texts were counted. Otherwise their lengths stand for their tokens.
    pub is_counted: bool,
    /// True if anything was sent or said.
    pub has_begun: bool,
    /// The newest oversized item in the context: what it is, and its size in tokens with its sign. The first is log text.
    pub big: Option<(String, String)>,
    /// The largest item in the context.
    pub largest: Option<Largest>,
    /// The model's id.
    pub model: Option<String>,
    /// The reasoning effort of the model.
    pub effort: Option<String>,
    /// The session's id.
    pub session: Option<String>,
    /// The agent's name on screens.
    pub agent: &'static str,
    /// The agent's version.
    pub version: Option<String>,
    /// The project.
    pub project: String,
    /// The time of a compaction for another reason than the size.
    pub beside_size: Option<String>,
    /// The state of the prompt cache: in words, and in short.
    pub cache: Option<[String; 2]>,
    /// True if the next turn would begin shortly before the compaction.
    pub is_next_turn_late: bool,
    /// The rebuild of the cache that the newest request was. Its cause is log text.
    pub rebuild: Option<Rebuild>,
    /// The limits of the plan: with the part that the session used, and in short.
    pub plan: [Option<String>; 2],
}

/// The largest item in a context. Its texts are log text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Largest {
    /// The name of its call or kind.
    pub what: String,
    /// The arguments of its call; of a file its name after `of`.
    pub of: Option<String>,
    /// Its size, in tokens, with its sign.
    pub size: String,
}

impl Largest {
    fn of(session: &Session, is_counted: bool) -> Option<Largest> {
        let items = session.items();
        let sized = session.in_context();
        let said = sized.filter(|(ix, ..)| !items[*ix].is_prefix());
        let (ix, tokens, source) = said.max_by_key(|(_, tokens, _)| *tokens)?;
        let item = &items[ix];
        let calls = Calls::of_item(session, ix);
        Some(Largest {
            what: label(item).into_owned(),
            of: calls.subject(session, item).map(|text| subject(&text)),
            size: size(tokens, source, is_counted),
        })
    }
}

/// Returns the size of an item, with its sign.
fn size(tokens: u64, source: Source, is_counted: bool) -> String {
    format!("{}{}", of_item(source, is_counted), short(tokens))
}

/// Returns what a call was made with: of a file its name, after `of`.
fn subject(text: &str) -> String {
    let is_command = text.contains(['\'', '"', '|', '&', ';']) || text.contains(" -");
    let is_path = !text.contains(' ') || (text.starts_with('/') && !is_command);
    let name = text.rsplit(['/', '\\']).find(|part| !part.is_empty());
    match name.filter(|_| is_path) {
        Some(name) => format!("of {name}"),
        None => text.to_owned(),
    }
}

impl Values {
    /// Returns the values of a session. Items from `oversized` on are large.
    pub fn of(shown: &LineSession, oversized: Threshold) -> Values {
        let session = &shown.session;
        let gauge = session.gauge();
        let is_counted = gauge.is_counted;
        let window = gauge.limits().window;
        let sized = session.in_context();
        let large = sized.filter(|(_, tokens, _)| oversized.is_reached(*tokens, window));
        let newest = large.max_by_key(|(ix, ..)| *ix);
        Values {
            has_begun: gauge.context.used > 0 || session.has_begun(),
            big: newest.map(|(ix, tokens, source)| {
                let item = &session.items()[ix];
                (label(item).into_owned(), size(tokens, source, is_counted))
            }),
            largest: Largest::of(session, is_counted),
            // A compaction at a size that was not read may have refuted the agent's rule.
            signs: match session.newest_reset() {
                Some((reset, _)) if !reset.is_whole => Signs::of(&gauge),
                _ => Signs::of_epoch(&gauge),
            },
            project: session.project().to_owned(),
            is_next_turn_late: is_next_turn_late(session, &gauge.context, gauge.limits()),
            rebuild: rebuilds::newest(session),
            ..Values::of_gauge(&gauge, shown.agent, &shown.clock)
        }
    }

    /// Returns the values of a session of a list, of which no items are known.
    pub fn of_gauge(gauge: &SessionGauge, agent: &'static str, clock: &Clock) -> Values {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Values {
            signs: Signs::of(gauge),
            is_counted: gauge.is_counted,
            has_begun: gauge.context.used > 0 || gauge.has_begun(),
            big: None,
            largest: None,
            model: owned(gauge.model()),
            effort: None,
            session: owned(gauge.meta.id.as_deref()),
            agent,
            beside_size: triggers::beside_size(
                &model::due::triggers::other(gauge, clock.now),
                clock,
            ),
            cache: gauge.prompt_cache().map(|cache| {
                let state = cache.state(clock.now);
                let long = triggers::cache(state, clock);
                let failed = triggers::cache_failures(&cache, state);
                let failed = failed.map_or_else(String::new, |failed| format!(" ({failed})"));
                let short = triggers::cache_in_short(&cache, state, clock);
                [long + &failed, short]
            }),
            is_next_turn_late: false,
            rebuild: None,
            plan: [plan::limits, plan::in_short].map(|words| words(gauge, clock.now)),
            version: owned(gauge.meta.version.as_deref()),
            project: gauge.project().to_owned(),
            // The forecast is as of the newest record. An idle session makes no difference to the number of requests.
            forecast: gauge.forecast_then(),
            context: gauge.context,
            limits: gauge.limits().clone(),
        }
    }

    /// Returns the used and the largest size, in tokens, to compare.
    pub fn filled(&self) -> (u64, u64) {
        self.context.filled(&self.limits)
    }

    /// Returns true if the largest size is a guess: no trigger is known, and nothing says how large the window is.
    pub fn is_end_guessed(&self) -> bool {
        self.limits.trigger.is_none() && self.limits.window_source == WindowSource::Guessed
    }

    /// Returns a value as text; `None`: it is not known.
    pub fn text(&self, field: &Field) -> Option<String> {
        let (context, limits) = (&self.context, &self.limits);
        let is_short = field.length == Length::Short;
        let (filled, end) = self.filled();
        match field.key {
            Key::Gauge => self.has_begun.then(|| self.gauge(field.columns)),
            Key::Percent if is_short => Some(format!("{} of {}", self.share()?, limits.end_name())),
            Key::Percent => Some(format!(
                "{} of {} {}",
                self.share()?,
                short(end),
                limits.end_name()
            )),
            Key::Share => self.share(),
            Key::Until if !self.has_begun => None,
            Key::Until => Some(self.until(is_short, end.saturating_sub(filled))),
            Key::Requests => self.requests(is_short),
            Key::Next => self.beside_size.clone(),
            Key::Cache => {
                let [long, short] = self.cache.as_ref()?;
                Some(if is_short { short } else { long }.clone())
            }
            Key::LateTurn => self
                .is_next_turn_late
                .then(|| triggers::COMPACT_FIRST.to_owned()),
            Key::Rebuild => self
                .rebuild
                .as_ref()
                .map(|it| rebuild::one_of(it, &plain(&rebuild::cause(it)))),
            Key::Limits => self.plan[usize::from(is_short)].clone(),
            Key::Known if context.known == 0 => None,
            Key::Known => Some(format!("{} known", tokens(context.known))),
            Key::Est => self.estimated(),
            Key::Tokens => {
                let known = (context.known > 0).then(|| format!("{} known", tokens(context.known)));
                let parts: Vec<String> = known.into_iter().chain(self.estimated()).collect();
                (!parts.is_empty()).then(|| parts.join(" + "))
            }
            Key::Used if !self.has_begun => None,
            Key::Used => Some(format!("{}{}", self.signs.size, tokens(context.used))),
            Key::Window if is_short => Some(self.signs.window.to_owned() + &short(limits.window)),
            Key::Window => Some(format!(
                "window {}{} ({})",
                self.signs.window,
                short(limits.window),
                limits.window_source.name()
            )),
            Key::Trigger => {
                let trigger = short(limits.trigger?);
                Some(format!(
                    "trigger {}{trigger} ({})",
                    self.signs.trigger,
                    limits.trigger_source.name()
                ))
            }
            Key::Roles => self.roles(),
            Key::Big => {
                let (label, size) = self.big.as_ref()?;
                Some(format!("{} {size}", plain(label)))
            }
            Key::Largest => {
                let Largest { what, of, size } = self.largest.as_ref()?;
                let of = of.as_deref().map(|of| format!(" {}", plain(of)));
                let of = of.unwrap_or_default();
                Some(format!("{}{of}, {size}", plain(what)))
            }
            Key::Model => self.model.as_deref().map(|id| plain(short_model(id))),
            Key::Effort => self.effort.as_deref().map(plain),
            Key::Session => {
                let id: String = self.session.as_deref()?.chars().take(ID_CHARS).collect();
                Some(plain(&id))
            }
            Key::Agent => Some(self.agent.to_owned()).filter(|name| !name.is_empty()),
            Key::Version => self.version.as_deref().map(plain),
            Key::Project => Some(plain(&self.project)).filter(|name| !name.is_empty()),
            // Only lists have the others, see `ls::format`.
            _ => None,
        }
    }

    fn estimated(&self) -> Option<String> {
        let context = &self.context;
        let half = (context.high - context.used).max(context.used - context.low);
        let (about, estimated) = (self.signs.size, tokens(context.estimated));
        (context.estimated > 0)
            .then(|| format!("{about}{estimated} ±{} est", error(half, context.estimated)))
    }

    /// Returns the used share in percent; `None`: the session has not begun, or the limit is not known.
    pub fn share(&self) -> Option<String> {
        let (filled, end) = self.filled();
        let percent = percent(filled, end).filter(|_| self.has_begun)?;
        Some(format!("{}{percent}%", self.signs.share))
    }

    fn until(&self, is_short: bool, left: u64) -> String {
        let words = match (self.limits.trigger, &self.forecast) {
            (Some(_), Ok(forecast)) if forecast.is_now() => return "compacts now".to_owned(),
            (Some(_), _) if left == 0 => return "compacts now".to_owned(),
            (Some(_), _) => "to compaction",
            // It is not known to compact, or does not.
            (None, _) => "to the end of the window",
        };
        let words = if is_short { "left" } else { words };
        format!("{}{} {words}", self.signs.left, short(left))
    }

    fn requests(&self, is_short: bool) -> Option<String> {
        let forecast = self.forecast.as_ref().ok()?;
        if forecast.is_now() || !self.has_begun {
            return None;
        }
        let left = forecast.requests_left();
        let left = if is_short {
            left.split(" (").next().unwrap_or_default()
        } else {
            &left
        };
        Some(format!("{}{left}", self.signs.requests))
    }

    fn roles(&self) -> Option<String> {
        let parts: Vec<String> = Role::ALL
            .into_iter()
            .map(|role| (role, self.context.role(role)))
            .filter(|(_, share)| share.tokens > 0)
            .map(|(role, share)| {
                // Roles are shared by the tokens of texts, which may have been guessed.
                let is_sure = self.is_counted && share.estimated == 0;
                let sign = if is_sure { "" } else { ABOUT };
                format!("{} {sign}{}", letter(role), short(share.tokens))
            })
            .collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Returns a bar up to the trigger or the window: known, estimated, free.
    fn gauge(&self, columns: usize) -> String {
        let (filled, end) = self.filled();
        let scaled = |part: u64, whole: u64, all: usize| {
            let cells = (u128::from(part) * all as u128 + u128::from(whole) / 2)
                .checked_div(u128::from(whole))
                .unwrap_or(0);
            usize::try_from(cells).unwrap_or(usize::MAX).min(all)
        };
        let used = scaled(filled, end, columns).max(usize::from(filled > 0));
        let known = scaled(self.context.known, self.context.used, used);
        [
            "█".repeat(known),
            "▒".repeat(used - known),
            "░".repeat(columns - used),
        ]
        .concat()
    }
}

/// Returns text of a log as a status line may show it: letters, digits and a few signs. Other signs have a meaning in
/// programs that show the line: tmux expands `#`, shells `$` and backquotes, zsh `%`.
pub(crate) fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " -_.:/@+,()[]…".contains(c);
    let text: String = text
        .chars()
        .take(4 * LONGEST_TEXT)
        .map(|c| if is_plain(c) { c } else { '?' })
        .collect();
    cut(&text, LONGEST_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_name() {
        for (subject, name) in [
            ("src/cart.rs:1-10", "of cart.rs:1-10"),
            ("src/", "of src"),
            (r"C:\dev\cart.rs", "of cart.rs"),
            ("/shop/the cart.rs", "of the cart.rs"),
            ("cat /home/dev/cart.rs", "cat /home/dev/cart.rs"),
            ("/bin/cat -n a.rs", "/bin/cat -n a.rs"),
            ("", ""),
        ] {
            assert_eq!(super::subject(subject), name);
        }
    }

    #[test]
    fn text_of_a_log_has_no_sign_with_a_meaning() {
        assert_eq!(plain("claude-opus-5[1m]"), "claude-opus-5[1m]");
        let hostile = "a$(id)`id`#(id)#[fg=red]%F\\\"'!;&|<>\u{1b}[2J\n";
        let shown = plain(hostile);
        assert!(
            !shown.contains([
                '$', '`', '#', '%', '\\', '"', '\'', '!', ';', '&', '|', '<', '>', '\u{1b}', '\n'
            ]),
            "{shown}"
        );
    }
}
