//! A format for tests: lines such as `{"toy":7}`, each a request of that many tokens.
//!
//! `{"say":"…"}` is a message, `{"reset":1}` a compaction, `{"cwd":"…"}` and `{"title":"…"}` a fact, `{"side":"…"}` a
//! message of a sub-agent, `{"hang":1}` is read only when a test allows it; anything else cannot be read. A document is a list of such lines in `[…]`, a
//! folder `parts` has one in each file `part-<number>.json`.

pub(super) mod followed;
pub(super) mod made;

use formats::database::{DatabaseSpec, Schema};
use formats::facts::EACH_LINE;
use formats::settings::SettingsFile;
use formats::{
    Base, Claim, Decoder, Facts, FilesBeside, FolderSpec, Format, Recognition, Registry,
    RegistryEntry, Root, Settings, StoreKind, Totals, decoder,
};
use model::event::{
    Cause, Conversation, Event, EventSink, Key, Meta, Node, Part, Place, Reset, RetainedItems,
    Usage,
};
use model::values::process_activity::ProcessActivity;
use model::window::Overrides;
use model::{Kind, LeaveReason, Role};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub(super) static TOY: Format = Format {
    id: "toy",
    label: "toy",
    facts: Facts {
        mark: "first line that begins with `toy`",
        live: EACH_LINE,
        known: "prompts",
        estimated: "outputs",
        sub_agents: "none",
        compactions: "yes",
        tried: "tests",
        ..Facts::NONE
    },
    roots: &[
        Root::home(".toy", "logs").env("TOY_HOME"),
        Root::new(Base::XdgConfig("toy"), "logs").env("TOY_HOME"),
        Root::new(Base::XdgData("toy"), "logs"),
    ],
    claims: &claims,
    recognition: Recognition::new(&|head| head.starts_with(b"{\"toy\":"))
        .kept_in(&|head| StoreKind::database(&TALKS, head).or_else(|| Format::DEFAULT.store(head))),
    decoder: &decoder::<ToyDecoder>,
    reset_marks: &["\"reset\""],
    totals: Totals::new(&[]),
    // A bare number: the window.
    settings: Some(&Settings {
        files: &[
            SettingsFile::Project("settings"),
            SettingsFile::Agent("settings"),
        ],
        env: &[],
        read: |files| Overrides {
            window: files
                .first()
                .and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()),
            ..Overrides::default()
        },
        ready: None,
    }),
    beside: FilesBeside {
        registry: Some(&Registry {
            folder: "running",
            read: |file| {
                let entry: Value = serde_json::from_slice(file).ok()?;
                let text = |name: &str| Some(entry.get(name)?.as_str()?.to_owned());
                Some(RegistryEntry {
                    session: text("session")?,
                    started: text("started"),
                    running: if entry.get("busy").is_some() {
                        ProcessActivity::Busy
                    } else {
                        ProcessActivity::Idle
                    },
                })
            },
        }),
        ..FilesBeside::NONE
    },
    ..Format::DEFAULT
};

/// A toy's database.
pub(super) static TALKS: DatabaseSpec = DatabaseSpec {
    schemas: &[
        Schema {
            sessions: "SELECT id, parent, updated, (SELECT max(id) FROM word WHERE talk = talk.id) FROM talk",
            header: "SELECT '{\"cwd\":' || json_quote(cwd) || '}' FROM talk WHERE id = ?1",
            from: "word WHERE talk = ?1",
            order: "id",
            line: "line",
            settled: "done",
            changed: "mark",
            ..Schema::DEFAULT
        },
        // Before words had marks.
        Schema {
            sessions: "SELECT id, NULL, NULL, (SELECT max(id) FROM word WHERE talk = talk.id) FROM talk",
            header: "SELECT '{\"cwd\":\"/old\"}' WHERE ?1 <> ''",
            from: "word WHERE talk = ?1",
            order: "id",
            line: "line",
            ..Schema::DEFAULT
        },
    ],
};

/// The tables of a toy's database.
pub(super) const TABLES: &str = "
    CREATE TABLE talk(id TEXT PRIMARY KEY, parent TEXT, updated INTEGER, cwd TEXT);
    CREATE TABLE word(id INTEGER PRIMARY KEY, talk TEXT, line TEXT, done INTEGER DEFAULT 1, mark INTEGER DEFAULT 0);
    CREATE INDEX words ON word(talk);";

/// The folder of a toy's parts.
pub(super) static PARTS: FolderSpec = FolderSpec {
    number: |name| {
        let number = name.strip_prefix("part-")?.strip_suffix(".json")?;
        number.parse().ok()
    },
    has_lines: false,
};

fn claims(path: &Path) -> Option<Claim> {
    let named = |name: &OsStr| Some(Claim::session(name.to_str()?));
    if path.ends_with("parts") {
        let claim = named(path.parent()?.file_name()?)?;
        return Some(claim.kept_in(StoreKind::Folder(&PARTS)));
    }
    let store = match path.extension()?.to_str()? {
        "talks" => return Some(Claim::database(&TALKS)),
        "toy" => StoreKind::Lines,
        "toys" => StoreKind::Document,
        _ => return None,
    };
    Some(named(path.file_stem()?)?.kept_in(store))
}

#[derive(Default)]
struct ToyDecoder {
    requests: u64,
}

impl Decoder for ToyDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        match serde_json::from_str::<Value>(line) {
            Ok(value) => self.record(&value, out.place(), out),
            Err(_) => out.unreadable("no JSON"),
        }
    }

    fn read_document(&mut self, document: &str, out: &mut EventSink<'_>) {
        match serde_json::from_str::<Vec<Value>>(document) {
            Ok(list) => {
                for (n, value) in list.iter().enumerate() {
                    let place = Place::of_line(n as u64 + 1);
                    self.record(value, place, out);
                }
            }
            Err(_) => out.unreadable("no JSON"),
        }
    }
}

impl ToyDecoder {
    fn record(&mut self, value: &Value, place: Place, out: &mut EventSink<'_>) {
        let node = |items, part, request| {
            Event::Node(Box::new(Node {
                part,
                request,
                items,
                ..Node::default()
            }))
        };
        if let Some(tokens) = value["toy"].as_u64() {
            // The key is of the place, so that it is the same wherever reading began.
            let request = Key::of_number("toy", place.offset().wrapping_add(place.line() << 40));
            self.requests += 1;
            let item = out.item(Role::Assistant, Kind::Text).text("answer").done();
            out.push(
                Conversation::Main,
                place,
                None,
                node(vec![item], Part::Output, Some(request)),
            );
            let usage = Usage {
                output: Some(1),
                ..Usage::reported(request, tokens)
            };
            out.push(
                Conversation::Main,
                place,
                None,
                Event::Usage(Box::new(usage)),
            );
        } else if let Some(text) = value["say"].as_str() {
            let item = out.item(Role::User, Kind::Text).text(text).done();
            out.push(
                Conversation::Main,
                place,
                None,
                node(vec![item], Part::Input, None),
            );
        } else if let Some(text) = value["side"].as_str() {
            let item = out.item(Role::User, Kind::Text).text(text).done();
            let conversation = Conversation::Side(Key::of("side"));
            out.push(
                conversation,
                place,
                None,
                node(vec![item], Part::Input, None),
            );
        } else if value["reset"] == 1 {
            let reset = Reset {
                key: None,
                gone: LeaveReason::Compaction,
                cause: Cause::Automatic,
                before: None,
                after: None,
                kept: RetainedItems::Nothing,
            };
            out.push(
                Conversation::Main,
                place,
                None,
                Event::Reset(Box::new(reset)),
            );
        } else if value["hang"] == 1 {
            HANG.pass();
        } else if let Some(cwd) = value["cwd"].as_str() {
            let meta = Meta {
                cwd: Some(cwd.into()),
                ..Meta::default()
            };
            out.push(Conversation::Main, place, None, Event::Meta(Box::new(meta)));
        } else if let Some(title) = value["title"].as_str() {
            let meta = Meta::of_title(Some(title.into()));
            out.push(Conversation::Main, place, None, Event::Meta(Box::new(meta)));
        } else {
            out.push(
                Conversation::Main,
                place,
                None,
                Event::Unreadable("no toy".into()),
            );
        }
    }
}

/// Where the reading of `{"hang":1}` waits.
pub(super) static HANG: Gate = Gate {
    state: Mutex::new((false, 0)),
    opened: Condvar::new(),
};

/// A gate, open at first.
pub(super) struct Gate {
    /// True if it is closed, and the number of threads that wait at it.
    state: Mutex<(bool, usize)>,
    opened: Condvar,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, (bool, usize)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn close(&self) {
        self.state().0 = true;
    }

    pub(super) fn open(&self) {
        self.state().0 = false;
        self.opened.notify_all();
    }

    /// How many threads wait at it.
    pub(super) fn waiting(&self) -> usize {
        self.state().1
    }

    fn pass(&self) {
        let mut state = self.state();
        state.1 += 1;
        let passed = self.opened.wait_while(state, |(closed, _)| *closed);
        passed.unwrap_or_else(PoisonError::into_inner).1 -= 1;
    }
}

/// A time for tests that say themselves how time passes.
pub(super) fn some_time() -> Instant {
    Instant::now()
}

/// A toy log at a path.
pub(super) fn toy_log(path: &Path) -> crate::log::LogFile {
    use crate::discover::Scanner;
    use crate::discover::roots::SearchRoot;
    let found = Scanner::new(
        vec![SearchRoot::Forced(&TOY, path.to_path_buf())],
        vec![&TOY],
        |_| None,
    )
    .look();
    found.files.into_iter().next().unwrap()
}
