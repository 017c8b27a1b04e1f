//! What is known of models and agents, and where it is from.

use super::Style;
use super::text::{clean, tokens};
use crate::model::calibration::Tokenizer;
use crate::model::window::{ModelRow, Policy, PriceRow, Rules, Thinking};
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The tables: the schema `ctxgauge.models/1`.
#[derive(Serialize)]
struct Json<'a> {
    schema: &'static str,
    models: &'a [ModelRow],
    policies: &'a [Policy],
    prices: &'a [PriceRow],
    summary: u64,
    tokenizers: &'a BTreeMap<String, Tokenizer>,
}

/// Lists the tables. Of several rows that match, the first holds.
pub fn write(out: &mut dyn Write, rules: &Rules, style: Style) -> Result<()> {
    match style {
        Style::Text => write_text(out, rules)?,
        Style::Json => {
            let json = Json {
                schema: "ctxgauge.models/1",
                models: &rules.model,
                policies: &rules.policy,
                prices: &rules.price,
                summary: rules.summary,
                tokenizers: &rules.tokenizer,
            };
            serde_json::to_writer(&mut *out, &json)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

fn write_text(out: &mut dyn Write, rules: &Rules) -> io::Result<()> {
    writeln!(out, "models: the first row that matches holds")?;
    for row in &rules.model {
        let extended = row.window_extended.map(|w| format!(" or {}", tokens(w)));
        let thinking = match row.thinking {
            Thinking::Stays => "stays",
            Thinking::Leaves => "leaves at a new turn",
        };
        writeln!(
            out,
            "\n  {}\n    window {}{} · tokenizer {} · thinking {thinking}{}",
            clean(&row.ids.join(", ")),
            tokens(row.window),
            extended.unwrap_or_default(),
            clean(&row.tokenizer),
            only("agents", &row.agents)
        )?;
        source(out, &row.source)?;
    }
    writeln!(
        out,
        "\nwhen agents compact: the first row that matches holds; a summary takes {} unless its row says",
        tokens(rules.summary)
    )?;
    for policy in &rules.policy {
        writeln!(
            out,
            "\n  {} · {}{}{}{}{}",
            clean(&policy.agent),
            clean(&policy.name),
            only("up to version", policy.up_to.as_slice()),
            policy
                .until
                .map_or_else(String::new, |last| format!(" · until {last}")),
            only("models", &policy.models),
            match policy.window_from {
                0 => String::new(),
                from => format!(" · windows from {}", tokens(from)),
            }
        )?;
        if !policy.keeps.is_empty() {
            writeln!(out, "    keeps {}", clean(&policy.keeps))?;
        }
        let numbers = in_numbers(policy);
        if !numbers.is_empty() {
            writeln!(out, "    in numbers: {numbers}")?;
        }
        source(out, &policy.source)?;
    }
    writeln!(
        out,
        "\nprices: dollars for a million tokens read from the cache; the first row that matches holds"
    )?;
    for row in &rules.price {
        let dearer = row.cached_read_above.zip(row.above);
        let dearer = dearer
            .map(|(price, above)| format!(" · ${price} with prompts above {}", tokens(above)));
        writeln!(
            out,
            "\n  {}\n    ${}{}",
            clean(&row.ids.join(", ")),
            row.cached_read,
            dearer.unwrap_or_default()
        )?;
        source(out, &row.source)?;
    }
    writeln!(
        out,
        "\ntokenizers: tokens for each of o200k, and around each item"
    )?;
    for (name, tokenizer) in &rules.tokenizer {
        writeln!(
            out,
            "\n  {} · {} a token · {} an item · {} a call · ±{:.0} %",
            clean(name),
            tokenizer.per_token,
            tokenizer.per_item,
            tokenizer.per_call,
            tokenizer.spread * 100.0
        )?;
        source(out, &tokenizer.source)?;
    }
    Ok(())
}

/// What survives a policy's compaction, as far as its row says it in numbers.
fn in_numbers(policy: &Policy) -> String {
    let share = (policy.keep_share > 0.0)
        .then(|| format!("{:.0} % of the history", policy.keep_share * 100.0));
    let parts = [
        (policy.keep_recent, "of the newest history"),
        (policy.keep_user, "of user messages"),
        (policy.restored, "put back in"),
        (policy.summary.unwrap_or(0), "of summary"),
    ];
    let parts = parts.into_iter().filter(|(size, _)| *size > 0);
    let parts = parts.map(|(size, what)| format!("{} {what}", tokens(size)));
    share
        .into_iter()
        .chain(parts)
        .collect::<Vec<_>>()
        .join(", ")
}

fn only(what: &str, list: &[String]) -> String {
    match list.is_empty() {
        true => String::new(),
        false => format!(" · {what} {}", clean(&list.join(", "))),
    }
}

fn source(out: &mut dyn Write, source: &str) -> io::Result<()> {
    writeln!(out, "    from {}", clean(source))
}
