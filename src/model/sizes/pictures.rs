//! Determines whether a model gets the pictures and documents that its log holds.

use crate::event::Size;
use serde::{Deserialize, Serialize};

/// The treatment of pictures, or of documents. OpenCode sends a model that does not take them a note in the place of
/// each, and logs what it did not send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pictures {
    /// Neither the models table nor a report has shown it: taken for sent, with an interval that reaches down to
    /// the note.
    #[default]
    Unknown,
    /// The model gets them.
    Sent,
    /// The model gets a note in the place of each.
    Replaced,
}

/// Something of each kind: a model may take pictures and no documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Media<T> {
    /// The value for pictures.
    pub images: T,
    /// The value for documents, such as PDF files.
    pub documents: T,
}

impl Pictures {
    /// Returns the cost of pictures that have `tokens` by formula.
    fn cost(self, tokens: u64) -> f64 {
        match self {
            Pictures::Replaced => tokens.min(NOTE_TOKENS) as f64,
            Pictures::Unknown | Pictures::Sent => tokens as f64,
        }
    }

    /// Returns the part of that cost that is in doubt.
    fn doubt(self, tokens: u64) -> u64 {
        match self {
            Pictures::Unknown => tokens.saturating_sub(NOTE_TOKENS),
            Pictures::Sent | Pictures::Replaced => 0,
        }
    }

    /// Returns this, or the other where this is not known.
    fn or(self, other: Pictures) -> Pictures {
        match self {
            Pictures::Unknown => other,
            known => known,
        }
    }

    fn is_replaced(self) -> bool {
        self == Pictures::Replaced
    }
}

impl Media<u64> {
    /// Returns the tokens by formula in an item.
    pub(crate) fn of(size: &Size) -> Media<u64> {
        Media {
            images: u64::from(size.fixed.saturating_sub(size.documents)),
            documents: u64::from(size.documents),
        }
    }
}

impl Media<Pictures> {
    /// Returns the cost of media that have this many tokens by formula.
    pub(crate) fn cost(self, tokens: Media<u64>) -> f64 {
        self.images.cost(tokens.images) + self.documents.cost(tokens.documents)
    }

    /// Returns the part of that cost that is in doubt, in tokens.
    pub(crate) fn doubt(self, tokens: Media<u64>) -> u64 {
        let images = self.images.doubt(tokens.images);
        images.saturating_add(self.documents.doubt(tokens.documents))
    }

    /// Returns these with a new treatment of those kinds that are there.
    pub(crate) fn with(self, new: Pictures, are_there: Media<bool>) -> Media<Pictures> {
        let pick = |old, is_there| if is_there { new } else { old };
        Media {
            images: pick(self.images, are_there.images),
            documents: pick(self.documents, are_there.documents),
        }
    }

    /// Returns this, or the other where this is not known.
    pub(crate) fn or(self, other: Media<Pictures>) -> Media<Pictures> {
        Media {
            images: self.images.or(other.images),
            documents: self.documents.or(other.documents),
        }
    }

    /// Returns true if something costs otherwise than by another hypothesis.
    pub(crate) fn differs(self, other: Media<Pictures>) -> bool {
        self.images.is_replaced() != other.images.is_replaced()
            || self.documents.is_replaced() != other.documents.is_replaced()
    }
}

/// The note in a picture's place, in tokens: OpenCode's has 18 to 28.
const NOTE_TOKENS: u64 = 24;
