//! Format strings of status lines.
//!
//! ```text
//! {gauge:colour} {percent:colour}[ · {until}][ · {requests}]
//! ```
//!
//! `{key}` is a value, `[…]` a section that is left out where one of its values is not known or the line is too wide,
//! the last one first. `{{`, `}}`, `[[` and `]]` are those characters. A line break begins another line.

use strum::{EnumIter, IntoEnumIterator, IntoStaticStr};

/// The longest format, in bytes.
const LONGEST: usize = 4096;
/// The deepest level of sections within sections.
const DEEPEST: usize = 4;
/// The width of a gauge, in columns, unless its format says another, and the largest.
const GAUGE_WIDTH: usize = 10;
const WIDEST_GAUGE: usize = 200;

/// The formats that have a name, the default first.
pub const NAMED: [(&str, &str); 3] = [
    (
        "normal",
        "{gauge:colour} {percent:colour}[ · {late-turn}][ · {until}][ · {next}][ · {requests}][ · {tokens}][ · {big}][ · {rebuild}][ · {cache:short}]",
    ),
    ("short", "{percent:colour}[ · {requests:short}]"),
    (
        "two-lines",
        "{gauge:colour} {percent:colour}[ · {late-turn}][ · {until}][ · {next}][ · {requests}]\n\
        [{tokens}][ · {roles}][ · {big}][ · {model}][ · {window}][ · {rebuild}][ · {cache}][ · {limits}]",
    ),
];

/// A value that a format can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Key {
    /// A bar of known, estimated and free.
    Gauge,
    /// The used share of the trigger or the window, in percent, with the name of the limit.
    Percent,
    /// The used share in percent alone.
    Share,
    /// Tokens until the compaction.
    Until,
    /// Requests until the compaction, with the band.
    Requests,
    /// The time of a compaction for another reason than the size.
    Next,
    /// The state of the provider's prompt cache, and the time when it expires.
    Cache,
    /// A warning before a turn that would begin shortly before the compaction.
    LateTurn,
    /// The rebuild of the cache that the newest request was.
    Rebuild,
    /// The limits of the user's plan.
    Limits,
    /// Tokens that were reported.
    Known,
    /// Tokens that are estimated, with the error.
    Est,
    /// Both, each with its word.
    Tokens,
    /// The sum of both.
    Used,
    /// The window and how it is known.
    Window,
    /// The trigger and how it is known.
    Trigger,
    /// The tokens of each role.
    Roles,
    /// The newest oversized item in the context.
    Big,
    /// The largest item in the context.
    Largest,
    /// The model.
    Model,
    /// The reasoning effort of the model.
    Effort,
    /// The session's whole id.
    Id,
    /// The id of the session that started it.
    Parent,
    /// Its name on the screens.
    Name,
    /// Its title.
    Title,
    /// The folder of its project.
    Folder,
    /// The path of its log.
    Path,
    /// The time since its last record.
    Age,
    /// Its activity.
    Live,
    /// The cost of its responses.
    Cost,
    /// The beginning of the session's id.
    Session,
    /// The agent.
    Agent,
    /// The agent's version.
    Version,
    /// The project.
    Project,
}

impl Key {
    /// Returns its name in a format.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The look of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tint {
    /// The look of the rest of the line.
    #[default]
    Plain,
    /// In the colour of how full the context is.
    ByFill,
    /// Dim.
    Dim,
    /// Bold.
    Bold,
}

/// The length of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Length {
    /// In words.
    #[default]
    Usual,
    /// The shortest form.
    Short,
}

/// A value of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The value.
    pub key: Key,
    /// Its look.
    pub tint: Tint,
    /// Its length.
    pub length: Length,
    /// The columns of a gauge.
    pub columns: usize,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text as it is.
    Text(String),
    /// A value.
    Field(Field),
    /// A section. It is left out if a value in it is not known, or the line is too wide.
    Section(Vec<Part>),
}

/// A format that was read: its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(pub Vec<Vec<Part>>);

/// The error of a wrong format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the format: {0}")]
pub struct WrongFormat(String);

/// The values that only a list has.
const OF_LISTS: [Key; 9] = [
    Key::Id,
    Key::Parent,
    Key::Name,
    Key::Title,
    Key::Folder,
    Key::Path,
    Key::Age,
    Key::Live,
    Key::Cost,
];

impl Template {
    /// Returns the format of this name or, if there is none, reads the text as a format.
    ///
    /// # Errors
    ///
    /// If it is neither.
    pub fn named_or_text(text: &str) -> Result<Template, WrongFormat> {
        let named = NAMED.iter().find(|(name, _)| *name == text);
        match named {
            Some((_, format)) => Template::read(format),
            None if !text.contains(['{', '[']) => {
                let names = NAMED.map(|(name, _)| name).join(", ");
                Err(WrongFormat(format!(
                    "'{text}' is neither a name ({names}) nor does it have a value such as {{percent}}"
                )))
            }
            None => Template::read(text),
        }
    }

    /// Returns the default format.
    pub fn usual() -> Template {
        // The formats of the program are read in a test.
        Template::read(NAMED[0].1).unwrap_or(Template(Vec::new()))
    }

    /// Reads a format.
    ///
    /// # Errors
    ///
    /// If it cannot be understood; the error says where and what is possible.
    pub fn read(text: &str) -> Result<Template, WrongFormat> {
        Template::read_of(text, |key| !OF_LISTS.contains(&key))
    }

    /// Reads a format of these values.
    ///
    /// # Errors
    ///
    /// If it cannot be understood; the error says where and what is possible.
    pub fn read_of(text: &str, is_possible: fn(Key) -> bool) -> Result<Template, WrongFormat> {
        if text.len() > LONGEST {
            return Err(WrongFormat(format!("it has more than {LONGEST} bytes")));
        }
        let line = |line: &str| {
            let rest = line.chars().peekable();
            Reader { rest, is_possible }.parts(0)
        };
        let lines = text.lines().map(line);
        Ok(Template(lines.collect::<Result<_, _>>()?))
    }
}

/// Reads a line of a format.
struct Reader<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    is_possible: fn(Key) -> bool,
}

impl Reader<'_> {
    /// Reads up to the end of the section, or of the line.
    fn parts(&mut self, depth: usize) -> Result<Vec<Part>, WrongFormat> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut is_closed = depth == 0;
        while let Some(c) = self.rest.next() {
            let is_double = self.rest.peek() == Some(&c);
            match c {
                // Two closing sections end two sections.
                ']' if depth > 1 || (depth > 0 && !is_double) => {
                    is_closed = true;
                    break;
                }
                '{' | '}' | '[' | ']' if is_double => {
                    self.rest.next();
                    text.push(c);
                }
                '{' => {
                    push(&mut parts, &mut text);
                    parts.push(Part::Field(self.field()?));
                }
                '[' if depth == DEEPEST => {
                    return Err(WrongFormat(format!(
                        "more than {DEEPEST} sections in each other"
                    )));
                }
                '[' => {
                    push(&mut parts, &mut text);
                    parts.push(Part::Section(self.parts(depth + 1)?));
                }
                '}' | ']' => {
                    return Err(WrongFormat(format!(
                        "a '{c}' that closes nothing; for the character itself, write '{c}{c}'"
                    )));
                }
                c if c.is_control() => {
                    return Err(WrongFormat(
                        "a control character: colours are written as in {percent:colour}"
                            .to_owned(),
                    ));
                }
                c => text.push(c),
            }
        }
        if !is_closed {
            return Err(WrongFormat(
                "a section without its ']'; for the character '[' itself, write '[['".to_owned(),
            ));
        }
        push(&mut parts, &mut text);
        Ok(parts)
    }

    fn field(&mut self) -> Result<Field, WrongFormat> {
        let mut inside = String::new();
        loop {
            match self.rest.next() {
                Some('}') => break,
                Some(c) => inside.push(c),
                None => {
                    return Err(WrongFormat(
                        "a '{' without its '}'; for the character itself, write '{{'".to_owned(),
                    ));
                }
            }
        }
        let (name, how) = inside.split_once(':').unwrap_or((&inside, ""));
        let possible = || Key::iter().filter(|key| (self.is_possible)(*key));
        let Some(key) = possible().find(|key| key.name() == name) else {
            let names: Vec<&str> = possible().map(Key::name).collect();
            return Err(WrongFormat(format!(
                "there is no {{{name}}}; there are {}",
                names.join(", ")
            )));
        };
        let mut field = Field {
            key,
            tint: Tint::Plain,
            length: Length::Usual,
            columns: GAUGE_WIDTH,
        };
        for word in how.split(',').filter(|word| !word.is_empty()) {
            match word {
                "colour" | "color" => field.tint = Tint::ByFill,
                "dim" => field.tint = Tint::Dim,
                "bold" => field.tint = Tint::Bold,
                "short" => field.length = Length::Short,
                number
                    if let Ok(columns) = number.parse()
                        && (1..=WIDEST_GAUGE).contains(&columns) =>
                {
                    field.columns = columns;
                }
                word => {
                    return Err(WrongFormat(format!(
                        "'{word}' in {{{inside}}} is none of colour, dim, bold, short, and no width of 1 to {WIDEST_GAUGE}"
                    )));
                }
            }
        }
        Ok(field)
    }
}

fn push(parts: &mut Vec<Part>, text: &mut String) {
    if !text.is_empty() {
        parts.push(Part::Text(std::mem::take(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(key: Key) -> Part {
        Part::Field(Field {
            key,
            tint: Tint::Plain,
            length: Length::Usual,
            columns: GAUGE_WIDTH,
        })
    }

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    #[test]
    fn all_named_formats_are_formats() {
        for (name, format) in NAMED {
            let lines = Template::read(format).expect(name).0;
            assert_eq!(Template::named_or_text(name), Ok(Template(lines)));
        }
        assert_eq!(
            Template::usual(),
            Template::read(NAMED[0].1).expect("a format")
        );
    }

    #[test]
    fn values_sections_and_lines() {
        let read =
            Template::read("{percent} x[ {known}[ {est}]][[{{y}}]]\n{model}").expect("a format");
        let inner = Part::Section(vec![text(" "), field(Key::Est)]);
        assert_eq!(
            read.0,
            [
                vec![
                    field(Key::Percent),
                    text(" x"),
                    Part::Section(vec![text(" "), field(Key::Known), inner]),
                    text("[{y}]"),
                ],
                vec![field(Key::Model)],
            ]
        );
        let read = Template::read("{gauge:colour,20}").expect("a format");
        let Part::Field(gauge) = &read.0[0][0] else {
            panic!("{read:?}");
        };
        assert_eq!((gauge.tint, gauge.columns), (Tint::ByFill, 20));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (format, why) in [
            ("{percents}", "there is no {percents}; there are gauge"),
            ("{percent", "without its '}'"),
            ("a } b {known}", "closes nothing"),
            ("[{known}", "without its ']'"),
            ("{known}]", "closes nothing"),
            ("{percent:red}", "'red' in {percent:red}"),
            ("{gauge:0}", "no width"),
            ("{percent}\u{1b}[2J", "control character"),
            ("[ [ [ [ [ {known} ] ] ] ] ]", "more than 4 sections"),
            ("shorter", "neither a name (normal, short, two-lines)"),
        ] {
            let error = Template::named_or_text(format)
                .expect_err(format)
                .to_string();
            assert!(error.contains(why), "{format}: {error}");
        }
        let long = "{known}".repeat(LONGEST);
        assert!(Template::read(&long).is_err());
    }
}
