//! ouro's `config`: a name and a value a line.

use formats::settings::{Settings, SettingsFile, tokens_of};
use model::window::{Compaction, Overrides};

pub(super) const SETTINGS: Settings = Settings::new(&[SettingsFile::Agent("config")], read);

fn read(files: &[&[u8]]) -> Overrides {
    let lines = files.iter().flat_map(|file| file.split(|b| *b == b'\n'));
    let mut set = Overrides::default();
    for line in lines.filter_map(|line| std::str::from_utf8(line).ok()) {
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        // A hash begins a comment; of two lines the later one applies.
        let value = value.split('#').next().unwrap_or_default().trim();
        match name.trim() {
            "MEMORY_COMPRESSION_THRESHOLD" => set.budget = tokens_of(value),
            "MEMORY_ENABLED" => {
                set.compaction = if value.eq_ignore_ascii_case("true") {
                    Compaction::Usual
                } else {
                    Compaction::Off
                };
            }
            _ => {}
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_and_the_switch() {
        let set =
            read(&[b"# ouro\nTOOL_TIMEOUT=600\nMEMORY_COMPRESSION_THRESHOLD = 90000 # less\n"]);
        assert_eq!(set.budget, Some(90_000));
        assert_eq!(set.compaction, Compaction::Usual);
        assert_eq!(read(&[b"MEMORY_ENABLED=False"]).compaction, Compaction::Off);
        for nothing in [
            &b"MEMORY_COMPRESSION_THRESHOLD=many"[..],
            b"\xff=1\n=",
            b"",
            b"a\nb",
        ] {
            assert!(read(&[nothing]).is_empty());
        }
        assert!(read(&[b"#MEMORY_COMPRESSION_THRESHOLD=5"]).is_empty());
    }
}
