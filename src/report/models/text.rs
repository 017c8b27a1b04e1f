//! The models table for people.

use crate::text::page::Page;
use model::window::{ModelRow, Policy, PriceRow, Prices, Rules, Thinking};
use render::number::tokens;
use render::text::inert;
use std::io;

pub(super) fn write(out: &mut Page<'_>, rules: &Rules) -> io::Result<()> {
    let models = rules.model.iter().map(|row| (model(row), &row.source));
    list(out, "models: the first matching row applies", models)?;
    let summary = tokens(rules.summary);
    let heading = format!(
        "\npolicies: when agents compact; the first matching row applies; a summary is taken to be {summary} unless its row says otherwise"
    );
    let policies = rules.policy.iter().map(|row| (policy(row), &row.source));
    list(out, &heading, policies)?;
    let heading = "\nprices: US dollars per million tokens; the first matching row applies";
    let prices = rules.price.iter().map(|row| (price(row), &row.source));
    list(out, heading, prices)?;
    let heading = "\nprompt caches: how long a prompt is kept; the first matching row applies";
    let caches = rules.cache.iter().map(|row| {
        let most = row.most.map(|most| format!(", at most {most}"));
        let (ids, most) = (row.ids.join(", "), most.unwrap_or_default());
        let life = format!("{} · {} seconds{most}", inert(&ids), row.seconds);
        (life, &row.source)
    });
    list(out, heading, caches)?;
    let triggers = rules.trigger.iter().map(|row| {
        let switch = if row.usual { "" } else { " · if it is set" };
        let since = only("since version", row.from.as_slice());
        let (agent, kind) = (inert(&row.agent), row.kind.name());
        (format!("{agent} · {kind}{since}{switch}"), &row.source)
    });
    let heading = "\nother triggers: what else than the size compacts";
    list(out, heading, triggers)?;
    let tokenizers = rules.tokenizer.iter().map(|(name, row)| {
        let numbers = format!(
            "{} · {} per token · {} per item · {} per request · ±{:.0} %",
            inert(name),
            row.per_token,
            row.per_item,
            row.per_call,
            row.spread * 100.0
        );
        (numbers, &row.source)
    });
    let heading = "\ntokenizers: tokens per o200k token, and added per item and request";
    list(out, heading, tokenizers)
}

/// Writes rows, each with its source, below a heading.
fn list<'r>(
    out: &mut Page<'_>,
    heading: &str,
    rows: impl Iterator<Item = (String, &'r String)>,
) -> io::Result<()> {
    for (nth, (row, source)) in rows.enumerate() {
        if nth == 0 {
            writeln!(out, "{heading}")?;
        }
        writeln!(out, "\n  {row}\n    from {}", inert(source))?;
    }
    Ok(())
}

fn model(row: &ModelRow) -> String {
    let extended = row.window_extended.map(|w| format!(" or {}", tokens(w)));
    let thinking = match row.thinking {
        Thinking::Stays => "stays",
        Thinking::Leaves => "removed at a new turn",
        Thinking::Never => "never sent back",
    };
    let name = row.tokenizer.as_deref();
    let tokenizer = name.map(|name| format!(" · tokenizer {} · thinking {thinking}", inert(name)));
    format!(
        "{}\n    window {}{}{}{}{}{}",
        inert(&row.ids.join(", ")),
        if row.guess { "guessed: " } else { "" },
        tokens(row.window),
        extended.unwrap_or_default(),
        tokenizer.unwrap_or_default(),
        only("agents", &row.agents),
        only("up to version", row.up_to.as_slice())
    )
}

fn policy(row: &Policy) -> String {
    let until = row.until.map(|last| format!(" · until {last}"));
    let from = row.window_from;
    let from = (from > 0).then(|| format!(" · windows from {}", tokens(from)));
    let mut text = format!(
        "{} · {}{}{}{}{}{}",
        inert(&row.agent),
        inert(&row.name),
        only("up to version", row.up_to.as_slice()),
        until.unwrap_or_default(),
        only("models", &row.models),
        only("sessions", &row.sessions),
        from.unwrap_or_default()
    );
    if !row.keeps.is_empty() {
        text += &format!("\n    keeps {}", inert(&row.keeps));
    }
    let numbers = in_numbers(row);
    if !numbers.is_empty() {
        text += &format!("\n    in numbers: {numbers}");
    }
    text
}

fn price(row: &PriceRow) -> String {
    let (ids, usual) = (row.ids.join(", "), prices(&row.usual));
    let mut text = format!("{}\n    {usual}", inert(&ids));
    if let (Some(long), Some(above)) = (&row.long, row.above) {
        let (above, long) = (tokens(above), prices(long));
        text += &format!("\n    with prompts above {above}: {long}");
    }
    if !row.surcharges.is_empty() {
        let factors = row.surcharges.iter();
        let factors = factors.map(|(name, factor)| format!("{} × {factor}", name.name()));
        let factors = factors.collect::<Vec<_>>().join(", ");
        text += &format!("\n    surcharges: {factors}");
    }
    text
}

/// Returns what a policy's compaction keeps, as far as its row has numbers for it.
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

/// Returns the prices, each after its name.
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
