//! A part of a session that is decoded only when it is needed.
//!
//! Lists show a few facts of thousands of sessions. A session that comes from the cache, or that nobody looks at and
//! nobody writes to, has those, and the bytes of the rest; or these stay in the cache's file.

use super::stored::details::{self, Details};
use super::stored::with_texts;
use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Deref, DerefMut, Range};
use std::sync::{Arc, OnceLock};

/// A value, or its bytes until it is first used.
#[derive(Clone)]
pub(super) struct Lazy<T> {
    value: Option<Box<T>>,
    /// If there is no value: its bytes, and what they decode to.
    packed: Packed<T>,
    decoded: OnceLock<Box<T>>,
}

/// What a value is made of.
#[derive(Clone, Default)]
enum Packed<T> {
    /// Nothing: it is the default one.
    #[default]
    Default,
    /// Nothing, by a function.
    New(Arc<dyn Fn() -> T + Send + Sync>),
    /// Bytes.
    Here {
        bytes: Box<[u8]>,
        /// Whether they contain texts of the log, which must not get into the cache.
        have_texts: bool,
    },
    /// Bytes that are a part of the details that the cache keeps of the log.
    Apart(Arc<dyn Details>, Range<usize>),
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
        if let Some(Ok(bytes)) = self.value.as_deref().map(bytes) {
            let bytes = bytes.into();
            let have_texts = texts;
            *self = Lazy::packed(Packed::Here { bytes, have_texts });
        }
    }
}

impl<T> Lazy<T> {
    /// The value that a function makes.
    pub(super) fn by(make: impl Fn() -> T + Send + Sync + 'static) -> Lazy<T> {
        Lazy::packed(Packed::New(Arc::new(make)))
    }

    fn packed(packed: Packed<T>) -> Lazy<T> {
        Lazy {
            value: None,
            packed,
            decoded: OnceLock::new(),
        }
    }
}

impl<T> Default for Lazy<T> {
    fn default() -> Lazy<T> {
        Lazy::packed(Packed::Default)
    }
}

/// Bytes that are not of this type are read as an empty value; the cache's checksum excludes that. So are those that
/// the cache's file does not have any more, until the log is read again.
fn decode<T: DeserializeOwned + Default>(packed: &Packed<T>) -> Box<T> {
    let value = match packed {
        Packed::Default => None,
        Packed::New(make) => Some(Box::new(make())),
        Packed::Here { bytes, .. } => postcard::from_bytes(bytes).ok(),
        Packed::Apart(details, range) => details.bytes().and_then(|bytes| {
            let part = bytes.get(range.clone())?;
            postcard::from_bytes(part).ok()
        }),
    };
    value.unwrap_or_default()
}

impl<T: DeserializeOwned + Default> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.value {
            Some(value) => value,
            None => self.decoded.get_or_init(|| decode(&self.packed)),
        }
    }
}

impl<T: DeserializeOwned + Default> DerefMut for Lazy<T> {
    fn deref_mut(&mut self) -> &mut T {
        let (packed, decoded) = (&mut self.packed, &mut self.decoded);
        self.value.get_or_insert_with(|| {
            let packed = std::mem::take(packed);
            decoded.take().unwrap_or_else(|| decode(&packed))
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
        let range = match (&self.value, &self.packed) {
            (None, Packed::Here { bytes, have_texts }) if !have_texts => details::append(bytes),
            _ => {
                let bytes = postcard::to_stdvec::<T>(self).map_err(S::Error::custom)?;
                details::append(&bytes)
            }
        };
        range.serialize(to)
    }
}

impl<'de, T> Deserialize<'de> for Lazy<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Lazy<T>, D::Error> {
        let range = Range::deserialize(from)?;
        Ok(Lazy::packed(Packed::Apart(details::current(), range)))
    }
}
