//! Models by the names by which they were chosen. Those of responses lack the suffix of a window of a million tokens, which
//! a logged request shows or, where none is logged, what the client counts as paid for.

use super::wire::{self, LONG};
use decode::lenient::{LostFields, Raw, Text};
use json::each_field;
use model::event::{EventSink, Meta};
use std::collections::HashSet;

/// The models of a session that were chosen with a window of a million tokens.
#[derive(Default)]
pub(super) struct ChosenModels {
    /// Their names in responses.
    long: HashSet<Box<str>>,
    /// The model of the newest response whose request is not logged, as the response names it.
    newest: Option<Box<str>>,
}

impl ChosenModels {
    /// Returns the name of a response's model. `is_long`: its request is logged, and shows the long window.
    pub(super) fn name(
        &mut self,
        model: &Text<'_>,
        request: &Text<'_>,
        is_long: bool,
    ) -> Option<Box<str>> {
        let named = model.get()?;
        let is_logged = request.get().is_some();
        self.newest = model.boxed().filter(|_| !is_logged);
        let is_paid = !is_logged && self.long.contains(named);
        Some(wire::model_name(named, is_long || is_paid))
    }

    /// Takes in what was paid for, by model. A name with the suffix proves the long window, unless the model was paid for
    /// without it too; one without proves nothing. Emits the model in use, if it is one of those.
    pub(super) fn costs(&mut self, by_model: Option<Raw<'_>>, out: &mut EventSink<'_>) {
        let lost = LostFields::default();
        let mut names: HashSet<Box<str>> = HashSet::new();
        let read = each_field(
            by_model.map_or("{}", Raw::get),
            &mut |name, costs| match costs.get() {
                "null" => {}
                costs if costs.starts_with('{') => _ = names.insert(name.into()),
                _ => lost.note("modelUsage"),
            },
        );
        if read.is_err() {
            lost.note("modelUsage");
        }
        lost.report(out);
        let long = names.iter().filter_map(|name| name.strip_suffix(LONG));
        let long = long.filter(|model| !names.contains(*model));
        self.long.extend(long.map(Box::from));
        let newest = self.newest.as_deref();
        let in_use = newest.filter(|model| self.long.contains(*model));
        out.meta(Meta::of_model(
            in_use.map(|model| wire::model_name(model, true)),
        ));
    }
}
