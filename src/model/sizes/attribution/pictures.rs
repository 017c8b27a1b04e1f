//! Determines the treatment of pictures: by the tokens that a report left for them, else by the agent's settings.

use super::Attribution;
use crate::history::record_tree::RecordTree;
use crate::sizes::pictures::{Media, Pictures};

impl Attribution {
    /// Sets the treatment of pictures by the agent's settings. Reports and the models table outweigh them.
    pub(crate) fn set_pictures(&mut self, pictures: Media<Pictures>, tree: &RecordTree) {
        let known = self.items.calibrations().current().pictures;
        if self.items.set_pictures(known.or(pictures)) {
            self.needs_revision = true;
            self.revise(tree);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{NewItem, Size, count};
    use crate::session::Session;
    use crate::testing::{Log, new_item};
    use crate::window::{ModelWindow, Overrides};
    use crate::{Kind, Role};
    use std::sync::Arc;

    const PICTURE: u64 = 1_500;

    /// A result of five tokens with a picture.
    fn picture(log: Log, key: &str) -> Log {
        let result = new_item(Role::Tool, Kind::ToolResult, 5);
        let size = Size {
            fixed: count(PICTURE),
            ..result.size
        };
        log.node(key, vec![NewItem { size, ..result }])
    }

    fn sizes(log: &Log) -> Vec<u64> {
        let items = log.session.in_context();
        items.map(|(_, tokens, _)| tokens).collect()
    }

    fn system(session: &Session) -> u64 {
        session.context().role(Role::System).tokens
    }

    #[test]
    fn what_no_prompt_held_costs_a_note_from_then_on() {
        let log = picture(Log::of("replacer").model("m"), "first").report(5_000);
        assert_eq!(sizes(&log), [5 + PICTURE]);
        let log = picture(log, "second");
        let context = log.session.context();
        assert_eq!(context.used, 5_000 + 5 + PICTURE);
        assert!(context.low <= 5_030, "it may be none: {context:?}");

        let log = log.report(5_031);
        assert_eq!(sizes(&log), [29, 31], "the first is settled again");
        assert_eq!(system(&log.session), 5_000 - 29);
        let log = picture(log, "third");
        let context = log.session.context();
        assert_eq!(context.used, 5_031 + 29);
        assert!(context.high < 5_100, "{context:?}");

        let log = log.report(5_031 + 5 + PICTURE);
        assert_eq!(sizes(&log)[2], 5 + PICTURE, "another provider takes them");
    }

    #[test]
    fn what_a_prompt_held_is_no_longer_in_doubt() {
        let log = picture(Log::of("replacer").model("m").report(5_000), "first").report(6_500);
        let log = picture(log, "second");
        let context = log.session.context();
        assert_eq!(context.used, 6_500 + 5 + PICTURE);
        assert!(context.low > 7_500, "{context:?}");
    }

    #[test]
    fn a_delta_that_fits_neither_says_nothing_of_pictures() {
        let log = picture(Log::of("replacer").model("m").report(5_000), "first").report(5_700);
        assert_eq!(log.session.context().used, 5_700);
        let log = picture(log, "second");
        assert_eq!(log.session.context().used, 5_700 + 5 + PICTURE);
    }

    #[test]
    fn a_model_may_take_pictures_and_no_documents() {
        let result = new_item(Role::Tool, Kind::ToolResult, 5);
        let size = Size {
            fixed: 2_000,
            documents: 2_000,
            ..result.size
        };
        let document = vec![NewItem { size, ..result }];
        let log = picture(Log::of("replacer").model("m").report(5_000), "picture").report(6_500);
        let log = log.node("document", document.clone()).report(6_531);
        assert_eq!(sizes(&log), [1_500, 31]);
        let log = picture(log.node("document again", document), "another picture");
        assert_eq!(sizes(&log)[2..], [29, 5 + PICTURE]);
    }

    #[test]
    fn what_an_agent_logs_it_sends_unless_it_is_known_to_replace_it() {
        let log = picture(Log::new().model("m").report(5_000), "first");
        assert!(log.session.context().low > 6_000);
        let log = picture(log.report(5_031), "second");
        let used = log.session.context().used;
        assert_eq!(used, 5_031 + 5 + PICTURE, "something else has left");
    }

    #[test]
    fn settings_hold_until_a_report_shows_it() {
        let set = |pictures| {
            let row = ModelWindow {
                id: "m".to_owned(),
                pictures: Media {
                    images: pictures,
                    documents: Pictures::Unknown,
                },
                ..ModelWindow::default()
            };
            Arc::new(Overrides {
                models: vec![row],
                ..Overrides::default()
            })
        };
        let mut log = picture(Log::of("replacer").model("m"), "first").report(5_000);
        log.session.set_overrides(set(Pictures::Replaced));
        assert_eq!(sizes(&log), [29], "what was settled is settled again");
        assert_eq!(system(&log.session), 5_000 - 29);
        let mut log = picture(log, "second").report(6_505);
        assert_eq!(sizes(&log)[1], 5 + PICTURE);
        log.session.set_overrides(set(Pictures::Replaced));
        assert_eq!(sizes(&log)[1], 5 + PICTURE, "reports know better");

        let mut log = Log::of("replacer");
        log.session.set_overrides(set(Pictures::Replaced));
        let log = picture(log.model("m").report(5_000), "first");
        assert_eq!(log.session.context().used, 5_029);
    }
}
