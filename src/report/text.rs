//! The report of one session for people.

use super::json::{other_estimator, percent};
use crate::model::compaction::compactions;
use crate::model::event::is_unsafe_to_show;
use crate::model::fleet::FileFacts;
use crate::model::forecast::{Forecast, NoForecast};
use crate::model::repeats::repeats;
use crate::model::session::{Coverage, Item, Session};
use crate::model::tools::tools;
use crate::model::whatif::{WhatIf, Whose, what_if};
use crate::model::{Role, Source};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// How many of the largest items a report lists.
const LARGEST: usize = 10;

/// Writes the report of a session that was read from this file, with what its forecast says.
pub fn write(
    out: &mut dyn Write,
    session: &Session,
    facts: &FileFacts,
    left: &Result<Forecast, NoForecast>,
) -> io::Result<()> {
    let context = session.context();
    let limits = session.limits();
    let model = session.model().unwrap_or("no model yet");
    writeln!(
        out,
        "{} · {} · {}",
        clean(session.agent),
        clean(model),
        clean(session.meta.id.as_deref().unwrap_or("no id"))
    )?;
    writeln!(out, "{}", clean(&facts.path.display().to_string()))?;
    if let Some(cwd) = session.meta.cwd.as_deref() {
        writeln!(out, "in {}", clean(cwd))?;
    }
    writeln!(out)?;
    writeln!(out, "{}", gauge_line(session))?;
    let trigger = limits.trigger.map_or_else(
        || {
            let said = limits.no_trigger();
            said.unwrap_or_else(|| "no compaction before the window is full is known of".to_owned())
        },
        |trigger| {
            format!(
                "compacts at {} ({}), headroom {}",
                tokens(trigger),
                limits.trigger_source.name(),
                tokens(trigger.saturating_sub(context.used))
            )
        },
    );
    writeln!(
        out,
        "window {} ({}) · {trigger}",
        tokens(limits.window),
        limits.window_source.name()
    )?;
    if let Some(said) = session.said() {
        let how = match said.source {
            Source::Reported => "were reported",
            Source::Agent => "would be estimated without that",
            _ => "are estimated here",
        };
        let (its, ours) = (tokens(said.tokens), tokens(said.ours));
        writeln!(out, "the agent says {its}, where {ours} {how}")?;
    }
    match left {
        Ok(left) => writeln!(out, "{left}")?,
        // The line above says it.
        Err(NoForecast::NoTrigger) => {}
        Err(why) => writeln!(out, "no forecast: {}", why.name())?,
    }
    writeln!(out)?;
    writeln!(out, "  role       tokens   known     est.  items")?;
    for role in Role::ALL {
        let share = context.role(role);
        writeln!(
            out,
            "  {:<9} {:>7} {:>7} {:>8} {:>6}  {:>5.1} %",
            role.name(),
            tokens(share.tokens),
            dash(share.known),
            dash(share.estimated),
            share.items,
            percent(share.tokens, context.used)
        )?;
    }
    write_largest(out, session)?;
    write_tools(out, session)?;
    write_repeats(out, session)?;
    write_resets(out, session)?;
    write_what_if(out, session)?;
    write_unread(out, session)
}

/// The gauge in words: always the same shape.
pub(super) fn gauge_line(session: &Session) -> String {
    let context = session.context();
    let window = session.limits().window;
    let share = percent(context.used, window);
    let known = match session.coverage {
        Coverage::Unread => return "— not read yet".to_owned(),
        _ if !session.estimator().builds_on_report() => "— known".to_owned(),
        _ if context.known > 0 => format!("{} known", tokens(context.known)),
        _ if session.requests.is_empty() => "— known (no usage report)".to_owned(),
        _ => "— known (no usage report since the last reset)".to_owned(),
    };
    let estimated = if context.estimated == 0 {
        String::new()
    } else {
        format!(
            " + {} ±{} est",
            tokens(context.estimated),
            tokens((context.high - context.used).max(context.used - context.low))
        )
    };
    let by = other_estimator(session).map(|name| format!(" · by {name}"));
    format!(
        "{known}{estimated} · {share:.0} % of {}{}",
        tokens(window),
        by.unwrap_or_default()
    )
}

fn write_largest(out: &mut dyn Write, session: &Session) -> io::Result<()> {
    let mut items = session.alive();
    items.sort_by_key(|ix| std::cmp::Reverse(session.tokens(*ix).0));
    items.truncate(LARGEST);
    if items.is_empty() {
        return Ok(());
    }
    let what = |item: &Item| clean(item.tool.as_deref().unwrap_or(item.kind.name()));
    let width = widest(items.iter().map(|ix| what(&session.items[*ix])));
    writeln!(out, "\n  largest in context")?;
    for ix in items {
        let item = &session.items[ix];
        let (size, source) = session.tokens(ix);
        writeln!(
            out,
            "  {:>7} {:<2} {:<9} {} line {:<6} {}",
            tokens(size),
            sign(source),
            item.role.name(),
            padded(&what(item), width),
            item.place.line,
            clean(&item.preview)
        )?;
    }
    Ok(())
}

fn write_tools(out: &mut dyn Write, session: &Session) -> io::Result<()> {
    let tools = tools(session, session.in_context(), session.requests.len());
    if tools.is_empty() {
        return Ok(());
    }
    let shown = tools.iter().take(LARGEST);
    let width = widest(shown.clone().map(|tool| clean(&tool.name)));
    writeln!(
        out,
        "\n  {}  results   tokens  share      now  largest  carried  in money",
        padded("tool", width)
    )?;
    for tool in shown {
        writeln!(
            out,
            "  {} {:>8} {:>8} {:>4.0} % {:>8} {:>8} {:>8} {:>9}",
            padded(&clean(&tool.name), width),
            tool.results,
            tokens(tool.tokens),
            tool.share * 100.0,
            dash(tool.in_context),
            tokens(tool.largest.1),
            tokens(tool.carried),
            tool.carried_usd
                .map_or_else(|| "—".to_owned(), |usd| format!("${usd:.2}")),
        )?;
    }
    Ok(())
}

/// So many of something: `1 item`, `12 items`.
pub(super) fn counted(n: u64, word: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {word}{s}")
}

/// The columns that the widest of these names takes, and so many at least that columns seldom move.
fn widest(names: impl Iterator<Item = String>) -> usize {
    names.map(|name| name.width()).fold(12, usize::max)
}

/// The text with blanks behind it, up to this many columns.
pub(super) fn padded(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(blanks))
}

fn write_repeats(out: &mut dyn Write, session: &Session) -> io::Result<()> {
    let repeats = repeats(session, session.in_context());
    match repeats.items() {
        0 => Ok(()),
        1 => writeln!(
            out,
            "\n  1 item in the context says what another says: {} tokens wasted",
            tokens(repeats.wasted)
        ),
        items => writeln!(
            out,
            "\n  {items} items in the context say what others say: {} tokens wasted",
            tokens(repeats.wasted)
        ),
    }
}

/// The rules side by side, those together that come to the same.
fn write_what_if(out: &mut dyn Write, session: &Session) -> io::Result<()> {
    let rows = what_if(session, session.requests.len());
    let compacts = |row: &&WhatIf| !row.compactions.is_empty();
    if !rows.iter().any(|row| compacts(&row)) {
        return Ok(());
    }
    let mut told: Vec<(String, WhatIf)> = Vec::new();
    for row in rows {
        let name = rule_name(&row);
        let same = told.iter_mut().find(|(_, other)| {
            matches!(row.whose, Whose::Agent(_) | Whose::Generic)
                && matches!(other.whose, Whose::Agent(_) | Whose::Generic)
                && (other.trigger, &other.compactions) == (row.trigger, &row.compactions)
        });
        match same {
            Some((names, _)) => *names = format!("{names}, {name}"),
            None => told.push((name, row)),
        }
    }
    writeln!(
        out,
        "\n       at  times  dropped  largest  prompts  had it compacted as"
    )?;
    for (name, row) in told {
        writeln!(
            out,
            "  {:>7} {:>6} {:>8} {:>8} {:>8}  {}{}",
            row.trigger.map_or_else(|| "—".to_owned(), tokens),
            row.compactions.len(),
            dash(row.dropped()),
            tokens(row.largest),
            tokens(row.prompts),
            clean(&name),
            row.over.map_or("", |_| " (over the window)"),
        )?;
    }
    Ok(())
}

/// Whose rule it is, or what it says.
fn rule_name(row: &WhatIf) -> String {
    match &row.whose {
        Whose::Real => "it did".to_owned(),
        Whose::Own => format!("its own: {}", row.policy),
        Whose::Agent(id) => id.clone(),
        Whose::Generic => row.policy.clone(),
    }
}

fn write_resets(out: &mut dyn Write, session: &Session) -> io::Result<()> {
    for done in compactions(session) {
        let reset = &session.resets[done.reset];
        let size = |size: u64, source: Source| format!("{} {}", tokens(size), source.name());
        write!(
            out,
            "\n  {} ({}) at line {}: {}",
            reset.gone.name(),
            clean(&reset.cause),
            reset.place.line,
            size(reset.before, reset.before_source)
        )?;
        if let Some((after, source)) = done.after {
            write!(out, " → {}", size(after, source))?;
        }
        writeln!(out)?;
        let freed = done.freed.map(|freed| format!("freed {}", tokens(freed)));
        let kept = (done.kept_items > 0).then(|| {
            format!(
                "kept {}, {}",
                counted(done.kept_items as u64, "item"),
                tokens(done.kept_tokens)
            )
        });
        let summary = done
            .summary
            .map(|(_, size, _)| format!("summary {}", tokens(size)));
        let ours = done
            .difference
            .map(|_| format!("counted here {}", tokens(reset.ours)));
        let said: Vec<String> = [freed, kept, summary, ours].into_iter().flatten().collect();
        if !said.is_empty() {
            writeln!(out, "    {}", said.join(" · "))?;
        }
        for (ix, size, source) in done.largest {
            let item = &session.items[ix];
            writeln!(
                out,
                "    left {:>7} {:<2} {:<9} {}",
                tokens(size),
                sign(source),
                item.role.name(),
                clean(&item.preview)
            )?;
        }
    }
    Ok(())
}

fn write_unread(out: &mut dyn Write, session: &Session) -> io::Result<()> {
    if session.unreadable > 0 {
        let first = session.first_unreadable.as_ref();
        let (line, why) = first.map_or((0, ""), |(place, why)| (place.line, &**why));
        writeln!(
            out,
            "\n  {}, not counted; the first is line {line}: {}",
            counted(session.unreadable, "unreadable line"),
            clean(why)
        )?;
    }
    if !session.lost_fields.is_empty() {
        let list: Vec<String> = session
            .lost_fields
            .iter()
            .map(|(name, n)| format!("{name} {n}"))
            .collect();
        writeln!(
            out,
            "\n  fields of another type than expected, not counted: {}",
            list.join(", ")
        )?;
    }
    if !session.skipped.is_empty() {
        let list: Vec<String> = session
            .skipped
            .iter()
            .map(|(kind, n)| format!("{} {n}", clean(kind)))
            .collect();
        writeln!(
            out,
            "\n  not in the context, passed over: {}",
            list.join(", ")
        )?;
    }
    Ok(())
}

/// How a number is known, in one sign.
const fn sign(source: Source) -> &'static str {
    match source {
        Source::Reported => "=",
        Source::Derived => "==",
        Source::Shared => "≈",
        Source::Agent => "?",
        Source::Estimated => "~",
    }
}

fn dash(n: u64) -> String {
    if n == 0 { "—".to_owned() } else { tokens(n) }
}

/// A number of tokens in at most six characters: `847`, `12.4k`, `1.05M`.
pub(super) fn tokens(n: u64) -> String {
    match n {
        0..=999 => n.to_string(),
        1_000..=999_949 => format!("{:.1}k", n as f64 / 1e3),
        _ => format!("{:.2}M", n as f64 / 1e6),
    }
}

/// Text of a log without what could drive a terminal.
pub(super) fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if is_unsafe_to_show(c) { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_keep_their_shape() {
        assert_eq!(tokens(0), "0");
        assert_eq!(tokens(999), "999");
        assert_eq!(tokens(1_000), "1.0k");
        assert_eq!(tokens(124_149), "124.1k");
        assert_eq!(tokens(999_950), "1.00M");
        assert_eq!(tokens(1_047_576), "1.05M");
    }

    #[test]
    fn columns_are_as_wide_as_the_widest_name() {
        let names = [
            "bash",
            "collaboration.list_agents",
            "一二三四五六七八九十一二三四",
        ];
        let width = widest(names.iter().map(|name| (*name).to_owned()));
        assert_eq!(width, 28);
        assert!(
            names
                .iter()
                .all(|name| padded(name, width).width() == width)
        );
        assert_eq!(widest(std::iter::once("bash".to_owned())), 12);
        assert_eq!(padded(names[1], 12), names[1]);
    }

    #[test]
    fn one_is_told_as_one() {
        assert_eq!(
            [counted(1, "item"), counted(12, "item")],
            ["1 item", "12 items"]
        );
    }

    #[test]
    fn log_text_is_made_inert() {
        assert_eq!(clean("a\u{1b}[2J\u{202e}b"), "a\u{fffd}[2J\u{fffd}b");
    }
}
