//! Finds the messages about its context that an agent shows to people.

use crate::Kind;
use crate::history::{Item, ItemIx};
use crate::state::State;
use crate::state::past::Inputs;

impl State {
    /// Returns the agent's newest notice among the first items, if it is about the present epoch.
    pub(crate) fn notice(&self, so_far: usize, inputs: &Inputs) -> Option<ItemIx> {
        let reset = inputs
            .resets
            .checked_sub(1)
            .and_then(|ix| self.resets().get(ix));
        let after = reset.map_or(0, |reset| reset.record);
        let items = self.items().iter().take(so_far).enumerate().rev();
        let mut since = items.take_while(|(_, item)| item.record > after);
        let (ix, notice) = since.find(|(_, item)| item.is_notice())?;
        // A later number of the agent's own replaces it.
        let outdated = self.past().estimate_record_at(inputs) > notice.record;
        (!outdated).then_some(ix)
    }
}

impl Item {
    /// Returns true if it is a notice: a message about its context that the agent shows to people and sends to no
    /// model.
    pub fn is_notice(&self) -> bool {
        let left = self.left.map(|left| left.record);
        let gone = self.away.first().map(|away| away.gone).or(left);
        self.kind == Kind::Reminder && gone == Some(self.record)
    }
}
