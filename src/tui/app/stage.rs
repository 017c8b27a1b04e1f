//! Shows whether the numbers of a session may still change before they are those of its whole log.

use crate::paint::Tone;
use model::window::Limits;
use render::NONE;

/// Shows whether a number may still change without a new record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It may: the log was not read whole, or the lengths of texts stand for their tokens.
    Provisional,
    /// It does not.
    Settled,
}

impl Stage {
    /// Returns [`Stage::Settled`] if this holds.
    pub const fn settled_if(is_settled: bool) -> Stage {
        if is_settled {
            Stage::Settled
        } else {
            Stage::Provisional
        }
    }

    /// Returns the stage of a size's share of these limits, where this is that of the size.
    #[must_use]
    pub fn of_share(self, limits: &Limits) -> Stage {
        if limits.is_end_provisional() {
            Stage::Provisional
        } else {
            self
        }
    }

    /// Returns a number as it is drawn: a provisional one is marked by `~`, as estimates are, after its sign.
    pub fn number(self, number: impl Into<String>) -> String {
        let mut number = number.into();
        let at = usize::from(number.starts_with('+'));
        let is_marked = number[at..].starts_with('~');
        if self == Stage::Provisional && !number.is_empty() && number != NONE && !is_marked {
            number.insert(at, '~');
        }
        number
    }

    /// Returns the tone of a number: a provisional one has its own.
    pub fn tone(self, settled: impl Into<Tone>) -> Tone {
        match self {
            Stage::Provisional => Tone::Provisional,
            Stage::Settled => settled.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provisional_number_is_marked_once() {
        let cases = [
            ("46k", "~46k"),
            ("+3.9k", "+~3.9k"),
            ("~3.9k", "~3.9k"),
            ("+~3.9k", "+~3.9k"),
            ("", ""),
            (NONE, NONE),
        ];
        for (settled, provisional) in cases {
            assert_eq!(Stage::Settled.number(settled), settled);
            assert_eq!(Stage::Provisional.number(settled), provisional);
        }
    }
}
