//! The wire format of Protocol Buffers, as far as numbers, texts and messages within messages.
//!
//! Nothing is copied or unfolded: a message is the bytes that it is, and looking at a field reads past those
//! before it. What is malformed has no fields from there on.
//!
//! Source: protobuf.dev, "Encoding".

/// A message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Message<'a>(pub &'a [u8]);

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// An integer, a truth value or an enum.
    Number(u64),
    /// A text, bytes, a message or several numbers.
    Bytes(&'a [u8]),
    /// A number of fixed length.
    Fixed,
}

/// The longest number, in bytes.
const LONGEST: usize = 10;

impl<'a> Message<'a> {
    /// Returns the fields, in order.
    pub fn fields(self) -> impl Iterator<Item = (u64, Value<'a>)> {
        let mut rest = self.0;
        std::iter::from_fn(move || field(&mut rest))
    }

    /// Returns true if all of it can be read.
    pub fn is_whole(self) -> bool {
        let mut rest = self.0;
        while field(&mut rest).is_some() {}
        rest.is_empty()
    }

    /// Returns the last field with a number: of several, it counts.
    fn last(self, number: u64) -> Option<Value<'a>> {
        let of_it = self.fields().filter(|(n, _)| *n == number);
        of_it.last().map(|(_, value)| value)
    }

    /// Returns true if there is a field of this number.
    pub fn has(self, number: u64) -> bool {
        self.last(number).is_some()
    }

    /// Returns the number in a field.
    pub fn number(self, number: u64) -> Option<u64> {
        match self.last(number)? {
            Value::Number(n) => Some(n),
            Value::Bytes(_) | Value::Fixed => None,
        }
    }

    /// Returns the message in a field; empty: there is none.
    pub fn message(self, number: u64) -> Message<'a> {
        match self.last(number) {
            Some(Value::Bytes(bytes)) => Message(bytes),
            _ => Message::default(),
        }
    }

    /// Returns the text in a field, unless it is empty or no UTF-8.
    pub fn text(self, number: u64) -> Option<&'a str> {
        let text = std::str::from_utf8(self.message(number).0).ok();
        text.filter(|text| !text.is_empty())
    }

    /// Returns the numbers in all fields with a number, packed or not.
    pub fn numbers(self, number: u64) -> impl Iterator<Item = u64> {
        let of_it = self.fields().filter(move |(n, _)| *n == number);
        of_it.flat_map(|(_, value)| {
            let (single, mut packed) = match value {
                Value::Number(n) => (Some(n), &[][..]),
                Value::Bytes(bytes) => (None, bytes),
                Value::Fixed => (None, &[][..]),
            };
            let packed = std::iter::from_fn(move || varint(&mut packed));
            single.into_iter().chain(packed)
        })
    }
}

/// Takes a field off the front; `None`: there is none, or it is malformed.
fn field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let mut now = *rest;
    let tag = varint(&mut now)?;
    let value = match tag & 7 {
        0 => Value::Number(varint(&mut now)?),
        1 => {
            take(&mut now, 8)?;
            Value::Fixed
        }
        2 => {
            let len = usize::try_from(varint(&mut now)?).ok()?;
            Value::Bytes(take(&mut now, len)?)
        }
        5 => {
            take(&mut now, 4)?;
            Value::Fixed
        }
        _ => return None,
    };
    let number = tag >> 3;
    *rest = now;
    (number > 0).then_some((number, value))
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(len)?;
    *rest = left;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let len = 1 + rest
        .iter()
        .take(LONGEST)
        .position(|byte| byte & 0x80 == 0)?;
    let bytes = take(rest, len)?;
    // Bits above the 64th are dropped, as other readers do.
    let bits = bytes.iter().enumerate();
    Some(bits.fold(0, |n, (at, byte)| n | (u64::from(byte & 0x7f) << (7 * at))))
}

/// Returns the bytes of hexadecimal digits; `None`: there are others among them.
pub fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    };
    pairs.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_are_found() {
        // 1: 300, 2: "ab", 3: {1: 7}, 4: packed 1, 300, 4: 5, fixed ones, 1: 301
        let bytes = from_hex(
            "08ac0212026162 1a020807 220301ac02 2005 2900000000000000003500000000 08ad02"
                .replace(' ', "")
                .as_str(),
        );
        let bytes = bytes.unwrap();
        let message = Message(&bytes);
        assert!(message.is_whole());
        assert_eq!(message.number(1), Some(301));
        assert_eq!(message.text(2), Some("ab"));
        assert_eq!(message.message(3).number(1), Some(7));
        assert_eq!(message.numbers(4).collect::<Vec<_>>(), [1, 300, 5]);
        assert_eq!((message.number(2), message.text(1)), (None, None));
        assert_eq!(message.message(9), Message::default());
    }

    #[test]
    fn what_is_malformed_ends_it() {
        for bytes in [
            &[0x08][..],
            &[0x08, 0x80],
            &[0x12, 0x05, b'a'],
            &[
                0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
            ],
            &[0x0b],
            &[0x00, 0x01],
            &[0xff; 12],
        ] {
            let message = Message(bytes);
            assert!(
                !message.is_whole() || message.fields().count() == 0,
                "{bytes:x?}"
            );
            assert_eq!(message.fields().count(), 0, "{bytes:x?}");
        }
        assert_eq!((from_hex("0g"), from_hex("012")), (None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_looked_at(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let message = Message(&bytes);
            let total: usize = message.fields().map(|(_, value)| match value {
                Value::Bytes(bytes) => bytes.len(),
                _ => 1,
            }).sum();
            prop_assert!(total <= bytes.len());
            for n in 0..20 {
                let _ = (message.number(n), message.text(n), message.numbers(n).count());
            }
        }
    }
}
