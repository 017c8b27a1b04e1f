//! The generated table of models by provider: windows, limits and prices. The head of `assets/catalogue/models.tsv`
//! describes its form. It is split into lines when something is looked up first; a price is read when it is asked for.

mod merge;
mod row;

use super::pattern::{bare, has_region};
use super::price::PriceRow;
pub use merge::{Addition, Numbers};
pub use row::{Listed, ListedRow};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_64;

/// A model, and the provider that serves it, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModelAt<'a> {
    /// The model's id.
    pub model: &'a str,
    /// The provider, as the agent names it.
    pub provider: Option<&'a str>,
}

impl<'a> From<&'a str> for ModelAt<'a> {
    fn from(model: &'a str) -> ModelAt<'a> {
        ModelAt {
            model,
            provider: None,
        }
    }
}

impl<'a> ModelAt<'a> {
    /// Returns both as one name, of which [`ModelAt::parted`] makes two again.
    pub fn joined(self) -> Cow<'a, str> {
        let plain = |name: &'a str| {
            if name.contains('\t') {
                Cow::Owned(name.replace('\t', " "))
            } else {
                Cow::Borrowed(name)
            }
        };
        match self.provider {
            Some(provider) => format!("{}\t{}", plain(self.model), plain(provider)).into(),
            None => plain(self.model),
        }
    }

    /// Returns the model and the provider of a name that was [joined](ModelAt::joined).
    pub fn parted(name: &'a str) -> ModelAt<'a> {
        let (model, provider) = name.split_once('\t').unzip();
        ModelAt {
            model: model.unwrap_or(name),
            provider,
        }
    }
}

/// The table.
#[derive(Clone, Default)]
pub struct Catalogue {
    text: Cow<'static, str>,
    lines: OnceLock<Lines>,
}

/// The lines of the table, by what they begin with.
#[derive(Clone, Default)]
struct Lines {
    /// Those of `@source`, `@provider` and `@maker`.
    heads: Vec<Range<usize>>,
    /// Rows by provider and model.
    rows: Vec<Row>,
}

#[derive(Clone)]
struct Row {
    line: Range<usize>,
    /// The model's name in it.
    model: Range<usize>,
    price: OnceLock<Option<Box<PriceRow>>>,
}

/// A table is part of the rules, of which a change is noticed by this text.
impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Catalogue({:x})", xxh3_64(self.text.as_bytes()))
    }
}

impl Catalogue {
    /// Returns the table of this text. Lines that are no rows are passed over.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Catalogue {
        Catalogue {
            text: text.into(),
            lines: OnceLock::new(),
        }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the price of a model at its provider or, where the provider has none of its own, at its maker.
    pub fn price(&self, of: ModelAt<'_>) -> Option<&PriceRow> {
        let mut rows = self.rows_of(of).filter_map(|row| self.price_in(row));
        let own = rows.next()?;
        // A subscription costs nothing for a request; that of its maker is the list price.
        if own.is_free() {
            return Some(rows.next().unwrap_or(own));
        }
        Some(own)
    }

    /// Returns the limits of a model at its provider or else at its maker.
    pub fn limits(&self, of: ModelAt<'_>) -> Option<Listed> {
        let row = |row| ListedRow::new(self.line(row));
        let mut rows = self.rows_of(of).filter_map(row);
        let (row, mut limits) = rows.find_map(|row| Some((row, row.limits()?)))?;
        // A window that an agent chose at the maker does not hold at another provider.
        let provider = of.provider.and_then(|provider| self.named(provider));
        if provider.is_some_and(|provider| provider != row.provider) {
            limits.clients.clear();
        }
        Some(limits)
    }

    /// Returns all rows, by provider and model.
    pub fn all(&self) -> impl Iterator<Item = ListedRow<'_>> {
        let rows = self.lines().rows.iter();
        rows.filter_map(|row| ListedRow::new(self.line(row)))
    }

    /// Returns the names of all providers, and those that others have for them.
    pub fn providers(&self) -> Vec<String> {
        let rows = self.lines().rows.iter();
        let mut names: Vec<&str> = rows
            .filter_map(|row| cells(self.line(row)).next())
            .collect();
        names.dedup();
        let names = names.into_iter().chain(self.heads("@provider").flatten());
        names.map(str::to_owned).collect()
    }

    /// Returns the names of the sources with these marks, each with its version.
    pub fn sources(&self, marks: &str) -> String {
        let named = self.heads("@source").filter_map(|mut cells| {
            let mark = cells.next()?;
            let (name, version) = (cells.next()?, cells.next()?);
            (!mark.is_empty() && marks.contains(mark)).then(|| format!("{name} {version}"))
        });
        named.collect::<Vec<_>>().join(", ")
    }

    /// Returns the rows of a model: its provider's, then its maker's.
    fn rows_of(&self, of: ModelAt<'_>) -> impl Iterator<Item = &Row> {
        let id = of.model.split('[').next().unwrap_or_default();
        let provider = match of.provider {
            Some(provider) => self.named(provider),
            None => self.provider_in(id),
        };
        let own = provider.and_then(|provider| self.row(provider, id));
        // Seldom needed: a list of sessions takes 1 % longer with it.
        let makers = std::iter::once_with(move || {
            let maker = self.maker(key(bare(id)));
            let maker = maker.filter(|maker| provider.is_none_or(|own| own != *maker));
            maker.and_then(|maker| self.row(maker, id))
        });
        own.into_iter().chain(makers.flatten())
    }

    /// Returns a provider's row of a model: that of the very name, or one of the same model.
    fn row(&self, provider: &str, id: &str) -> Option<&Row> {
        let rows = self.rows_at(provider);
        let name = |row: &Row| &self.text[row.model.clone()];
        let (wanted, model) = (key(id), key(bare(id)));
        let is_named = |row: &&Row| has_key(name(row), wanted);
        let is_model = |row: &&Row| has_key(bare(name(row)), model) && !has_region(name(row));
        let exact = rows.iter().find(|row| name(row).eq_ignore_ascii_case(id));
        let named = || rows.iter().find(is_named);
        exact.or_else(named).or_else(|| rows.iter().find(is_model))
    }

    /// Returns a provider's rows.
    fn rows_at(&self, provider: &str) -> &[Row] {
        let rows = &self.lines().rows;
        let of = |row: &Row| &self.text[row.line.start..row.model.start - 1];
        let from = rows.partition_point(|row| of(row) < provider);
        let rest = &rows[from..];
        &rest[..rest.partition_point(|row| of(row) == provider)]
    }

    /// Returns the table's name of a provider; `None`: it has no such provider.
    fn named(&self, provider: &str) -> Option<&str> {
        let mut heads = self.heads("@provider");
        let other = heads.find_map(|mut names| {
            let name = names.next()?;
            let mut all = names.chain([name]);
            all.any(|one| one.eq_ignore_ascii_case(provider))
                .then_some(name)
        });
        other.or_else(|| {
            let row = self.rows_at(provider).first()?;
            cells(self.line(row)).next()
        })
    }

    /// Returns the provider that a model's id shows: `openrouter/…`, the names of Bedrock and Vertex.
    fn provider_in(&self, id: &str) -> Option<&str> {
        let named = id.split_once('/').and_then(|(first, _)| self.named(first));
        let id = id.rsplit('/').next().unwrap_or_default();
        let cloud = match id {
            _ if bare(id).len() < id.len() => self.named("bedrock"),
            _ if id.contains('@') => self.named("vertex"),
            _ => None,
        };
        named.or(cloud)
    }

    /// Returns the maker of a model.
    fn maker(&self, key: &str) -> Option<&str> {
        self.heads("@maker").find_map(|mut cells| {
            let maker = cells.next()?;
            let begins = |with: &str| {
                let start = key.as_bytes().get(..with.len());
                start.is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
            };
            cells.any(begins).then_some(maker)
        })
    }

    fn price_in<'c>(&'c self, row: &'c Row) -> Option<&'c PriceRow> {
        let read = || {
            let row = ListedRow::new(self.line(row))?;
            row.price(self.sources(row.marks)).map(Box::new)
        };
        row.price.get_or_init(read).as_deref()
    }

    fn line(&self, row: &Row) -> &str {
        &self.text[row.line.clone()]
    }

    /// Returns the cells of the lines of the head that begin with this word.
    fn heads(&self, word: &'static str) -> impl Iterator<Item = std::str::Split<'_, char>> {
        let heads = self.lines().heads.iter();
        heads.filter_map(move |line| {
            let rest = self.text[line.clone()].strip_prefix(word)?;
            Some(cells(rest.strip_prefix('\t')?))
        })
    }

    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.text))
    }
}

impl Lines {
    fn of(text: &str) -> Lines {
        let mut all = Lines::default();
        let mut start = 0;
        for line in text.split('\n') {
            let range = start..start + line.trim_end_matches('\r').len();
            start += line.len() + 1;
            let mut ends = line.match_indices('\t').map(|(at, _)| range.start + at);
            match (line.as_bytes().first(), ends.next(), ends.next()) {
                (Some(b'@'), ..) => all.heads.push(range),
                (Some(b'#'), ..) => {}
                (Some(_), Some(provider), Some(model)) => all.rows.push(Row {
                    line: range,
                    model: provider + 1..model,
                    price: OnceLock::new(),
                }),
                _ => {}
            }
        }
        // They are in order already, unless a person has changed the file.
        let of = |row: &Row| {
            (
                cells(&text[row.line.clone()]).next(),
                &text[row.model.clone()],
            )
        };
        all.rows.sort_by(|a, b| of(a).cmp(&of(b)));
        all
    }
}

fn cells(line: &str) -> std::str::Split<'_, char> {
    line.split('\t')
}

/// Returns a model's name without a version of Bedrock's and without a date.
fn key(name: &str) -> &str {
    let name = name.strip_suffix("@default").unwrap_or(name);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let version = name.rsplit_once("-v").filter(|(_, version)| {
        let mut numbers = version.splitn(2, ':');
        numbers.all(is_number)
    });
    let name = version.map_or(name, |(name, _)| name);
    let Some(at) = name.rfind(['-', '@']) else {
        return name;
    };
    let is_year = |text: &str| text.len() == 4 && text.starts_with("20") && is_number(text);
    let date = &name[at + 1..];
    if date.len() == 8 && date.starts_with("20") && is_number(date) {
        return &name[..at];
    }
    let mut parts = name.rsplitn(4, ['-', '@']);
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(day), Some(month), Some(year), Some(rest))
            if [day, month].iter().all(|n| n.len() == 2 && is_number(n)) && is_year(year) =>
        {
            rest
        }
        _ => name,
    }
}

/// Returns true if a model's name has this [`key`], which it begins with.
fn has_key(name: &str, wanted: &str) -> bool {
    let beginning = name.as_bytes().get(..wanted.len());
    beginning.is_some_and(|it| is_same(it, wanted.as_bytes()))
        && is_same(key(name).as_bytes(), wanted.as_bytes())
}

/// Returns true if two names are the same but for the case, and for hyphens in the place of dots.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let plain = |byte: &u8| match byte {
        b'.' => b'-',
        byte => byte.to_ascii_lowercase(),
    };
    a.len() == b.len() && a.iter().map(plain).eq(b.iter().map(plain))
}

#[cfg(test)]
mod tests;
