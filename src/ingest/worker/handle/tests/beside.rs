//! Tests files beside logs: settings, and the registry of running sessions.

use super::*;

#[test]
fn settings_of_the_agent_and_the_project_reach_the_session_and_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (home, project) = (dir.path().join("home"), dir.path().join("project"));
    let logs = home.join("logs");
    // A project outside of the user's home is believed where the log is in its folder.
    let named = project.to_str().unwrap();
    let of_project = logs.join(named.replace(|c: char| !c.is_alphanumeric(), "-"));
    fs::create_dir_all(&of_project).unwrap();
    fs::create_dir_all(&project).unwrap();
    let log = of_project.join("a.toy");
    fs::write(home.join("settings"), "500").unwrap();
    fs::write(&log, "{\"toy\":7}\n").unwrap();
    let mut watching = Watching::folder(&logs);
    let key = key(&log);
    let window = |tokens: u64| {
        move |sessions: &Sessions| {
            let session = sessions.get(key);
            session.is_some_and(|s| !s.requests().is_empty() && s.limits().window == tokens)
        }
    };
    watching.until("the agent's settings", window(500));
    // Only now it is known where the session works.
    fs::write(project.join("settings"), "900").unwrap();
    let cwd = format!("{{\"cwd\":{:?}}}\n", project.to_str().unwrap());
    append(&log, &cwd);
    watching.until("the project's settings", window(900));
    fs::write(project.join("settings"), "1200").unwrap();
    watching.until("a change of them", window(1200));
    fs::remove_file(project.join("settings")).unwrap();
    watching.until("the agent's again", window(500));
}

#[test]
fn a_session_in_the_registry_of_a_process_is_running_however_old_its_log_is() {
    let dir = tempfile::tempdir().unwrap();
    let (logs, registry) = (dir.path().join("logs"), dir.path().join("running"));
    fs::create_dir_all(&logs).unwrap();
    fs::create_dir_all(&registry).unwrap();
    let week = Duration::from_secs(7 * 24 * 3600);
    let [a, b, c] = ["a", "b", "c"].map(|id| {
        let log = logs.join(format!("{id}.toy"));
        fs::write(&log, "{\"toy\":7}\n").unwrap();
        let file = OpenOptions::new().write(true).open(&log).unwrap();
        file.set_modified(SystemTime::now() - week).unwrap();
        key(&log)
    });
    let own = registry.join(format!("{}.json", std::process::id()));
    let entry = |session: &str| format!("{{\"session\":\"{session}\"}}");
    fs::write(&own, "{\"session\":\"a\",\"busy\":1}").unwrap();
    // No entries: by its name, by its size, and what is no plain file.
    fs::write(registry.join("1.secret.json"), entry("b")).unwrap();
    fs::write(registry.join("+1.json"), entry("b")).unwrap();
    fs::create_dir(registry.join("1.json")).unwrap();
    // No process has such an id.
    let dead = registry.join(format!("{}.json", u32::MAX));
    if cfg!(target_os = "linux") {
        fs::write(&dead, entry("c")).unwrap();
    }
    let mut watching = Watching::folder(&logs);
    let is = move |running| {
        move |sessions: &Sessions| {
            sessions.running(a) == running
                && sessions.running(b).is_none()
                && sessions.running(c).is_none()
                && sessions.contains(a)
        }
    };
    watching.until("the process", is(Some(ProcessActivity::Busy)));
    fs::write(&own, entry("a")).unwrap();
    watching.until("its new status", is(Some(ProcessActivity::Idle)));
    if cfg!(target_os = "linux") {
        // Another process of this id wrote the entry.
        fs::write(&own, "{\"session\":\"a\",\"started\":\"1\"}").unwrap();
        watching.until("the other process", is(None));
        fs::write(&own, entry("a")).unwrap();
        watching.until("the process again", is(Some(ProcessActivity::Idle)));
    }
    let long = " ".repeat(70_000);
    fs::write(&own, format!("{}{long}", entry("a"))).unwrap();
    watching.until("no entry, by its size", is(None));
    fs::write(&own, entry("a")).unwrap();
    watching.until("the entry again", is(Some(ProcessActivity::Idle)));
    fs::remove_file(&own).unwrap();
    watching.until("no entry", is(None));
}
