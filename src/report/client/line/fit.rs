//! Puts a status line together: leaves out what is not known, and what does not fit.

use super::template::{Field, Part, Template, Tint};
use super::values::Values;
use render::text::width;

/// The kind of colour codes in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colours {
    /// Not at all.
    #[default]
    None,
    /// Escape sequences of terminals.
    Ansi,
    /// The markup of tmux's own status line.
    Tmux,
}

/// The shares of the trigger or the window at which the colour changes, each above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fill {
    /// From here on it is filling up.
    pub high: f64,
    /// From here on it is nearly full.
    pub full: f64,
}

/// A piece of a line that is shown whole or not at all.
struct Piece {
    text: String,
    tint: Tint,
    /// The section that it is in, counted from 1 in the order in which they end; 0: none. Those with a larger number are
    /// left out before.
    section: usize,
    is_value: bool,
}

/// Returns the lines of a template, each in at most `columns` (`None`: of any length), without empty ones. `note` is
/// added to the first. There is always a line, and no number is cut: the last value that is left may be wider.
pub fn lines(
    template: &Template,
    values: &Values,
    note: Option<&str>,
    columns: Option<usize>,
    (colours, fill): (Colours, Fill),
) -> Vec<String> {
    let paint = |pieces: &[Piece]| -> String {
        let painted = pieces.iter().map(|piece| {
            let text = &piece.text;
            match (colours, switches(piece.tint, values, fill)) {
                (Colours::None, _) | (_, None) => text.clone(),
                (Colours::Ansi, Some([[on, off], _])) => {
                    format!("\u{1b}[{on}m{text}\u{1b}[{off}m")
                }
                (Colours::Tmux, Some([_, [on, off]])) => format!("#[{on}]{text}#[{off}]"),
            }
        });
        painted.collect::<String>().trim().to_owned()
    };
    let mut note = note;
    let mut lines: Vec<String> = Vec::new();
    for line in &template.0 {
        let mut pieces = Vec::new();
        collect(line, &|field| values.text(field), 0, &mut 0, &mut pieces);
        if !pieces.iter().any(|piece| piece.is_value) {
            continue;
        }
        if let Some(note) = note.take() {
            pieces.push(text(format!(" · {note}"), 0));
        }
        if let Some(columns) = columns {
            fit(&mut pieces, columns, values);
        }
        // A separator of a value that is left out is left out too.
        if let Some(first) = pieces.first_mut().filter(|piece| !piece.is_value) {
            first.text = first.text.trim_start_matches(SEPARATORS).to_owned();
        }
        lines.push(paint(&pieces));
    }
    lines.retain(|line| !line.is_empty());
    if lines.is_empty() {
        let nothing = if values.has_begun { NOTHING } else { NOT_BEGUN };
        lines.push(note.unwrap_or(nothing).to_owned());
    }
    lines
}

/// The characters that separate values, besides words.
const SEPARATORS: [char; 3] = [' ', '·', '|'];
/// Shown where the format has nothing that is known.
const NOTHING: &str = "ctxgauge";
/// Shown before anything was sent or said.
const NOT_BEGUN: &str = "no request yet";

/// Returns the text of some parts. A value that is not known leaves its place empty, and its section out.
pub(crate) fn text_of(parts: &[Part], value: &dyn Fn(&Field) -> Option<String>) -> String {
    let mut pieces = Vec::new();
    collect(parts, value, 0, &mut 0, &mut pieces);
    pieces.into_iter().map(|piece| piece.text).collect()
}

/// Collects what is known of these parts, in order. Returns true if all their values are known, apart from those of
/// sections in them.
fn collect(
    parts: &[Part],
    value: &dyn Fn(&Field) -> Option<String>,
    section: usize,
    sections: &mut usize,
    pieces: &mut Vec<Piece>,
) -> bool {
    let mut is_known = true;
    for part in parts {
        match part {
            Part::Text(known) => pieces.push(text(known.clone(), section)),
            Part::Field(field) => match value(field) {
                Some(known) => pieces.push(Piece {
                    tint: field.tint,
                    is_value: true,
                    ..text(known, section)
                }),
                None => is_known = false,
            },
            Part::Section(parts) => {
                let before = (pieces.len(), *sections);
                *sections += 1;
                if !collect(parts, value, *sections, sections, pieces) {
                    pieces.truncate(before.0);
                    *sections = before.1;
                }
            }
        }
    }
    is_known
}

fn text(text: String, section: usize) -> Piece {
    Piece {
        text,
        tint: Tint::Plain,
        section,
        is_value: false,
    }
}

/// Leaves out sections, the last first, then values, the last first, until the rest fits.
fn fit(pieces: &mut Vec<Piece>, columns: usize, values: &Values) {
    let is_wide = |pieces: &[Piece]| {
        let all: String = pieces.iter().map(|piece| &*piece.text).collect();
        width(all.trim()) > columns
    };
    while is_wide(pieces) {
        let last = pieces.iter().map(|piece| piece.section).max().unwrap_or(0);
        if last > 0 {
            pieces.retain(|piece| piece.section < last);
            continue;
        }
        let shown = pieces.iter().filter(|piece| piece.is_value).count();
        if shown <= 1 {
            pieces.retain(|piece| piece.is_value);
            break;
        }
        // A bar is the first to go: it is no number.
        let bar = pieces
            .iter()
            .position(|piece| piece.text.starts_with(['█', '▒', '░']));
        let of_value = |piece: &Piece| piece.is_value;
        let at = bar
            .or_else(|| pieces.iter().rposition(of_value))
            .unwrap_or(0);
        pieces.remove(at);
        // With it goes the text around it that was not of another value.
        while at < pieces.len() && !pieces[at].is_value {
            pieces.remove(at);
        }
        if at == pieces.len() {
            while pieces.last().is_some_and(|piece| !piece.is_value) {
                pieces.pop();
            }
        }
    }
    if is_wide(pieces)
        && let Some(share) = values.share()
        && let Some(piece) = pieces.first_mut()
        && width(&share) < width(&piece.text)
    {
        piece.text = share;
    }
}

/// Returns the codes that begin and end a text of this tint: as numbers of ANSI, and as words of tmux.
fn switches(tint: Tint, values: &Values, fill: Fill) -> Option<[[&'static str; 2]; 2]> {
    let (filled, end) = values.filled();
    let share = filled as f64 / end.max(1) as f64;
    Some(match tint {
        Tint::Plain => return None,
        Tint::Bold => [["1", "22"], ["bold", "nobold"]],
        Tint::Dim => [["2", "22"], ["dim", "nodim"]],
        Tint::ByFill if share >= fill.full => [["31", "39"], ["fg=red", "fg=default"]],
        Tint::ByFill if share >= fill.high => [["33", "39"], ["fg=yellow", "fg=default"]],
        Tint::ByFill => [["32", "39"], ["fg=green", "fg=default"]],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::line::template::NAMED;
    use model::outlook::forecast::{Band, Forecast, NoForecast};
    use model::session::context::{Basis, Context, Share};
    use model::window::{Limits, TriggerSource, WindowSource};
    use proptest::prelude::*;
    use render::sure::{ABOUT, Signs};

    fn values(known: u64, estimated: u64, window: u64, trigger: Option<u64>) -> Values {
        let used = known + estimated;
        let mut roles = [Share::default(); 5];
        roles[0].tokens = used;
        let requests = Band {
            p10: 5.8,
            p50: 9.2,
            p90: 14.1,
        };
        Values {
            is_next_turn_late: false,
            rebuild: None,
            plan: [None, None],
            context: Context {
                used,
                known,
                estimated,
                low: used - estimated / 4,
                high: used + estimated / 3,
                basis: Basis::Delta,
                roles,
                own: None,
            },
            limits: Limits {
                window,
                window_source: WindowSource::Client,
                window_setting: "",
                trigger,
                trigger_source: TriggerSource::Policy,
                trigger_setting: "",
                turn_end: None,
                refused_at: None,
                policy: String::new(),
                ends: false,
                is_window_provisional: false,
                is_trigger_provisional: false,
            },
            forecast: match trigger {
                Some(_) => Ok(Forecast {
                    requests,
                    turns: requests,
                    minutes: None,
                }),
                None => Err(NoForecast::NoTrigger),
            },
            signs: if estimated == 0 {
                Signs::default()
            } else {
                Signs {
                    size: ABOUT,
                    share: ABOUT,
                    left: ABOUT,
                    ..Signs::default()
                }
            },
            is_counted: estimated == 0,
            has_begun: used > 0,
            beside_size: None,
            cache: None,
            big: Some(("Read".to_owned(), "~19k".to_owned())),
            largest: None,
            model: Some("claude-opus-5[1m]".to_owned()),
            effort: None,
            session: Some("3f2a1b00-0000".to_owned()),
            agent: "claude",
            version: None,
            project: "shop".to_owned(),
        }
    }

    const FILL: Fill = Fill {
        high: 0.7,
        full: 0.9,
    };

    fn plain(format: &str, values: &Values, columns: Option<usize>) -> String {
        let template = Template::named_or_text(format).expect("a format");
        lines(&template, values, None, columns, (Colours::None, FILL)).join("\n")
    }

    #[test]
    fn a_late_turn_is_said_before_the_room_that_is_left() {
        let line = |is_next_turn_late| {
            let values = Values {
                is_next_turn_late,
                ..values(150_000, 0, 200_000, Some(167_000))
            };
            NAMED.map(|(format, _)| plain(format, &values, None))
        };
        let [normal, _, two] = line(true);
        let said = " · compact before you ask · 17k to compaction";
        assert!(
            normal.contains(said) && two.contains(said),
            "{normal}\n{two}"
        );
        assert!(
            line(false)
                .iter()
                .all(|line| !line.contains("compact before"))
        );
    }

    #[test]
    fn the_named_formats() {
        let known = values(134_200, 2_600, 200_000, Some(167_000));
        let shown = |format| plain(format, &known, None);
        assert_eq!(
            shown("normal"),
            "████████░░ ~82% of 167k trigger · ~30k to compaction · 9 requests (6–14) · 134.2k known + ~2.6k ±0.9k est · Read ~19k"
        );
        assert_eq!(shown("short"), "~82% of 167k trigger · 9 requests");
        assert_eq!(
            shown("two-lines"),
            "████████░░ ~82% of 167k trigger · ~30k to compaction · 9 requests (6–14)\n\
            134.2k known + ~2.6k ±0.9k est · S ~137k · Read ~19k · opus-5[1m] · window 200k (client)"
        );
        let never = values(82_000, 0, 200_000, None);
        assert_eq!(
            plain("normal", &never, None),
            "████░░░░░░ 41% of 200k window · 118k to the end of the window · 82.0k known · Read ~19k"
        );
        let nothing = Values {
            big: None,
            ..values(0, 0, 200_000, Some(167_000))
        };
        assert_eq!(plain("normal", &nothing, None), "no request yet");
        assert_eq!(plain("{effort}", &known, None), "ctxgauge");
    }

    #[test]
    fn colours_go_by_how_full_it_is_and_tmux_has_its_own() {
        let template = Template::read("{share:colour} {agent:dim}").expect("a format");
        let shown = |known, colours| {
            let values = values(known, 0, 200_000, Some(100_000));
            lines(&template, &values, None, None, (colours, FILL)).concat()
        };
        assert_eq!(
            shown(69_000, Colours::Ansi),
            "\u{1b}[32m69%\u{1b}[39m \u{1b}[2mclaude\u{1b}[22m"
        );
        assert!(shown(70_000, Colours::Ansi).starts_with("\u{1b}[33m70%"));
        assert!(shown(90_000, Colours::Ansi).starts_with("\u{1b}[31m90%"));
        assert_eq!(
            shown(90_000, Colours::Tmux),
            "#[fg=red]90%#[fg=default] #[dim]claude#[nodim]"
        );
    }

    #[test]
    fn a_section_goes_with_its_value_and_the_last_goes_first() {
        let known = values(134_200, 0, 200_000, Some(167_000));
        let format = "{share}[ · {until}][ · {effort}][ · {agent}]";
        assert_eq!(
            plain(format, &known, None),
            "80% · 33k to compaction · claude"
        );
        assert_eq!(plain(format, &known, Some(26)), "80% · 33k to compaction");
        assert_eq!(plain(format, &known, Some(10)), "80%");
        assert_eq!(plain("{until} · {agent}", &known, Some(12)), "80%");
        assert_eq!(plain("[{effort}][ · {agent}]", &known, None), "claude");
    }

    #[test]
    fn a_note_is_in_the_first_line() {
        let template = Template::usual();
        let shown = |values: &Values, columns| {
            lines(
                &template,
                values,
                Some("no log"),
                columns,
                (Colours::None, FILL),
            )
            .concat()
        };
        let known = values(134_200, 0, 200_000, Some(167_000));
        assert!(shown(&known, None).ends_with("Read ~19k · no log"));
        assert_eq!(
            shown(&known, Some(40)),
            "████████░░ 80% of 167k trigger · no log"
        );
        let nothing = Values {
            big: None,
            ..values(0, 0, 200_000, None)
        };
        assert_eq!(shown(&nothing, None), "no log");
    }

    /// Returns the numbers of a line, with their units.
    fn numbers(line: &str) -> Vec<&str> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '%');
        let words = line.split(|c| !is_part(c));
        words
            .filter(|word| word.contains(|c: char| c.is_ascii_digit()))
            .collect()
    }

    proptest! {
        #[test]
        fn no_number_is_cut_at_any_width(
            known in 0..3_000_000_u64,
            estimated in 0..300_000_u64,
            window in 1_000..2_000_000_u64,
            trigger in prop::option::of(1..2_000_000_u64),
            columns in 1..300_usize,
            format in 0..NAMED.len(),
        ) {
            let values = values(known, estimated, window, trigger);
            let whole = plain(NAMED[format].0, &values, None);
            let all = numbers(&whole);
            let share = values.share();
            let fitted = plain(NAMED[format].0, &values, Some(columns));
            prop_assert!(!fitted.is_empty());
            for line in fitted.lines() {
                for number in numbers(line) {
                    prop_assert!(all.contains(&number), "{number} in {fitted:?} of {whole:?}");
                }
                let is_least = share.as_deref() == Some(line) || line == NOT_BEGUN || numbers(line).len() <= 2;
                prop_assert!(width(line) <= columns || is_least, "{columns}: {line:?}");
                prop_assert_eq!(line.trim(), line);
            }
        }
    }
}
