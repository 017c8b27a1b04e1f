//! Sessions of Claude Code.

use super::random::Random;
use super::{Log, begin, cut, quoted};
use serde_json::json;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

/// A prompt at which a session compacts.
const FULL: u64 = 160_000;

/// What a Claude Code session repeats in its records.
struct Claude {
    log: Log,
    random: Random,
    session: String,
    cwd: String,
    parent: String,
    is_side: bool,
}

impl Claude {
    /// A record of the conversation; the body is JSON that ends in a comma, or empty.
    fn record(&mut self, kind: &str, body: &str) {
        let uuid = self.random.uuid();
        self.log.at += (self.random.exponential(4.0) * 1e3) as i64;
        let record = format!(
            "{{\"parentUuid\":{},\"isSidechain\":{},\"userType\":\"external\",\"cwd\":\"{}\",\"sessionId\":\"{}\",\
             \"version\":\"2.0.31\",\"gitBranch\":\"main\",{body}\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\
             \"timestamp\":\"{}\"}}",
            self.parent,
            self.is_side,
            self.cwd,
            self.session,
            self.log.timestamp()
        );
        self.log.put(&record);
        self.parent = format!("\"{uuid}\"");
    }

    fn snapshot(&mut self) {
        let mut files = String::new();
        for n in 0..self.random.below(14) {
            let comma = if n > 0 { "," } else { "" };
            let backup = self.random.hex(16);
            let at = self.log.timestamp();
            write!(
                files,
                "{comma}\"src/f{n}.rs\":{{\"backupFileName\":\"{backup}@v{n}\",\"version\":{n},\"backupTime\":\"{at}\"}}"
            )
            .unwrap();
        }
        let (id, at) = (self.random.uuid(), self.log.timestamp());
        self.log.put(&format!(
            "{{\"type\":\"file-history-snapshot\",\"messageId\":\"{id}\",\"snapshot\":{{\"messageId\":\"{id}\",\
             \"trackedFileBackups\":{{{files}}},\"timestamp\":\"{at}\"}},\"isSnapshotUpdate\":false}}"
        ));
    }

    /// Copies a share of another session, under this one's id.
    fn copy(&mut self, path: &Path, share: f64) {
        let most = (fs::metadata(path).unwrap().len() as f64 * share) as u64;
        let mut other = None;
        for line in BufReader::new(File::open(path).unwrap()).lines() {
            let line = line.unwrap();
            let value = |name: &str| {
                let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
                Some(rest.split('"').next()?.to_owned())
            };
            other = other.or_else(|| value("sessionId"));
            if let (true, Some(uuid)) = (line.starts_with("{\"parentUuid\""), value("uuid")) {
                self.parent = format!("\"{uuid}\"");
            }
            match &other {
                Some(other) => self.log.put(&line.replace(other, &self.session)),
                None => self.log.put(&line),
            }
            if self.log.bytes > most {
                break;
            }
        }
    }

    /// The result of a call: as it was sent, and as it is logged beside it. Returns the tokens that it takes.
    fn result(&mut self, call: &Call) -> u64 {
        let size = self.random.result_size();
        let text = if self.random.chance(0.8) {
            self.random.code(size)
        } else {
            self.random.prose(size.min(50_000))
        };
        let path = &call.path;
        let (mut sent, mut beside) = match call.tool {
            "Read" => {
                let rows = text.lines().count();
                let numbered = text.lines().enumerate();
                let numbered: Vec<String> = numbered
                    .map(|(n, row)| format!("{:>6}\u{2192}{row}", n + 1))
                    .collect();
                let beside = format!(
                    "{{\"type\":\"text\",\"file\":{{\"filePath\":\"{path}\",\"content\":{},\"numLines\":{rows},\
                     \"startLine\":1,\"totalLines\":{rows}}}}}",
                    quoted(text)
                );
                (numbered.join("\n"), beside)
            }
            "Edit" => {
                let patch = json!([{ "oldStart": 1, "oldLines": 9, "newStart": 1, "newLines": 12,
                    "lines": call.old.lines().chain(call.new.lines()).collect::<Vec<_>>() }]);
                let beside = format!(
                    "{{\"filePath\":\"{path}\",\"oldString\":{},\"newString\":{},\"originalFile\":{},\
                     \"structuredPatch\":{patch},\"userModified\":false,\"replaceAll\":false}}",
                    quoted(call.old),
                    quoted(call.new),
                    quoted(text)
                );
                let shown = cut(text, 0, 1_500);
                (
                    format!("The file {path} has been updated.\n{shown}"),
                    beside,
                )
            }
            "Bash" => {
                let beside = format!(
                    "{{\"stdout\":{},\"stderr\":\"\",\"interrupted\":false,\"isImage\":false}}",
                    quoted(text)
                );
                (cut(text, 0, 100_000).to_owned(), beside)
            }
            _ => {
                let sent = cut(text, 0, 100_000);
                let beside = format!(
                    "{{\"mode\":\"content\",\"numFiles\":0,\"filenames\":[],\"content\":{},\"numLines\":{}}}",
                    quoted(sent),
                    sent.lines().count()
                );
                (sent.to_owned(), beside)
            }
        };
        let mut tokens = (sent.len() as f64 / 3.6) as u64;
        sent = quoted(&sent);
        if self.random.chance(0.003) {
            let bytes = 60_000 + self.random.below(190_000);
            let image = self.random.base64(bytes);
            sent = format!(
                "[{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"data\":\"{image}\",\"media_type\":\"image/png\"}}}}]"
            );
            beside = format!(
                "{{\"type\":\"image\",\"file\":{{\"base64\":\"{image}\",\"type\":\"image/png\",\"originalSize\":{bytes}}}}}"
            );
            tokens = 1_500;
        }
        self.record(
            "user",
            &format!(
                "\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{}\",\"type\":\"tool_result\",\
                 \"content\":{sent}}}]}},\"toolUseResult\":{beside},",
                call.id
            ),
        );
        tokens
    }

    fn compact(&mut self, prompt: u64) -> u64 {
        let parent = &self.parent;
        let body = format!(
            "\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\",\"isMeta\":false,\"level\":\"info\",\
             \"logicalParentUuid\":{parent},\"compactMetadata\":{{\"trigger\":\"auto\",\"preTokens\":{prompt}}},"
        );
        self.parent = "null".into();
        self.record("system", &body);
        let summary = format!(
            "This session is being continued from a previous conversation that ran out of context.\n{}",
            self.random.prose(9_000)
        );
        let body = format!(
            "\"isCompactSummary\":true,\"isVisibleInTranscriptOnly\":true,\
             \"message\":{{\"role\":\"user\",\"content\":{}}},",
            quoted(&summary)
        );
        self.record("user", &body);
        summary.len() as u64 / 4
    }
}

/// A tool call of Claude Code.
struct Call {
    id: String,
    tool: &'static str,
    path: String,
    old: &'static str,
    new: &'static str,
    input: String,
}

impl Call {
    fn new(random: &mut Random, cwd: &str) -> Call {
        let id = random.id("toolu_01", 22);
        let path = format!("{cwd}/src/x{}.rs", random.below(99));
        let (mut old, mut new) = ("", "");
        let (tool, input) = match random.below(100) {
            0..40 => {
                let command = quoted(random.text(20, 200, Random::code));
                let about = quoted(random.prose(40));
                let input = format!("{{\"command\":{command},\"description\":{about}}}");
                ("Bash", input)
            }
            40..70 => ("Read", format!("{{\"file_path\":\"{path}\"}}")),
            70..85 => {
                old = random.text(40, 900, Random::code);
                new = random.text(40, 1_200, Random::code);
                let (old, new) = (quoted(old), quoted(new));
                let input = format!(
                    "{{\"file_path\":\"{path}\",\"old_string\":{old},\"new_string\":{new}}}"
                );
                ("Edit", input)
            }
            _ => {
                let input = "{\"pattern\":\"fn .*\",\"output_mode\":\"content\"}";
                ("Grep", input.to_owned())
            }
        };
        Call {
            id,
            tool,
            path,
            old,
            new,
            input,
        }
    }
}

/// The id of the session in a log: its name, or for sub-agents the folder's.
fn session(path: &Path) -> String {
    let folder = path.parent().unwrap();
    let named = if folder.ends_with("subagents") {
        folder.parent().unwrap()
    } else {
        path
    };
    named.file_stem().unwrap().to_string_lossy().into_owned()
}

/// How long a session is.
#[derive(Clone, Copy, PartialEq)]
pub enum Until {
    /// Its log has so many bytes. It compacts when it is full.
    Bytes(u64),
    /// Its prompt has so many tokens.
    Prompt(u64),
}

/// Writes a session, after a share of another; adds its input, cache creation, cache read and output.
pub fn write(
    path: &Path,
    until: Until,
    seed: u64,
    fork: Option<(&Path, f64)>,
    truth: &mut [u64; 4],
) {
    let mut random = Random(seed);
    const MODELS: [&str; 3] = [
        "claude-sonnet-4-5-20250929",
        "claude-opus-4-1-20250805",
        "claude-haiku-4-5-20251001",
    ];
    let model = MODELS[[0, 0, 0, 0, 0, 1, 1, 1, 2][random.below(9) as usize]];
    let has_placeholders = random.chance(0.5);
    let project = path
        .components()
        .filter_map(|part| part.as_os_str().to_str())
        .find_map(|part| part.strip_prefix("-home-dev-"));
    let mut it = Claude {
        log: Log::new(path, begin(&mut random)),
        session: session(path),
        cwd: format!("/home/dev/{}", project.unwrap_or("proj")),
        parent: "null".into(),
        is_side: path.to_string_lossy().contains("subagents"),
        random,
    };
    if let Some((original, share)) = fork {
        it.copy(original, share);
    }
    let copied = it.log.bytes;
    let is_done = |it: &Claude, prompt: u64| match until {
        Until::Bytes(bytes) => it.log.bytes >= copied + bytes,
        Until::Prompt(tokens) => prompt >= tokens,
    };
    let (summary, leaf) = (quoted(it.random.prose(60)), it.random.uuid());
    it.log.put(&format!(
        "{{\"type\":\"summary\",\"summary\":{summary},\"leafUuid\":\"{leaf}\"}}"
    ));
    let (mut prompt, mut cached) = (18_000, 0);
    while !is_done(&it, prompt) {
        if it.random.chance(0.9) {
            it.snapshot();
        }
        let said = it.random.text(20, 1_200, Random::prose);
        prompt += said.len() as u64 / 4;
        let body = format!(
            "\"message\":{{\"role\":\"user\",\"content\":{}}},\
             \"thinkingMetadata\":{{\"level\":\"high\",\"disabled\":false,\"triggers\":[]}},",
            quoted(said)
        );
        it.record("user", &body);
        for _ in 0..1 + it.random.below(24) {
            let (mut blocks, mut output) = (Vec::new(), 0);
            if it.random.chance(0.4) {
                let thinking = it.random.text(100, 3_000, Random::prose);
                output += thinking.len() as u64 / 4;
                blocks.push(format!(
                    "{{\"type\":\"thinking\",\"thinking\":{},\"signature\":\"{}\"}}",
                    quoted(thinking),
                    it.random.base64(300)
                ));
            }
            if it.random.chance(0.5) {
                let text = it.random.text(30, 900, Random::prose);
                output += text.len() as u64 / 4;
                blocks.push(format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text)));
            }
            let calls = [1, 1, 1, 1, 2, 3][it.random.below(6) as usize];
            let calls: Vec<Call> = (0..calls)
                .map(|_| Call::new(&mut it.random, &it.cwd))
                .collect();
            for call in &calls {
                output += 30 + call.input.len() as u64 / 4;
                blocks.push(format!(
                    "{{\"type\":\"tool_use\",\"id\":\"{}\",\"name\":\"{}\",\"input\":{}}}",
                    call.id, call.tool, call.input
                ));
            }
            let (input, written) = (3 + it.random.below(9), prompt.saturating_sub(cached));
            let (message, request) = (it.random.id("msg_01", 22), it.random.id("req_011", 21));
            for (n, block) in blocks.iter().enumerate() {
                let is_last = n + 1 == blocks.len();
                let logged = if has_placeholders && !is_last {
                    1 + it.random.below(8)
                } else {
                    output
                };
                let stop = if is_last { "\"tool_use\"" } else { "null" };
                let body = format!(
                    "\"message\":{{\"model\":\"{model}\",\"id\":\"{message}\",\"type\":\"message\",\
                     \"role\":\"assistant\",\"content\":[{block}],\"stop_reason\":{stop},\"stop_sequence\":null,\
                     \"usage\":{{\"input_tokens\":{input},\"cache_creation_input_tokens\":{written},\
                     \"cache_read_input_tokens\":{cached},\"cache_creation\":{{\
                     \"ephemeral_5m_input_tokens\":{written},\"ephemeral_1h_input_tokens\":0}},\
                     \"output_tokens\":{logged},\"service_tier\":\"standard\"}}}},\"requestId\":\"{request}\","
                );
                it.record("assistant", &body);
            }
            for (sum, of) in truth.iter_mut().zip([input, written, cached, output]) {
                *sum += of;
            }
            cached = prompt;
            prompt += output;
            for call in &calls {
                prompt += it.result(call);
            }
            if prompt > FULL && matches!(until, Until::Bytes(_)) {
                prompt = 18_000 + it.compact(prompt);
                cached = 14_000;
            }
            if is_done(&it, prompt) {
                break;
            }
        }
        let took = 900 + it.random.below(99_000);
        it.record(
            "system",
            &format!("\"subtype\":\"turn_duration\",\"durationMs\":{took},\"isMeta\":false,"),
        );
    }
    it.log.close();
}
