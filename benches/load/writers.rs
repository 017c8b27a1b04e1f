//! Agents that write their logs, and what happens to those meanwhile.

use crate::common::home::response;
use rusqlite::{Connection, params};
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// A session has so many records at most, then it begins anew: its memory is bounded.
const RECORDS: usize = 150;
/// The tables of an OpenCode database are those of this hand-written one.
const TABLES: &str =
    include_str!("../../tests/fixtures/opencode/prompts_are_input_and_cache/log.sql");

/// How an agent writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Lines at the end of a file, which is removed when it is full.
    Appends,
    /// The same, each line in two pieces.
    Tears,
    /// The same; the file is renamed when it is full, and another begun.
    Rotates,
    /// The same; the file is emptied when it is full.
    Truncates,
    /// The same; a number in the middle is written over now and then.
    Overwrites,
    /// Codex's lines.
    Codex,
    /// Gemini's document, written anew and renamed.
    Replaces,
    /// The same, written over.
    Rewrites,
    /// A file for each event, whose folder is removed when it is full.
    Folder,
    /// Rows of a database that several sessions share.
    Database,
}

const WAYS: [Way; 10] = [
    Way::Appends,
    Way::Tears,
    Way::Rotates,
    Way::Truncates,
    Way::Overwrites,
    Way::Codex,
    Way::Replaces,
    Way::Rewrites,
    Way::Folder,
    Way::Database,
];

/// An agent at work.
pub struct Writer {
    way: Way,
    n: usize,
    path: PathBuf,
    /// Records of the session.
    records: usize,
    database: Option<Connection>,
}

impl Writer {
    /// The agent of this number, in a home of its own kind.
    pub fn new(home: &Path, n: usize) -> Writer {
        let way = WAYS[n % WAYS.len()];
        let path = home.join(match way {
            Way::Codex => {
                format!(".codex/sessions/2026/11/22/rollout-2026-11-22T10-00-00-0a1b2c3d-0000-4000-8000-{n:012}.jsonl")
            }
            Way::Replaces | Way::Rewrites => {
                format!(".gemini/tmp/p{n}/chats/session-2026-11-22T10-00-{n:08x}.json")
            }
            Way::Folder => format!(".openhands/conversations/{n:032x}/base_state.json"),
            Way::Database => ".local/share/opencode/opencode.db".to_owned(),
            _ => format!(".claude/projects/-home-ada-project-{n}/{n:08x}-0000-4000-8000-000000000000.jsonl"),
        });
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let database = (way == Way::Database).then(|| open(&path, n));
        Writer {
            way,
            n,
            path,
            records: 0,
            database,
        }
    }

    /// Writes the next record. If the session is full, it begins anew.
    pub fn write(&mut self) {
        if self.records == RECORDS + 3 * self.n {
            self.begin_anew();
            self.records = 0;
        }
        let record = self.records;
        self.records += 1;
        match self.way {
            Way::Appends | Way::Rotates | Way::Truncates => {
                append(
                    &self.path,
                    response(record, self.n, size(record)).as_bytes(),
                );
            }
            Way::Tears => {
                let line = response(record, self.n, size(record));
                let (first, second) = line.as_bytes().split_at(line.len() * (record % 10) / 10);
                append(&self.path, first);
                thread::sleep(Duration::from_millis(20));
                append(&self.path, second);
            }
            Way::Overwrites => {
                append(
                    &self.path,
                    response(record, self.n, size(record)).as_bytes(),
                );
                if record % 40 == 39 {
                    overwrite(&self.path);
                }
            }
            Way::Codex => append(&self.path, codex(record, self.n).as_bytes()),
            Way::Replaces => {
                let new = self.path.with_extension("tmp");
                fs::write(&new, gemini(record, self.n)).unwrap();
                fs::rename(&new, &self.path).unwrap();
            }
            Way::Rewrites => fs::write(&self.path, gemini(record, self.n)).unwrap(),
            Way::Folder => event(&self.path, record),
            Way::Database => self.row(record),
        }
    }

    fn begin_anew(&self) {
        match self.way {
            Way::Rotates => {
                let old = self.path.with_extension("jsonl.1");
                fs::rename(&self.path, old).unwrap();
            }
            Way::Truncates => drop(File::create(&self.path).unwrap()),
            Way::Folder => fs::remove_dir_all(self.path.parent().unwrap()).unwrap(),
            Way::Database => self.delete(),
            _ => fs::remove_file(&self.path).unwrap(),
        }
    }

    fn row(&self, record: usize) {
        let database = self.database.as_ref().unwrap();
        let session = format!("ses_{}", self.n);
        let at = 1_790_000_000_000_i64 + 1_000 * record as i64;
        let id = |kind: &str, part: usize| format!("{kind}_{:04}{record:06}{part}", self.n);
        let put = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            // Others may be writing for longer than the timeout while this machine is busy.
            while database.execute(sql, values).is_err() {
                thread::sleep(Duration::from_millis(20));
            }
        };
        let message = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        let part = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
        let text = words(size(record));
        put(
            message,
            params![
                id("msg", 0),
                session,
                at,
                r#"{"role":"user","agent":"build","time":{"created":1}}"#
            ],
        );
        let said = format!(r#"{{"type":"text","text":"{text}"}}"#);
        put(part, params![id("prt", 0), id("msg", 0), session, at, said]);
        let open = |tokens: usize| {
            format!(
                r#"{{"role":"assistant","parentID":"{}","agent":"build","modelID":"claude-sonnet-4-5","providerID":"anthropic","tokens":{{"input":{tokens},"output":20,"reasoning":0,"cache":{{"read":0,"write":0}}}},"time":{{"created":1}}}}"#,
                id("msg", 0)
            )
        };
        put(message, params![id("msg", 1), session, at + 1, open(0)]);
        put(
            part,
            params![id("prt", 1), id("msg", 1), session, at + 1, said],
        );
        let tokens = 9_000 + 190 * record;
        let finish = format!(
            r#"{{"type":"step-finish","reason":"stop","tokens":{{"input":{tokens},"output":20,"reasoning":0,"cache":{{"read":0,"write":0}}}},"cost":0}}"#
        );
        put(
            part,
            params![id("prt", 2), id("msg", 1), session, at + 2, finish],
        );
        put(
            "UPDATE message SET time_updated = ?2, data = ?3 WHERE id = ?1",
            params![id("msg", 1), at + 3, open(tokens)],
        );
        put(
            "UPDATE session SET time_updated = ?2 WHERE id = ?1",
            params![session, at + 3],
        );
        put(
            "INSERT INTO event_sequence VALUES (?1, ?2, NULL) ON CONFLICT DO UPDATE SET seq = seq + 6",
            params![session, 6 * (record + 1) as i64],
        );
    }

    fn delete(&self) {
        let database = self.database.as_ref().unwrap();
        let session = format!("ses_{}", self.n);
        for table in ["message", "part"] {
            let sql = format!("DELETE FROM {table} WHERE session_id = ?1");
            while database.execute(&sql, params![session]).is_err() {
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// How many bytes a record has.
fn size(record: usize) -> usize {
    200 + record * 7_919 % 3_000
}

fn words(bytes: usize) -> String {
    "some text, as it may be ".repeat(bytes / 24)
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    file.write_all(bytes).unwrap();
}

/// Writes over a number of the middle of a log, with one of the same length.
fn overwrite(path: &Path) {
    const BEFORE: &[u8] = b"\"cache_creation_input_tokens\":1";
    let log = fs::read(path).unwrap();
    let half = log.len() / 2;
    let found = log[half..]
        .windows(BEFORE.len())
        .position(|bytes| bytes == BEFORE);
    let Some(found) = found else { return };
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start((half + found + BEFORE.len() - 1) as u64))
        .unwrap();
    file.write_all(b"3").unwrap();
}

/// A call, its result and the count after it, as Codex writes them.
fn codex(record: usize, n: usize) -> String {
    let line = |kind: &str, payload: String| {
        format!(
            "{{\"timestamp\":\"2026-11-22T10:00:00.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n"
        )
    };
    let begin = match record {
        0 => {
            line(
                "session_meta",
                format!(
                    r#"{{"id":"0a1b2c3d-0000-4000-8000-{n:012}","timestamp":"2026-11-22T10:00:00.000Z","cwd":"/home/ada/project-{n}","originator":"codex_cli_rs","cli_version":"0.146.0","source":"cli","model_provider":"openai"}}"#
                ),
            ) + &line(
                "turn_context",
                format!(
                    r#"{{"cwd":"/home/ada/project-{n}","model":"gpt-5.6-sol","effort":"medium","summary":"auto"}}"#
                ),
            )
        }
        _ => String::new(),
    };
    let text = words(size(record));
    let prompt = 9_000 + 190 * record;
    let total = prompt + 20;
    begin
        + &line(
            "response_item",
            format!(
                r#"{{"type":"function_call","name":"shell","arguments":"{{}}","call_id":"c{record}"}}"#
            ),
        )
        + &line(
            "response_item",
            format!(r#"{{"type":"function_call_output","call_id":"c{record}","output":"{text}"}}"#),
        )
        + &line(
            "event_msg",
            format!(
                r#"{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{},"cached_input_tokens":0,"output_tokens":{},"reasoning_output_tokens":0,"total_tokens":{}}},"last_token_usage":{{"input_tokens":{prompt},"cached_input_tokens":0,"output_tokens":20,"reasoning_output_tokens":0,"total_tokens":{total}}},"model_context_window":258400}},"rate_limits":null}}"#,
                total * (record + 1),
                20 * (record + 1),
                (total + 20) * (record + 1)
            ),
        )
}

/// A session of so many messages, as Gemini CLI wrote it before its version 0.39.
fn gemini(record: usize, n: usize) -> String {
    let messages: Vec<String> = (0..=record)
        .map(|record| {
            let text = words(size(record) / 4);
            format!(
                r#"{{"id":"q{record}","timestamp":"2026-11-22T10:00:00.000Z","type":"user","content":"{text}"}},{{"id":"a{record}","timestamp":"2026-11-22T10:00:01.000Z","type":"gemini","content":"{text}","model":"gemini-2.5-pro","tokens":{{"input":{},"output":20,"cached":0,"thoughts":0,"tool":0,"total":0}}}}"#,
                9_000 + 190 * record
            )
        })
        .collect();
    format!(
        "{{\n\"sessionId\":\"s{n}\",\"projectHash\":\"p{n}\",\"lastUpdated\":\"2026-11-22T10:00:{:02}Z\",\"messages\":[{}]}}",
        record % 60,
        messages.join(",\n")
    )
}

/// An event, as OpenHands writes it, and the state beside it with the counts of all answers.
fn event(state: &Path, record: usize) {
    let folder = state.parent().unwrap().join("events");
    fs::create_dir_all(&folder).unwrap();
    let (source, role) = match record % 2 {
        0 => ("user", "user"),
        _ => ("agent", "assistant"),
    };
    let text = words(size(record));
    let id = format!("00000000-0000-4000-8000-{record:012}");
    let event = format!(
        r#"{{"id":"{id}","timestamp":"2026-11-22T10:00:00.000000","source":"{source}","llm_message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}},"llm_response_id":"r{record}","kind":"MessageEvent"}}"#
    );
    fs::write(folder.join(format!("event-{record:05}-{id}.json")), event).unwrap();
    let usage = |record: usize| {
        let tokens = 9_000 + 190 * record;
        format!(
            r#"{{"model":"anthropic/claude-sonnet-4-5","prompt_tokens":{tokens},"completion_tokens":20,"cache_read_tokens":0,"cache_write_tokens":0,"reasoning_tokens":0,"context_window":200000,"per_turn_token":{},"response_id":"r{record}"}}"#,
            tokens + 20
        )
    };
    let all: Vec<String> = (0..=record).filter(|n| n % 2 == 1).map(usage).collect();
    let newest = all.last().cloned().unwrap_or_else(|| "null".to_owned());
    let all = all.join(",");
    let base = format!(
        r#"{{"id":"s","agent":{{"llm":{{"model":"anthropic/claude-sonnet-4-5","max_input_tokens":200000,"usage_id":"agent"}},"kind":"Agent"}},"workspace":{{"working_dir":"/home/ada/project"}},"stats":{{"usage_to_metrics":{{"agent":{{"model_name":"anthropic/claude-sonnet-4-5","accumulated_token_usage":{newest},"token_usages":[{all}]}}}}}}}}"#
    );
    fs::write(state, base).unwrap();
}

/// The database, with a session in it.
fn open(path: &Path, n: usize) -> Connection {
    let database = Connection::open(path).unwrap();
    database.busy_timeout(Duration::from_secs(20)).unwrap();
    let _ = database.pragma_update(None, "journal_mode", "WAL");
    let end = TABLES.find("INSERT").unwrap();
    let tables = TABLES[..end].replace("TABLE ", "TABLE IF NOT EXISTS ");
    let tables = tables.replace("INDEX ", "INDEX IF NOT EXISTS ");
    database.execute_batch(&tables).unwrap();
    let session = "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
                   VALUES (?1, 'global', 'otter', ?2, 'A session', '1.18.33', 1790000000000, 1790000000000)";
    database
        .execute(
            session,
            params![format!("ses_{n}"), format!("/home/ada/project-{n}")],
        )
        .unwrap();
    database
}
