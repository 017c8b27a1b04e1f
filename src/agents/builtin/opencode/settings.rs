//! The settings of OpenCode and the Kilo CLI: `opencode.json` and `kilo.json`, those of the project first, and the
//! limits of the models that were used lately in their copy of models.dev.
//!
//! After OpenCode's `config/config.ts`, `provider/models.ts` and `session/overflow.ts`. Logs name models without
//! their provider, and providers give one model different limits: of all models in the copy only those count whose
//! provider is in the list of models that were used lately.

use crate::agents::format::head;
use crate::agents::format::settings::{Layers, Settings, SettingsFile, tokens};
use crate::agents::kit::lenient::scan::each_field;
use crate::agents::kit::lenient::{Count, Lost, Raw, parse, record};
use crate::model::window::{ModelWindow, Overrides};
use serde_json::{Deserializer, Value};

use SettingsFile::{Agent, Project};

const FILES: [SettingsFile; 9] = [
    Project("opencode.jsonc"),
    Project("opencode.json"),
    Project(".opencode/opencode.jsonc"),
    Project(".opencode/opencode.json"),
    Agent("../../../.config/opencode/opencode.jsonc"),
    Agent("../../../.config/opencode/opencode.json"),
    Agent("../../../.config/opencode/config.json"),
    Agent("../../state/opencode/model.json"),
    Agent("../../../.cache/opencode/models.json"),
];

const KILO_FILES: [SettingsFile; 9] = [
    Project("kilo.jsonc"),
    Project("kilo.json"),
    Project(".kilo/kilo.jsonc"),
    Project(".kilo/kilo.json"),
    Agent("../../../.config/kilo/kilo.jsonc"),
    Agent("../../../.config/kilo/kilo.json"),
    Agent("../../../.config/kilo/config.json"),
    Agent("../../state/kilo/model.json"),
    Agent("../../../.cache/kilo/models.json"),
];

pub(super) const OPENCODE: Settings = Settings::new(&FILES, |files| read(files, "opencode.json"));
pub(super) const KILO: Settings = Settings::new(&KILO_FILES, |files| read(files, "kilo.json"));

/// How far below a model's input limit it compacts, unless its output is smaller.
const RESERVED: u64 = 20_000;
/// The largest output that is asked for.
const OUTPUT: u64 = 32_000;

fn read(files: &[&[u8]], name: &'static str) -> Overrides {
    let (catalogues, configs): (Vec<&[u8]>, Vec<&[u8]>) =
        files.iter().partition(|file| is_catalogue(file));
    let layers = Layers::json(&configs);
    let reserved = layers.tokens("/compaction/reserved");
    let mut models = Vec::new();
    layers.each("/provider", |providers| {
        let providers = providers.as_object().into_iter().flatten();
        for (_, provider) in providers {
            let own = provider.get("models").and_then(Value::as_object);
            for (id, model) in own.into_iter().flatten() {
                let limit = |name: &str| model.pointer(&format!("/limit/{name}")).and_then(tokens);
                let limits = Limits {
                    context: limit("context"),
                    input: limit("input"),
                    output: limit("output"),
                };
                models.extend(limits.row(id, reserved, name));
            }
        }
    });
    for (provider, model) in recent(&layers) {
        let limits = catalogues
            .iter()
            .find_map(|c| limits_of(c, &provider, &model));
        models.extend(limits.and_then(|limits| limits.row(&model, reserved, "models.json")));
    }
    Overrides {
        compaction: layers.compaction("/compaction/auto"),
        models,
        ..Overrides::default()
    }
}

/// The limits of a model, in tokens.
#[derive(Clone, Copy)]
struct Limits {
    context: Option<u64>,
    input: Option<u64>,
    output: Option<u64>,
}

impl Limits {
    fn row(self, id: &str, reserved: Option<u64>, from: &'static str) -> Option<ModelWindow> {
        let output = self.output.unwrap_or(OUTPUT).min(OUTPUT);
        let reserved = reserved.unwrap_or(RESERVED.min(output));
        Some(ModelWindow {
            id: id.to_owned(),
            window: Some(self.context?),
            output: Some(output),
            limit: self.input.map(|input| input.saturating_sub(reserved)),
            from,
            ..ModelWindow::default()
        })
    }
}

/// The models that were used lately: their provider and id.
fn recent(layers: &Layers) -> Vec<(String, String)> {
    let list = |value: &Value| value.as_array().cloned();
    let recent = layers.find("/recent", list).unwrap_or_default();
    let name = |entry: &Value, key: &str| Some(entry.get(key)?.as_str()?.to_owned());
    let names = recent
        .iter()
        .filter_map(|entry| Some((name(entry, "providerID")?, name(entry, "modelID")?)));
    names.collect()
}

/// Whether a file is the copy of models.dev: `{"<id>": {"id": "<id>", …`. It has megabytes and is not parsed as a
/// whole.
fn is_catalogue(file: &[u8]) -> bool {
    let start = head::solid(file, 256);
    let mut quoted = start.split(|byte| *byte == b'"');
    let names = (quoted.nth(1), quoted.nth(1), quoted.nth(1));
    matches!(names, (Some(name), Some(b"id"), Some(id)) if name == id && !id.is_empty())
}

record! {
    struct Provider<'a> {
        models: Option<Raw<'a>>,
    }

    struct Model {
        limit: Limit,
    }

    struct Limit {
        context: Count,
        input: Count,
        output: Count,
    }
}

/// The limits of a provider's model in a copy of models.dev.
fn limits_of(catalogue: &[u8], provider: &str, model: &str) -> Option<Limits> {
    let provider = format!("\"{}\":", provider);
    let mut found = memchr::memmem::find_iter(catalogue, provider.as_bytes());
    found.find_map(|at| {
        let after = catalogue.get(at + provider.len()..)?;
        let value = Deserializer::from_slice(after)
            .into_iter::<Raw<'_>>()
            .next()?;
        let lost = Lost::default();
        let provider: Provider<'_> = parse(value.ok()?.get(), &lost).ok()?;
        let mut limits = None;
        let mut look = |name: &str, value: Raw<'_>| {
            if name == model {
                let read: Option<Model> = parse(value.get(), &lost).ok();
                limits = read.map(|model| model.limit);
            }
        };
        each_field(provider.models?.get(), &mut look).ok()?;
        let limit: Limit = limits?;
        let some = |count: Count| count.0.filter(|n| *n > 0);
        Some(Limits {
            context: some(limit.context),
            input: some(limit.input),
            output: some(limit.output),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::window::Compaction;

    #[test]
    fn limits_are_the_configs_and_of_models_that_were_used() {
        let project = br#"{"compaction":{"auto":false}, // never
            "provider":{"lab":{"models":{"small":{"limit":{"context":60000,"output":8000}},"plain":{}}}}}"#;
        let user = br#"{"provider":{"hub":{"models":{
            "small":{"limit":{"context":1}},
            "fed":{"limit":{"context":400000,"input":272000,"output":128000}}}},"odd":3}}"#;
        let used = br#"{"recent":[{"providerID":"b","modelID":"large"},{"providerID":"b","modelID":"gone"},7]}"#;
        let models = br#"{ "a": {"id": "a", "models": {"large": {"id": "large", "limit": {"context": 5}}}},
            "b":{"id":"b","models":{"x":{"limit":0},"large":{"limit":{"context":200000,"output":64000}}}}}"#;
        let set = read(&[project, user, used, models], "opencode.json");
        assert_eq!(set.compaction, Compaction::Off);
        let rows = set.models.iter();
        let rows: Vec<_> = rows
            .map(|row| (&*row.id, row.window, row.output, row.limit, row.from))
            .collect();
        assert_eq!(
            rows,
            [
                ("small", Some(60_000), Some(8_000), None, "opencode.json"),
                (
                    "fed",
                    Some(400_000),
                    Some(32_000),
                    Some(252_000),
                    "opencode.json"
                ),
                ("small", Some(1), Some(32_000), None, "opencode.json"),
                ("large", Some(200_000), Some(32_000), None, "models.json"),
            ]
        );
    }

    #[test]
    fn a_reserve_of_ones_own_holds_below_an_input_limit() {
        let user = br#"{"compaction":{"reserved":5000},"provider":{"hub":{"models":{
            "fed":{"limit":{"context":400000,"input":272000,"output":128000}}}}}}"#;
        let set = read(&[user], "kilo.json");
        assert_eq!(set.models[0].limit, Some(267_000));
        assert!(read(&[b"{\"provider\":[]}", b"junk"], "kilo.json").is_empty());
    }

    #[test]
    fn a_catalogue_is_recognised_by_its_first_provider() {
        assert!(is_catalogue(br#"{"a":{"id":"a","#));
        assert!(is_catalogue(b"{\n  \"a\": {\n    \"id\": \"a\""));
        assert!(!is_catalogue(br#"{"a":{"id":"b"}}"#));
        assert!(!is_catalogue(br#"{"provider":{"lab":{}}}"#));
        assert!(!is_catalogue(b""));
    }
}
