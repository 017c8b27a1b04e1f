//! Names, which a log may have of any length.

use super::Event;
use std::borrow::Cow;

/// The most characters of a name: of a model, a tool, a version or a session.
const LONGEST_NAME: usize = 200;

/// Returns a name, cut if it is too long.
pub(super) fn cut(name: &str) -> Cow<'_, str> {
    if name.len() <= LONGEST_NAME {
        return name.into();
    }
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}

/// Cuts the names of an event, but for those of tools.
pub(super) fn cut_all(event: &mut Event) {
    let cut_one = |name: &mut Option<Box<str>>| {
        if let Some(long) = name.as_ref().filter(|name| name.len() > LONGEST_NAME) {
            *name = Some(cut(long).into());
        }
    };
    match event {
        Event::Meta(meta) => {
            cut_one(&mut meta.id);
            cut_one(&mut meta.model);
            cut_one(&mut meta.provider);
            cut_one(&mut meta.version);
            cut_one(&mut meta.parent);
        }
        Event::Usage(usage) => cut_one(&mut usage.model),
        Event::Billed { model, .. } => cut_one(model),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Meta;

    #[test]
    fn long_names_are_cut_at_a_character() {
        let fits = "日".repeat(LONGEST_NAME);
        assert_eq!(cut(&fits), fits);
        assert_eq!(cut(&format!("{fits}x")), format!("{fits}…"));
        let mut event = Event::Meta(Box::new(Meta {
            id: Some("s1".into()),
            model: Some("m".repeat(128 << 10).into()),
            ..Meta::default()
        }));
        cut_all(&mut event);
        let Event::Meta(meta) = event else {
            panic!("another event");
        };
        assert_eq!(meta.id.as_deref(), Some("s1"));
        assert_eq!(
            meta.model.map(|model| model.chars().count()),
            Some(LONGEST_NAME + 1)
        );
    }
}
