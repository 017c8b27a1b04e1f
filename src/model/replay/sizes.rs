//! The size of a context at every moment at once.

use super::Timeline;
use crate::model::session::Session;

impl Timeline {
    /// The size of the context at each moment, in tokens, as items are known today. Linear in moments
    /// and items. For sessions without a usage report; those of others have the sizes in them.
    pub fn sizes(&self, session: &Session) -> Vec<u64> {
        // What comes and goes with each moment: all of it, and what of it is system prompt and tools.
        let mut changes = vec![(0_i128, 0_i128); self.moments.len()];
        for (ix, item) in session.items().iter().enumerate() {
            let tokens = i128::from(session.tokens(ix).0);
            let shown = if item.is_prefix() { tokens } else { 0 };
            let mut at = |record: u32, sign: i128| {
                let moment = self.at_record(record).unwrap_or(self.moments.len());
                if let Some(change) = changes.get_mut(moment) {
                    change.0 += sign * tokens;
                    change.1 += sign * shown;
                }
            };
            at(item.record, 1);
            for away in &item.away {
                at(away.gone, -1);
                at(away.back, 1);
            }
            if let Some(left) = item.left {
                at(left.record, -1);
            }
        }
        let whole = |tokens: i128| u64::try_from(tokens).unwrap_or(0);
        let mut held = (0, 0);
        let moments = self.moments.iter().zip(changes);
        let sizes = moments.map(|(moment, (tokens, shown))| {
            held = (held.0 + tokens, held.1 + shown);
            let (logged, shown) = (whole(held.0), whole(held.1));
            let inputs = session.inputs_at(moment.record);
            let (unlogged, _) = session.expected_prefix(&inputs, logged, shown);
            logged.saturating_add(unlogged)
        });
        sizes.collect()
    }
}
