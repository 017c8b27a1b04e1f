//! Reports for programs. Keys are stable; new ones may be added.

mod ls;
mod part;
mod session;

use super::Output;
use anyhow::Result;
use model::calibration::Tokenizer;
use model::event::is_unsafe_to_show;
use model::window::{ModelRow, Policy, PriceRow};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// A document: the name of its schema, and its content.
#[derive(Serialize)]
struct Document<B> {
    schema: &'static str,
    #[serde(flatten)]
    body: B,
}

/// The agents: the schema `ctxgauge.agents/1`.
#[derive(Serialize)]
struct Agents<'a> {
    agents: &'a [super::agents::Agent],
}

/// The models table: the schema `ctxgauge.models/1`.
#[derive(Serialize)]
struct Models<'a> {
    models: &'a [ModelRow],
    policies: &'a [Policy],
    prices: &'a [PriceRow],
    summary: u64,
    replace_pictures: &'a [String],
    tokenizers: &'a BTreeMap<String, Tokenizer>,
}

/// Writes the report on one line.
pub(super) fn write(output: &Output<'_>, _: Option<usize>, out: &mut dyn Write) -> Result<()> {
    match output {
        Output::Session(report) | Output::Change(report) => {
            line(out, "ctxgauge.report/1", session::session(report))
        }
        Output::Sessions(sessions) => line(out, "ctxgauge.ls/1", ls::List::new(sessions)),
        Output::Audit(audit) => line(out, "ctxgauge.audit/1", audit),
        Output::Models(rules) => {
            let models = Models {
                models: &rules.model,
                policies: &rules.policy,
                prices: &rules.price,
                summary: rules.summary,
                replace_pictures: &rules.replace_pictures,
                tokenizers: &rules.tokenizer,
            };
            line(out, "ctxgauge.models/1", models)
        }
        Output::Agents(agents) => line(out, "ctxgauge.agents/1", Agents { agents }),
        Output::Records(records) => line(out, "ctxgauge.check/1", records),
    }
}

fn line(out: &mut dyn Write, schema: &'static str, body: impl Serialize) -> Result<()> {
    let mut serializer = Serializer::with_formatter(&mut *out, Inert);
    Document { schema, body }.serialize(&mut serializer)?;
    Ok(writeln!(out)?)
}

/// Compact JSON whose strings are safe to print: characters that could control a terminal or reorder a line are
/// escaped.
struct Inert;

impl Formatter for Inert {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut written = 0;
        for (at, c) in fragment.char_indices() {
            if is_unsafe_to_show(c) {
                out.write_all(&fragment.as_bytes()[written..at])?;
                let mut escaped = String::new();
                ascii(c, &mut escaped);
                out.write_all(escaped.as_bytes())?;
                written = at + c.len_utf8();
            }
        }
        out.write_all(&fragment.as_bytes()[written..])
    }
}

/// Appends the escape of a character. Outside of strings JSON is ASCII already.
pub(super) fn ascii(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_could_control_a_terminal_is_escaped_and_read_back() {
        let hostile = "a\u{1b}\u{7f}\u{9b}31m\u{202e}b\u{e0041}é\\\"";
        let mut out = Vec::new();
        super::line(
            &mut out,
            "s",
            std::collections::BTreeMap::from([("k", hostile)]),
        )
        .unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            !text.trim_end().contains(super::is_unsafe_to_show),
            "{text}"
        );
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["k"], hostile);
    }

    #[test]
    fn escapes_are_those_of_json() {
        let mut escaped = String::new();
        "±😀".chars().for_each(|c| super::ascii(c, &mut escaped));
        assert_eq!(escaped, r"\u00b1\ud83d\ude00");
        let text: String = serde_json::from_str(&format!("\"{escaped}\"")).unwrap();
        assert_eq!(text, "±😀");
    }
}
