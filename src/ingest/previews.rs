//! Previews that a session left in its log.
//!
//! A log may have a million items, whose previews would take more memory than all else that a report holds of them. They
//! are read again where they are shown: all in one pass over the log, in the order of the items.

use super::log::LogFile;
use model::event::{Entry, Event, Lane, NewItem, Place, Unmeasured};
use model::session::{ItemIx, ItemRef, Session};
use std::io;
use std::iter::Peekable;
use std::ops::ControlFlow;

/// Gives the preview of each item of a session in turn, until `give` breaks. One that the log no longer has is empty.
///
/// # Errors
///
/// The log cannot be read.
pub fn each(
    log: &LogFile,
    (lane, session): (Lane, &Session),
    give: &mut dyn FnMut(ItemIx, &str) -> ControlFlow<()>,
) -> io::Result<()> {
    let items = session.items().iter().enumerate();
    let mut waiting = Waiting {
        items: items.peekable(),
        give,
    };
    if waiting.up_to(None).is_break() {
        return Ok(());
    }
    log.store.entries(log, &Unmeasured, &mut |entries| {
        let mut entries = entries.into_iter().filter(|entry| entry.lane == lane);
        entries.try_for_each(|entry| waiting.take(&entry))
    })?;
    let _ = waiting.rest();
    Ok(())
}

/// The items that are to be given a preview.
struct Waiting<'s, 'g, I: Iterator<Item = (ItemIx, ItemRef<'s>)>> {
    items: Peekable<I>,
    give: &'g mut dyn FnMut(ItemIx, &str) -> ControlFlow<()>,
}

impl<'s, I: Iterator<Item = (ItemIx, ItemRef<'s>)>> Waiting<'s, '_, I> {
    /// Takes what an entry has of the items.
    fn take(&mut self, entry: &Entry) -> ControlFlow<()> {
        let Event::Node(node) = &entry.event else {
            return ControlFlow::Continue(());
        };
        for read in &node.items {
            self.up_to(Some(entry.place))?;
            let is_it = |(_, item): &(ItemIx, ItemRef<'_>)| is_same(item, entry.place, read);
            if let Some((ix, _)) = self.items.next_if(is_it) {
                (self.give)(ix, &read.preview)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Gives what is at hand, and what the log should have had before a place.
    fn up_to(&mut self, place: Option<Place>) -> ControlFlow<()> {
        let is_over = |(_, item): &(ItemIx, ItemRef<'_>)| {
            !item.leaves_preview() || place.is_some_and(|place| item.place() < place)
        };
        while let Some((ix, item)) = self.items.next_if(is_over) {
            (self.give)(ix, item.preview())?;
        }
        ControlFlow::Continue(())
    }

    /// Gives the rest: what is at hand, and nothing of what the log does not have.
    fn rest(&mut self) -> ControlFlow<()> {
        for (ix, item) in self.items.by_ref() {
            (self.give)(ix, item.preview())?;
        }
        ControlFlow::Continue(())
    }
}

/// Whether an item is what was read at this place.
fn is_same(item: &ItemRef<'_>, place: Place, read: &NewItem) -> bool {
    item.place().is_same(place) && item.nth() == read.nth && item.hash() == read.hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Sessions, main_session};
    use crate::reader::{read_for_report, read_once};
    use crate::testing::made::Made;
    use model::event::ByLength;
    use std::sync::Arc;

    /// More messages than a session keeps the previews of.
    const MESSAGES: usize = 80_000;

    fn made() -> Made {
        let said = |n: usize| match n % 50 {
            // Nothing of its response is in the log.
            0 => format!("{{\"toy\":{}}}\n", 1_000 + n),
            1 => format!("{{\"side\":\"aside {n}\"}}\n"),
            _ => format!("{{\"say\":\"message {n}\"}}\n"),
        };
        Made::new(&(0..MESSAGES).map(said).collect::<String>())
    }

    fn main(sessions: &Sessions) -> (Lane, &Session) {
        (Lane::Main, main_session(sessions).unwrap())
    }

    fn all(log: &LogFile, session: &Session) -> Vec<String> {
        let mut all = Vec::new();
        each(log, (Lane::Main, session), &mut |ix, preview| {
            assert_eq!(ix, all.len(), "in order");
            all.push(preview.to_owned());
            ControlFlow::Continue(())
        })
        .unwrap();
        all
    }

    #[test]
    fn previews_that_were_left_in_a_log_are_read_again() {
        let made = made();
        let log = made.log();
        let (held, left) = (
            read_once(&log, &ByLength, &Arc::default()).unwrap(),
            read_for_report(&log, &ByLength, &Arc::default()).unwrap(),
        );
        let ((_, held), (_, left)) = (main(&held), main(&left));
        let held: Vec<String> = held
            .items()
            .iter()
            .map(|item| item.preview().into())
            .collect();
        let missing = left.items().iter().filter(|item| item.leaves_preview());
        let missing = missing.count();
        assert!(missing > 1_000 && left.items().len() > 65_536 + missing / 2);
        assert_eq!(all(&log, left), held);

        // It is enough to read up to the last one that is wanted.
        let mut given = 0;
        each(&log, (Lane::Main, left), &mut |_, _| {
            given += 1;
            if given < 7 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })
        .unwrap();
        assert_eq!(given, 7);

        // What the log has no longer is empty, and the rest is as it was.
        let is_lost = |item: ItemRef<'_>| item.leaves_preview() && item.preview().is_empty();
        let lost = left.items().iter().position(is_lost).unwrap() + 10;
        made.rewrite(&held[lost], &"x".repeat(held[lost].len()));
        let mut expected = held;
        expected[lost].clear();
        assert_eq!(all(&log, left), expected);
    }
}
