//! Lists the metrics of a session.

use crate::snapshot::SessionNumbers;
use crate::unit::Unit::{self, None, Seconds, Tokens};
use crate::unit::whole_name;
use MetricType::{Counter, Gauge};
use model::Role;
use prometheus_client::metrics::MetricType;

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A whole one.
    Whole(u64),
    /// Any.
    Real(f64),
}

/// The samples of a session: each with the value of the [label](Family::by) that divides them; empty: there is none.
type Samples = Vec<(&'static str, Number)>;

/// A metric of sessions.
pub struct Family {
    /// The name, without the program's name before it and the unit after it.
    pub name: &'static str,
    /// The unit.
    pub unit: Unit,
    /// The kind.
    pub kind: MetricType,
    /// The label that divides its samples; empty: each session has one sample.
    pub by: &'static str,
    /// The meaning, for people: no backslash and no newline, which the formats would escape.
    pub help: &'static str,
    /// Returns the samples of a session. A number that is not known has none.
    pub samples: fn(&SessionNumbers) -> Samples,
}

impl Family {
    /// A number of tokens that rises and falls, without samples.
    const TOKENS: Family = Family {
        name: "",
        unit: Tokens,
        kind: Gauge,
        by: "",
        help: "",
        samples: |_| Samples::new(),
    };

    /// Returns the whole name, as queries have it.
    pub fn whole_name(&self) -> String {
        whole_name(self.name, self.unit, self.kind)
    }
}

fn one(value: u64) -> Samples {
    vec![("", Number::Whole(value))]
}

fn known(value: Option<u64>) -> Samples {
    value.map(one).unwrap_or_default()
}

fn each(values: impl IntoIterator<Item = (&'static str, u64)>) -> Samples {
    let values = values.into_iter();
    values
        .map(|(part, value)| (part, Number::Whole(value)))
        .collect()
}

/// All metrics of a session.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "context",
        help: "Tokens in the context.",
        samples: |of| one(of.context.used),
        ..Family::TOKENS
    },
    Family {
        name: "context_known",
        help: "The part of the context that the provider has reported.",
        samples: |of| one(of.context.known),
        ..Family::TOKENS
    },
    Family {
        name: "context_estimated",
        help: "The part of the context that is estimated: everything after the newest usage report.",
        samples: |of| one(of.context.estimated),
        ..Family::TOKENS
    },
    Family {
        name: "context_low",
        help: "The lower end of the 90 % interval of the context's size.",
        samples: |of| one(of.context.low),
        ..Family::TOKENS
    },
    Family {
        name: "context_high",
        help: "The upper end of the 90 % interval of the context's size.",
        samples: |of| one(of.context.high),
        ..Family::TOKENS
    },
    Family {
        name: "trigger",
        help: "The size at which the agent compacts, in its own count. Absent if none is known.",
        samples: |of| known(of.trigger),
        ..Family::TOKENS
    },
    Family {
        name: "window",
        help: "The size of the model's context window.",
        samples: |of| one(of.window),
        ..Family::TOKENS
    },
    Family {
        name: "headroom",
        help: "Tokens left before the trigger. Absent if no trigger is known.",
        samples: |of| known(of.trigger.map(|trigger| of.context.headroom(trigger))),
        ..Family::TOKENS
    },
    Family {
        name: "own_count",
        help: "The number that the agent compares with its trigger. Absent if its rule is not known.",
        samples: |of| known(of.context.own.map(|own| own.tokens)),
        ..Family::TOKENS
    },
    Family {
        name: "role",
        by: "role",
        help: "The part of the context of each role. The sum of the roles is the context.",
        samples: |of| each(Role::ALL.map(|role| (role.name(), of.context.role(role).tokens))),
        ..Family::TOKENS
    },
    Family {
        name: "context_items",
        unit: None,
        help: "Items in the context: messages, tool calls, results.",
        samples: |of| {
            let items = of.context.roles.iter().map(|share| share.items);
            one(items.sum::<usize>() as u64)
        },
        ..Family::TOKENS
    },
    Family {
        name: "requests_left",
        unit: None,
        by: "percentile",
        help: "The forecast of the requests before the next compaction: the median and the 80 % band. Absent if there \
               is no forecast.",
        samples: |of| {
            let Some(left) = of.requests_left else {
                return Vec::new();
            };
            let band = [("10", left.p10), ("50", left.p50), ("90", left.p90)];
            band.map(|(percentile, value)| (percentile, Number::Real(value)))
                .into()
        },
        ..Family::TOKENS
    },
    Family {
        name: "record_age",
        unit: Seconds,
        help: "The time since the session's newest record.",
        samples: |of| vec![("", Number::Real(of.age.as_secs_f64()))],
        ..Family::TOKENS
    },
    Family {
        name: "requests",
        unit: None,
        kind: Counter,
        help: "Requests to the model. Like all counts of a session, absent until its log was read whole.",
        samples: |of| known(of.counts.map(|_| of.requests)),
        ..Family::TOKENS
    },
    Family {
        name: "compactions",
        unit: None,
        kind: Counter,
        by: "cause",
        help: "Compactions, by their cause.",
        samples: |of| {
            let counts = of.counts.iter().flat_map(|counts| counts.compactions());
            each(counts.map(|(cause, n)| (cause, n.into())))
        },
    },
    Family {
        name: "dropped",
        kind: Counter,
        help: "Tokens that left the context by compactions.",
        samples: |of| known(of.counts.map(|counts| counts.dropped)),
        ..Family::TOKENS
    },
    Family {
        name: "cache_rebuilt",
        kind: Counter,
        by: "cause",
        help: "Tokens that were rebuilt in the prompt cache, by the cause. A cause has a series after its first \
               rebuild.",
        samples: |of| each(of.counts.iter().flat_map(|counts| counts.rebuilt())),
        ..Family::TOKENS
    },
    Family {
        name: "usage",
        kind: Counter,
        by: "kind",
        help: "Tokens that the provider counted, in kinds that do not overlap: input that no cache had, read from a \
               cache, written to a cache, output with reasoning.",
        samples: |of| {
            let Some(used) = of.usage else {
                return Vec::new();
            };
            each([
                ("input", used.input),
                ("cache_read", used.cache_read),
                ("cache_write", used.cache_write),
                ("output", used.output),
            ])
        },
        ..Family::TOKENS
    },
    Family {
        name: "unreadable_records",
        unit: None,
        kind: Counter,
        help: "Records of the log that could not be read.",
        samples: |of| known(of.counts.map(|_| of.unreadable)),
        ..Family::TOKENS
    },
    Family {
        name: "lost_fields",
        unit: None,
        kind: Counter,
        help: "Fields of records with an impossible type or number.",
        samples: |of| known(of.counts.map(|counts| counts.lost_fields)),
        ..Family::TOKENS
    },
];
