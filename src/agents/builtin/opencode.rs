//! OpenCode, and the Kilo CLI, which is made from it.
//!
//! A session is rows of an SQLite database, `opencode.db`. Before 1.2 it was JSON files in several folders, which 1.2
//! copies to the database when it first starts; they are not read. `opencode export` writes a session as one document. After its sources (anomalyco/opencode, `session/message-v2.ts`,
//! `session/compaction.ts`, `session/overflow.ts`; for 2.x `packages/core/src/session`) and whole runs of 1.18:
//!
//! * A message is a row of `message`, each of its parts a row of `part`. Rows are updated in place while they are
//!   written; an answer is complete when it has a time of completion or an error. See `tables`.
//! * An answer is one request. Its `tokens` are the provider's: `input` is without what was read from or written
//!   to a cache, `total` is the prompt and the output. Until 1.2 `output` held the reasoning, now it does not; what
//!   `total` leaves beside the prompt is both. Other answers have 0 everywhere: not known. `step-finish` parts repeat
//!   the numbers; the oldest versions have several of them in one answer.
//! * The columns `session.tokens_…` are sums over the session.
//! * An answer with an error is not sent again, unless the user broke it off after it had begun.
//! * A compaction is a user's message with a part `compaction`, which names the first message that stays, and an answer
//!   with `summary: true`, whose tokens are those of its own request. Both are sent from then on.
//! * `state.time.compacted` of a tool's part: from then on a note is sent in place of its result.
//! * `revert` of a session names the message or the part from which on everything is hidden; the rows are deleted
//!   when the conversation goes on.
//! * A fork copies the messages before it, with their times and numbers, under new ids: they are older than its
//!   session. They are in its context and cost nothing again.
//! * A title is asked for with a request that is not recorded. System prompt and tools are not recorded either.
//! * 2.x has tables of its own, to which it copies what there was; see `v2`. Once there is a session in them,
//!   they alone are read.

mod media;
mod message;
mod settings;
mod tables;
mod v2;
mod wire;

use decode::lenient;
use formats::{
    ArrayName, Base, Claim, Decoder, Format, Recognition, Root, StoreKind, Totals,
    WITH_CACHE_AND_REASONING, decoder, head,
};
use message::History;
use model::event::{EventSink, Meta};
use std::path::Path;
use wire::{Document, Info, Line};

/// OpenCode.
pub static OPENCODE: Format = Format {
    id: "opencode",
    roots: &[
        Root::new(Base::XdgData("opencode"), "").flat(),
        Root::named("OPENCODE_DB", "").within(Base::XdgData("opencode")),
    ],
    claims: &|path| database(path, "opencode"),
    recognition: Recognition::new(&recognise)
        .kept_in(&store)
        .list(ArrayName::Json("messages")),
    decoder: &decoder::<OpenCodeDecoder>,
    reset_marks: &[
        r#""summary":true"#,
        r#""summary": true"#,
        r#""type":"compaction""#,
    ],
    harmless: "step-start step-finish snapshot patch agent retry idle agent-switched model-switched location-switched",
    totals: Totals::new(WITH_CACHE_AND_REASONING).cached_beside(),
    settings: Some(&settings::OPENCODE),
    ..Format::DEFAULT
};

/// The Kilo CLI.
pub static KILO: Format = Format {
    id: "kilo",
    roots: &[
        Root::new(Base::XdgData("kilo"), "").flat(),
        Root::named("KILO_DB", "").within(Base::XdgData("kilo")),
    ],
    claims: &|path| database(path, "kilo"),
    recognition: Recognition {
        recognise: &|_| false,
        store: &|head| match store(head) {
            Some(StoreKind::Database(_)) => Some(StoreKind::Database(&tables::KILO)),
            other => other,
        },
        ..OPENCODE.recognition
    },
    settings: Some(&settings::KILO),
    ..OPENCODE
};

/// Claims `opencode.db`, or `opencode-<channel>.db`.
fn database(path: &Path, agent: &str) -> Option<Claim> {
    let name = path.file_name()?.to_str()?.strip_suffix(".db")?;
    let channel = name.strip_prefix(agent)?;
    let is_its = channel.is_empty() || channel.starts_with('-');
    is_its.then(|| Claim::database(&tables::SPEC))
}

/// Returns true if a file begins as an export.
fn recognise(head: &[u8]) -> bool {
    let start = head::solid(head, 16);
    start.starts_with(br#"{"info":{"id":"#) && head::has(head, r#""directory""#)
}

fn store(head: &[u8]) -> Option<StoreKind> {
    StoreKind::database(&tables::SPEC, head).or(Some(StoreKind::Document))
}

impl Info<'_> {
    /// Returns the window and the trigger that hold if the user has signed in with ChatGPT: then an answer of some models
    /// costs nothing. 0: they are the usual ones. `None`: it is no answer of OpenAI's.
    fn limits(&self) -> Option<(u64, u64)> {
        let has_usage = self.tokens.is_some_and(|tokens| tokens.prompt() > 0);
        if self.provider_id.get() != Some("openai") || !has_usage {
            return None;
        }
        let model = self.model()?;
        let is_limited = ["gpt-5.5", "gpt-5.6"].iter().any(|id| model.contains(id));
        Some(match self.cost.0 {
            Some(0) if is_limited => (400_000, 252_000),
            _ => (0, 0),
        })
    }
}

/// Decodes one session.
#[derive(Default, Clone)]
struct OpenCodeDecoder {
    /// The newest facts.
    meta: Meta,
    history: History,
}

impl Decoder for OpenCodeDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(line) = lenient::object::<Line<'_>>(line, out) else {
            return;
        };
        if let Some(session) = &line.session {
            return self.header(session, out);
        }
        let info = line.info.map(|info| {
            let read = lenient::value::<Info<'_>>(Some(info), "info", out);
            (info, read)
        });
        let own = info.as_ref().and_then(|(_, info)| info.id.get());
        let Some(id) = line.id.get().or(own) else {
            return out.unreadable("a message without an id");
        };
        let (kind, data) = match (&info, line.data) {
            // A file may hold a message of 2.x.
            (Some((whole, info)), _) if info.role.get().is_none() && info.kind.get().is_some() => {
                (info.kind.or_empty(), *whole)
            }
            (Some((_, info)), _) => {
                out.set_time(info.time.begun());
                let known = self.meta.window.is_some();
                let (window, trigger) = info
                    .limits()
                    .filter(|(window, _)| known || *window > 0)
                    .unzip();
                let meta = Meta {
                    window,
                    trigger,
                    ..info.model_at()
                };
                out.meta(meta.changes(&mut self.meta));
                return self.history.message(id, info, &line.parts, out);
            }
            (None, Some(data)) => (line.kind.or_empty(), data),
            (None, None) => return out.unreadable("no message"),
        };
        v2::row(id, kind, data, &mut self.history, &mut self.meta, out);
    }

    fn read_document(&mut self, document: &str, out: &mut EventSink<'_>) {
        if let Some(document) = lenient::object::<Document<'_>>(document, out) {
            match &document.info {
                Some(info) => self.header(info, out),
                None => out.unreadable("no session"),
            }
            for message in &document.messages {
                self.read_line(message.get(), out);
            }
        }
    }

    fn copy(&self) -> Option<Box<dyn Decoder>> {
        Some(Box::new(self.clone()))
    }

    fn read_end(&mut self, out: &mut EventSink<'_>) {
        self.history.end(out);
    }
}

impl OpenCodeDecoder {
    fn header(&mut self, session: &Info<'_>, out: &mut EventSink<'_>) {
        out.set_time(session.time.begun());
        self.history.is_of(session.id.get(), session.time.begun());
        let meta = Meta {
            id: session.id.boxed(),
            title: session.title.boxed(),
            cwd: session.directory.boxed(),
            version: session.version.boxed(),
            parent: session.parent_id.boxed(),
            ..session.model_at()
        };
        out.meta(meta.changes(&mut self.meta));
        let revert = session.revert.as_ref();
        self.history.hidden_from = revert.map(|revert| (revert.message.key(), revert.part.key()));
        self.history.is_hidden = false;
    }
}

#[cfg(test)]
mod tests;
