//! How the screens read logs, for what reads them again beside the screens.

use crate::commands::locale;
use files::paths::User;
use format::Format;
use ingest::discover::roots::SearchRoot;
use model::window::Rules;
use report::ReportContext;
use report::patience::Patience;
use report::progress::Progress;
use std::sync::Arc;

/// How the screens read logs.
#[derive(Clone)]
pub(super) struct AsRead {
    formats: Vec<&'static Format>,
    forced: Option<&'static Format>,
    roots: Vec<SearchRoot>,
    rules: Arc<Rules>,
    pub(super) user: User,
}

impl AsRead {
    /// As these logs are read.
    pub(super) fn of(context: &ReportContext) -> AsRead {
        AsRead {
            formats: context.formats.clone(),
            forced: context.forced,
            roots: context.roots.clone(),
            rules: Arc::clone(&context.rules),
            user: context.user.clone(),
        }
    }

    /// The same for a report.
    pub(super) fn context(&self) -> ReportContext {
        ReportContext {
            formats: self.formats.clone(),
            forced: self.forced,
            roots: self.roots.clone(),
            rules: Arc::clone(&self.rules),
            user: self.user.clone(),
            cache: None,
            now: jiff::Timestamp::now,
            zone: locale::zone(&self.user.env),
            patience: Patience::default(),
            progress: Progress::default(),
            redactor: None,
        }
    }
}
