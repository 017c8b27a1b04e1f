//! The layers of the model: a file imports those of its own layer and of the layers above it.

use super::imports::imports;
use super::source::Source;

/// The layers by name, each with its modules.
const LAYERS: [(&str, &[&str]); 6] = [
    (
        "terms and rules",
        &[
            "calibration",
            "earlier",
            "event",
            "expectation",
            "file_id",
            "history",
            "hooked",
            "names",
            "other_host",
            "pictures",
            "project",
            "prompt",
            "process_activity",
            "token_usage",
            "stored",
            "thinking",
            "threshold",
            "version",
            "window",
        ],
    ),
    (
        "state",
        &[
            "agent_estimate",
            "cache_clock",
            "calibrations",
            "record_tree",
            "content",
            "items",
            "attribution",
            "past",
            "recurring",
            "state",
        ],
    ),
    (
        "reading",
        &[
            "context",
            "growth",
            "like_earlier",
            "limits",
            "notice",
            "own_count",
            "replay",
            "sums",
            "unread",
        ],
    ),
    ("session", &["session"]),
    (
        "studies",
        &[
            "alerts",
            "bounds",
            "calls",
            "carried",
            "clearing",
            "compaction",
            "counts",
            "estimators",
            "forecast",
            "gauge",
            "jumps",
            "prompt_cache",
            "repeats",
            "spending",
            "summary",
            "text",
            "tools",
            "triggers",
            "whatif",
        ],
    ),
    // `testing` makes sessions for unit tests.
    ("sessions", &["children", "sessions", "testing"]),
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
                let [own, other] = [own, other].map(|layer| LAYERS[layer].0);
                wrong.push(format!("{} ({own}) imports {path} ({other})", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The layer of what a path names; `None`: it is a term of the model itself, or not of the model.
fn layer(path: &str) -> Option<usize> {
    let module = path.strip_prefix("model::")?.split("::").next()?;
    LAYERS
        .iter()
        .position(|(_, modules)| modules.contains(&module))
}
