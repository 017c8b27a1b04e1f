//! Windows of single models: those that the user set, and those that the server sent, which Claude Code
//! keeps in its state (`.claude.json`). Source: its bundles of 2.1.183 to 2.1.330.

use super::compact_window;
use decode::lenient::MAX_WINDOW;
use formats::settings::Layers;
use model::window::ModelWindow;
use serde_json::{Map, Value};

/// The smallest window that the server can send.
const LEAST_WINDOW: u64 = 100_000;
/// The user's interface in a terminal, for which a window may differ from the others'.
const SURFACE: &str = "cli";

/// Returns the windows in the settings, by model.
pub(super) fn of_settings(layers: &Layers) -> Vec<ModelWindow> {
    let models = layers.find("/modelSettings", Value::as_object);
    let windows = models.into_iter().flatten().filter_map(|(model, set)| {
        let tokens = compact_window(set.get("autoCompactWindow")?)?;
        let id = model.trim_end_matches("[1m]");
        Some(row(&format!("{id}*"), tokens, "settings.json"))
    });
    windows.collect()
}

/// Returns the windows that the server sent, those that hold first: the experiment's, of the account in use where there
/// is only one, then those of the models.
pub(super) fn of_state(layers: &Layers) -> Vec<ModelWindow> {
    let slots = layers.find("/clientDataCacheSlots", Value::as_object);
    let slots = Vec::from_iter(slots.into_iter().flat_map(Map::values));
    let of_slots = slots.iter().filter_map(|slot| slot.get("data"));
    let cached = layers.find("/clientDataCache", Some);
    let data: Vec<&Value> = match slots.len() {
        1 => of_slots.chain(cached).collect(),
        _ => cached.into_iter().chain(of_slots).collect(),
    };
    let sent = data.iter().filter_map(|data| data.get("rowan_thicket"));
    let sent = sent.filter_map(Value::as_object).flat_map(windows);
    let usual = layers.find("/autoCompactWindowsCache", |value| {
        Some(windows(value.as_object()?))
    });
    sent.chain(usual.into_iter().flatten()).collect()
}

/// Returns the windows of an object with a key per model, each for the id with and without a date.
fn windows(models: &Map<String, Value>) -> Vec<ModelWindow> {
    let rows = models.iter().filter_map(|(model, value)| {
        let tokens = tokens(value).filter(|tokens| (LEAST_WINDOW..=MAX_WINDOW).contains(tokens))?;
        let ids = [model.clone(), format!("{model}-20*")];
        Some(ids.map(|id| row(&id, tokens, ".claude.json")))
    });
    rows.flatten().collect()
}

/// Returns a number, or an object with one per subscription, perhaps others for single interfaces. The subscription
/// cannot be seen, so it is the usual one, or the only one.
fn tokens(value: &Value) -> Option<u64> {
    let Some(tiers) = value.as_object() else {
        return value.as_u64();
    };
    let surface = tiers.get("surfaces").and_then(|all| all.get(SURFACE));
    let own = surface.and_then(Value::as_object).and_then(of_tiers);
    own.or_else(|| of_tiers(tiers))
}

fn of_tiers(tiers: &Map<String, Value>) -> Option<u64> {
    if let Some(usual) = tiers.get("default") {
        return usual.as_u64();
    }
    let mut numbers = tiers.values().filter_map(Value::as_u64);
    numbers.next().filter(|_| numbers.next().is_none())
}

/// Returns the window that compaction uses with models of this pattern.
pub(super) fn row(id: &str, tokens: u64, from: &'static str) -> ModelWindow {
    ModelWindow {
        id: id.to_owned(),
        compact_window: Some(tokens),
        from,
        ..ModelWindow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;

    fn rows(files: &[&str]) -> Vec<(String, u64, &'static str)> {
        let files: Vec<&[u8]> = files.iter().map(|text| text.as_bytes()).collect();
        let rows = read(&files).models.into_iter();
        let rows = rows.filter(|row| !row.id.contains("-20"));
        rows.filter_map(|row| Some((row.id, row.compact_window?, row.from)))
            .collect()
    }

    #[test]
    fn what_the_server_sent_in_all_its_forms() {
        let state = r#"{"clientDataCache":{"rowan_thicket":{
            "claude-opus-5":400000,
            "claude-opus-4-8":{"default":380000,"max":500000,"surfaces":{"cli":{"default":367000}}},
            "claude-fable-5":{"max":420000},
            "claude-sonnet-4-6":99999, "claude-haiku-5-5":"300000", "claude-x":[], "claude-y":{}}},
            "autoCompactWindowsCache":{"claude-sonnet-5":500000}}"#;
        let from = ".claude.json";
        let expected = [
            ("claude-fable-5", 420_000),
            ("claude-opus-4-8", 367_000),
            ("claude-opus-5", 400_000),
            ("claude-sonnet-5", 500_000),
        ];
        let expected = expected.map(|(id, tokens)| (id.to_owned(), tokens, from));
        assert_eq!(rows(&[state]), expected);
    }

    #[test]
    fn the_only_accounts_data_precede_those_without_an_account() {
        let one = r#"{"clientDataCacheSlots":{"a1":{"data":{"rowan_thicket":{"claude-opus-5":300000}}}},
            "clientDataCache":{"rowan_thicket":{"claude-opus-5":400000}}}"#;
        assert_eq!(rows(&[one])[0].1, 300_000);
        let two = one.replace("{\"a1\"", "{\"b2\":{\"data\":{}},\"a1\"");
        assert_eq!(rows(&[&two])[0].1, 400_000);
    }

    #[test]
    fn a_setting_for_a_model_precedes_that_for_all_and_both_the_servers() {
        let set = r#"{"autoCompactWindow":500000,
            "modelSettings":{"claude-opus-5[1m]":{"autoCompactWindow":300000},"claude-x":{"autoCompactWindow":"1M"}}}"#;
        let state = r#"{"autoCompactWindowsCache":{"claude-opus-5":400000}}"#;
        let own = "settings.json";
        let expected = [
            ("claude-opus-5*".to_owned(), 300_000, own),
            ("*".to_owned(), 500_000, own),
            ("claude-opus-5".to_owned(), 400_000, ".claude.json"),
        ];
        assert_eq!(rows(&[set, state]), expected);
        assert_eq!(read(&[set.as_bytes()]).compact_window, None);
        let env = br#"{"env":{"CLAUDE_CODE_AUTO_COMPACT_WINDOW":"600000"}}"#;
        assert_eq!(read(&[set.as_bytes(), env]).compact_window, Some(600_000));
        // "auto": as if it was not set, whatever a weaker file has.
        let auto = br#"{"autoCompactWindow":"auto"}"#;
        assert_eq!(
            read(&[auto, br#"{"autoCompactWindow":500000}"#]).compact_window,
            None
        );
    }
}
