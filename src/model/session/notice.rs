//! The notices of its agent.

use super::Session;
use crate::history::ItemIx;
use crate::past::Inputs;

impl Session {
    /// The agent's newest notice among the first items, if it is about the present epoch.
    pub(crate) fn notice(&self, so_far: usize, inputs: &Inputs) -> Option<ItemIx> {
        let reset = (inputs.resets as usize).checked_sub(1);
        let reset = reset.and_then(|ix| self.resets().get(ix));
        let after = reset.map_or(0, |reset| reset.record);
        let items = self.items().get(..so_far)?.iter().enumerate().rev();
        let mut since = items.take_while(|(_, item)| item.record > after);
        let (ix, notice) = since.find(|(_, item)| item.is_notice())?;
        // A later number of the agent's own replaces it.
        let outdated = self.past().estimate_record_at(inputs) > notice.record;
        (!outdated).then_some(ix)
    }
}
