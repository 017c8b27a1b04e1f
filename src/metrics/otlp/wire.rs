//! Writes messages of Protocol Buffers, as bytes or as OTLP's JSON, and reads the fields of short ones.
//!
//! The protocol has a dozen messages for metrics and logs, of six kinds of fields. A library for all messages would be larger
//! than what is here by far, and would write one of the two encodings only.

use std::io::Write;
use strum::{EnumMessage, IntoStaticStr};

/// An encoding of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumMessage, IntoStaticStr)]
pub enum Encoding {
    /// Bytes.
    #[strum(serialize = "http/protobuf")]
    Protobuf,
    /// JSON, which is three times as long.
    #[strum(serialize = "http/json")]
    Json,
}

/// A field: its number in bytes, and its name in JSON.
pub type Field = (u32, &'static str);

/// The types of fields in bytes.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;
const FIXED32: u32 = 5;

/// A message that is being written.
pub struct Wire {
    encoding: Encoding,
    bytes: Vec<u8>,
}

impl Encoding {
    /// Returns the type of requests and answers in this encoding.
    pub fn content_type(self) -> &'static str {
        match self {
            Encoding::Protobuf => "application/x-protobuf",
            Encoding::Json => "application/json",
        }
    }

    /// Returns a whole message.
    pub fn message(self, write: impl FnOnce(&mut Wire)) -> Vec<u8> {
        let mut wire = Wire {
            encoding: self,
            bytes: Vec::new(),
        };
        wire.body(write);
        wire.bytes
    }
}

impl Wire {
    /// Writes a text.
    pub fn text(&mut self, field: Field, value: &str) {
        match self.encoding {
            Encoding::Protobuf => {
                self.tag(field, BYTES);
                self.varint(value.len() as u64);
                self.bytes.extend_from_slice(value.as_bytes());
            }
            Encoding::Json => {
                self.name(field);
                // Writing to memory cannot fail.
                let _ = serde_json::to_writer(&mut self.bytes, value);
            }
        }
    }

    /// Writes a whole number of fixed length.
    pub fn fixed(&mut self, field: Field, value: u64) {
        match self.encoding {
            Encoding::Protobuf => {
                self.tag(field, FIXED64);
                self.bytes.extend_from_slice(&value.to_le_bytes());
            }
            // A number of JSON has no 64 bits everywhere.
            Encoding::Json => self.json(field, format_args!("\"{value}\"")),
        }
    }

    /// Writes a number with a fraction. It must be finite.
    pub fn real(&mut self, field: Field, value: f64) {
        match self.encoding {
            Encoding::Protobuf => self.fixed(field, value.to_bits()),
            Encoding::Json => self.json(field, format_args!("{value:?}")),
        }
    }

    /// Writes one of a set of values, by its number.
    pub fn choice(&mut self, field: Field, value: u8) {
        match self.encoding {
            Encoding::Protobuf => {
                self.tag(field, VARINT);
                self.varint(value.into());
            }
            Encoding::Json => self.json(field, format_args!("{value}")),
        }
    }

    /// Writes that something is true.
    pub fn yes(&mut self, field: Field) {
        match self.encoding {
            Encoding::Protobuf => self.choice(field, 1),
            Encoding::Json => self.json(field, format_args!("true")),
        }
    }

    /// Writes a whole number of variable length.
    pub fn whole(&mut self, field: Field, value: u64) {
        match self.encoding {
            Encoding::Protobuf => {
                self.tag(field, VARINT);
                self.varint(value);
            }
            Encoding::Json => self.fixed(field, value),
        }
    }

    /// Writes numbers: in bytes, one after the other.
    pub fn numbers<N: Copy>(
        &mut self,
        field: Field,
        all: &[N],
        bits: fn(N) -> u64,
        text: fn(N) -> String,
    ) {
        match self.encoding {
            Encoding::Protobuf => {
                self.tag(field, BYTES);
                self.varint(8 * all.len() as u64);
                for number in all {
                    self.bytes.extend_from_slice(&bits(*number).to_le_bytes());
                }
            }
            Encoding::Json => {
                let all: Vec<String> = all.iter().map(|number| text(*number)).collect();
                self.json(field, format_args!("[{}]", all.join(",")));
            }
        }
    }

    /// Writes a message within this one.
    pub fn inner(&mut self, field: Field, write: impl FnOnce(&mut Wire)) {
        match self.encoding {
            Encoding::Protobuf => self.tag(field, BYTES),
            Encoding::Json => self.name(field),
        }
        self.within(write);
    }

    /// Writes a message within this one for each of these.
    pub fn each<T>(
        &mut self,
        field: Field,
        all: impl IntoIterator<Item = T>,
        write: impl Fn(&mut Wire, T),
    ) {
        if self.encoding == Encoding::Json {
            self.name(field);
            self.bytes.push(b'[');
        }
        for (nth, one) in all.into_iter().enumerate() {
            match self.encoding {
                Encoding::Protobuf => self.tag(field, BYTES),
                Encoding::Json if nth > 0 => self.bytes.push(b','),
                Encoding::Json => {}
            }
            self.within(|wire| write(wire, one));
        }
        if self.encoding == Encoding::Json {
            self.bytes.push(b']');
        }
    }

    /// Writes a message with its length before it, which is known after it.
    fn within(&mut self, write: impl FnOnce(&mut Wire)) {
        let begin = self.bytes.len();
        self.body(write);
        if self.encoding == Encoding::Protobuf {
            let end = self.bytes.len();
            self.varint((end - begin) as u64);
            let length = self.bytes.len() - end;
            self.bytes[begin..].rotate_right(length);
        }
    }

    fn body(&mut self, write: impl FnOnce(&mut Wire)) {
        match self.encoding {
            Encoding::Protobuf => write(self),
            Encoding::Json => {
                self.bytes.push(b'{');
                write(self);
                self.bytes.push(b'}');
            }
        }
    }

    fn tag(&mut self, (number, _): Field, of: u32) {
        self.varint(u64::from(number << 3 | of));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn name(&mut self, (_, name): Field) {
        if !self.bytes.ends_with(b"{") {
            self.bytes.push(b',');
        }
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(b"\":");
    }

    fn json(&mut self, field: Field, value: std::fmt::Arguments<'_>) {
        self.name(field);
        let _ = self.bytes.write_fmt(value);
    }
}

/// The value of a field that was read.
#[derive(Debug, PartialEq)]
pub enum Value<'b> {
    /// A number.
    Number(u64),
    /// A text, or a message.
    Bytes(&'b [u8]),
}

/// Returns the fields of a message in bytes, in their order; `None`: it is none.
pub fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, Value<'_>)>> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let value = match (tag & 7) as u32 {
            VARINT => Value::Number(varint(&mut bytes)?),
            FIXED64 => {
                let (value, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                Value::Number(u64::from_le_bytes(*value))
            }
            FIXED32 => {
                let (value, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                Value::Number(u32::from_le_bytes(*value).into())
            }
            BYTES => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                let (value, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                Value::Bytes(value)
            }
            _ => return None,
        };
        all.push((tag >> 3, value));
    }
    Some(all)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(wire: &mut Wire) {
        wire.text((1, "name"), "a\"b");
        wire.inner((2, "within"), |wire| {
            wire.fixed((1, "when"), 1 << 60);
            wire.real((20, "part"), 0.5);
        });
        wire.each((3, "each"), [1, 200], |wire, value| {
            wire.choice((1, "kind"), value);
        });
        wire.each((4, "none"), [0; 0], |wire, _| wire.yes((1, "never")));
        wire.yes((5, "is"));
        wire.numbers((6, "all"), &[0.5, 1.0], f64::to_bits, |real| {
            format!("{real:?}")
        });
        wire.whole((7, "count"), 300);
    }

    #[test]
    fn a_message_in_both_encodings() {
        let json = String::from_utf8(Encoding::Json.message(sample)).unwrap();
        assert_eq!(
            json,
            r#"{"name":"a\"b","within":{"when":"1152921504606846976","part":0.5},"each":[{"kind":1},{"kind":200}],"none":[],"is":true,"all":[0.5,1.0],"count":"300"}"#
        );
        // By the rules of the encoding, byte for byte.
        let bytes = [
            [0x0a, 3, b'a', b'"', b'b'].as_slice(),
            &[0x12, 19, 0x09, 0, 0, 0, 0, 0, 0, 0, 0x10],
            &[0xa1, 1, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f],
            &[0x1a, 2, 8, 1, 0x1a, 3, 8, 0xc8, 1],
            &[0x28, 1],
            &[0x32, 16, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f],
            &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f],
            &[0x38, 0xac, 2],
        ];
        assert_eq!(Encoding::Protobuf.message(sample), bytes.concat());
    }

    #[test]
    fn what_was_written_is_read_back() {
        let bytes = Encoding::Protobuf.message(sample);
        let all = fields(&bytes).unwrap();
        let numbers: Vec<u64> = all.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 2, 3, 3, 5, 6, 7]);
        assert_eq!(all[0].1, Value::Bytes(b"a\"b"));
        assert_eq!(all[6].1, Value::Number(300));
        let Value::Bytes(within) = all[1].1 else {
            panic!("{all:?}");
        };
        assert_eq!(fields(within).unwrap()[0], (1, Value::Number(1 << 60)));
    }

    #[test]
    fn a_long_message_has_its_length_before_it() {
        let text = "x".repeat(100_000);
        let bytes = Encoding::Protobuf.message(|wire| {
            wire.inner((1, "a"), |wire| {
                wire.inner((2, "b"), |wire| wire.text((3, "c"), &text));
            });
        });
        let within = |bytes| match fields(bytes).unwrap().pop() {
            Some((_, Value::Bytes(within))) => within,
            _ => panic!("no message"),
        };
        assert_eq!(within(within(within(&bytes))), text.as_bytes());
    }

    proptest! {
        /// An answer may have any bytes.
        #[test]
        fn any_bytes_are_fields_or_none(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Some(all) = fields(&bytes) {
                prop_assert!(all.len() <= bytes.len());
            }
        }
    }
}
