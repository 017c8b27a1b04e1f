//! The settings of OpenCode and the Kilo CLI: `opencode.json` and `kilo.json`, those of the project first, and the
//! limits of the models that were used lately in their copy of models.dev.
//!
//! After OpenCode's `config/config.ts`, `provider/models.ts` and `session/overflow.ts`. Providers give one
//! model different limits: of all models in the copy only those count whose provider is in the list of models that were used
//! lately.
//!
//! A model gets pictures if `image` is among the modalities of its input, and PDF files if `pdf` is: by the settings, or
//! else by models.dev. If neither says so (`provider/provider.ts`), a note is sent in the place of each
//! (`provider/transform.ts`).

use decode::lenient::{Count, LostFields, Raw, Text, parse, record};
use formats::head;
use formats::settings::{Layers, Settings, SettingsFile, tokens};
use json::each_field;
use model::sizes::pictures::{Media, Pictures};
use model::window::{ModelWindow, Overrides};
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

/// The distance below a model's input limit at which it compacts, in tokens, unless its output is smaller.
const RESERVED: u64 = 20_000;
/// The largest output that is asked for.
const OUTPUT: u64 = 32_000;

fn read(files: &[&[u8]], name: &'static str) -> Overrides {
    let (catalogues, configs): (Vec<&[u8]>, Vec<&[u8]>) =
        files.iter().partition(|file| is_catalogue(file));
    let layers = Layers::jsonc(&configs);
    let reserved = layers.tokens("/compaction/reserved");
    let mut models = Vec::new();
    for (provider_id, provider) in layers.fields("/provider") {
        let own = provider.get("models").and_then(Value::as_object);
        for (id, model) in own.into_iter().flatten() {
            let limit = |name: &str| model.pointer(&format!("/limit/{name}")).and_then(tokens);
            let limits = Limits {
                context: limit("context"),
                input: limit("input"),
                output: limit("output"),
                pictures: pictures_of(model).unwrap_or_else(|| {
                    // Providers of models.dev need no package of their own.
                    let is_own = provider.get("npm").is_some_and(Value::is_string);
                    let listed = || look_up(&catalogues, provider_id, id);
                    if is_own {
                        listed().map_or_else(|| pictures(|_| false), |model| model.pictures)
                    } else {
                        Media::default()
                    }
                }),
            };
            models.extend(limits.row((provider_id, id), reserved, name));
        }
    }
    let recent = layers.find("/recent", Value::as_array);
    for entry in recent.into_iter().flatten() {
        let name = |key: &str| entry.get(key).and_then(Value::as_str);
        if let (Some(provider), Some(model)) = (name("providerID"), name("modelID")) {
            let limits = look_up(&catalogues, provider, model);
            let row =
                limits.and_then(|limits| limits.row((provider, model), reserved, "models.json"));
            models.extend(row);
        }
    }
    let percent = layers.find("/compaction/threshold_percent", Value::as_f64);
    let percent = percent.filter(|percent| (1.0..=100.0).contains(percent));
    Overrides {
        compaction: layers.compaction("/compaction/auto"),
        // Kilo's alone.
        share: percent.map(|percent| percent / 100.0),
        models,
        ..Overrides::default()
    }
}

/// Returns the treatment of pictures and documents by a model in the settings; `None`: they do not name its modalities.
fn pictures_of(model: &Value) -> Option<Media<Pictures>> {
    let input = model.pointer("/modalities/input")?.as_array()?;
    Some(pictures(|wanted| {
        let mut names = input.iter().filter_map(Value::as_str);
        names.any(|name| name == wanted)
    }))
}

/// Returns the treatment of pictures and documents. `has` returns true for the names of the model's modalities.
fn pictures(has: impl Fn(&str) -> bool) -> Media<Pictures> {
    let by = |name| {
        if has(name) {
            Pictures::Sent
        } else {
            Pictures::Replaced
        }
    };
    Media {
        images: by("image"),
        documents: by("pdf"),
    }
}

/// The limits of a model, in tokens, and whether it gets pictures.
#[derive(Clone, Copy)]
struct Limits {
    context: Option<u64>,
    input: Option<u64>,
    output: Option<u64>,
    pictures: Media<Pictures>,
}

impl Limits {
    fn row(
        self,
        (provider, id): (&str, &str),
        reserved: Option<u64>,
        from: &'static str,
    ) -> Option<ModelWindow> {
        if self.context.is_none() && self.pictures == Media::default() {
            return None;
        }
        let output = self.output.unwrap_or(OUTPUT).min(OUTPUT);
        let reserved = reserved.unwrap_or(RESERVED.min(output));
        Some(ModelWindow {
            id: id.to_owned(),
            provider: provider.to_owned(),
            window: self.context,
            output: self.context.and(Some(output)),
            limit: self
                .context
                .and(self.input)
                .map(|input| input.saturating_sub(reserved)),
            pictures: self.pictures,
            from,
            ..ModelWindow::default()
        })
    }
}

/// Returns true if a file is the copy of models.dev: `{"<id>": {"id": "<id>", …`. It has megabytes and is not parsed as
/// a whole.
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

    struct Model<'a> {
        limit: Limit,
        inputs: Vec<Text<'a>> = "modalities" / "input",
    }

    struct Limit {
        context: Count,
        input: Count,
        output: Count,
    }
}

fn look_up(catalogues: &[&[u8]], provider: &str, model: &str) -> Option<Limits> {
    catalogues
        .iter()
        .find_map(|c| limits_of(c, provider, model))
}

/// Returns the limits of a provider's model in a copy of models.dev.
fn limits_of(catalogue: &[u8], provider: &str, model: &str) -> Option<Limits> {
    let provider = format!("\"{}\":", provider);
    let mut found = memchr::memmem::find_iter(catalogue, provider.as_bytes());
    found.find_map(|at| {
        let after = catalogue.get(at + provider.len()..)?;
        let value = Deserializer::from_slice(after)
            .into_iter::<Raw<'_>>()
            .next()?;
        let lost = LostFields::default();
        let provider: Provider<'_> = parse(value.ok()?.get(), &lost).ok()?;
        let mut limits = None;
        let some = |count: Count| count.0.filter(|n| *n > 0);
        let mut look = |name: &str, value: Raw<'_>| {
            if name == model {
                let read: Option<Model<'_>> = parse(value.get(), &lost).ok();
                limits = read.map(|Model { limit, inputs }| Limits {
                    context: some(limit.context),
                    input: some(limit.input),
                    output: some(limit.output),
                    pictures: pictures(|wanted| {
                        inputs.iter().any(|name| name.get() == Some(wanted))
                    }),
                });
            }
        };
        each_field(provider.models?.get(), &mut look).ok()?;
        limits
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::window::Compaction;

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
    fn pictures_are_sent_if_the_settings_or_the_catalogue_say_so() {
        let project = br#"{"provider":{
            "own":{"npm":"a-package","models":{"plain":{},"sees":{"modalities":{"input":["text","image"]}},
                "reads":{"limit":{"context":9000},"modalities":{"input":["text","pdf"]}}}},
            "known":{"npm":"a-package","models":{"eyes":{}}},
            "hub":{"models":{"other":{}}}}}"#;
        let models =
            br#"{"known":{"id":"known","models":{"eyes":{"modalities":{"input":["text","image"]}},
            "blind":{"limit":{"context":5000},"modalities":{"input":["text"]}}}}}"#;
        let used = br#"{"recent":[{"providerID":"known","modelID":"blind"}]}"#;
        use Pictures::{Replaced, Sent};
        let set = read(&[project, used, models], "opencode.json");
        let rows = set.models.iter();
        let rows: Vec<_> = rows
            .map(|row| {
                (
                    &*row.id,
                    row.pictures.images,
                    row.pictures.documents,
                    row.window,
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("eyes", Sent, Replaced, None),
                ("plain", Replaced, Replaced, None),
                ("reads", Replaced, Sent, Some(9_000)),
                ("sees", Sent, Replaced, None),
                ("blind", Replaced, Replaced, Some(5_000)),
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
