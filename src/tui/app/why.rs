//! Looks for the findings of the session on screen, and what the keys of their tab do. Findings that need no texts of
//! items are made at once; the others come from a thread that reads the log, while the tab is shown. A session that grows
//! is looked at again from time to time.

use super::findings::{
    FindingsRequest, FindingsResult, GONE, KnownFindings, ListedFinding, PAUSE, TextsRead, extent,
};
use super::items::item_id;
use super::tabs::{ITEMS, Tab, Target, WHAT_IF, WHY, row_id};
use super::{App, ItemId, Screen};
use model::lists::sessions::SessionKey;
use model::session::{Coverage, ItemIx};
use model::why::{Finding, FindingDetail, FindingKind, FindingPlace, without_texts};
use render::number;
use std::rc::Rc;
use std::sync::Arc;

impl App {
    /// Looks at the session on screen, if that is due. Its log is not read for that.
    pub(super) fn prepare_findings(&mut self, key: SessionKey) {
        let Some(session) = self.sessions.get(key) else {
            return;
        };
        let known = &mut self.findings;
        if known.of != Some(key) {
            *known = KnownFindings {
                of: Some(key),
                reading: known.reading.take(),
                ..KnownFindings::default()
            };
        }
        let extent = extent(session);
        // Those with texts stay until the next ones come.
        let is_kept = self.ui.tab == WHY && known.texts == TextsRead::Yes;
        if is_kept || session.coverage != Coverage::Whole || !known.is_due(extent, self.now) {
            return;
        }
        known.set(session, without_texts(session));
        (known.seen, known.again) = (Some(extent), self.now + PAUSE);
        known.texts = TextsRead::No;
        self.stale.page = true;
    }

    /// Returns the session whose texts are to be read for its findings; `None`: none, or another is being read.
    pub fn take_findings_request(&mut self) -> Option<FindingsRequest> {
        let Screen::Session(key) = self.ui.screen else {
            return None;
        };
        let session = self.sessions.get(key)?;
        let known = &self.findings;
        let extent = extent(session);
        let is_due = known.texts == TextsRead::No || known.is_due(extent, self.now);
        let is_wanted = self.ui.tab == WHY && known.of == Some(key) && known.seen.is_some();
        if known.reading.is_some() || !is_wanted || !is_due {
            return None;
        }
        let log = Arc::clone(&self.sessions.facts(key)?.path);
        self.findings.reading = Some((key, extent));
        Some((key, log))
    }

    /// Takes the findings that were asked for.
    pub(super) fn take_findings(&mut self, result: FindingsResult) {
        let known = &mut self.findings;
        let read = known.reading.take();
        let Some((key, extent)) = read.filter(|(key, _)| known.of == Some(*key)) else {
            return;
        };
        let Some(session) = self.sessions.get(key) else {
            return;
        };
        (known.seen, known.again) = (Some(extent), self.now + PAUSE);
        match result {
            Ok(found) => {
                known.set(session, found);
                known.texts = TextsRead::Yes;
            }
            Err(why) => known.texts = TextsRead::Failed(why),
        }
        self.stale.page = true;
    }

    /// Returns the dearest finding of the session on screen.
    pub(crate) fn dearest_finding(&self) -> Option<&Finding> {
        let known = &self.findings;
        let is_shown = known.of.is_some() && known.of == self.open_session();
        let first = known.found.first().filter(|_| is_shown)?;
        Some(&first.finding)
    }

    /// Returns the finding that is selected on its tab.
    pub(crate) fn selected_finding(&self) -> Option<&Rc<ListedFinding>> {
        match self.selected_target() {
            Target::Finding(rank, _) => self.findings.found.get(rank),
            _ => None,
        }
    }

    /// Unfolds the selected finding.
    pub(crate) fn unfold_finding(&mut self) {
        let selected = self.selected_finding().map(|of| of.id());
        if selected.is_some() && selected != self.ui.opened_finding {
            (self.ui.opened_finding, self.ui.next_place) = (selected, 0);
            self.stale.page = true;
        }
    }

    /// Goes to a place of a finding, or to its next one.
    pub(crate) fn go_to_place(&mut self, key: SessionKey, rank: usize, place: Option<usize>) {
        let (Some(of), Some(session)) = (self.findings.found.get(rank), self.sessions.get(key))
        else {
            return;
        };
        let all = of.finding.places.len();
        let nth = place.unwrap_or(self.ui.next_place);
        let nth = if nth < all { nth } else { 0 };
        let said = match of.place(session, nth) {
            None => GONE.to_owned(),
            Some(FindingPlace::Request(ix)) => {
                let page = self.page();
                if let Some(there) = page.and_then(|page| page.timeline.of_request(ix)) {
                    self.jump_to(there);
                }
                format!("request {}", ix + 1)
            }
            Some(FindingPlace::Item(ix)) => {
                self.go_to_item(key, ix);
                "this item".to_owned()
            }
        };
        self.ui.next_place = nth + 1;
        self.notify(format!("place {} of {all}: {said}", nth + 1));
    }

    /// Selects an item among all.
    fn go_to_item(&mut self, key: SessionKey, ix: ItemIx) {
        let session = self.sessions.get(key);
        let Some(item) = session.and_then(|session| session.items().get(ix)) else {
            return;
        };
        let id = row_id(Some(item_id(item)));
        let came = self.page().and_then(|page| page.timeline.of_item(item));
        if !item.in_context() {
            self.ui.list_all_here();
        }
        if let Some(came) = came.filter(|_| self.ui.replay.is_on()) {
            self.jump_to(came);
        }
        self.ui.item_filter.clear();
        self.show_from_finding(ITEMS);
        self.sought = Some(id);
    }

    /// Shows a tab, from which Escape goes back to the finding.
    fn show_from_finding(&mut self, tab: &'static Tab) {
        self.show(tab);
        self.ui.back_to = Some(WHY);
    }

    /// Shows what would follow without the selected finding, where that can be tried.
    pub(crate) fn show_without_finding(&mut self, key: SessionKey) {
        let Some(of) = self.selected_finding() else {
            return;
        };
        let said = match (of.finding.kind, &of.finding.detail) {
            (FindingKind::Rebuild, _) => {
                return self.notify("what-if cannot try a cache that was not rebuilt".to_owned());
            }
            (_, FindingDetail::Window(window)) => {
                let window = number::short(window.window);
                self.ui.lists_policies = true;
                format!("compare 'actual' with a window of {window} for compaction")
            }
            _ => {
                let marks = self.marks_of(key, of);
                if marks.is_empty() {
                    return self.notify("nothing of it is in the context now".to_owned());
                }
                let said = format!("marked {}", number::counted(marks.len() as u64, "item"));
                self.ui.marked.retain(|(session, _)| *session != key);
                self.ui.marked.extend(marks);
                self.ui.lists_policies = false;
                said
            }
        };
        self.ui.cursors.remove(WHAT_IF.name);
        self.show_from_finding(WHAT_IF);
        self.notify(said);
    }

    /// Returns the marks of those items of a finding that are in the context on screen.
    fn marks_of(&self, key: SessionKey, of: &ListedFinding) -> Vec<(SessionKey, ItemId)> {
        let (Some(page), Some(session)) = (self.page(), self.sessions.get(key)) else {
            return Vec::new();
        };
        let here = |ix: ItemIx| page.state.items.iter().any(|(here, ..)| *here == ix);
        let places = (0..of.finding.places.len()).filter_map(|nth| of.place(session, nth));
        let marks = places.filter_map(|place| match place {
            FindingPlace::Item(ix) if here(ix) => Some((key, item_id(&session.items()[ix]))),
            _ => None,
        });
        marks.collect()
    }
}
