//! Draws the screens: an [`App`] that was prepared, into cells and the areas that react to the mouse. Changes
//! nothing.

mod detail;
mod groups;
mod help;
mod menu;
mod notices;
mod order;
mod overview;
mod pager;
mod prompt;
mod results;
mod roles;
mod session;
mod table;
mod tabs;
mod text;
mod transport;

use crate::app::{AWAY_SIGN, App, Overlay, Purpose, Screen, layout, wrapped};
use crate::keymap::{Action, Hint, KeyPress};
use crate::paint::width as pieces_width;
use crate::paint::{Area, Hit, HitMap, Piece, Pieces, Tone, piece, plain, quiet};
use crate::theme::Theme;
use crate::widgets::canvas::Canvas;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::{Activity, SessionKey};
use model::session::Coverage;
use ratatui::buffer::Buffer;
use render::text::{cut, inert, left, width};

/// Draws the screen into a blank buffer of its size. Returns the areas that react to the mouse.
pub fn draw(app: &App, theme: Theme, buffer: &mut Buffer) -> HitMap {
    let mut canvas = Canvas::new(theme, buffer);
    let area = canvas.area();
    let (columns, rows) = layout::SMALLEST;
    if area.width < columns || area.height < rows {
        too_small(&mut canvas);
    } else {
        match app.ui.screen {
            Screen::Overview => overview::draw(app, &mut canvas),
            Screen::Session(key) => session::draw(app, key, &mut canvas),
            Screen::Text(_) => text::draw(app, &mut canvas),
            Screen::Results => results::draw(app, &mut canvas),
        }
        if let Some(prompt) = &app.ui.prompt {
            prompt::draw(app, prompt, &mut canvas);
        }
        if app.ui.overlay.is_some() {
            canvas.hit(area, Hit::Overlay);
        }
        match app.ui.overlay {
            Some(Overlay::Signs) => help::draw_signs(app, &mut canvas),
            Some(Overlay::Help) => help::draw_keys(app, &mut canvas),
            Some(Overlay::Notices) => notices::draw_all(app, &mut canvas),
            Some(menu @ (Overlay::Sort | Overlay::Group)) => order::draw(app, menu, &mut canvas),
            Some(menu) => menu::draw(app, menu, &mut canvas),
            None => {}
        }
    }
    let hits = canvas.hits;
    theme.finish(buffer);
    hits
}

/// Draws the line above a list of sessions or results, if there is one.
fn banner(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    let banner = left(&format!(" {}", app.banner), usize::from(area.width));
    canvas.write_in(area, &[piece(banner, Tone::Banner)]);
}

/// Draws the reason for which a list has no rows, in its place.
fn instead(lines: Vec<Piece>, area: Area, canvas: &mut Canvas<'_>) {
    let room = usize::from(area.width).saturating_sub(4);
    let lines = lines.into_iter().flat_map(|line| {
        let lines = wrapped(&inert(&line.text), room).into_iter();
        lines.map(move |part| vec![piece(part, line.tone)])
    });
    canvas.write_rows(area.inset(3, 0), lines);
}

/// Draws the line between a list and what is below it.
fn rule(area: Area, canvas: &mut Canvas<'_>) {
    let bar = "─".repeat(usize::from(area.width.saturating_sub(2)));
    canvas.write((1, area.y), area.right(), &[piece(bar, Tone::Frame)]);
}

fn too_small(canvas: &mut Canvas<'_>) {
    let ((columns, rows), area) = (layout::SMALLEST, canvas.area());
    let text = format!(
        "needs {columns}×{rows}, the screen is {}×{}",
        area.width, area.height
    );
    let x = usize::from(area.width).saturating_sub(width(&text)) / 2;
    let at = (x as u16, area.height / 2);
    canvas.write(at, area.right(), &[plain(text)]);
}

/// Draws the most important keys, as many as fit. A click on one acts like the key.
fn footer(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    let typing = |enter, escape| {
        let keys = [(KeyPress::Enter, enter), (KeyPress::Esc, escape)];
        let hints = keys.into_iter().map(|(key, word)| Hint {
            keys: key.to_string(),
            word,
            action: None,
        });
        hints.collect()
    };
    let mut hints: Vec<Hint> = match app.ui.prompt.as_ref().map(|prompt| prompt.purpose) {
        None => app.hints(),
        Some(Purpose::Filter | Purpose::ItemFilter) => typing("apply", "clear"),
        Some(Purpose::Window(..) | Purpose::Oversized) => typing("set", "cancel"),
        Some(Purpose::GoTo) => typing("go", "cancel"),
        Some(Purpose::Search | Purpose::Pattern(_)) => typing("find", "cancel"),
    };
    let columns = |hint: &Hint| width(&hint.keys) + width(hint.word) + 3;
    // The last two, help and quit, matter most to a new user.
    while hints.len() > 2 && hints.iter().map(columns).sum::<usize>() > usize::from(area.width) {
        hints.remove(hints.len() - 3);
    }
    let help = |hint: &Hint| hint.action == Some(Action::Help);
    if app.is_first_start
        && let Some(at) = hints.iter().position(help)
    {
        hints[..=at].rotate_right(1);
    }
    let mut x = 1;
    for hint in hints {
        let pieces = [
            piece(hint.keys, Tone::Key),
            quiet(format!(" {}", hint.word)),
        ];
        let end = canvas.write((x, area.y), area.right(), &pieces);
        if let Some(action) = hint.action {
            canvas.hit(Area::new(x, area.y, end - x, 1), Hit::Action(action));
        }
        x = end + 2;
    }
    language(app, (x, area.y), area, canvas);
}

/// Draws the words of the filter that is typed, as many as fit, or a note that a name is none of them.
fn language(app: &App, at: (u16, u16), area: Area, canvas: &mut Canvas<'_>) {
    let (Some(words), Some(prompt)) = (app.words_of_filter(), &app.ui.prompt) else {
        return;
    };
    let mut x = at.0;
    let unknown = words.unknown(&prompt.typed);
    let lead = match unknown {
        Some(name) => piece(format!("no word '{}':", cut(name, 12)), Tone::Warn),
        None => piece("Tab", Tone::Key),
    };
    for word in std::iter::once(lead).chain(words.words().map(quiet)) {
        if usize::from(x) + word.width() >= usize::from(area.right()) {
            break;
        }
        x = canvas.write((x, at.1), area.right(), &[word]) + 1;
    }
}

/// Returns the reason for which a session's context has no size.
fn empty_context(gauge: &SessionGauge) -> &'static str {
    match gauge.coverage {
        Coverage::Unread => "reading",
        _ if gauge.unreadable > 0 && gauge.is_empty => "unreadable",
        _ => "empty",
    }
}

/// Returns the mark of a live session and the space after it. It shows what the agent reports about itself or, if it
/// reports nothing, that its log was written lately.
fn live(app: &App, key: SessionKey) -> Piece {
    if app.sessions.away(key).is_some() {
        return piece(format!("{AWAY_SIGN} "), Tone::Near);
    }
    let live = app.sessions.live(key, app.now);
    let tone = match live {
        Some(Activity::Waiting) => Tone::Quiet,
        _ => Tone::Live,
    };
    let sign = live.map_or(" ", render::live_sign);
    piece(format!("{sign} "), tone)
}

/// Writes a menu: its first `rows` lines can be chosen with the mouse, and those below explain them.
fn write_menu(title: &str, lines: Vec<Pieces>, rows: usize, canvas: &mut Canvas<'_>) {
    let columns = lines.iter().map(|line| pieces_width(line)).max();
    let size = (columns.unwrap_or(0) as u16, lines.len() as u16);
    let inside = canvas.open_box(title, size);
    canvas.write_rows(inside, lines);
    let height = rows as u16;
    canvas.hit(Area { height, ..inside }, Hit::Menu);
}

/// Returns the mark before a list row: whether it is selected.
fn pointer(selected: bool) -> Piece {
    piece(if selected { "▌" } else { " " }, Tone::Accent)
}
