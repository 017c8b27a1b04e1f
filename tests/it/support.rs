//! What the tests share.

pub mod claude;
mod command_line;
mod program;
pub mod schema;

use crate::fuzzed::targets::sessions::RULES;
pub use command_line::{CommandLine, ctxgauge, user};
use ctxgauge::agents;
use ctxgauge::files::paths::User;
use ctxgauge::report::output::redact::Redaction;
use ctxgauge::report::reading::patience::Patience;
use ctxgauge::report::reading::progress::Progress;
use ctxgauge::report::session::SessionRequest;
use ctxgauge::report::{self, CacheUse, FORMATS, ReportContext, Style};
pub use program::{manifest_folder, process};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// A file's report as JSON, without settings of this machine, as of a time after all logs: so it does not change from day to
/// day.
pub fn json_report(path: &Path) -> Value {
    json_report_by(path, || jiff::Timestamp::constant(1_893_456_000, 0))
}

/// The same by this clock.
pub fn json_report_by(path: &Path, now: fn() -> jiff::Timestamp) -> Value {
    let context = ReportContext {
        formats: agents::ALL.to_vec(),
        forced: None,
        roots: Vec::new(),
        rules: Arc::clone(&RULES),
        user: User::default(),
        cache: None,
        cache_use: CacheUse::Kept,
        poll: false,
        now,
        zone: jiff::tz::TimeZone::UTC,
        patience: Patience::default(),
        progress: Progress::default(),
        redaction: Redaction::Off,
        only: None,
    };
    let json = FORMATS.iter().find(|format| format.name == "json");
    let style = Style::of_page(json.unwrap());
    let mut out = Vec::new();
    let asked = SessionRequest {
        path: Some(path),
        ..SessionRequest::default()
    };
    report::session::run(&context, &asked, style, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// The part of a document of the project between a pair of markers with this name.
pub fn documentation(path: &str, name: &str) -> String {
    let text = std::fs::read_to_string(manifest_folder().join(path)).unwrap();
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let rest = text.split_once(&open).expect("an opening marker").1;
    rest.split_once(&close)
        .expect("a closing marker")
        .0
        .to_owned()
}

/// Has a shell run a command by `exec "$0" "$@"`.
#[cfg(unix)]
pub fn in_a_shell(script: &str, command: &std::process::Command) -> std::process::Command {
    let mut shell = std::process::Command::new("/bin/sh");
    let variables = command.get_envs();
    let variables = variables.filter_map(|(name, value)| Some((name, value?)));
    shell.env_clear().envs(variables);
    shell.args(["-c", script]).arg(command.get_program());
    shell
        .args(command.get_args())
        .stdin(std::process::Stdio::null());
    shell
}

/// Whether a fixture is a document that an agent writes beside its log of lines, under the same name.
pub fn is_beside_a_log(path: &Path) -> bool {
    path.ends_with("log.json") && path.with_extension("jsonl").exists()
}
