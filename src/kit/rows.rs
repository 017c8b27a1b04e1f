//! What the lines of most databases have in common.

use super::lenient::{self, Lost, Text, record};
use model::event::{Meta, Sink};

record! {
    struct Session<'a> {
        id: Text<'a>,
        title: Text<'a>,
        cwd: Text<'a>,
        parent: Text<'a>,
        model: Text<'a>,
    }
}

/// Emits the facts in the line about a session (`Schema::header` of a database format) that differ
/// from those that are known. A line that is no JSON has none, and is left to who reads the rest of it.
pub fn facts(line: &str, known: &mut Meta, out: &mut Sink<'_>) {
    let lost = Lost::default();
    let session: Session<'_> = lenient::parse(line, &lost).unwrap_or_default();
    lost.report(out);
    let meta = Meta {
        id: session.id.boxed(),
        title: session.title.boxed(),
        cwd: session.cwd.boxed(),
        parent: session.parent.boxed(),
        model: session.model.boxed(),
        ..Meta::default()
    };
    out.meta(meta.changes(known));
}
