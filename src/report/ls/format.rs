//! A line for each session of a list, in a format of the user's: the format of status lines, with the values of lists.

use super::{Depth, SessionList};
use crate::client::line::fit::text_of;
use crate::client::line::template::{Field, Key, Part, Template, WrongFormat};
use crate::client::line::values::Values;
use model::lists::sessions::{Activity, Row, SessionKey};
use render::number::age;
use render::spending::cost;
use render::text::{inert, one_line};

/// The values that only a status line has: a list reads no items and asks no client.
const NOT_IN_LISTS: [Key; 4] = [Key::Big, Key::Largest, Key::Rebuild, Key::Effort];

/// A format that was read: its parts, between which there are tabs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineFormat(Vec<Template>);

impl LineFormat {
    /// Reads a format. `\t` is a tab.
    ///
    /// # Errors
    ///
    /// If it cannot be understood; the error says where and what is possible.
    pub fn read(text: &str) -> Result<LineFormat, WrongFormat> {
        let text = text.replace("\\t", "\t");
        let read = |part| Template::read_of(part, |key| !NOT_IN_LISTS.contains(&key));
        let parts = text.split('\t').map(read);
        Ok(LineFormat(parts.collect::<Result<_, _>>()?))
    }

    /// Returns true if it shows what sessions cost.
    pub fn has_cost(&self) -> bool {
        self.has(Key::Cost)
    }

    /// Returns the part of a log that its values need. A forecast depends on all steps of a session.
    pub fn depth(&self) -> Depth {
        if self.has(Key::Requests) {
            Depth::Whole
        } else {
            Depth::Ends
        }
    }

    fn has(&self, key: Key) -> bool {
        fn has(parts: &[Part], key: Key) -> bool {
            parts.iter().any(|part| match part {
                Part::Field(field) => field.key == key,
                Part::Section(parts) => has(parts, key),
                Part::Text(_) => false,
            })
        }
        let lines = self.0.iter().flat_map(|template| &template.0);
        lines.into_iter().any(|parts| has(parts, key))
    }

    /// Returns the lines of a session, safe to print. `None`: there is no such session.
    pub(super) fn lines(&self, list: &SessionList, row: &Row) -> Option<String> {
        let (gauge, facts) = (list.sessions.gauge(row.key)?, list.sessions.facts(row.key)?);
        let values = Values::of_gauge(gauge, facts.label, &list.clock);
        let value = |field: &Field| value(list, row.key, &values, field);
        let tabbed = self.0.iter().map(|template| {
            let lines = template.0.iter().map(|parts| text_of(parts, &value));
            lines.collect::<Vec<_>>().join("\n")
        });
        Some(tabbed.collect::<Vec<_>>().join("\t"))
    }
}

/// Returns the text of a session's value; `None`: it is not known.
fn value(list: &SessionList, key: SessionKey, values: &Values, field: &Field) -> Option<String> {
    let sessions = &list.sessions;
    let (gauge, facts) = (sessions.gauge(key)?, sessions.facts(key)?);
    let owned = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let text = match field.key {
        Key::Id => owned(gauge.meta.id.as_deref()?),
        Key::Parent => owned(gauge.meta.parent.as_deref()?),
        Key::Name => owned(&sessions.name(key)),
        Key::Title => owned(&sessions.title(key)?),
        Key::Project => owned(sessions.project_of(gauge)),
        Key::Folder => owned(gauge.folder()),
        Key::Path => owned(&facts.path.to_string_lossy()),
        Key::Model => owned(gauge.model()?),
        Key::Version => owned(gauge.meta.version.as_deref()?),
        Key::Age => {
            let at = sessions.activity_of(key)?;
            Some(age(list.clock.now.duration_since(at).as_secs()))
        }
        Key::Live => owned(match sessions.live(key, list.clock.now)? {
            Activity::Working => "works",
            Activity::Waiting => "waits",
            Activity::Written => "written",
        }),
        Key::Cost => list.spending.get(&key).map(cost),
        _ => values.text(field),
    };
    Some(inert(&one_line(&text?)).into_owned())
}
