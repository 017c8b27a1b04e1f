//! Reads the fields that the lines of most databases have in common.

use super::lenient::{self, LostFields, Record, Text, record};
use model::event::{EventSink, Meta};

record! {
    struct Session<'a> {
        id: Text<'a>,
        title: Text<'a>,
        cwd: Text<'a>,
        parent: Text<'a>,
        model: Text<'a>,
        provider: Text<'a>,
    }
}

/// A line of a database.
pub enum Line<S, R> {
    /// The line about the session, which is `Schema::header` of the format.
    Session(S),
    /// A row of the session.
    Row(R),
}

/// Reads a line. The facts about the session that differ from those that are `known` are emitted.
pub fn read<'a, S: Record<'a>, R: Record<'a>>(
    line: &'a str,
    known: &mut Meta,
    out: &mut EventSink<'_>,
) -> Option<Line<S, R>> {
    if out.place().line() > 0 {
        return lenient::object(line, out).map(Line::Row);
    }
    facts(line, known, out);
    lenient::object(line, out).map(Line::Session)
}

/// Emits the facts in the line about the session. A line that is not JSON has none: the caller reports it.
fn facts(line: &str, known: &mut Meta, out: &mut EventSink<'_>) {
    let lost = LostFields::default();
    let session: Session<'_> = lenient::parse(line, &lost).unwrap_or_default();
    lost.report(out);
    let meta = Meta {
        id: session.id.boxed(),
        title: session.title.boxed(),
        cwd: session.cwd.boxed(),
        parent: session.parent.boxed(),
        model: session.model.boxed(),
        provider: session.provider.boxed(),
        ..Meta::default()
    };
    out.meta(meta.changes(known));
}
