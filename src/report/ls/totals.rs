//! Sums over the responses of all logs.

use super::responses::{Cost, Responses};
use format::Format;
use model::event::{Billed, Key};
use std::collections::BTreeMap;

/// The usage of all responses, by agent. Each is counted once, even if several lines and files repeat it.
#[derive(Default)]
pub struct Totals {
    agents: BTreeMap<&'static str, Agent>,
}

struct Agent {
    format: &'static Format,
    /// Those of all its logs.
    responses: Responses,
    /// Responses without usage in logs without ids.
    unbilled: usize,
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
    /// How many responses in the logs have no usage.
    pub without_usage: u64,
    /// How many compactions took a request whose usage is not in the logs.
    pub compactions: u64,
}

impl Totals {
    /// Adds the responses of a log of this format.
    pub(super) fn add(&mut self, format: &'static Format, responses: Responses) {
        let Responses {
            costs,
            unbilled,
            compactions,
        } = responses;
        if costs.is_empty() && unbilled.is_empty() && compactions == 0 {
            return;
        }
        let all = self.agents.entry(format.id).or_insert_with(|| Agent {
            format,
            responses: Responses::default(),
            unbilled: 0,
        });
        for (request, cost) in costs {
            all.responses.count(in_all_logs(request, cost), cost);
        }
        let (local, shared): (Vec<Key>, Vec<Key>) =
            unbilled.into_iter().partition(|key| key.is_local());
        all.unbilled += local.len();
        all.responses.unbilled.extend(shared);
        all.responses.compactions += compactions;
    }

    /// The totals of each agent, by its id.
    pub fn by_agent(&self) -> Vec<AgentTotals> {
        self.agents.values().map(AgentTotals::new).collect()
    }
}

impl AgentTotals {
    fn new(of: &Agent) -> AgentTotals {
        let (format, all) = (of.format, &of.responses);
        let sum = |costs: &mut dyn Iterator<Item = &Cost>| {
            costs.fold(Billed::default(), |sum, cost| sum.plus(cost.billed))
        };
        let costs = sum(&mut all.costs.values());
        let summed = sum(&mut all.costs.values().filter(|cost| cost.is_sum));
        let terms = |billed: &Billed| -> Vec<(&'static str, u64)> {
            let terms = format.terms.iter();
            terms.map(|(name, read)| (*name, read(billed))).collect()
        };
        // A log that was continued elsewhere may lack what the other has.
        let unbilled = all.unbilled.iter();
        let unbilled = unbilled.filter(|key| !all.costs.contains_key(key)).count();
        let beside = if format.reasoning_beside_output {
            costs.reasoning
        } else {
            0
        };
        AgentTotals {
            agent: format.id,
            terms: terms(&costs),
            output_with_reasoning: costs.output.saturating_add(beside),
            summed: terms(&summed).into_iter().filter(|(_, n)| *n > 0).collect(),
            without_usage: (of.unbilled + unbilled) as u64,
            compactions: all.compactions,
        }
    }
}

/// The key of a response among those of all logs. Where a log has no ids, its keys are those of other logs too: a
/// response is distinguished from theirs by its numbers, which are the same in a copy of the log.
fn in_all_logs(request: Key, cost: Cost) -> Key {
    if request.is_local() {
        Key::of_parts(&[&request.get().to_string(), &format!("{cost:?}")])
    } else {
        request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_without_ids_are_counted_in_each_log() {
        let mut totals = Totals::default();
        let (local, id) = (Key::of_number("response", 3), Key::of("msg_1"));
        let log = |input| {
            let billed = Billed {
                input,
                ..Billed::default()
            };
            Responses {
                costs: [
                    (
                        local,
                        Cost {
                            billed,
                            is_sum: false,
                        },
                    ),
                    (
                        id,
                        Cost {
                            billed,
                            is_sum: false,
                        },
                    ),
                ]
                .into_iter()
                .collect(),
                ..Responses::default()
            }
        };
        let format = Format {
            terms: &[("input", |billed| billed.input)],
            ..Format::DEFAULT
        };
        let format = Box::leak(Box::new(format));
        // The third is a copy of the second.
        for input in [100, 250, 250] {
            totals.add(format, log(input));
        }
        // 100 and 250 of the responses without ids, 250 of the one with an id.
        assert_eq!(totals.by_agent()[0].terms, [("input", 600)]);
    }
}
