//! Finds the same content in the context twice, such as a file that was read again unchanged.

use crate::Role;
use crate::history::{Item, ItemIx, SizedItem};
use crate::session::Session;
use std::collections::BTreeMap;

/// Smaller items, in tokens, are not compared: `ok` and `done` are frequent.
const LEAST_TOKENS: u64 = 32;

/// Items whose content the context holds already.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Repeats {
    /// The first item of the same content, by the later ones.
    pub of: BTreeMap<ItemIx, ItemIx>,
    /// Tokens of the later ones.
    pub wasted: u64,
}

impl Repeats {
    /// Returns the number of items that are repeats.
    pub fn items(&self) -> usize {
        self.of.len()
    }
}

/// Returns the repeats among items that are in the context together, in the order of the log.
pub fn repeats(session: &Session, context: impl IntoIterator<Item = SizedItem>) -> Repeats {
    // By hash: a map of the contents would take three times as much memory.
    let mut large: Vec<(u64, ItemIx, u64)> = Vec::new();
    for (ix, tokens, _) in context {
        let item = &session.items()[ix];
        if tokens >= LEAST_TOKENS && is_all_text(item) {
            large.push((item.hash, ix, tokens));
        }
    }
    large.sort_by_key(|(hash, ..)| *hash);
    let mut repeats = Repeats::default();
    for alike in large.chunk_by(|(a, ..), (b, ..)| a == b) {
        let content = |ix: ItemIx| {
            let item = &session.items()[ix];
            (item.role, item.kind, item.size.bytes)
        };
        for (at, (_, ix, tokens)) in alike.iter().enumerate().skip(1) {
            let mut earlier = alike[..at].iter();
            if let Some((_, first, _)) =
                earlier.find(|(_, first, _)| content(*first) == content(*ix))
                && first != ix
            {
                repeats.of.insert(*ix, *first);
                repeats.wasted = repeats.wasted.saturating_add(*tokens);
            }
        }
    }
    repeats
}

/// Returns true if equal hashes mean equal content. For images and hidden content they mean equal sizes only. The
/// model's own text does not count.
fn is_all_text(item: &Item) -> bool {
    let size = item.size;
    item.role != Role::Assistant && size.bytes > 0 && size.fixed == 0 && size.opaque == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::event::Size;
    use crate::testing::{Log, new_item};

    fn found(log: &Log) -> Repeats {
        repeats(&log.session, log.session.in_context())
    }

    #[test]
    fn a_file_read_again_unchanged_is_a_repeat_of_the_first() {
        let log = Log::new()
            .result("a", "Read", 500)
            .result("b", "Read", 700)
            .result("c", "Read", 500)
            .result("d", "Read", 500)
            .report(5_000);
        let found = found(&log);
        assert_eq!(found.of, BTreeMap::from([(2, 0), (3, 0)]));
        let tokens = |ix| log.session.tokens(ix).0;
        assert_eq!(found.wasted, tokens(2) + tokens(3));
        assert_eq!(found.items(), 2);
    }

    #[test]
    fn what_has_left_the_context_is_not_repeated() {
        let log = Log::new()
            .result("a", "Read", 500)
            .report(5_000)
            .compact(5_100)
            .result("b", "Read", 500);
        assert_eq!(found(&log), Repeats::default());
    }

    #[test]
    fn small_items_other_roles_and_the_models_own_words_do_not_count() {
        let log = Log::new()
            .result("a", "Bash", 10)
            .result("b", "Bash", 10)
            .item("c", Role::Tool, Kind::ToolResult, 800)
            .item("d", Role::Container, Kind::Reminder, 800)
            .item("e", Role::Assistant, Kind::Text, 900)
            .item("f", Role::Assistant, Kind::Text, 900);
        assert_eq!(found(&log), Repeats::default());
    }

    #[test]
    fn images_and_hidden_content_of_equal_size_are_not_equal() {
        let hidden = |size: Size| {
            let mut log = Log::new();
            for key in ["a", "b"] {
                let mut item = new_item(Role::Tool, Kind::ToolResult, 500);
                (item.size, item.hash) = (size, 7);
                log = log.node(key, vec![item]);
            }
            found(&log)
        };
        let image = Size {
            fixed: 1_500,
            bytes: 10,
            ..Size::default()
        };
        let opaque = Size {
            opaque: 60_000,
            bytes: 10,
            ..Size::default()
        };
        assert_eq!(hidden(image), Repeats::default());
        assert_eq!(hidden(opaque), Repeats::default());
    }
}
