//! The requests that were predicted worst, with what lay between, so that somebody can find out why.

use super::text::share;
use crate::ingest::discover::LogFile;
use crate::model::estimators::{Estimator, Prediction, between};
use crate::model::event::Key;
use crate::model::session::{ItemIx, Session};
use crate::model::{Role, Source};
use crate::report::text::{clean, tokens};
use jiff::Timestamp;
use serde::Serialize;
use std::io::{self, Write};

/// A request that was predicted badly.
#[derive(Debug, Clone, Serialize)]
pub struct Miss {
    /// What was expected beyond what was reported, as a share of it.
    pub error: f64,
    agent: &'static str,
    model: Option<String>,
    path: String,
    /// The last line that carries its report.
    line: u64,
    at: Option<Timestamp>,
    reported: u64,
    expected: u64,
    low: u64,
    high: u64,
    /// What came since the report before.
    came: Vec<Piece>,
    /// What left since then.
    went: Vec<Piece>,
    #[serde(skip)]
    pub(super) request: Key,
}

/// An item that came or left.
#[derive(Debug, Clone, Serialize)]
struct Piece {
    line: u64,
    role: Role,
    kind: &'static str,
    tool: Option<String>,
    tokens: u64,
    source: Source,
    /// o200k tokens.
    counted: u64,
    left_because: Option<&'static str>,
    preview: String,
}

impl Miss {
    /// The worst of a session, by one estimator, at most `most`.
    pub(super) fn worst(
        log: &LogFile,
        session: &Session,
        predictions: &[Prediction],
        by: Estimator,
        most: usize,
    ) -> Vec<Miss> {
        let mut order: Vec<&Prediction> = predictions.iter().collect();
        order.sort_by(|a, b| b.error(by).abs().total_cmp(&a.error(by).abs()));
        order.truncate(most);
        let miss = |prediction: &Prediction| {
            let request = &session.requests[prediction.request];
            let (came, went) = between(session, prediction.request);
            let pieces = |items: Vec<ItemIx>| -> Vec<Piece> {
                items
                    .into_iter()
                    .map(|ix| Piece::new(session, ix))
                    .collect()
            };
            Miss {
                error: prediction.error(by),
                agent: log.format.id,
                model: request.model.as_deref().map(str::to_owned),
                path: log.facts.path.display().to_string(),
                line: request.place.line,
                at: request.at,
                reported: prediction.prompt,
                expected: prediction.expected[by as usize],
                low: prediction.interval.0,
                high: prediction.interval.1,
                came: pieces(came),
                went: pieces(went),
                request: request.key,
            }
        };
        order.into_iter().map(miss).collect()
    }

    /// Writes it for people.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "\n{:+} tokens, {} of {} reported · {} · line {} of {}",
            i128::from(self.expected) - i128::from(self.reported),
            share(self.error),
            tokens(self.reported),
            clean(self.model.as_deref().unwrap_or("—")),
            self.line,
            clean(&self.path)
        )?;
        for (sign, pieces) in [('+', &self.came), ('-', &self.went)] {
            let mut largest: Vec<&Piece> = pieces.iter().collect();
            largest.sort_by_key(|piece| std::cmp::Reverse(piece.tokens));
            for piece in largest.iter().take(SHOWN) {
                piece.write(out, sign)?;
            }
            if pieces.len() > SHOWN {
                writeln!(out, "  {sign} and {} more", pieces.len() - SHOWN)?;
            }
        }
        Ok(())
    }
}

/// Items of one request that are listed for people, the largest first.
const SHOWN: usize = 20;

impl Piece {
    fn new(session: &Session, ix: ItemIx) -> Piece {
        let item = &session.items[ix];
        let (tokens, source) = session.tokens(ix);
        Piece {
            line: item.place.line,
            role: item.role,
            kind: item.kind.name(),
            tool: item.tool.as_deref().map(str::to_owned),
            tokens,
            source,
            counted: item.size.local,
            left_because: item.left.map(|left| left.why.name()),
            preview: item.preview.to_string(),
        }
    }

    fn write(&self, out: &mut dyn Write, sign: char) -> io::Result<()> {
        writeln!(
            out,
            "  {sign} {:<9} {:<14} {:>7} {:<9} ({:>7} counted) line {:<6} {}",
            self.role.name(),
            clean(self.tool.as_deref().unwrap_or(self.kind)),
            tokens(self.tokens),
            self.source.name(),
            tokens(self.counted),
            self.line,
            clean(&self.preview)
        )
    }
}
