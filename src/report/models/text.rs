//! The models table for people.

use crate::text::page::Page;
use model::window::{CacheRow, OtherTrigger, Policy, Prices, Rules, Thinking};
use render::number::tokens;
use render::text::inert;
use std::io;

pub(super) fn write(out: &mut Page<'_>, rules: &Rules) -> io::Result<()> {
    if !rules.model.is_empty() {
        writeln!(out, "models: the first matching row applies")?;
    }
    for row in &rules.model {
        let extended = row.window_extended.map(|w| format!(" or {}", tokens(w)));
        let thinking = match row.thinking {
            Thinking::Stays => "stays",
            Thinking::Leaves => "removed at a new turn",
            Thinking::Never => "never sent back",
        };
        let name = row.tokenizer.as_deref();
        let tokenizer =
            name.map(|name| format!(" · tokenizer {} · thinking {thinking}", inert(name)));
        writeln!(
            out,
            "\n  {}\n    window {}{}{}{}{}{}",
            inert(&row.ids.join(", ")),
            if row.guess { "guessed: " } else { "" },
            tokens(row.window),
            extended.unwrap_or_default(),
            tokenizer.unwrap_or_default(),
            only("agents", &row.agents),
            only("up to version", row.up_to.as_slice())
        )?;
        source(out, &row.source)?;
    }
    if !rules.policy.is_empty() {
        writeln!(
            out,
            "\npolicies: when agents compact; the first matching row applies; a summary is taken to be {} unless its row says otherwise",
            tokens(rules.summary)
        )?;
    }
    for policy in &rules.policy {
        let until = policy.until.map(|last| format!(" · until {last}"));
        let from = (policy.window_from > 0)
            .then(|| format!(" · windows from {}", tokens(policy.window_from)));
        writeln!(
            out,
            "\n  {} · {}{}{}{}{}{}",
            inert(&policy.agent),
            inert(&policy.name),
            only("up to version", policy.up_to.as_slice()),
            until.unwrap_or_default(),
            only("models", &policy.models),
            only("sessions", &policy.sessions),
            from.unwrap_or_default()
        )?;
        if !policy.keeps.is_empty() {
            writeln!(out, "    keeps {}", inert(&policy.keeps))?;
        }
        let numbers = in_numbers(policy);
        if !numbers.is_empty() {
            writeln!(out, "    in numbers: {numbers}")?;
        }
        source(out, &policy.source)?;
    }
    if !rules.price.is_empty() {
        writeln!(
            out,
            "\nprices: US dollars per million tokens; the first matching row applies"
        )?;
    }
    for row in &rules.price {
        writeln!(out, "\n  {}", inert(&row.ids.join(", ")))?;
        writeln!(out, "    {}", prices(&row.usual))?;
        if let (Some(long), Some(above)) = (&row.long, row.above) {
            writeln!(
                out,
                "    with prompts above {}: {}",
                tokens(above),
                prices(long)
            )?;
        }
        if !row.surcharges.is_empty() {
            let factors = row.surcharges.iter();
            let factors = factors.map(|(name, factor)| format!("{} × {factor}", name.name()));
            let factors = factors.collect::<Vec<_>>().join(", ");
            writeln!(out, "    surcharges: {factors}")?;
        }
        source(out, &row.source)?;
    }
    write_caches(out, &rules.cache)?;
    write_triggers(out, &rules.trigger)?;
    if !rules.tokenizer.is_empty() {
        writeln!(
            out,
            "\ntokenizers: tokens per o200k token, and added per item and request"
        )?;
    }
    for (name, tokenizer) in &rules.tokenizer {
        writeln!(
            out,
            "\n  {} · {} per token · {} per item · {} per request · ±{:.0} %",
            inert(name),
            tokenizer.per_token,
            tokenizer.per_item,
            tokenizer.per_call,
            tokenizer.spread * 100.0
        )?;
        source(out, &tokenizer.source)?;
    }
    Ok(())
}

fn write_caches(out: &mut Page<'_>, rows: &[CacheRow]) -> io::Result<()> {
    if !rows.is_empty() {
        writeln!(
            out,
            "\nprompt caches: how long a prompt is kept; the first matching row applies"
        )?;
    }
    for row in rows {
        let most = row.most.map(|most| format!(", at most {most}"));
        writeln!(
            out,
            "\n  {} · {} seconds{}",
            inert(&row.ids.join(", ")),
            row.seconds,
            most.unwrap_or_default()
        )?;
        source(out, &row.source)?;
    }
    Ok(())
}

fn write_triggers(out: &mut Page<'_>, rows: &[OtherTrigger]) -> io::Result<()> {
    if !rows.is_empty() {
        writeln!(out, "\nother triggers: what else than the size compacts")?;
    }
    for row in rows {
        let switch = if row.usual { "" } else { " · if it is set" };
        writeln!(
            out,
            "\n  {} · {}{}{switch}",
            inert(&row.agent),
            row.kind.name(),
            only("since version", row.from.as_slice())
        )?;
        source(out, &row.source)?;
    }
    Ok(())
}

/// What survives a policy's compaction, as far as its row has numbers for it.
fn in_numbers(policy: &Policy) -> String {
    let sizes = [
        (policy.keep_recent, "of the newest history"),
        (policy.keep_user, "of user messages"),
        (policy.restored, "restored"),
        (policy.summary.unwrap_or(0), "of summary"),
    ]
    .into_iter()
    .filter(|(size, _)| *size > 0)
    .map(|(size, what)| format!("{} {what}", tokens(size)));
    let share = (policy.keep_share > 0.0)
        .then(|| format!("{:.0} % of the history", policy.keep_share * 100.0));
    let parts: Vec<String> = share.into_iter().chain(sizes).collect();
    parts.join(", ")
}

/// The prices, each after its name.
fn prices(prices: &Prices) -> String {
    let all = [
        ("input", prices.input),
        ("cached", Some(prices.cached_read)),
        ("written to the cache", prices.cache_write),
        ("for an hour", prices.cache_write_hour),
        ("output", prices.output),
    ];
    let known = all
        .iter()
        .filter_map(|(name, price)| Some((name, (*price)?)));
    let known: Vec<String> = known
        .map(|(name, price)| format!("{name} ${price}"))
        .collect();
    known.join(", ")
}

fn only(what: &str, list: &[String]) -> String {
    if list.is_empty() {
        String::new()
    } else {
        format!(" · {what} {}", inert(&list.join(", ")))
    }
}

fn source(out: &mut Page<'_>, source: &str) -> io::Result<()> {
    writeln!(out, "    from {}", inert(source))
}
