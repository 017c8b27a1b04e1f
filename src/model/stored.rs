//! How the parts of a session are written to the cache and read from it.
//!
//! A stored session is a trimmed one without any text but what it is called: see [`Session::to_stored`](super::session::Session::to_stored).
//! Its [details] are apart from what lists show of it.

pub mod details;

use std::cell::Cell;

thread_local! {
    static WITH_TEXTS: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function; what it writes on this thread contains texts.
pub(super) fn with_texts<A>(write: impl FnOnce() -> A) -> A {
    WITH_TEXTS.set(true);
    let written = write();
    WITH_TEXTS.set(false);
    written
}

/// A text of the log: empty, unless [`with_texts`] asks for it.
pub(super) mod text {
    use super::WITH_TEXTS;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
        let shown = if WITH_TEXTS.get() { text } else { "" };
        shown.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Box<str>, D::Error> {
        Box::<str>::deserialize(from)
    }
}

/// What a session is called: its title, or the beginning of its first prompt. A longer text is none to be kept.
pub(super) mod name {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// The longest name that is kept, in bytes.
    const LONGEST: usize = 240;

    /// Whether it is kept.
    pub(crate) fn is_kept(name: Option<&str>) -> bool {
        name.is_none_or(|name| name.len() <= LONGEST)
    }

    pub(crate) fn serialize<S: Serializer>(
        name: &Option<Box<str>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let name = name.as_deref();
        name.filter(|_| is_kept(name)).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Box<str>>, D::Error> {
        Option::<Box<str>>::deserialize(from)
    }
}

/// A time as seconds and nanoseconds; as text it would take ten times as long to read.
pub(super) mod time {
    use jiff::Timestamp;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        at: &Option<Timestamp>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        at.map(|at| (at.as_second(), at.subsec_nanosecond()))
            .serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        let at = Option::<(i64, i32)>::deserialize(from)?
            .map(|(seconds, nanoseconds)| Timestamp::new(seconds, nanoseconds));
        at.transpose().map_err(D::Error::custom)
    }
}

/// A model's id that many requests share, or a tool's name: one that follows itself is shared again.
pub(super) mod shared {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::cell::RefCell;
    use std::sync::Arc;

    thread_local! {
        static LAST: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
    }

    pub(crate) fn serialize<S: Serializer>(
        id: &Option<Arc<str>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        id.as_deref().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<str>>, D::Error> {
        let id = Option::<&str>::deserialize(from)?;
        Ok(id.map(|id| {
            LAST.with_borrow_mut(|last| match last {
                Some(last) if **last == *id => Arc::clone(last),
                _ => Arc::clone(last.insert(id.into())),
            })
        }))
    }
}
