//! Versions of agents, as their logs write them.

/// Returns the numbers of a version, to compare it by: `2.1.39-beta` is 2, 1, 39. Empty where it begins with none.
pub fn numbers(version: &str) -> Vec<u64> {
    version
        .split(['.', '-', '+'])
        .map_while(|part| part.parse().ok())
        .collect()
}

/// Returns true if a version is newer than another. A version without numbers is not.
pub fn is_newer(version: &str, than: &str) -> bool {
    numbers(version) > numbers(than)
}

/// Returns true if a rule that holds up to a version holds for this one. A version that is not known is taken for the
/// newest.
pub fn is_up_to(version: Option<&str>, newest: Option<&str>) -> bool {
    newest.is_none_or(|newest| {
        let version = version.filter(|version| !numbers(version).is_empty());
        version.is_some_and(|version| !is_newer(version, newest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;
    use crate::window::{ProvenVersion, Rules};
    use std::sync::Arc;

    #[test]
    fn a_session_of_a_newer_version_than_the_proven_one() {
        let of = |version: &str| {
            let proven = ProvenVersion {
                version: "2.1.20".into(),
            };
            let rules = Rules {
                proven: [("tested".into(), proven)].into(),
                ..Rules::default()
            };
            let mut session = Session::new("tested", Arc::new(rules));
            session.meta.version = Some(version.into());
            session.gauge().newer_than_proven().map(str::to_owned)
        };
        assert_eq!(of("2.1.21"), Some("2.1.20".into()));
        assert_eq!((of("2.1.20"), of("nightly")), (None, None));
    }

    #[test]
    fn versions_compare_as_numbers() {
        assert!(is_newer("2.1.20", "2.1.9"));
        assert!(is_newer("2.1.39-beta.1", "2.1.20"));
        assert!(!is_newer("2.1.20", "2.1.20"));
        assert!(!is_newer("nightly", "2.1.20"));
    }
}
