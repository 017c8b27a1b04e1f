//! The models table: windows, policies, prices and tokenizers, each with its source.

mod text;

use super::Output;
use super::json::document;
use anyhow::Result;
use model::calibration::Tokenizer;
use model::window::{ModelRow, Policy, PriceRow, Rules};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The models table.
#[derive(Debug, Clone, Copy)]
pub struct Models<'a>(pub &'a Rules);

/// The schema `ctxgauge.models/1`.
#[derive(Serialize)]
struct Document<'a> {
    models: &'a [ModelRow],
    policies: &'a [Policy],
    prices: &'a [PriceRow],
    summary: u64,
    replace_pictures: &'a [String],
    tokenizers: &'a BTreeMap<String, Tokenizer>,
}

impl Output for Models<'_> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        text::write(out, self.0)
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        let rules = self.0;
        let table = Document {
            models: &rules.model,
            policies: &rules.policy,
            prices: &rules.price,
            summary: rules.summary,
            replace_pictures: &rules.replace_pictures,
            tokenizers: &rules.tokenizer,
        };
        document(out, "ctxgauge.models/1", table)
    }
}
