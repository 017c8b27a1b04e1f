//! The section for status lines.

use serde::Deserialize;

/// The format and the colours of status lines. The format is parsed where it is used: the screens do not need it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, try_from = "Row")]
pub struct StatusLine {
    /// A format or its name; `None`: the usual one.
    pub format: Option<String>,
    /// The shares of the trigger from which on a context is filling up, and nearly full: each above 0.
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

/// The section as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    format: Option<String>,
    #[serde(alias = "colors")]
    colours: Option<[f64; 2]>,
}

impl TryFrom<Row> for StatusLine {
    type Error = String;

    fn try_from(row: Row) -> Result<StatusLine, String> {
        let usual = StatusLine::default();
        let colours = row.colours.unwrap_or(usual.colours);
        let [high, full] = colours;
        if !(high > 0.0 && high <= full && full.is_finite()) {
            return Err(
                "colours are two shares of the trigger above 0, the smaller first, as in \
                colours = [0.7, 0.9]"
                    .to_owned(),
            );
        }
        let format = row.format;
        Ok(StatusLine { format, colours })
    }
}
