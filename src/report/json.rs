//! Reports for programs. Keys are stable; new ones may be added.

mod ls;
mod part;
mod session;

use super::Output;
use crate::model::calibration::Tokenizer;
use crate::model::window::{ModelRow, Policy, PriceRow};
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;

/// A document: the name of its schema and what it holds.
#[derive(Serialize)]
struct Document<B> {
    schema: &'static str,
    #[serde(flatten)]
    body: B,
}

/// The agents, as `ctxgauge.agents/1` has them.
#[derive(Serialize)]
struct Agents<'a> {
    agents: &'a [super::agents::Agent],
}

/// The models table, as `ctxgauge.models/1` has it.
#[derive(Serialize)]
struct Models<'a> {
    models: &'a [ModelRow],
    policies: &'a [Policy],
    prices: &'a [PriceRow],
    summary: u64,
    tokenizers: &'a BTreeMap<String, Tokenizer>,
}

/// Writes the report on one line.
pub(super) fn write(output: &Output<'_>, out: &mut dyn Write) -> Result<()> {
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
                tokenizers: &rules.tokenizer,
            };
            line(out, "ctxgauge.models/1", models)
        }
        Output::Agents(agents) => line(out, "ctxgauge.agents/1", Agents { agents }),
        Output::Records(records) => line(out, "ctxgauge.check/1", records),
    }
}

fn line(out: &mut dyn Write, schema: &'static str, body: impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *out, &Document { schema, body })?;
    Ok(writeln!(out)?)
}

/// The escape for a character; outside of strings JSON is ASCII.
pub(super) fn ascii(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn escapes_are_those_of_json() {
        let mut escaped = String::new();
        "±😀".chars().for_each(|c| super::ascii(c, &mut escaped));
        assert_eq!(escaped, r"\u00b1\ud83d\ude00");
        let text: String = serde_json::from_str(&format!("\"{escaped}\"")).unwrap();
        assert_eq!(text, "±😀");
    }
}
