//! Sums over the responses of all logs.

use super::cost::Cost;
use super::options::{DivideBy, Division, ListOptions};
use super::responses::Responses;
use super::row::Row;
use formats::Format;
use indexmap::IndexSet;
use jiff::Timestamp;
use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use model::cost::spending::{PriceList, Spending};
use model::event::{BilledUsage, Conversation, Key};
use model::values::project::Projects;
use model::window::{ModelAt, Rules};
use std::collections::BTreeMap;

/// The usage of all responses, by agent. Each is counted once, even if several lines and files repeat it.
#[derive(Default)]
pub struct Totals {
    agents: BTreeMap<&'static str, Agent>,
    models: Names,
    /// The folders of projects.
    folders: Names,
}

struct Agent {
    format: &'static Format,
    /// The responses of all its logs, each with the index of its project's folder.
    rows: Vec<Row>,
    /// Responses without usage.
    unbilled: Keys,
    /// Compactions whose request is in no log.
    compactions: Keys,
    /// The number of records that could not be read.
    unreadable: u64,
}

/// Keys of all logs. Those without ids are different in each log.
#[derive(Default)]
struct Keys {
    shared: Vec<Key>,
    local: usize,
}

impl Keys {
    fn extend(&mut self, keys: &[Key]) {
        let shared = keys.iter().filter(|key| !key.is_local());
        let before = self.shared.len();
        self.shared.extend(shared);
        self.local += keys.len() - (self.shared.len() - before);
    }

    /// Has each once.
    fn merge(&mut self) {
        self.shared.sort_unstable();
        self.shared.dedup();
    }

    fn len(&self) -> usize {
        self.local + self.shared.len()
    }
}

/// Names by their index.
type Names = IndexSet<Box<str>>;

fn index(names: &mut Names, name: &str) -> Option<u32> {
    let known = names.get_index_of(name);
    u32::try_from(known.unwrap_or_else(|| names.insert_full(name.into()).0)).ok()
}

fn name(names: &Names, ix: Option<u32>) -> Option<&str> {
    Some(names.get_index(ix? as usize)?)
}

/// The totals of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTotals {
    /// The agent's id.
    pub agent: &'static str,
    /// The sums in the provider's own terms, in the order of the terms.
    pub terms: Vec<(&'static str, u64)>,
    /// The output, with reasoning.
    pub output_with_reasoning: u64,
    /// The part of the sums that the logs have only as sums of several requests.
    pub summed: Vec<(&'static str, u64)>,
    /// The number of responses in the logs that have no usage.
    pub without_usage: u64,
    /// Of how many responses the logs have the output alone.
    pub without_input: u64,
    /// The number of compactions by a request whose usage is not in the logs.
    pub compactions: u64,
    /// The number of records of the logs that could not be read. Their usage is not known.
    pub unreadable: u64,
}

/// A part of the totals.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The day, week, project, model or agent; empty: not known.
    pub name: String,
    /// The folder of a project.
    pub folder: Option<String>,
    /// The usage and the cost of its responses.
    pub spending: Spending,
}

/// The responses of all logs as they are read: several logs may have the same.
#[derive(Default)]
pub(super) struct CollectedResponses(Totals);

impl CollectedResponses {
    /// Adds the responses of a log of this format. `folder` is that of the project of each of its sessions; `None`: the
    /// session is not wanted.
    pub(super) fn add<'p>(
        &mut self,
        format: &'static Format,
        responses: &Responses,
        wanted: &ListOptions,
        folder: impl Fn(Conversation) -> Option<&'p str>,
    ) {
        if responses.has_none() {
            return;
        }
        let Totals {
            agents,
            models: names,
            folders,
        } = &mut self.0;
        let models = responses.models.iter();
        let models: Vec<Option<u32>> = models.map(|model| index(names, model)).collect();
        let all = agents.entry(format.id).or_insert_with(|| Agent {
            format,
            rows: Vec::new(),
            unbilled: Keys::default(),
            compactions: Keys::default(),
            unreadable: 0,
        });
        // Doubled each time, the list would take up to three times its memory while it is moved.
        let rows = &responses.rows;
        if all.rows.capacity() - all.rows.len() < rows.len() {
            all.rows.reserve_exact(rows.len().max(all.rows.len() / 4));
        }
        let wanted_folders = responses.conversations.iter().map(|conversation| {
            let folder = folder(*conversation).filter(|folder| wanted.has_project(folder));
            folder.and_then(|folder| index(folders, folder))
        });
        let wanted_folders: Vec<Option<u32>> = wanted_folders.collect();
        for row in rows {
            let Some(Some(folder)) = wanted_folders.get(row.of as usize) else {
                continue;
            };
            let model = row.model().and_then(|ix| *models.get(ix as usize)?);
            if wanted.has_response(
                row.at(),
                name(names, model).map(|name| ModelAt::parted(name).model),
            ) {
                let key = match row.key() {
                    key if key.is_local() => in_all_logs(key, &row.cost(Conversation::Main)),
                    key => key,
                };
                all.rows.push(row.labelled(key, model, *folder));
            }
        }
        // Without usage, a response has neither a time nor a model here.
        if wanted.since.is_none()
            && wanted.model.is_none()
            && folder(Conversation::Main).is_some_and(|folder| wanted.has_project(folder))
        {
            all.unbilled.extend(&responses.unbilled);
            all.compactions.extend(&responses.compactions);
            all.unreadable += responses.unreadable;
        }
    }

    /// Returns the totals, with each response once.
    pub(super) fn merged(mut self) -> Totals {
        let Totals {
            agents, folders, ..
        } = &mut self.0;
        for agent in agents.values_mut() {
            agent.rows.sort_unstable_by_key(Row::order);
            agent.rows.dedup_by(|row, kept| {
                let is_same = row.key() == kept.key();
                if is_same {
                    let cost = kept
                        .cost(Conversation::Main)
                        .merged(row.cost(Conversation::Main));
                    let of = [kept.of, row.of];
                    // If several logs have the response, it belongs to the first folder by name.
                    let folder = of.into_iter().min_by_key(|ix| name(folders, Some(*ix)));
                    *kept = Row::new(kept.key(), &cost, folder.unwrap_or(kept.of));
                }
                is_same
            });
            agent.unbilled.merge();
            agent.compactions.merge();
        }
        self.0
    }
}

impl Totals {
    /// Returns the totals of each agent, by its id.
    pub fn by_agent(&self) -> Vec<AgentTotals> {
        self.agents.values().map(AgentTotals::new).collect()
    }

    /// Returns the usage of each agent, the dearest first.
    pub fn agents(&self, rules: &Rules, projects: &Projects) -> Vec<Group> {
        let by = DivideBy::Agent;
        let zone = TimeZone::UTC;
        self.groups(&Division { by, zone }, rules, projects)
    }

    /// Returns the usage by day, week, project, model or agent. Days and weeks are in order, the others by cost, the
    /// dearest first.
    pub fn groups(&self, division: &Division, rules: &Rules, projects: &Projects) -> Vec<Group> {
        let Division { by, zone } = division;
        let mut prices = PriceList::new(rules);
        let mut groups: BTreeMap<String, Spending> = BTreeMap::new();
        for agent in self.agents.values() {
            for row in &agent.rows {
                let cost = row.cost(Conversation::Main);
                let model = name(&self.models, cost.model).map(ModelAt::parted);
                let group = match by {
                    DivideBy::Day | DivideBy::Week => {
                        cost.at.map_or_else(String::new, |at| day(at, zone, *by))
                    }
                    DivideBy::Project => name(&self.folders, Some(row.of))
                        .unwrap_or_default()
                        .to_owned(),
                    DivideBy::Model => model.map_or_else(String::new, |of| of.model.to_owned()),
                    _ => agent.format.id.to_owned(),
                };
                let spending = cost.spending(&mut prices, agent.format, model);
                groups.entry(group).or_default().add(spending);
            }
        }
        let groups = groups.into_iter();
        let mut groups: Vec<Group> = groups
            .map(|(name, spending)| match by {
                DivideBy::Project => Group {
                    name: projects.name(&name).to_owned(),
                    folder: Some(name).filter(|folder| !folder.is_empty()),
                    spending,
                },
                _ => Group {
                    name,
                    folder: None,
                    spending,
                },
            })
            .collect();
        if !matches!(by, DivideBy::Day | DivideBy::Week) {
            groups.sort_by(|a, b| {
                let (a, b) = (&a.spending, &b.spending);
                let dearer = b.usd().total_cmp(&a.usd());
                dearer.then(b.spent.all().cmp(&a.spent.all()))
            });
        }
        groups
    }
}

/// Returns the day of a moment in this time zone, or the Monday before it.
fn day(at: Timestamp, zone: &TimeZone, by: DivideBy) -> String {
    let date = zone.to_datetime(at).date();
    let monday = || {
        let since = date.weekday().since(Weekday::Monday);
        date.checked_sub(jiff::Span::new().days(since))
            .unwrap_or(date)
    };
    match by {
        DivideBy::Week => monday().to_string(),
        _ => date.to_string(),
    }
}

impl AgentTotals {
    fn new(of: &Agent) -> AgentTotals {
        let format = of.format;
        let sum = |costs: &mut dyn Iterator<Item = Cost>| {
            costs.fold(BilledUsage::default(), |sum, cost| sum.plus(cost.billed))
        };
        let all = || of.rows.iter().map(|row| row.cost(Conversation::Main));
        let costs = sum(&mut all());
        let summed = sum(&mut all().filter(|cost| cost.is_sum));
        let terms = |billed: &BilledUsage| -> Vec<(&'static str, u64)> {
            let terms = format.totals.terms.iter();
            terms.map(|(name, read)| (*name, read(billed))).collect()
        };
        // A log that was continued elsewhere may lack what the other has.
        let unbilled = of.unbilled.shared.iter();
        let is_lost = |key: &&Key| of.rows.binary_search_by_key(*key, Row::key).is_err();
        let unbilled = unbilled.filter(is_lost).count();
        let beside = if format.totals.reasoning_beside_output {
            costs.reasoning
        } else {
            0
        };
        AgentTotals {
            agent: format.id,
            terms: terms(&costs),
            output_with_reasoning: costs.output.saturating_add(beside),
            summed: terms(&summed).into_iter().filter(|(_, n)| *n > 0).collect(),
            without_usage: (of.unbilled.local + unbilled) as u64,
            without_input: all().filter(|cost| cost.lacks_input).count() as u64,
            compactions: of.compactions.len() as u64,
            unreadable: of.unreadable,
        }
    }
}

/// The most bytes of the numbers of a response: ten for each of 64 bits, 19 for a time, one for each of the others.
const MOST_NUMBERS: usize = 7 * 10 + 19 + 4;

/// Returns the key of a response among those of all logs. If a log has no ids, other logs have the same keys: the
/// numbers and the time of a response then distinguish it. They are the same in a copy of the log.
pub(crate) fn in_all_logs(request: Key, cost: &Cost) -> Key {
    if request.is_local() {
        let at = cost.at.map(Timestamp::as_nanosecond);
        let mut numbers = [0; MOST_NUMBERS];
        let numbers = postcard::to_slice(&(request, cost.billed, cost.is_sum, at), &mut numbers);
        // There is room for all of them.
        Key::of_parts(&[numbers.unwrap_or_default()])
    } else {
        request
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::values::token_usage::CachePlacement;

    fn format() -> &'static Format {
        Box::leak(Box::new(Format {
            id: "tested",
            totals: formats::Totals::new(&[("input", |billed| billed.input)]),
            ..Format::DEFAULT
        }))
    }

    fn cost(input: u64, at: &str, model: Option<u32>) -> Cost {
        Cost {
            billed: BilledUsage::new(input, 10),
            cached: CachePlacement::Within,
            is_sum: false,
            lacks_input: false,
            at: at.parse().ok(),
            model,
            conversation: Conversation::Main,
        }
    }

    fn log(costs: &[(Key, Cost)]) -> Responses {
        Responses::made(costs, &["dear", "cheap"])
    }

    #[test]
    fn responses_without_ids_are_counted_in_each_log() {
        let (local, id) = (Key::of_number("response", 3), Key::of("msg_1"));
        let format = format();
        // The third is a copy of the second.
        let copies = [100, 250, 250].map(|input| {
            let cost = cost(input, "", None);
            log(&[(local, cost), (id, cost)])
        });
        let input = |logs: &[&Responses]| {
            let mut all = CollectedResponses::default();
            for log in logs {
                all.add(format, log, &ListOptions::default(), |_| Some(""));
            }
            all.merged().by_agent()[0].terms[0]
        };
        let [a, b, c] = &copies;
        // 100 and 250 of the responses without ids, 250 of the one with an id.
        assert_eq!(input(&[a, b, c]), ("input", 600));
        assert_eq!(input(&[c, a, b]), ("input", 600));
        // Equal numbers at another time are another response.
        let later = log(&[(local, cost(250, "2026-11-22T10:00:00Z", None))]);
        assert_eq!(input(&[a, b, c, &later]), ("input", 850));
    }

    /// Returns the totals of three responses of two projects, days and models; a fork repeats the second.
    fn totals(wanted: &ListOptions) -> Totals {
        let [a, b, c] = ["a", "b", "c"].map(Key::of);
        let first = log(&[
            (a, cost(1_000_000, "2026-11-22T23:59:59Z", Some(0))),
            (b, cost(2_000_000, "2026-11-23T00:00:00Z", Some(0))),
        ]);
        let fork = log(&[
            (b, cost(2_000_000, "2026-11-24T10:00:00Z", None)),
            (c, cost(4_000_000, "2026-11-24T10:00:00Z", Some(1))),
        ]);
        let mut all = CollectedResponses::default();
        let format = format();
        all.add(format, &first, wanted, |_| Some("/home/ada/shop"));
        all.add(format, &fork, wanted, |_| Some("/home/ada/blog"));
        all.merged()
    }

    fn groups(by: DivideBy, wanted: &ListOptions) -> Vec<(String, u64, f64)> {
        let table = "[[price]]\nids = [\"dear\"]\ncached_read = 0.1\ninput = 3.0\noutput = 0.0";
        let rules: Rules = toml::from_str(table).unwrap();
        let wanted = ListOptions {
            by: Some(by),
            ..wanted.clone()
        };
        let (division, projects) = (wanted.division().unwrap(), Projects::default());
        let groups = totals(&wanted).groups(&division, &rules, &projects);
        let groups = groups.into_iter();
        groups
            .map(|group| (group.name, group.spending.spent.input, group.spending.usd()))
            .collect()
    }

    #[test]
    fn totals_are_divided_by_time_project_and_model() {
        let row = |name: &str, input, usd| (name.to_owned(), input, usd);
        let all = ListOptions::default();
        let in_west = ListOptions {
            zone: TimeZone::posix("<-01>1").ok(),
            ..ListOptions::default()
        };
        assert_eq!(
            groups(DivideBy::Day, &in_west),
            [
                row("2026-11-22", 3_000_000, 9.0),
                row("2026-11-24", 4_000_000, 0.0),
            ]
        );
        assert_eq!(
            groups(DivideBy::Day, &all),
            [
                row("2026-11-22", 1_000_000, 3.0),
                row("2026-11-23", 2_000_000, 6.0),
                row("2026-11-24", 4_000_000, 0.0),
            ]
        );
        assert_eq!(
            groups(DivideBy::Week, &all),
            [
                row("2026-11-16", 1_000_000, 3.0),
                row("2026-11-23", 6_000_000, 6.0)
            ]
        );
        // A response of both logs belongs to the first project by name.
        assert_eq!(
            groups(DivideBy::Project, &all),
            [row("blog", 6_000_000, 6.0), row("shop", 1_000_000, 3.0)]
        );
        assert_eq!(
            groups(DivideBy::Model, &all),
            [row("dear", 3_000_000, 9.0), row("cheap", 4_000_000, 0.0)]
        );
        assert_eq!(
            groups(DivideBy::Agent, &all),
            [row("tested", 7_000_000, 9.0)]
        );
    }

    #[test]
    fn only_what_is_wanted_is_counted() {
        let input = |wanted: ListOptions| totals(&wanted).by_agent().first().map(|a| a.terms[0].1);
        let since = ListOptions {
            since: "2026-11-23T00:00:00Z".parse().ok(),
            ..ListOptions::default()
        };
        assert_eq!(input(since), Some(6_000_000));
        let model = ListOptions {
            model: Some("DEA".to_owned()),
            ..ListOptions::default()
        };
        assert_eq!(input(model), Some(3_000_000));
        let project = ListOptions {
            project: Some("shop".to_owned()),
            ..ListOptions::default()
        };
        assert_eq!(input(project), Some(3_000_000));
    }
}
