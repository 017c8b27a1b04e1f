//! `ui_messages.json`: what the editor shows of a task, with the numbers of its requests.

use super::ReadMessage;
use decode::lenient::{self, Count, Dollars, LostFields, Millis, Text, record};
use model::event::{BilledUsage, EventSink, Key, Usage};
use std::collections::VecDeque;

record! {
    struct UiMessage<'a> {
        ts: Option<Millis>,
        say: Text<'a>,
        text: Text<'a>,
        model: Text<'a> = "modelInfo" / "modelId",
        index: Option<f64> = "conversationHistoryIndex",
        range: Option<Vec<Count>> = "conversationHistoryDeletedRange",
        condense: Option<Change<'a>> = "contextCondense",
        truncation: Option<Change<'a>> = "contextTruncation",
    }

    whole struct Numbers {
        input: Count = "tokensIn",
        output: Count = "tokensOut",
        cache_write: Count = "cacheWrites",
        cache_read: Count = "cacheReads",
        cost: Dollars,
    }

    struct Change<'a> {
        before: Count = "prevContextTokens",
        cost: Dollars,
        truncation: Text<'a> = "truncationId",
    }
}

/// The moment at which something was shown: the index of the last message then, and the time.
#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    after: Option<i64>,
    at: Option<i64>,
}

impl Moment {
    /// Returns true if it was before the message at this index, which was written at this time. `None`: it is not
    /// known.
    fn is_before(self, index: u64, at: Option<Millis>) -> Option<bool> {
        let by_index = self
            .after
            .map(|after| after < i64::try_from(index).unwrap_or(i64::MAX));
        by_index.or_else(|| Some(self.at? <= at?.0))
    }
}

/// The numbers of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    moment: Moment,
    pub(super) model: Option<Box<str>>,
    pub(super) billed: BilledUsage,
    /// Its cost according to the agent.
    pub(super) cost: Dollars,
    /// True if it was made before the newest compaction before its message.
    pub(super) is_old: bool,
}

impl Report {
    pub(super) fn usage(&self, request: Key, model: Option<Box<str>>) -> Usage {
        let billed = self.billed;
        let cached = billed.cache_read + billed.cache_creation;
        // Some builds count the cached part in, some do not.
        let prompt = if cached > billed.input {
            billed.prompt()
        } else {
            billed.input
        };
        Usage {
            model,
            output: Some(billed.output),
            ..Usage::billed(request, prompt, billed)
        }
    }
}

/// A compaction with a summary.
#[derive(Debug, Clone, Copy)]
pub(super) struct Condensation {
    at: Option<i64>,
    pub(super) before: u64,
    /// The cost of its request according to the agent.
    pub(super) cost: Dollars,
}

/// Messages that leave.
#[derive(Debug, Clone)]
pub(super) struct RemovedMessages {
    moment: Moment,
    pub(super) before: Option<u64>,
    /// The indices of the first and the last message.
    range: Option<(u64, u64)>,
    id: Option<Box<str>>,
}

impl RemovedMessages {
    /// Returns true if it takes away this message.
    pub(super) fn hides(&self, index: u64, seen: &ReadMessage) -> bool {
        let in_range = self
            .range
            .is_some_and(|(first, last)| (first..=last).contains(&index));
        in_range || self.id.is_some() && self.id == seen.truncation
    }
}

/// The messages that are shown of a task, in order, as far as they have not been used.
#[derive(Debug, Clone, Default)]
pub(super) struct Ui {
    /// The user's request.
    pub(super) task: Option<Box<str>>,
    reports: VecDeque<Report>,
    condensed: VecDeque<Condensation>,
    cuts: VecDeque<RemovedMessages>,
    /// The time at which the newest summary that was read was made.
    floor: Option<i64>,
}

impl Ui {
    pub(super) fn read(json: &str, out: &mut EventSink<'_>) -> Option<Ui> {
        let (raw, lost) = (serde_json::from_str(json).ok()?, LostFields::default());
        let shown: Option<Vec<UiMessage<'_>>> = lost.at("ui_messages").read(raw);
        let (mut ui, mut range) = (Ui::default(), None);
        for one in shown.iter().flatten() {
            ui.add(one, &mut range, &lost);
        }
        lost.report(out);
        Some(ui)
    }

    fn add(&mut self, shown: &UiMessage<'_>, range: &mut Option<(u64, u64)>, lost: &LostFields) {
        let moment = Moment {
            after: shown.index.map(|index| index as i64),
            at: shown.ts.map(|ts| ts.0),
        };
        let now = match shown.range.as_deref() {
            Some([Count(Some(first)), Count(Some(last))]) => Some((*first, *last)),
            _ => None,
        };
        if now.is_some() && now != *range {
            *range = now;
            self.cuts.push_back(RemovedMessages {
                moment,
                before: None,
                range: now,
                id: None,
            });
        }
        match shown.say.or_empty() {
            "task" | "text" if self.task.is_none() => self.task = shown.text.boxed(),
            "api_req_started" => {
                let numbers = shown.text.get().unwrap_or("{}");
                let numbers: Numbers = lenient::parse(numbers, lost).unwrap_or_default();
                let billed = BilledUsage::new(numbers.input.or_zero(), numbers.output.or_zero())
                    .with_cache(numbers.cache_read.or_zero(), numbers.cache_write.or_zero());
                if billed.prompt() > 0 {
                    let model = shown.model.boxed();
                    self.reports.push_back(Report {
                        moment,
                        model,
                        billed,
                        cost: numbers.cost,
                        is_old: false,
                    });
                }
            }
            "condense_context" => {
                let condense = shown.condense.as_ref();
                self.condensed.push_back(Condensation {
                    at: moment.at,
                    before: condense.map_or(0, |one| one.before.or_zero()),
                    cost: condense.map_or(Dollars::default(), |one| one.cost),
                });
            }
            "sliding_window_truncation" => {
                if let Some(cut) = &shown.truncation {
                    let (before, id) = (cut.before.0, cut.truncation.boxed());
                    self.cuts.push_back(RemovedMessages {
                        moment,
                        before,
                        range: None,
                        id,
                    });
                }
            }
            _ => {}
        }
    }

    /// Returns the numbers of the response at this index: of the last request before it.
    pub(super) fn report(&mut self, index: u64, at: Option<Millis>) -> Option<Report> {
        let first = self.reports.front()?;
        if first.moment.is_before(index, at) == Some(false) {
            return None;
        }
        let mut report = self.reports.pop_front()?;
        while let Some(next) = self.reports.front()
            && next.moment.is_before(index, at) == Some(true)
        {
            report = self.reports.pop_front()?;
        }
        report.is_old = report.moment.at.is_some() && report.moment.at < self.floor;
        Some(report)
    }

    /// Returns the compaction whose summary was written at this time.
    pub(super) fn condensed(&mut self, _at: Option<Millis>) -> Option<Condensation> {
        let one = self.condensed.pop_front()?;
        self.floor = one.at;
        Some(one)
    }

    /// Returns the next truncation that came before the message at this index.
    pub(super) fn truncated(&mut self, index: u64, at: Option<Millis>) -> Option<RemovedMessages> {
        let is_before = self.cuts.front()?.moment.is_before(index, at);
        if index == u64::MAX || is_before == Some(true) {
            self.cuts.pop_front()
        } else {
            None
        }
    }
}
