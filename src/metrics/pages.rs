//! Pages for a browser: a list of the sessions, and a report of each. They have no scripts, and nothing can be changed
//! with them.

use crate::followed::Followed;
use anyhow::{Result, anyhow};
use jiff::Timestamp;
use model::event::Key;
use model::lists::sessions::{SessionKey, Sessions};
use model::session::Coverage;
use render::sure::ABOUT;
use render::{OF_WINDOW, number};
use report::{SessionRow, refreshed, session_pseudonym, sessions_page};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// The meanings of the signs in the list.
const SIGNS: &str = "~: the number may change once the whole log is read. w: a share of the window, since no trigger is known.";
/// The most sessions in the list.
pub const MOST_LISTED: usize = 500;
/// The path of a session's page, without its name.
const SESSION: &str = "/session/";

/// Makes the HTML report of the log at a path; with an id, of that session in it.
pub type MakeReport = dyn Fn(&Path, Option<&str>) -> Result<Vec<u8>> + Send + Sync;

/// The names of sessions in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Their titles, or the beginnings of their first prompts.
    Titles,
    /// Pseudonyms, which are those of the reports.
    Pseudonyms,
}

/// The pages of all sessions.
pub struct Pages {
    names: Names,
    report: Box<MakeReport>,
    /// A report reads a whole log: one is made at a time.
    making: Arc<Semaphore>,
}

impl Pages {
    /// Returns pages with these names and reports.
    pub fn new(names: Names, report: Box<MakeReport>) -> Pages {
        let making = Arc::new(Semaphore::new(1));
        Pages {
            names,
            report,
            making,
        }
    }

    /// Returns the page at a path; `None`: there is none.
    ///
    /// # Errors
    ///
    /// If the log of the session cannot be read.
    pub(crate) async fn page(
        self: Arc<Pages>,
        path: &str,
        of: &Followed,
    ) -> Option<Result<String>> {
        if path == "/" {
            return Some(Ok(
                of.with_sessions(|sessions, now| self.list(sessions, now))
            ));
        }
        let name = path.strip_prefix(SESSION)?;
        let (log, id) = of.with_sessions(|sessions, _| found(sessions, name))?;
        let place = Arc::clone(&self.making).acquire_owned().await.ok()?;
        let made = spawn_blocking(move || {
            let made = (self.report)(&log, id.as_deref());
            drop(place);
            made
        });
        let made = made.await.unwrap_or_else(|_| Err(anyhow!("no report")));
        Some(made.map(|page| refreshed(&String::from_utf8_lossy(&page))))
    }

    /// Returns the list, the newest session first. Sub-agents are left out.
    fn list(&self, sessions: &Sessions, now: Timestamp) -> String {
        let all = sessions.activities();
        let all = all.filter(|(key, _)| is_main(sessions, *key));
        let mut all: Vec<_> = all.map(|(key, active)| (Reverse(active), key)).collect();
        all.sort_unstable();
        let count = number::counted(all.len() as u64, "session");
        let note = if all.len() > MOST_LISTED {
            format!("The newest {MOST_LISTED} of {count}. {SIGNS}")
        } else {
            format!("{count}, the newest first. {SIGNS}")
        };
        let rows = all
            .into_iter()
            .filter_map(|(_, key)| self.row(sessions, key, now));
        let rows: Vec<SessionRow> = rows.take(MOST_LISTED).collect();
        refreshed(&sessions_page(&rows, &note))
    }

    fn row(&self, sessions: &Sessions, key: SessionKey, now: Timestamp) -> Option<SessionRow> {
        let (gauge, facts) = sessions.gauge(key).zip(sessions.facts(key))?;
        let is_unread = gauge.coverage == Coverage::Unread;
        if is_unread || gauge.meta.parent.is_some() || sessions.is_remnant(key) {
            return None;
        }
        let id = gauge.meta.id.as_deref().or(facts.id.as_deref());
        let title = gauge.meta.title.as_deref().or(gauge.meta.prompt.as_deref());
        let title = title.filter(|_| self.names == Names::Titles);
        let (counted, end) = gauge.context.filled(gauge.limits());
        let of_window = gauge.limits().trigger.is_none().then_some(OF_WINDOW);
        let of_window = of_window.map_or(String::new(), String::from);
        let share = number::percent(counted, end).map(|share| format!("{share}%{of_window}"));
        let about = if gauge.is_final { "" } else { ABOUT };
        let active = sessions.activity_of(key);
        let age = active.map(|at| number::age(now.duration_since(at).as_secs().max(0)));
        Some(SessionRow {
            link: format!("{SESSION}{}", name_of(sessions, key)?),
            name: match title {
                Some(title) => title.to_owned(),
                None => session_pseudonym(id.unwrap_or_default()),
            },
            agent: facts.label.to_string(),
            size: format!("{about}{}", number::tokens(gauge.context.used)),
            share: render::or_none(share.map(|share| format!("{about}{share}"))),
            age: render::or_none(age),
        })
    }
}

/// Returns false for a sub-agent, as far as its file shows that. To look at all sessions would take memory for each.
fn is_main(sessions: &Sessions, key: SessionKey) -> bool {
    let facts = sessions.facts(key);
    facts.is_some_and(|facts| facts.parent.is_none())
}

/// Returns the name of a session in addresses, which shows nothing of its path and id.
fn name_of(sessions: &Sessions, key: SessionKey) -> Option<String> {
    let path = sessions.facts(key)?.path.to_string_lossy();
    let conversation = format!("{:?}", key.conversation);
    let name = Key::of_parts(&[&*path, &conversation]);
    Some(format!("{:016x}", name.get()))
}

/// Returns the log of the session with this name in addresses, and its id if its log has several.
fn found(sessions: &Sessions, name: &str) -> Option<(PathBuf, Option<String>)> {
    let mut keys = sessions.keys();
    let key = keys.find(|key| name_of(sessions, *key).as_deref() == Some(name))?;
    let id = sessions.id_among_several(key).map(str::to_owned);
    Some((sessions.facts(key)?.path.to_path_buf(), id))
}
