//! The section for status lines.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// The format and the colours of status lines. The format is parsed where it is used: the screens do not need it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatusLine {
    /// A format or its name; `None`: the usual one.
    pub format: Option<String>,
    /// The shares of the trigger from which on a context is filling up, and nearly full: each above 0.
    #[serde(alias = "colors", deserialize_with = "colours")]
    pub colours: [f64; 2],
}

impl Default for StatusLine {
    fn default() -> StatusLine {
        StatusLine {
            format: None,
            colours: [0.7, 0.9],
        }
    }
}

fn colours<'de, D: Deserializer<'de>>(from: D) -> Result<[f64; 2], D::Error> {
    let [high, full] = <[f64; 2]>::deserialize(from)?;
    if high > 0.0 && high <= full && full.is_finite() {
        return Ok([high, full]);
    }
    Err(D::Error::custom(
        "colours are two shares of the trigger above 0, the smaller first, as in colours = [0.7, 0.9]",
    ))
}
