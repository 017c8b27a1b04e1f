use super::*;

#[test]
fn databases_are_recognised_by_name() {
    let claims = |format: &Format, path: &str| format.claims(Path::new(path)).is_some();
    assert!(claims(&OPENCODE, "/d/opencode/opencode.db"));
    assert!(claims(&OPENCODE, "/d/opencode/opencode-dev.db"));
    assert!(!claims(&OPENCODE, "/d/opencode/opencode.db-wal"));
    assert!(!claims(&OPENCODE, "/d/opencode/opencoder.db"));
    assert!(claims(&KILO, "/d/kilo/kilo.db"));
    assert!(!claims(&KILO, "/d/opencode/opencode.db"));
}
