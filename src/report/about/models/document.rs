//! The models table for people: rows by their names, each with its source.

use crate::output::document::{Document, Facts, Line, Section, facts};
use model::window::catalogue::ListedRow;
use model::window::{LongPrices, ModelRow, Policy, PriceRow, Prices, Rules, Thinking};
use render::number::tokens;

/// A row: its name, and facts on it.
type Row = (Line, Facts);

/// Puts the table together.
pub(super) fn document(rules: &Rules, listed: &[ListedRow<'_>]) -> Document {
    let policies = format!(
        "policies: when agents compact; the first matching row applies; a summary is taken to be {} unless its row says otherwise",
        tokens(rules.summary)
    );
    let caches = rules.cache.iter().map(|row| {
        let most = row.most.map(|most| format!(", at most {most}"));
        let life = format!("{} seconds{}", row.seconds, most.unwrap_or_default());
        let life = Some(life.into());
        (names(&row.ids), facts([("kept", life), from(&row.source)]))
    });
    let triggers = rules.trigger.iter().map(|row| {
        let switch = if row.usual { "" } else { " · if it is set" };
        let since = only("since version", row.from.as_slice());
        let kind = Some(format!("{}{since}{switch}", row.kind.name()).into());
        (
            Line::log(&row.agent),
            facts([("trigger", kind), from(&row.source)]),
        )
    });
    let tokenizers = rules.tokenizer.iter().map(|(name, row)| {
        let numbers = format!(
            "{} per token · {} per item · {} per request · ±{:.0} %",
            row.per_token,
            row.per_item,
            row.per_call,
            row.spread * 100.0
        );
        (
            Line::log(name),
            facts([("tokens", Some(numbers.into())), from(&row.source)]),
        )
    });
    let sections = [
        list(
            "models: the first matching row applies",
            rules.model.iter().map(model),
        ),
        list(policies, rules.policy.iter().map(policy)),
        list(
            "prices: US dollars per million tokens; the first matching row applies, before the table by provider",
            rules.price.iter().map(price),
        ),
        list(
            "by provider: for models without a row for their agent above",
            listed.iter().map(|row| by_provider(row, rules)),
        ),
        list(
            "prompt caches: how long a prompt is kept; the first matching row applies",
            caches,
        ),
        list("other triggers: what else than the size compacts", triggers),
        list(
            "tokenizers: tokens per o200k token, and added per item and request",
            tokenizers,
        ),
    ];
    Document {
        title: Line::default(),
        sections: sections.into_iter().flatten().collect(),
    }
}

/// Returns a section of rows; `None`: there are none.
fn list(heading: impl Into<Line>, rows: impl Iterator<Item = Row>) -> Option<Section> {
    let section = rows.fold(Section::new(heading), |section, (name, facts)| {
        section.with(name).with(facts)
    });
    (!section.blocks.is_empty()).then_some(section)
}

fn names(ids: &[String]) -> Line {
    Line::log(&ids.join(", "))
}

fn from(source: &str) -> (&'static str, Option<Line>) {
    ("from", Some(Line::own(source.to_owned())))
}

fn model(row: &ModelRow) -> Row {
    let extended = row.window_extended.map(|w| format!(" or {}", tokens(w)));
    let thinking = match row.thinking {
        Thinking::Stays => "stays",
        Thinking::Leaves => "removed at a new turn",
        Thinking::Never => "never sent back",
    };
    let name = row.tokenizer.as_deref();
    let tokenizer = name.map(|name| format!(" · tokenizer {name} · thinking {thinking}"));
    let window = format!(
        "{}{}{}{}{}{}{}",
        if row.guess { "guessed: " } else { "" },
        window_of(row),
        extended.unwrap_or_default(),
        tokenizer.unwrap_or_default(),
        only("agents", &row.agents),
        only("measured with", &row.clients),
        only("up to version", row.up_to.as_slice())
    );
    let window = Some(window.into());
    (
        names(&row.ids),
        facts([("window", window), from(&row.source)]),
    )
}

fn window_of(row: &ModelRow) -> String {
    match row.window {
        0 => "by provider".to_owned(),
        window => tokens(window),
    }
}

fn policy(row: &Policy) -> Row {
    let until = row.until.map(|last| format!(" · until {last}"));
    let window = row.window_from;
    let window = (window > 0).then(|| format!(" · windows from {}", tokens(window)));
    let rule = format!(
        "{}{}{}{}{}{}",
        row.name,
        only("up to version", row.up_to.as_slice()),
        until.unwrap_or_default(),
        only("models", &row.models),
        only("sessions", &row.sessions),
        window.unwrap_or_default()
    );
    let some = |text: String| (!text.is_empty()).then(|| text.into());
    let facts = facts([
        ("compacts", some(rule)),
        ("keeps", some(row.keeps.clone())),
        ("in numbers", some(in_numbers(row))),
        from(&row.source),
    ]);
    (Line::log(&row.agent), facts)
}

fn price(row: &PriceRow) -> Row {
    let facts = facts([
        ("prices", Some(prices(&row.usual).into())),
        ("above", above(row)),
        ("surcharges", surcharges(row)),
        from(&row.source),
    ]);
    (names(&row.ids), facts)
}

fn by_provider(row: &ListedRow<'_>, rules: &Rules) -> Row {
    let source = rules.catalogue.sources(row.marks);
    let price = row.price(source.clone());
    let window = row.limits().map(|limits| {
        let mut text = tokens(limits.window);
        let parts = [("input", limits.input), ("output", limits.output)];
        for (name, size) in parts {
            text.extend(size.map(|size| format!(" · {name} up to {}", tokens(size))));
        }
        for (agent, own) in &limits.clients {
            text.push_str(&format!(" · {agent}: {}", tokens(*own)));
        }
        text.into()
    });
    let facts = facts([
        ("window", window),
        (
            "prices",
            price.as_ref().map(|row| prices(&row.usual).into()),
        ),
        ("above", price.as_ref().and_then(above)),
        ("surcharges", price.as_ref().and_then(surcharges)),
        from(&source),
    ]);
    (
        Line::log(&format!("{}: {}", row.provider, row.model)),
        facts,
    )
}

/// Returns the prices of long prompts.
fn above(row: &PriceRow) -> Option<Line> {
    let step = |step: LongPrices| format!("{}: {}", tokens(step.above), prices(&step.prices));
    let all = row.steps().map(step).collect::<Vec<_>>().join(" · ");
    (!all.is_empty()).then(|| all.into())
}

fn surcharges(row: &PriceRow) -> Option<Line> {
    let factors = row.surcharges.iter();
    let factors = factors.map(|(name, factor)| format!("{} × {factor}", name.name()));
    let factors = factors.collect::<Vec<_>>().join(", ");
    (!factors.is_empty()).then(|| factors.into())
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
        format!(" · {what} {}", list.join(", "))
    }
}
