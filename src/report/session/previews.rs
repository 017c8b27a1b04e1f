//! The previews of a session's items: those that it has, and those that it left in its log.

use super::Report;
use model::session::{ItemIx, ItemRef};
use render::item::preview_of;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::ops::ControlFlow;

/// Previews of a few items.
pub(super) struct Previews(HashMap<ItemIx, Box<str>>);

impl Previews {
    /// The previews that the report shows of these items.
    pub(super) fn of(
        report: &Report<'_>,
        items: impl Iterator<Item = ItemIx>,
    ) -> io::Result<Previews> {
        let is_left = |ix: &ItemIx| report.session.items().at(*ix).leaves_preview();
        let mut missing: BTreeSet<ItemIx> = items.filter(is_left).collect();
        let mut read = HashMap::new();
        if !missing.is_empty() {
            each(report, &mut |ix, preview| {
                if missing.remove(&ix) {
                    read.insert(ix, preview.into());
                }
                if missing.is_empty() {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            })?;
        }
        Ok(Previews(read))
    }

    /// The preview of one of them, as [`render::item::preview`].
    pub(super) fn preview<'p>(&'p self, ix: ItemIx, item: &ItemRef<'p>) -> &'p str {
        let read = self.0.get(&ix);
        preview_of(item, read.map_or(item.preview(), |read| read))
    }
}

/// Gives the preview of each item of a session in turn, until `give` breaks.
///
/// # Errors
///
/// The log cannot be read again.
pub(super) fn each(
    report: &Report<'_>,
    give: &mut dyn FnMut(ItemIx, &str) -> ControlFlow<()>,
) -> io::Result<()> {
    let session = report.session;
    if let Some((log, lane)) = report.log.filter(|_| session.has_left_previews()) {
        return ingest::previews::each(log, (lane, session), give);
    }
    let mut items = session.items().iter().enumerate();
    let _ = items.try_for_each(|(ix, item)| give(ix, item.preview()));
    Ok(())
}
