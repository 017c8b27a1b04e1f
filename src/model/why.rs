//! Findings: where the tokens and the money of a session went, and what to change.
//!
//! There are few kinds, and each was read by hand on real logs before it was added. Findings overlap, so they are never
//! added up: an item that was carried too long is also a part of a window that was too large. The prices are those of
//! the providers' lists.

mod backtest;
mod listings;
mod measured;
mod oversized;
mod polling;
mod rebuild;
mod repeated;
#[cfg(test)]
mod tests;
mod uses;
mod window;

pub use backtest::{Outcome, WindowPromise, backtest, window_promises};
pub use listings::{SessionListings, hardly_used};
pub use measured::{Measured, measured};
pub use oversized::ToolClass;
pub use uses::{UseKind, Used, Uses};
pub use window::SmallerWindow;

use crate::cost::carried::CarriedCost;
use crate::cost::texts::Texts;
use crate::history::{ItemIx, RequestIx};
use crate::session::Session;
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use strum::IntoStaticStr;

/// The most places that a finding lists, the largest first.
const MOST_PLACES: usize = 20;

/// The kind of a finding.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum FindingKind {
    /// The provider's cache was rebuilt.
    Rebuild,
    /// The window was larger than what the work needed.
    Window,
    /// Results were too large, and were sent again with each request.
    Oversized,
    /// Results had lines that the context had already.
    Repeated,
    /// Skills, agents and servers were listed and hardly used.
    Listings,
    /// One job was polled again and again.
    Polling,
}

impl FindingKind {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One thing that took tokens and can be changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// The subject within its kind: the cause of a rebuild, the size of a window, a tool, what is listed. It may be
    /// text of a log: not safe to print.
    pub about: Box<str>,
    /// How often it was.
    pub count: u64,
    /// The tokens that were carried by requests or, of a rebuild, read anew.
    pub tokens: u64,
    /// Their cost in US dollars by list price; `None`: not known.
    pub usd: Option<f64>,
    /// The least and the most that `usd` can be, where it is a difference of two runs of the what-if.
    pub range: Option<(f64, f64)>,
    /// More of it, by kind.
    pub detail: FindingDetail,
    /// Where it is in the session, the largest first.
    pub places: Vec<FindingPlace>,
}

/// Facts of a finding besides its tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FindingDetail {
    /// Nothing.
    None,
    /// The outcome of a smaller window.
    Window(SmallerWindow),
    /// Names that are listed and were not used.
    Listed(ListedNames),
}

/// The names of one kind that are listed in each prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedNames {
    /// The number of names that are listed.
    pub names: u64,
    /// The number of those that were used.
    pub used: u64,
    /// The largest of the others. Text of a log: not safe to print.
    pub unused: Vec<Box<str>>,
}

/// A place of a finding in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingPlace {
    /// A request.
    Request(RequestIx),
    /// An item.
    Item(ItemIx),
}

/// The findings of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionFindings {
    /// The findings that the session alone shows, the dearest first.
    pub findings: Vec<Finding>,
    /// Names that are listed in it. The sessions of a project show together what is unused.
    pub listings: SessionListings,
    /// Its calls.
    pub uses: Uses,
    /// The tokens of all its prompts.
    pub prompts: u64,
}

impl SessionFindings {
    /// Returns the findings of a session whose texts were looked at while it was read.
    pub fn of(session: &Session, texts: &Texts) -> SessionFindings {
        let of = Inputs::new(session, texts);
        let mut findings = of.by_numbers();
        findings.extend(oversized::find(&of));
        findings.extend(repeated::find(&of));
        findings.sort_by(by_cost);
        SessionFindings {
            findings,
            listings: SessionListings::of(&of),
            uses: Uses::of(session, &of.carried),
            prompts: of.prompts,
        }
    }
}

/// Returns the findings of a session that need none of its texts, the dearest first.
pub fn without_texts(session: &Session) -> Vec<Finding> {
    let mut findings = Inputs::new(session, &Texts::default()).by_numbers();
    findings.sort_by(by_cost);
    findings
}

impl Finding {
    /// Returns the dollars and the tokens by which findings are ordered. Those without a price come last.
    pub fn rank(&self) -> (f64, u64) {
        (self.usd.unwrap_or(-1.0), self.tokens)
    }
}

/// Compares by rank, the dearer first.
pub fn by_cost(a: &Finding, b: &Finding) -> Ordering {
    let ((usd, tokens), (other_usd, other)) = (b.rank(), a.rank());
    usd.total_cmp(&other_usd).then(tokens.cmp(&other))
}

/// The session that is looked at.
struct Inputs<'a> {
    session: &'a Session,
    texts: &'a Texts,
    carried: CarriedCost<'a>,
    /// The tokens of all prompts that are its own.
    prompts: u64,
}

impl<'a> Inputs<'a> {
    fn new(session: &'a Session, texts: &'a Texts) -> Inputs<'a> {
        let own = session.requests().iter().filter(|one| !one.is_inherited);
        let prompts = own.map(|request| request.prompt);
        Inputs {
            session,
            texts,
            carried: CarriedCost::own(session),
            prompts: prompts.fold(0, u64::saturating_add),
        }
    }

    /// Returns the findings that need no texts.
    fn by_numbers(&self) -> Vec<Finding> {
        let mut findings = rebuild::find(self);
        findings.extend(window::find(self));
        findings.extend(polling::find(self));
        findings
    }

    /// Returns so many tokens of an item as a part of a finding, with what they carried.
    fn part(&self, ix: ItemIx, tokens: u64) -> Part {
        Part {
            tokens: self.carried.tokens(ix, tokens),
            usd: self.carried.usd(ix, tokens),
            place: FindingPlace::Item(ix),
        }
    }

    /// Returns true if so many tokens are at least this share of all prompts.
    fn is_share(&self, tokens: u64, least: f64) -> bool {
        tokens > 0 && tokens as f64 >= self.prompts as f64 * least
    }
}

/// A request or an item that a finding is about.
struct Part {
    tokens: u64,
    usd: Option<f64>,
    place: FindingPlace,
}

/// Returns a finding for each subject that these parts are about.
fn by_subject<'a>(
    kind: FindingKind,
    parts: impl IntoIterator<Item = (&'a str, Part)>,
) -> Vec<Finding> {
    let mut subjects: BTreeMap<&str, Vec<Part>> = BTreeMap::new();
    for (about, part) in parts {
        subjects.entry(about).or_default().push(part);
    }
    let finding = |(about, mut parts): (&str, Vec<Part>)| {
        let tokens = parts.iter().map(|part| part.tokens);
        let tokens = tokens.fold(0, u64::saturating_add);
        let usd = parts.iter().map(|part| part.usd).sum();
        parts.sort_by_key(|part| (Reverse(part.tokens), part.place));
        let places = parts.iter().take(MOST_PLACES);
        Finding {
            kind,
            about: about.into(),
            count: parts.len() as u64,
            tokens,
            usd,
            range: None,
            detail: FindingDetail::None,
            places: places.map(|part| part.place).collect(),
        }
    };
    subjects.into_iter().map(finding).collect()
}
