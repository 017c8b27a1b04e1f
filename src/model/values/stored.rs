//! Writes the parts of a summary to the index and reads them from it.

/// A time as seconds and nanoseconds; as text it would take ten times as long to read.
pub(crate) mod time {
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
pub(crate) mod shared {
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
