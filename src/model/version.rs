//! Versions of agents, as their logs write them.

/// The numbers of a version, to compare it by: `2.1.39-beta` is 2, 1, 39. Empty where it begins with none.
pub fn numbers(version: &str) -> Vec<u64> {
    version
        .split(['.', '-', '+'])
        .map_while(|part| part.parse().ok())
        .collect()
}

/// Whether a version is newer than another. What has no numbers is not.
pub fn is_newer(version: &str, than: &str) -> bool {
    numbers(version) > numbers(than)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(is_newer("2.1.20", "2.1.9"));
        assert!(is_newer("2.1.39-beta.1", "2.1.20"));
        assert!(!is_newer("2.1.20", "2.1.20"));
        assert!(!is_newer("nightly", "2.1.20"));
    }
}
