//! The size of a context at every moment at once.

use super::Timeline;
use crate::model::session::Session;

impl Timeline {
    /// The size of the context at each moment, in tokens, as items are known today. Linear in moments
    /// and items. For sessions without a usage report: the reports of others tell their sizes.
    pub fn sizes(&self, session: &Session) -> Vec<u64> {
        let mut changes = vec![0i128; self.moments.len() + 1];
        for (ix, item) in session.items.iter().enumerate() {
            let tokens = i128::from(session.tokens(ix).0);
            let mut at = |record: u32, tokens: i128| {
                let moment = self.at_record(record).unwrap_or(self.moments.len());
                if let Some(change) = changes.get_mut(moment) {
                    *change += tokens;
                }
            };
            at(item.record, tokens);
            for away in &item.away {
                at(away.gone, -tokens);
                at(away.back, tokens);
            }
            if let Some(left) = item.left {
                at(left.record, -tokens);
            }
        }
        let mut logged = 0;
        let moments = self.moments.iter().zip(changes);
        let sizes = moments.map(|(moment, change)| {
            logged += change;
            let logged = u64::try_from(logged).unwrap_or(0);
            let standing = session.standing_at(moment.record);
            let standing = standing.copied().unwrap_or_else(|| session.standing());
            logged.saturating_add(session.expected_prefix(standing.unlogged, logged).0)
        });
        sizes.collect()
    }
}
