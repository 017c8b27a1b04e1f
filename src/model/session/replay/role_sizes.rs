//! Computes the size of a context over time by role: what a drawing of it stacks.

use crate::Role;
use crate::state::State;

/// The tokens of a context by role, in the order of [`Role::ALL`]. Numbers have 32 bits, as those of requests have: a
/// session may have a million steps.
pub type RoleSizes = [u32; 5];

/// Returns the size of the context.
pub fn total(sizes: &RoleSizes) -> u64 {
    sizes.iter().map(|tokens| u64::from(*tokens)).sum()
}

/// Returns these tokens as 32 bits; what is larger is the largest.
pub fn narrow(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// Returns the prompt and output of each request by role, as the items are attributed today. The sums are those of
/// the reports: what no item explains is of the system role. Linear in items and requests.
pub fn of_requests(state: &State) -> Vec<RoleSizes> {
    let requests = state.requests();
    // The changes with each request.
    let mut changes = vec![[0_i64; 5]; requests.len() + 1];
    for (ix, item) in state.items().iter().enumerate() {
        let (tokens, role) = (i64::from(narrow(state.tokens(ix).0)), item.role.index());
        for span in item.spans_held(requests.len()) {
            changes[span.start][role] += tokens;
            changes[span.end][role] -= tokens;
        }
    }
    let mut held = [0_i64; 5];
    let steps = requests.iter().zip(changes).map(|(request, change)| {
        for (held, change) in held.iter_mut().zip(change) {
            *held = held.saturating_add(change);
        }
        let mut sizes = held.map(|tokens| u64::try_from(tokens).unwrap_or(0));
        fit(&mut sizes, request.prompt);
        let assistant = &mut sizes[Role::Assistant.index()];
        *assistant = assistant.saturating_add(request.output.unwrap_or(0));
        sizes.map(narrow)
    });
    steps.collect()
}

/// Makes the roles sum to a reported size. More items than it held are fewer: the log may have lost that some left.
fn fit(sizes: &mut [u64; 5], reported: u64) {
    let logged = sizes.iter().copied().fold(0, u64::saturating_add);
    if logged > reported {
        for tokens in sizes.iter_mut() {
            let share = u128::from(*tokens) * u128::from(reported) / u128::from(logged);
            *tokens = u64::try_from(share).unwrap_or(u64::MAX);
        }
    }
    let logged = sizes.iter().copied().fold(0, u64::saturating_add);
    let system = &mut sizes[Role::System.index()];
    *system = system.saturating_add(reported.saturating_sub(logged));
}

#[cfg(test)]
mod tests {
    use super::super::Timeline;
    use super::*;
    use crate::testing::Log;
    use crate::testing::properties::{events, session};
    use proptest::prelude::*;

    #[test]
    fn a_request_has_its_items_and_the_unlogged_rest() {
        let log = Log::new()
            .report(20_000)
            .result("a", "Read", 5_000)
            .report(25_000)
            .compact(30_000)
            .result("b", "Read", 1_000)
            .report(9_000);
        let session = &log.session;
        let steps = of_requests(session);
        let tool = |step: usize| steps[step][Role::Tool.index()];
        assert_eq!(tool(0), 0);
        assert!(tool(1) > 4_000, "{steps:?}");
        assert!(tool(2) < tool(1), "the compaction removed it: {steps:?}");
        let now = session.context();
        let of_now = now.roles.map(|share| narrow(share.tokens));
        assert_eq!(steps[2], of_now, "the last request is the context now");
    }

    proptest! {
        #[test]
        fn the_roles_of_a_request_sum_to_its_report(events in events()) {
            let mut session = session();
            for (n, event) in (1..).zip(events) {
                session.apply(crate::event::Entry {
                    conversation: crate::event::Conversation::Main,
                    place: crate::event::Place::of_line(n),
                    at: None,
                    event,
                });
            }
            let steps = of_requests(&session);
            prop_assert_eq!(steps.len(), session.requests().len());
            for (sizes, request) in steps.iter().zip(session.requests().iter()) {
                let size = request.prompt + request.output.unwrap_or(0);
                prop_assert!(total(sizes).abs_diff(size) <= 5 || size > u64::from(u32::MAX));
            }
            let timeline = Timeline::of(&session);
            prop_assert_eq!(timeline.role_sizes(&session).len(), timeline.len());
        }
    }
}
