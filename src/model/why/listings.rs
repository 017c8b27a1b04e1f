//! Skills, agents and servers that are listed in each prompt and hardly used. A session that does not use a skill shows
//! little, so the sessions of a project are looked at together.

use super::{
    Finding, FindingDetail, FindingKind, FindingPlace, Inputs, ListedNames, SessionFindings,
};
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
    pub(super) listed: Vec<ListedName>,
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

impl ListedName {
    /// Adds what another list of it has carried.
    fn add(&mut self, carried: u64, usd: Option<f64>) {
        self.carried = self.carried.saturating_add(carried);
        self.usd = self.usd.zip(usd).map(|(sum, usd)| sum + usd);
    }
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

    /// Returns the names of a kind that are listed.
    pub(super) fn listed(&self, kind: ListKind) -> impl Iterator<Item = &ListedName> {
        self.listed.iter().filter(move |of| of.kind == kind)
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
        known.add(carried, usd);
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
    let plain = last.to_ascii_lowercase();
    plain.replace(|c: char| !c.is_alphanumeric(), "_").into()
}

/// Returns the kinds of names that are listed in the sessions of a project and hardly used.
pub fn hardly_used<'a>(
    sessions: impl IntoIterator<Item = &'a SessionFindings, IntoIter: Clone>,
) -> Vec<Finding> {
    let sessions = sessions.into_iter();
    let findings = ListKind::ALL.map(|kind| hardly_used_of(kind, sessions.clone()));
    findings.into_iter().flatten().collect()
}

/// Returns the names of one kind if they are hardly used.
pub(super) fn hardly_used_of<'a>(
    kind: ListKind,
    sessions: impl Iterator<Item = &'a SessionFindings> + Clone,
) -> Option<Finding> {
    let prompts = sessions.clone().map(|of| of.prompts);
    let prompts = prompts.fold(0, u64::saturating_add);
    let used_names = sessions.clone().flat_map(|of| &of.listings.used);
    let used_names: BTreeSet<&Box<str>> = used_names.collect();
    // Each name with the number of sessions that list it.
    let mut names: BTreeMap<&str, (ListedName, u64)> = BTreeMap::new();
    for listed in sessions.flat_map(|of| of.listings.listed(kind)) {
        match names.get_mut(&*listed.name) {
            Some((sum, sessions)) => {
                sum.add(listed.carried, listed.usd);
                *sessions += 1;
            }
            None => {
                names.insert(&listed.name, (listed.clone(), 1));
            }
        }
    }
    let listed = names.len();
    let mut unused: Vec<_> = names.into_values().collect();
    unused.retain(|(of, _)| !used_names.contains(&plain(&of.name)));
    unused.sort_by_key(|(of, _)| Reverse(of.carried));
    let carried = unused.iter().map(|(of, _)| of.carried);
    let carried = carried.fold(0, u64::saturating_add);
    let used = listed - unused.len();
    if used * HARDLY_USED > listed || (carried as f64) < prompts as f64 * LEAST_SHARE {
        return None;
    }
    let largest = unused.iter().take(MOST_UNUSED);
    Some(Finding {
        kind: FindingKind::Listings,
        about: <&str>::from(kind).into(),
        count: unused.iter().map(|(_, sessions)| *sessions).max()?,
        tokens: carried,
        usd: unused.iter().map(|(of, _)| of.usd).sum(),
        range: None,
        places: vec![FindingPlace::Item(unused.first()?.0.item)],
        detail: FindingDetail::Listed(ListedNames {
            names: listed as u64,
            used: used as u64,
            unused: largest.map(|(of, _)| of.name.clone()).collect(),
        }),
    })
}
