//! The folders of the model: a file imports its own folder and those above it.

use super::imports::imports;
use super::source::Source;

/// The folders, each after those that it may import. `testing` makes sessions for unit tests.
const LAYERS: [&str; 13] = [
    "event", "values", "history", "sizes", "window", "state", "session", "cost", "outlook",
    "lists", "due", "why", "testing",
];

#[test]
fn a_layer_of_the_model_imports_none_below_it() {
    let mut wrong = Vec::new();
    for source in Source::all() {
        let is_below = source.module.starts_with("model::");
        if !is_below {
            continue;
        }
        let Some(own) = layer(&source.module) else {
            panic!("{}: belongs to no layer, see LAYERS", source.path);
        };
        for path in imports(&source.code, &source.module) {
            if let Some(other) = layer(&path).filter(|other| *other > own) {
                let [own, other] = [own, other].map(|layer| LAYERS[layer]);
                wrong.push(format!("{} ({own}) imports {path} ({other})", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The layer of what a path names; `None`: it is a term of the model itself, or not of the model.
fn layer(path: &str) -> Option<usize> {
    let module = path.strip_prefix("model::")?.split("::").next()?;
    LAYERS.iter().position(|folder| *folder == module)
}
