//! Skills, agents and servers that are listed in each prompt and hardly used. A session that does not use a skill shows
//! little, so the sessions of a project are looked at together.

use super::{Finding, FindingDetail, FindingKind, FindingPlace, Inputs};
use crate::Kind;
use crate::cost::tools::server_of;
use crate::history::{Item, ItemIx};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use strum::IntoStaticStr;

/// The least share of all prompts of the sessions that the unused names carried.
const LEAST_SHARE: f64 = 0.003;
/// At most one of so many listed names is used.
const HARDLY_USED: usize = 4;
/// The most unused names that a finding has.
const MOST_UNUSED: usize = 8;
/// Sessions of fewer requests show nothing.
const LEAST_REQUESTS: usize = 10;

/// The kind of the names in a list.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
pub(super) enum ListKind {
    Skills,
    Agents,
    Servers,
}

impl ListKind {
    pub(super) const ALL: [ListKind; 3] = [ListKind::Skills, ListKind::Agents, ListKind::Servers];
}

/// The names that are listed in a session, and those of them that were used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionListings {
    listed: Vec<ListedName>,
    used: BTreeSet<Box<str>>,
}

/// A name in the lists of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ListedName {
    pub(super) kind: ListKind,
    pub(super) name: Box<str>,
    /// Its tokens in the first list that has it.
    pub(super) tokens: u64,
    carried: u64,
    usd: Option<f64>,
    item: ItemIx,
}

impl SessionListings {
    pub(super) fn of(of: &Inputs<'_>) -> SessionListings {
        if of.session.requests().len() < LEAST_REQUESTS {
            return SessionListings::default();
        }
        let mut listed: BTreeMap<(ListKind, Box<str>), ListedName> = BTreeMap::new();
        let mut used = BTreeSet::new();
        for (ix, item) in of.session.items().iter().enumerate() {
            match item.kind {
                Kind::ToolList => add_list(of, ix, item, &mut listed),
                _ => add_used(of, item, &mut used),
            }
        }
        SessionListings {
            listed: listed.into_values().collect(),
            used,
        }
    }

    /// Returns the names that are listed.
    pub(super) fn listed(&self) -> impl Iterator<Item = &ListedName> {
        self.listed.iter()
    }

    /// Returns true if the session used this name.
    pub(super) fn is_used(&self, name: &str) -> bool {
        self.used.contains(&plain(name))
    }
}

/// Adds the names of a list, each with its part of the list's tokens.
fn add_list(
    of: &Inputs<'_>,
    ix: ItemIx,
    item: &Item,
    listed: &mut BTreeMap<(ListKind, Box<str>), ListedName>,
) {
    let Some(kind) = list_kind(item) else { return };
    let (tokens, _) = of.session.tokens(ix);
    let Some(text) = of.texts.of(item) else {
        return;
    };
    let bytes = text.listed.iter().map(|(_, bytes)| *bytes);
    let bytes = bytes.sum::<usize>().max(1);
    for (name, part) in &text.listed {
        let share = u128::from(tokens) * *part as u128 / bytes as u128;
        let share = u64::try_from(share).unwrap_or(tokens);
        let (carried, usd) = (of.carried.tokens(ix, share), of.carried.usd(ix, share));
        let known = listed.entry((kind, name.clone()));
        let known = known.or_insert_with(|| ListedName {
            kind,
            name: name.clone(),
            tokens: share,
            carried: 0,
            usd: Some(0.0),
            item: ix,
        });
        known.carried = known.carried.saturating_add(carried);
        known.usd = known.usd.zip(usd).map(|(sum, usd)| sum + usd);
    }
}

fn add_used(of: &Inputs<'_>, item: &Item, used: &mut BTreeSet<Box<str>>) {
    let tool = item.tool.as_deref();
    used.extend(tool.and_then(server_of).map(plain));
    let text = of.texts.of(item);
    let names = text.map(|text| text.used.iter().map(|name| plain(name)));
    used.extend(names.into_iter().flatten());
    // An agent without a name is the general one.
    if item.kind == Kind::ToolCall
        && matches!(tool, Some("Task" | "Agent"))
        && text.is_some_and(|text| text.used.is_empty())
    {
        used.insert(plain("general-purpose"));
    }
}

/// Returns what a list lists, by its beginning.
fn list_kind(item: &Item) -> Option<ListKind> {
    if item.tool.is_some() {
        return None;
    }
    let begin = item.preview.to_lowercase();
    match () {
        () if begin.contains("skill") => Some(ListKind::Skills),
        () if begin.contains("agent") => Some(ListKind::Agents),
        () if begin.contains("mcp") => Some(ListKind::Servers),
        () => None,
    }
}

/// Returns a name as all places write it: a plugin's skill may be named without its plugin, and a server's tools have
/// the name of the server without the signs that a tool cannot have.
fn plain(name: &str) -> Box<str> {
    let last = name.rsplit(':').next().unwrap_or(name);
    let last = last.rsplit("_plugin_").next().unwrap_or(last);
    let sign = |c: char| {
        if c.is_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    last.chars().map(sign).collect()
}

/// The lists of the sessions of a project.
#[derive(Debug, Default)]
pub struct Listings {
    names: BTreeMap<(ListKind, Box<str>), ProjectName>,
    used: BTreeSet<Box<str>>,
    prompts: u64,
}

/// A name in the lists of a project's sessions.
#[derive(Debug)]
struct ProjectName {
    sessions: u64,
    carried: u64,
    usd: Option<f64>,
    item: ItemIx,
}

impl Listings {
    /// Adds a session with so many tokens of prompts.
    pub fn add(&mut self, of: &SessionListings, prompts: u64) {
        for listed in &of.listed {
            let known = self.names.entry((listed.kind, listed.name.clone()));
            let known = known.or_insert_with(|| ProjectName {
                sessions: 0,
                carried: 0,
                usd: Some(0.0),
                item: listed.item,
            });
            known.sessions += 1;
            known.carried = known.carried.saturating_add(listed.carried);
            known.usd = known.usd.zip(listed.usd).map(|(sum, usd)| sum + usd);
        }
        self.used.extend(of.used.iter().cloned());
        self.prompts = self.prompts.saturating_add(prompts);
    }

    /// Returns the kinds of names that are listed and hardly used.
    pub fn findings(&self) -> Vec<Finding> {
        ListKind::ALL
            .into_iter()
            .filter_map(|kind| self.finding(kind))
            .collect()
    }

    fn finding(&self, kind: ListKind) -> Option<Finding> {
        let names = self.names.iter().filter(|((of, _), _)| *of == kind);
        let listed = names.clone().count();
        let is_used = |name: &str| self.is_used(name);
        let mut unused: Vec<_> = names.filter(|((_, name), _)| !is_used(name)).collect();
        unused.sort_by_key(|(_, of)| Reverse(of.carried));
        let carried = unused.iter().map(|(_, of)| of.carried);
        let carried = carried.fold(0, u64::saturating_add);
        let used = listed - unused.len();
        if used * HARDLY_USED > listed || (carried as f64) < self.prompts as f64 * LEAST_SHARE {
            return None;
        }
        let usd = unused.iter().map(|(_, of)| of.usd);
        let first = unused.first()?;
        Some(Finding {
            kind: FindingKind::Listings,
            about: <&str>::from(kind).into(),
            count: unused.iter().map(|(_, of)| of.sessions).max()?,
            tokens: carried,
            usd: usd.sum(),
            range: None,
            detail: FindingDetail::Listed {
                listed: listed as u64,
                used: used as u64,
                unused: unused
                    .iter()
                    .take(MOST_UNUSED)
                    .map(|((_, name), _)| name.clone())
                    .collect(),
            },
            places: vec![FindingPlace::Item(first.1.item)],
        })
    }

    fn is_used(&self, name: &str) -> bool {
        self.used.contains(&plain(name))
    }
}
