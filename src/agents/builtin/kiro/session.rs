//! Reads the file beside a session, `<id>.json`.

use decode::lenient::{Text, Texts, Window, record};
use model::event::{Key, Meta};
use std::collections::HashMap;

record! {
    /// `<id>.json` or `session.json`.
    pub(super) struct Session<'a> {
        id: Text<'a> = "session_id" | "id",
        cwd: Text<'a>,
        folders: Texts<'a> = "workspacePaths",
        model: Text<'a> = "modelId",
        title: Text<'a>,
        parent: Text<'a> = "parent_session_id",
        state: State<'a> = "session_state",
    }

    struct State<'a> {
        conversation: Conversation<'a> = "conversation_metadata",
        model: ModelState<'a> = "rts_model_state",
    }

    struct Conversation<'a> {
        turns: Vec<Turn<'a>> = "user_turn_metadatas",
        last_percentage: Option<f64> = "last_context_usage" / "percentage",
    }

    struct Turn<'a> {
        messages: Texts<'a> = "message_ids",
        model: Text<'a>,
        percentage: Option<f64> = "context_usage_percentage",
        last_percentage: Option<f64> = "final_context_usage_percentage",
    }

    struct ModelState<'a> {
        info: Info<'a> = "model_info",
        percentage: Option<f64> = "context_usage_percentage",
    }

    struct Info<'a> {
        id: Text<'a> = "model_id",
        window: Window = "context_window_tokens",
    }
}

impl Session<'_> {
    /// Returns the facts. `auto`, which leaves the choice of the model to Kiro, is not a model.
    pub(super) fn meta(&self) -> Meta {
        let model = self.state.model.info.id.boxed().or(self.model.boxed());
        let folder = self.folders.0.first().and_then(Text::boxed);
        Meta {
            id: self.id.boxed(),
            title: self.title.boxed(),
            cwd: self.cwd.boxed().or(folder),
            model: model.filter(|model| &**model != "auto"),
            parent: self.parent.boxed(),
            window: self.state.model.info.window.0,
            ..Meta::default()
        }
    }

    /// Returns the size of the context at the end of each turn, in tokens, by the turn's last message. Turns of another
    /// model are left out: it had another window.
    pub(super) fn ends(&self) -> HashMap<Key, u64> {
        let info = &self.state.model.info;
        let turns = &self.state.conversation.turns;
        let mut ends = HashMap::new();
        let Some(window) = info.window.0 else {
            return ends;
        };
        for (nth, turn) in turns.iter().enumerate() {
            let whole = self.state.conversation.last_percentage;
            let whole = whole.or(self.state.model.percentage);
            let newest = whole.filter(|_| nth + 1 == turns.len());
            let percent = turn.last_percentage.or(turn.percentage).or(newest);
            let percent = percent.filter(|percent| *percent > 0.0 && *percent <= 100.0);
            let same = turn
                .model
                .get()
                .is_none_or(|model| Some(model) == info.id.get());
            let message = turn.messages.0.last().and_then(Text::key);
            if let (Some(percent), Some(message), true) = (percent, message, same) {
                let tokens = (window as f64 * percent / 100.0).round() as u64;
                // A later turn can repeat the messages of an earlier one.
                ends.entry(message).or_insert(tokens);
            }
        }
        ends
    }
}
