//! The lines of a stream: the schema `ctxgauge.follow/1`.

use crate::ls::json::SessionPart;
use crate::output::json::part::part;
use crate::session::Report;
use crate::session::json::{self, Report as ReportPart};
use jiff::Timestamp;
use serde::Serialize;
use std::borrow::Cow;

/// The name of the schema.
pub(super) const SCHEMA: &str = "ctxgauge.follow/1";

/// A line: which one, when, and what it says.
#[derive(Serialize)]
pub(super) struct Line<B> {
    pub(super) r#type: &'static str,
    /// Lines are counted from 0.
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    #[serde(flatten)]
    pub(super) body: B,
}

/// A session as a row for the list of another machine.
#[derive(Serialize)]
pub(super) struct Row {
    /// As in all other lines.
    pub(super) session: String,
    pub(super) row: String,
}

/// The number of sessions that the reader has.
#[derive(Serialize)]
pub(super) struct Count {
    pub(super) sessions: usize,
}

part! { State<'a>(
    name: String,
    names_title: Option<Cow<'a, str>>,
    of: SessionPart<'a>,
    whole: Option<&'a Report<'a>>,
) {
    // These keys are those of tables, see `export`.
    session: String = name,
    #[serde(flatten)]
    part: SessionPart<'a> = of,
    title?: Cow<'a, str> = names_title,
    report?: ReportPart<'a> = whole.map(json::session),
}}

/// A session that is gone.
#[derive(Debug, Default, Serialize)]
pub(super) struct SessionGone {
    pub(super) session: String,
    pub(super) id: Option<String>,
    pub(super) agent: &'static str,
    pub(super) path: String,
}
