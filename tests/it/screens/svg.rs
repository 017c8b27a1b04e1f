//! A terminal's screen as SVG: a text for each run of one style, and shapes for what fonts do not draw to
//! the edges of a cell.

use std::fmt::Write;

/// A cell, in pixels.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 17.0;
/// From a cell's top to the text's baseline.
const BASELINE: f64 = 13.0;
/// Around the screen.
const MARGIN: f64 = 10.0;
const FONT: &str = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/// How a cell looks: its colours, as `#rrggbb`, and the attributes of its text.
#[derive(Debug, Clone, PartialEq)]
struct Look {
    text: String,
    behind: String,
    attributes: String,
}

impl Look {
    fn of(cell: &vt100::Cell) -> Look {
        let (mut text, mut behind) = (colour(cell.fgcolor()), colour(cell.bgcolor()));
        if cell.inverse() {
            std::mem::swap(&mut text, &mut behind);
        }
        let attributes = [
            (cell.bold(), " font-weight=\"bold\""),
            (cell.italic(), " font-style=\"italic\""),
            (cell.underline(), " text-decoration=\"underline\""),
            (cell.dim(), " opacity=\"0.7\""),
        ];
        let attributes = attributes.into_iter().filter(|(has, _)| *has);
        Look {
            text,
            behind,
            attributes: attributes.map(|(_, attribute)| attribute).collect(),
        }
    }
}

fn colour(colour: vt100::Color) -> String {
    match colour {
        vt100::Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        other => {
            panic!("the screens are drawn in a theme that sets all its colours, not {other:?}")
        }
    }
}

/// A rectangle in a cell, in shares of it from its left and top, and how much it covers.
type Part = ([f64; 4], f64);

/// What a character is drawn as, if not as text.
fn parts(c: char) -> Vec<Part> {
    let code = u32::from(c);
    let eighths = |n: u32| f64::from(n) / 8.0;
    let solid = |x, y, width, height| ([x, y, width, height], 1.0);
    match c {
        '▁'..='█' => {
            let height = eighths(code - 0x2580);
            vec![solid(0.0, 1.0 - height, 1.0, height)]
        }
        '▉'..='▏' => vec![solid(0.0, 0.0, eighths(0x2590 - code), 1.0)],
        '▕' => vec![solid(0.875, 0.0, 0.125, 1.0)],
        '░'..='▓' => vec![([0.0, 0.0, 1.0, 1.0], f64::from(code - 0x2590) / 4.0)],
        _ => lines(c),
    }
}

/// Box drawing: arms from the middle to the left, the right, up and down.
fn lines(c: char) -> Vec<Part> {
    let (arms, across) = match c {
        '─' => ("lr", 0.12),
        '│' => ("ud", 0.12),
        '┃' => ("ud", 0.28),
        '├' => ("rud", 0.12),
        '┤' => ("lud", 0.12),
        '┌' => ("rd", 0.12),
        '┐' => ("ld", 0.12),
        '└' => ("ru", 0.12),
        '┘' => ("lu", 0.12),
        '╂' => ("lrud", 0.12),
        _ => return Vec::new(),
    };
    // As thick in both directions, though cells are twice as high as wide.
    let down = across * WIDTH / HEIGHT;
    let (left, top) = (0.5 - across / 2.0, 0.5 - down / 2.0);
    let arm = |arm| match arm {
        'l' => [0.0, top, 0.5, down],
        'r' => [0.5, top, 0.5, down],
        'u' => [left, 0.0, across, 0.5],
        _ => [left, 0.5, across, 0.5],
    };
    arms.chars().map(|which| (arm(which), 1.0)).collect()
}

/// A row's runs of cells for which the same holds: the first cell, and how many there are.
fn runs<T: PartialEq>(cells: &[T]) -> Vec<(usize, usize)> {
    let mut at = 0;
    let runs = cells.chunk_by(PartialEq::eq).map(|run| {
        at += run.len();
        (at - run.len(), run.len())
    });
    runs.collect()
}

/// The screen, drawn.
pub fn draw(screen: &vt100::Screen) -> String {
    head(screen, "") + &rows(screen).concat() + TAIL
}

/// The end of a picture, after its rows.
pub const TAIL: &str = "</g>\n</svg>\n";

/// The beginning of a picture as large as a screen, with its rules of style.
pub fn head(screen: &vt100::Screen, style: &str) -> String {
    let (rows, columns) = screen.size();
    let ground = ground(screen);
    let (width, height) = (
        f64::from(columns) * WIDTH + 2.0 * MARGIN,
        f64::from(rows) * HEIGHT + 2.0 * MARGIN,
    );
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n{style}\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{ground}\"/>\n\
         <g font-family=\"{FONT}\" font-size=\"14\" shape-rendering=\"crispEdges\">\n"
    )
}

/// The rows of a screen, each drawn at its place.
pub fn rows(screen: &vt100::Screen) -> Vec<String> {
    let (rows, columns) = screen.size();
    let ground = ground(screen);
    let drawn = (0..rows).map(|row| {
        let cells: Vec<(String, Look)> = (0..columns)
            .map(|column| {
                let cell = screen.cell(row, column).unwrap();
                (cell.contents().to_owned(), Look::of(cell))
            })
            .collect();
        let mut svg = String::new();
        draw_row(&mut svg, usize::from(row), &cells, &ground);
        svg
    });
    drawn.collect()
}

/// The colour behind most cells.
fn ground(screen: &vt100::Screen) -> String {
    Look::of(screen.cell(0, 0).unwrap()).behind
}

fn draw_row(svg: &mut String, row: usize, cells: &[(String, Look)], ground: &str) {
    let behind: Vec<&str> = cells.iter().map(|(_, look)| look.behind.as_str()).collect();
    for (at, count) in runs(&behind) {
        if behind[at] != ground {
            rectangle(
                svg,
                (at, row),
                count,
                ([0.0, 0.0, 1.0, 1.0], 1.0),
                behind[at],
            );
        }
    }
    for (at, count) in runs(cells) {
        let (content, look) = &cells[at];
        for part in content.chars().flat_map(parts) {
            let [x, _, width, _] = part.0;
            if (x, width) == (0.0, 1.0) {
                rectangle(svg, (at, row), count, part, &look.text);
            } else {
                (at..at + count).for_each(|at| rectangle(svg, (at, row), 1, part, &look.text));
            }
        }
    }
    draw_text(svg, row, cells);
}

/// Words of one style, with no more than a space between two: renderers take several for one.
fn draw_text(svg: &mut String, row: usize, cells: &[(String, Look)]) {
    let is_blank = |(content, _): &(String, Look)| {
        content.trim().is_empty() || content.chars().any(|c| !parts(c).is_empty())
    };
    let mut at = 0;
    while at < cells.len() {
        if is_blank(&cells[at]) {
            at += 1;
            continue;
        }
        let look = &cells[at].1;
        let mut end = at + 1;
        while end < cells.len() {
            let goes_on = |cell: &(String, Look)| cell.1 == *look && !is_blank(cell);
            // The second half of a wide character has no content of its own.
            let between = cells[end].1 == *look && cells[end].0.trim().is_empty();
            if goes_on(&cells[end]) {
                end += 1;
            } else if between && cells.get(end + 1).is_some_and(goes_on) {
                end += 2;
            } else {
                break;
            }
        }
        let words: String = cells[at..end]
            .iter()
            .map(|(content, _)| content.as_str())
            .collect();
        let x = MARGIN + at as f64 * WIDTH;
        let y = MARGIN + row as f64 * HEIGHT + BASELINE;
        let length = (end - at) as f64 * WIDTH;
        let (fill, attributes) = (&look.text, &look.attributes);
        writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" \
             lengthAdjust=\"spacingAndGlyphs\" fill=\"{fill}\"{attributes}>{}</text>",
            escaped(&words)
        )
        .unwrap();
        at = end;
    }
}

fn rectangle(
    svg: &mut String,
    (column, row): (usize, usize),
    count: usize,
    ([x, y, width, height], covers): Part,
    fill: &str,
) {
    let left = MARGIN + (column as f64 + x) * WIDTH;
    let top = MARGIN + (row as f64 + y) * HEIGHT;
    let (width, height) = (width * count as f64 * WIDTH, height * HEIGHT);
    let opacity = if covers < 1.0 {
        format!(" opacity=\"{covers}\"")
    } else {
        String::new()
    };
    writeln!(
        svg,
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
         fill=\"{fill}\"{opacity}/>"
    )
    .unwrap();
}

/// A text as XML has it.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}
