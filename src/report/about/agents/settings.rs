//! Names the places where agents' settings are looked for.

use formats::Format;
use formats::facts::folder;
use formats::settings::SettingsFile;

/// Returns the files and variables that an agent's windows and triggers are read from, as people write them, those with
/// precedence first.
pub(super) fn places(format: &Format) -> Vec<String> {
    let Some(settings) = format.settings else {
        return Vec::new();
    };
    let agent = format.roots.first().and_then(|root| folder(root.base));
    let agent = agent.as_deref().unwrap_or("its folder");
    let place = |file: &SettingsFile| match file {
        SettingsFile::Agent(name) => format!("{agent}/{name}"),
        SettingsFile::Beside(name) => {
            let folder = agent.rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{folder}/{name}")
        }
        SettingsFile::NearLog(name) => format!("../{name} beside the folder of a log"),
        SettingsFile::Project(name) => format!("{name} in the project"),
        SettingsFile::Machine {
            unix,
            macos,
            windows,
        } => (*files::of_system(unix, macos, windows)).to_owned(),
    };
    let variables = settings.env.iter().map(|name| format!("${name}"));
    settings.files.iter().map(place).chain(variables).collect()
}
