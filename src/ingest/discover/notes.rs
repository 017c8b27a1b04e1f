//! Reads what this program has noted about sessions when agents called it: in its status line, and in hooks. It is in
//! the home of the user whose agent that was.

use super::origin::Origin;
use files::paths::Folders;
use integrations::client_record::{self, ClientRecord, RecordedCompaction};
use integrations::hook_notes::{self, HookCompaction, HookNotes};
use integrations::store;
use model::event::Cause;
use model::values::hooked::HookedCompaction;
use model::window::{ClientCompaction, ClientStatus};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The folders in which the program keeps its state in a home, where the environment there is not known: on Linux and
/// macOS, and on Windows.
const STATE_FOLDERS: [&str; 2] = [".local/state", "AppData/Local"];

/// The notes about sessions, each file read again only when it has changed.
pub(super) struct Notes {
    own: NotedFolder,
    /// Those in other homes; `None`: there are none.
    others: HashMap<PathBuf, Option<NotedFolder>>,
}

/// The notes in one home.
struct NotedFolder {
    /// The statements of the agents' clients.
    clients: store::Reader<ClientRecord>,
    /// The notes of the agents' hooks.
    hooks: store::Reader<HookNotes>,
}

impl NotedFolder {
    /// Returns the notes in a folder for state; `None`: there are none. `real` finds the folders in it.
    fn new(state: Option<&Path>, real: impl Fn(PathBuf) -> Option<PathBuf>) -> NotedFolder {
        NotedFolder {
            clients: store::Reader::new(state.map(client_record::folder).and_then(&real)),
            hooks: store::Reader::new(state.map(hook_notes::folder).and_then(&real)),
        }
    }

    fn look_again(&mut self) {
        self.clients.look_again();
        self.hooks.look_again();
    }
}

impl Notes {
    /// Returns the notes of the user with these folders, of which nothing was read yet.
    pub(super) fn new(folders: &Folders) -> Notes {
        Notes {
            own: NotedFolder::new(folders.state_folder().as_deref(), Some),
            others: HashMap::new(),
        }
    }

    /// Makes every file be looked at again.
    pub(super) fn look_again(&mut self) {
        self.own.look_again();
        // A home may have got its first note.
        self.others.retain(|_, noted| noted.is_some());
        self.others
            .values_mut()
            .flatten()
            .for_each(NotedFolder::look_again);
    }

    fn of(&mut self, origin: &Origin) -> Option<&mut NotedFolder> {
        if origin.is_own() {
            return Some(&mut self.own);
        }
        let home = origin.home.as_ref()?;
        let others = &mut self.others;
        let noted = others.entry(home.clone()).or_insert_with_key(|home| {
            let folders = STATE_FOLDERS.iter().map(|state| Folders {
                state: Some(home.join(state)),
                ..Folders::default()
            });
            let mut folders = folders.filter_map(|folders| folders.state_folder());
            // A link may lead to the notes of this user.
            let outermost = origin.outermost().unwrap_or(home);
            let folder = folders.find_map(|folder| files::within(outermost, &folder).ok())?;
            let real = |folder: PathBuf| match files::within(outermost, &folder) {
                // It may come.
                Err(e) if files::is_absent(&e) => Some(folder),
                real => real.ok(),
            };
            Some(NotedFolder::new(Some(&folder), real))
        });
        noted.as_mut()
    }

    /// Returns what the agent's client said of a session.
    pub(super) fn said(&mut self, from: &Origin, agent: &str, id: &str) -> Option<ClientStatus> {
        let kept = self.of(from)?.clients.of(agent, id)?;
        Some(ClientStatus {
            compaction: kept.compaction.map_or(ClientCompaction::Unsaid, of_client),
            breakdown: kept.breakdown.clone(),
            since: kept.since,
            cache_until: kept.cache_until,
            miss: kept.miss.clone(),
            plan: kept.plan.clone(),
            ..ClientStatus::window(kept.window?, kept.model.clone())
        })
    }

    /// Returns the compactions of a session that the agent's hooks noted.
    pub(super) fn hooked(&mut self, from: &Origin, agent: &str, id: &str) -> Vec<HookedCompaction> {
        let noted = self.of(from).and_then(|noted| noted.hooks.of(agent, id));
        let compactions = noted.iter().flat_map(|noted| &noted.compactions);
        compactions.map(of_hook).collect()
    }
}

/// Returns a client's compaction as the model has it.
fn of_client(kept: RecordedCompaction) -> ClientCompaction {
    match kept {
        RecordedCompaction::At(at) => ClientCompaction::At(at),
        RecordedCompaction::WhenRefused => ClientCompaction::Refused,
        RecordedCompaction::Off => ClientCompaction::Off,
    }
}

/// Returns a compaction as the model has it.
fn of_hook(noted: &HookCompaction) -> HookedCompaction {
    let of_agent = noted.before.filter(|size| size.is_agents);
    HookedCompaction {
        at: noted.at,
        ended: noted.ended,
        cause: Cause::named(&noted.cause),
        before: of_agent.map(|size| size.used),
        after: noted.after.map(|size| size.used),
    }
}
