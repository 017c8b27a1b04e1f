//! A turn that begins shortly before the trigger is compacted in the middle of its work. A compaction before it loses
//! less.

use crate::session::Session;
use crate::session::context::Context;
use crate::window::Limits;
use crate::{Kind, Role};

/// From this share of the trigger on, a turn is late, in millionths.
const LATE: u64 = 800_000;

/// Returns true if the next turn of a session with this context would begin late. Its turn before is over, as far as its
/// log shows.
pub fn is_next_turn_late(session: &Session, context: &Context, limits: &Limits) -> bool {
    // The turns of a sub-agent are no user's.
    let is_asked = session.meta.parent.is_none();
    is_asked && limits.trigger.is_some() && context.fill(limits) >= LATE && is_turn_over(session)
}

/// Returns true if the last thing that was said is a text of the model. Clients add reminders after it.
fn is_turn_over(session: &Session) -> bool {
    let said = |role| matches!(role, Role::User | Role::Assistant | Role::Tool);
    let mut items = session.items().iter().rev();
    let last = items.find(|item| said(item.role));
    last.is_some_and(|item| item.role == Role::Assistant && item.kind == Kind::Text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Log, new_item};

    #[test]
    fn only_a_turn_that_has_not_begun_is_late() {
        let mut log = Log::new();
        for (name, role, kind, is_late) in [
            ("1", Role::User, Kind::Text, [false; 3]),
            ("2", Role::Assistant, Kind::ToolCall, [false; 3]),
            ("3", Role::Tool, Kind::ToolResult, [false; 3]),
            ("4", Role::Assistant, Kind::Text, [false, true, true]),
            ("5", Role::Container, Kind::Text, [false, true, true]),
        ] {
            log = log.node(name, vec![new_item(role, kind, 100)]);
            let limits = Limits {
                trigger: Some(1_000),
                ..log.session.limits().clone()
            };
            let late = [799, 800, 1_200].map(|used| {
                let context = Context {
                    used,
                    own: None,
                    ..log.session.context()
                };
                is_next_turn_late(&log.session, &context, &limits)
            });
            assert_eq!(late, is_late, "{name}");
        }
        log.session.meta.parent = Some("parent".into());
        let limits = log.session.limits().clone();
        let context = Context {
            used: u64::MAX,
            ..log.session.context()
        };
        assert!(!is_next_turn_late(&log.session, &context, &limits));
    }
}
