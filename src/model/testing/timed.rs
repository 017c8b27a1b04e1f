//! A log whose requests have times, for what depends on a provider's cache.

use super::new_item;
use crate::event::{BilledUsage, Conversation, Entry, Event, Key, Meta, Node, Part, Place, Usage};
use crate::session::{Coverage, Session};
use crate::window::Rules;
use crate::{Kind, Role};
use jiff::Timestamp;
use std::sync::Arc;

const RULES: &str = r#"
[[cache]]
ids = ["five*"]
seconds = 300

[[cache]]
ids = ["loose"]
seconds = 300
most = 3_600

[misses]
tested = { predicted = 200, lost = 3 }

[[price]]
ids = ["five*"]
cached_read = 0.5
input = 5.0
cache_write = 6.25
cache_write_hour = 10.0
output = 25.0
source = "test"
"#;

/// A session whose records have times, in seconds from its beginning.
pub(crate) struct Log(pub(crate) Session, u64);

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 + seconds).expect("a time")
}

impl Log {
    pub(crate) fn of(model: &str) -> Log {
        let rules: Rules = toml::from_str(RULES).expect("rules");
        let mut session = Session::new("tested", Arc::new(rules));
        session.coverage = Coverage::Whole;
        Log(session, 0).event(0, Event::Meta(Box::new(Meta::of_model(Some(model.into())))))
    }

    pub(crate) fn event(mut self, seconds: i64, event: Event) -> Log {
        self.1 += 1;
        self.0.apply(Entry {
            conversation: Conversation::Main,
            place: Place::new(self.1, self.1 * 100, 99),
            at: Some(at(seconds)),
            event,
        });
        self
    }

    /// Somebody types; the answer to that comes `lasts` seconds later.
    pub(crate) fn asks(self, seconds: i64, lasts: i64, prompt: u64, billed: BilledUsage) -> Log {
        let line = self.1;
        let text = vec![new_item(Role::User, Kind::Text, 100)];
        let said = Node::new(Some(Key::of_number("said", line)), Part::Input, text);
        let log = self.event(seconds, Event::Node(Box::new(said)));
        log.answers(seconds + lasts, prompt, billed)
    }

    pub(crate) fn answers(self, seconds: i64, prompt: u64, billed: BilledUsage) -> Log {
        let usage = Usage {
            cached: billed.cache_read,
            billed,
            ..Usage::reported(Key::of_number("request", self.1), prompt)
        };
        self.event(seconds, Event::Usage(Box::new(usage)))
    }
}

/// Read from the cache, and written to it for five minutes.
pub(crate) fn five(read: u64, written: u64) -> BilledUsage {
    BilledUsage::new(3, 100).with_cache(read, written)
}
