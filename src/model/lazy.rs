//! A part of a session that is decoded only when it is needed.
//!
//! Lists show a few facts of thousands of sessions. A session that comes from the cache, or that nobody looks at and
//! nobody writes to, has those, and the bytes of the rest.

use super::stored::with_texts;
use serde::de::{DeserializeOwned, Error, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

/// A value, or its bytes until it is first used.
#[derive(Clone)]
pub(super) struct Lazy<T> {
    value: Option<Box<T>>,
    /// If there is no value: its bytes, and what they decode to.
    stored: Box<[u8]>,
    decoded: OnceLock<Box<T>>,
    /// Whether the bytes contain texts of the log, which must not get into the cache.
    has_texts: bool,
}

impl<T> From<T> for Lazy<T> {
    fn from(value: T) -> Lazy<T> {
        Lazy {
            value: Some(Box::new(value)),
            stored: Box::default(),
            decoded: OnceLock::new(),
            has_texts: false,
        }
    }
}

impl<T: Serialize> Lazy<T> {
    /// Keeps the bytes in the place of the value: a fifth of the memory.
    pub(super) fn pack(&mut self, texts: bool) {
        let bytes = |value: &T| {
            if texts {
                with_texts(|| postcard::to_stdvec(value))
            } else {
                postcard::to_stdvec(value)
            }
        };
        // No type in it can fail to be written.
        if let Some(Ok(stored)) = self.value.as_deref().map(bytes) {
            *self = Lazy {
                value: None,
                stored: stored.into(),
                decoded: OnceLock::new(),
                has_texts: texts,
            };
        }
    }
}

impl<T: Default> Default for Lazy<T> {
    fn default() -> Lazy<T> {
        Lazy::from(T::default())
    }
}

/// Bytes that are not of this type are read as an empty value; the cache's checksum excludes that.
fn decode<T: DeserializeOwned + Default>(stored: &[u8]) -> Box<T> {
    postcard::from_bytes(stored).unwrap_or_default()
}

impl<T: DeserializeOwned + Default> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.value {
            Some(value) => value,
            None => self.decoded.get_or_init(|| decode(&self.stored)),
        }
    }
}

impl<T: DeserializeOwned + Default> DerefMut for Lazy<T> {
    fn deref_mut(&mut self) -> &mut T {
        let (stored, decoded) = (&mut self.stored, &mut self.decoded);
        self.value.get_or_insert_with(|| {
            let stored = std::mem::take(stored);
            decoded.take().unwrap_or_else(|| decode(&stored))
        })
    }
}

impl<T> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}

impl<T: Serialize + DeserializeOwned + Default> Serialize for Lazy<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            None if !self.has_texts => to.serialize_bytes(&self.stored),
            _ => {
                let bytes = postcard::to_stdvec::<T>(self).map_err(S::Error::custom)?;
                to.serialize_bytes(&bytes)
            }
        }
    }
}

impl<'de, T> Deserialize<'de> for Lazy<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Lazy<T>, D::Error> {
        struct Bytes<T>(PhantomData<T>);
        impl<T> Visitor<'_> for Bytes<T> {
            type Value = Lazy<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Lazy<T>, E> {
                Ok(Lazy {
                    value: None,
                    stored: bytes.into(),
                    decoded: OnceLock::new(),
                    has_texts: false,
                })
            }
        }
        from.deserialize_bytes(Bytes(PhantomData))
    }
}
