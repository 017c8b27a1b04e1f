//! Sends alerts to other channels than the screen: the terminal's bell, desktop notifications, a command of
//! the user.
//!
//! Sequences: OSC 9 of iTerm2 (<https://iterm2.com/documentation-escape-codes.html>), OSC 777 of
//! rxvt-unicode (its `notify` command, a title, a body), OSC 99 of kitty
//! (<https://sw.kovidgoyal.net/kitty/desktop-notifications/>). tmux passes them on where they are
//! wrapped in its own DCS, each escape twice, and `allow-passthrough` is `on` (tmux(1)).

use crate::app::{Alert, Cause, Msg};
use model::due::alerts::{Alerts, Channel};
use render::text;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The longest text of a notification, in columns.
const LONGEST_TEXT: usize = 200;
/// The number of runs of the command that are allowed at once.
const MOST_RUNS: usize = 4;
/// The number of alerts that may wait for a run; more are not sent.
const WAITING_ALERTS: usize = 64;

/// The route of bytes to the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// Directly.
    Direct,
    /// Through tmux.
    Tmux,
}

impl Route {
    /// Returns the route by the environment.
    pub(super) fn of(env: &dyn Fn(&str) -> Option<OsString>) -> Route {
        match env("TMUX") {
            Some(socket) if !socket.is_empty() => Route::Tmux,
            _ => Route::Direct,
        }
    }
}

/// Sends alerts.
pub(super) struct Notifier {
    channels: Vec<Channel>,
    route: Route,
    /// The user's command, which is run for each alert; empty: none. The program does not wait for it to end.
    command: Vec<String>,
    /// The runs that have not ended, and those that wait for a slot.
    runs: JoinSet<Result<(), Problem>>,
    slots: Arc<Semaphore>,
}

impl Notifier {
    /// Returns a notifier for the configured channels.
    pub(super) fn new(wanted: &Alerts, route: Route) -> Notifier {
        Notifier {
            channels: wanted.notify.clone(),
            route,
            command: wanted.command.clone(),
            runs: JoinSet::new(),
            slots: Arc::new(Semaphore::new(MOST_RUNS)),
        }
    }

    /// Sends alerts. The bell rings once for all of them. Needs a runtime.
    pub(super) fn send(&mut self, alerts: &[Alert], out: &mut dyn Write) -> io::Result<()> {
        let mut bytes = String::new();
        for channel in &self.channels {
            match channel {
                Channel::Screen => {}
                Channel::Bell => bytes.push('\x07'),
                Channel::Osc9 | Channel::Osc777 | Channel::Osc99 => {
                    let sequences = alerts
                        .iter()
                        .map(|alert| sequence(*channel, &alert.message, self.route));
                    bytes.extend(sequences);
                }
            }
        }
        alerts.iter().for_each(|alert| self.run_command(alert));
        if bytes.is_empty() {
            return Ok(());
        }
        out.write_all(bytes.as_bytes())?;
        out.flush()
    }

    /// Runs the user's command for an alert, if there is one.
    fn run_command(&mut self, alert: &Alert) {
        let Some(name) = self.command.first() else {
            return;
        };
        if self.runs.len() >= MOST_RUNS + WAITING_ALERTS {
            let what = format!(
                "was not run for an alert: {MOST_RUNS} runs have not finished and {WAITING_ALERTS} wait; \
                make the `command` of [alerts] finish sooner"
            );
            let problem = (PathBuf::from(name), what);
            self.runs.spawn(std::future::ready(Err(problem)));
            return;
        }
        let (words, facts) = (self.command.clone(), facts(alert));
        let slots = Arc::clone(&self.slots);
        self.runs.spawn(async move {
            let _slot = slots.acquire().await;
            run(&words, facts).await
        });
    }

    /// Waits for the next problem of the command.
    pub(super) async fn problem(&mut self) -> Msg {
        while let Some(ended) = self.runs.join_next().await {
            if let Ok(Err((path, what))) = ended {
                return Msg::Problem { path, what };
            }
        }
        std::future::pending().await
    }
}

/// Returns the sequence of a desktop notification. Its text begins with a name: ConEmu reads an OSC 9 that begins with
/// a number as a command.
fn sequence(channel: Channel, message: &str, route: Route) -> String {
    let message = text::cut(message, LONGEST_TEXT).replace(';', ",");
    let plain = match channel {
        Channel::Osc777 => format!("\x1b]777;notify;ctxgauge;{message}\x07"),
        Channel::Osc99 => format!("\x1b]99;;ctxgauge: {message}\x1b\\"),
        _ => format!("\x1b]9;ctxgauge: {message}\x07"),
    };
    match route {
        Route::Direct => plain,
        Route::Tmux => format!("\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b")),
    }
}

/// A path and what is wrong there.
type Problem = (PathBuf, String);

/// Environment variables; those without a value are removed.
type Facts = Vec<(&'static str, Option<OsString>)>;

/// Runs the command and waits for it. It gets the facts in its environment, and no access to the terminal.
async fn run(words: &[String], facts: Facts) -> Result<(), Problem> {
    let Some((name, arguments)) = words.split_first() else {
        return Ok(());
    };
    let mut command = Command::new(name);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for (name, value) in facts {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let what = match command.status().await {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("failed with {status}; try the `command` of [alerts] in a shell"),
        Err(e) => format!("could not be run: {e}; check the program in the `command` of [alerts]"),
    };
    Err((PathBuf::from(name), what))
}

/// The most characters of a text in a variable: the system starts no command with a longer environment.
const FACT_CHARS: usize = 1_000;

/// Returns the facts of an alert for the command. Texts of the log are made safe to print, and cut; the path is exact.
fn facts(alert: &Alert) -> Facts {
    let inert = |text: &str| {
        let inert = text::inert(text);
        let is_long = inert.chars().nth(FACT_CHARS).is_some();
        let sign = is_long.then_some('…');
        OsString::from(
            inert
                .chars()
                .take(FACT_CHARS)
                .chain(sign)
                .collect::<String>(),
        )
    };
    let number = |n: u64| OsString::from(n.to_string());
    let text = |text: &Option<String>| text.as_deref().map(inert);
    let (item_tokens, item_tool) = match &alert.cause {
        Cause::Item { tokens, tool } => (Some(number(*tokens)), text(tool)),
        _ => (None, None),
    };
    let cause: &'static str = (&alert.cause).into();
    let log = alert.log.as_deref();
    vec![
        ("CTXGAUGE_ALERT", Some(cause.into())),
        ("CTXGAUGE_MESSAGE", Some(inert(&alert.message))),
        ("CTXGAUGE_AGENT", Some(alert.agent.into())),
        ("CTXGAUGE_PROJECT", text(&alert.project)),
        ("CTXGAUGE_MODEL", text(&alert.model)),
        ("CTXGAUGE_SESSION", text(&alert.id)),
        (
            "CTXGAUGE_LOG",
            log.map(|path| path.clone().into_os_string()),
        ),
        ("CTXGAUGE_USED", Some(number(alert.used))),
        ("CTXGAUGE_KNOWN", Some(number(alert.known))),
        ("CTXGAUGE_TRIGGER", alert.trigger.map(number)),
        ("CTXGAUGE_WINDOW", Some(number(alert.window))),
        ("CTXGAUGE_PERCENT", Some(number(alert.percent))),
        ("CTXGAUGE_REQUESTS_LEFT", alert.requests_left.map(number)),
        ("CTXGAUGE_MINUTES_LEFT", alert.minutes_left.map(number)),
        ("CTXGAUGE_ITEM_TOKENS", item_tokens),
        ("CTXGAUGE_ITEM_TOOL", item_tool),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::event::{Conversation, is_unsafe_to_show};
    use model::lists::sessions::{FileId, SessionKey};
    use proptest::prelude::*;

    fn alert(message: &str) -> Alert {
        Alert {
            session: SessionKey {
                file: FileId(1),
                conversation: Conversation::Main,
            },
            cause: Cause::Item {
                tokens: 61_000,
                tool: Some("Gr\u{1b}ep".to_owned()),
            },
            message: message.to_owned(),
            agent: "codex",
            project: Some("a\0b".to_owned()),
            model: None,
            id: None,
            log: Some(Arc::new(PathBuf::from("/logs/a.jsonl"))),
            used: 90_000,
            known: 80_000,
            trigger: None,
            window: 200_000,
            percent: 45,
            requests_left: None,
            minutes_left: None,
        }
    }

    fn notifier(channels: &[Channel], command: &[&str], route: Route) -> Notifier {
        let wanted = Alerts {
            notify: channels.to_vec(),
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            ..Alerts::default()
        };
        Notifier::new(&wanted, route)
    }

    fn written(channels: &[Channel], route: Route, messages: &[&str]) -> String {
        let alerts: Vec<Alert> = messages.iter().map(|message| alert(message)).collect();
        let mut out = Vec::new();
        let mut notifier = notifier(channels, &[], route);
        notifier.send(&alerts, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_terminal_gets_its_own_sequence() {
        use Channel::{Bell, Osc9, Osc99, Osc777, Screen};
        let sent = |channel| written(&[channel], Route::Direct, &["shop: a;b"]);
        assert_eq!(sent(Screen), "");
        assert_eq!(sent(Bell), "\x07");
        assert_eq!(sent(Osc9), "\x1b]9;ctxgauge: shop: a,b\x07");
        assert_eq!(sent(Osc777), "\x1b]777;notify;ctxgauge;shop: a,b\x07");
        assert_eq!(sent(Osc99), "\x1b]99;;ctxgauge: shop: a,b\x1b\\");
        assert_eq!(
            written(&[Bell, Osc9], Route::Direct, &["a", "b"]),
            "\x07\x1b]9;ctxgauge: a\x07\x1b]9;ctxgauge: b\x07"
        );
    }

    #[test]
    fn tmux_is_asked_to_pass_it_on() {
        let sent = |channel| written(&[channel], Route::Tmux, &["a"]);
        assert_eq!(sent(Channel::Bell), "\x07");
        assert_eq!(
            sent(Channel::Osc99),
            "\x1bPtmux;\x1b\x1b]99;;ctxgauge: a\x1b\x1b\\\x1b\\"
        );
        let of = |value: Option<&str>| Route::of(&|_| value.map(OsString::from));
        assert_eq!(of(Some("/tmp/tmux-0/default,1,0")), Route::Tmux);
        assert_eq!(of(Some("")), Route::Direct);
        assert_eq!(of(None), Route::Direct);
    }

    #[test]
    fn a_long_message_is_cut() {
        let long = "x".repeat(100_000);
        assert!(written(&[Channel::Osc9], Route::Direct, &[&long]).len() < 2 * LONGEST_TEXT);
    }

    #[test]
    fn facts_are_inert_and_the_unknown_is_not_there() {
        let facts = facts(&alert("shop: \u{1b}]0;x\u{7}"));
        let fact = |name: &str| {
            let (_, value) = facts.iter().find(|(known, _)| *known == name).unwrap();
            value
                .as_ref()
                .map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(fact("CTXGAUGE_ALERT").unwrap(), "item");
        assert_eq!(
            fact("CTXGAUGE_MESSAGE").unwrap(),
            "shop: \u{fffd}]0;x\u{fffd}"
        );
        assert_eq!(fact("CTXGAUGE_PROJECT").unwrap(), "a\u{fffd}b");
        assert_eq!(fact("CTXGAUGE_ITEM_TOOL").unwrap(), "Gr\u{fffd}ep");
        assert_eq!(fact("CTXGAUGE_LOG").unwrap(), "/logs/a.jsonl");
        assert_eq!(fact("CTXGAUGE_PERCENT").unwrap(), "45");
        for unknown in ["MODEL", "SESSION", "TRIGGER", "REQUESTS_LEFT"] {
            assert_eq!(fact(&format!("CTXGAUGE_{unknown}")), None, "{unknown}");
        }
    }

    /// Linux starts no command with a variable of 128 KB.
    #[cfg(unix)]
    #[tokio::test]
    async fn a_long_name_does_not_keep_a_command_from_being_run() {
        let mut long = alert(&"m".repeat(200_000));
        long.project = Some("\u{fc}".repeat(200_000));
        assert_eq!(run(&["true".to_owned()], facts(&long)).await, Ok(()));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_command_sees_the_facts_and_no_others() {
        let facts = || facts(&alert("$(exit 9)"));
        let shell = |script: &str| ["sh", "-c", script].map(str::to_owned);
        let all = "[ \"$CTXGAUGE_MESSAGE$CTXGAUGE_USED\" = '$(exit 9)90000' ] && \
            [ -z \"${CTXGAUGE_MODEL+set}\" ]";
        assert_eq!(run(&shell(all), facts()).await, Ok(()));
        let (path, what) = run(&shell("exit 3"), facts()).await.unwrap_err();
        assert_eq!(path, PathBuf::from("sh"));
        assert!(what.starts_with("failed with exit status: 3"), "{what}");
        let (path, what) = run(&["no-such-program".to_owned()], facts())
            .await
            .unwrap_err();
        assert_eq!(path, PathBuf::from("no-such-program"));
        assert!(what.starts_with("could not be run: "), "{what}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn hanging_commands_are_reported_and_block_nothing() {
        let folder = tempfile::tempdir().unwrap();
        // Ends with the test, whose folder goes away.
        let script = "while [ -d \"$0\" ]; do sleep 0.05; done";
        let command = ["sh", "-c", script, folder.path().to_str().unwrap()];
        let mut notifier = notifier(&[], &command, Route::Direct);
        let many = vec![alert("a"); MOST_RUNS + WAITING_ALERTS + 1];
        notifier.send(&many, &mut Vec::new()).unwrap();
        let Msg::Problem { path, what } = notifier.problem().await else {
            panic!("no problem");
        };
        assert_eq!(path, PathBuf::from("sh"));
        assert!(what.starts_with("was not run"), "{what}");
    }

    proptest! {
        #[test]
        fn a_notification_is_one_sequence_whatever_it_says(
            message in prop_oneof![any::<String>(), "[a-z;\u{1b}\u{7}\u{9c}\u{9d}\\\\\n]{0,300}"],
        ) {
            let frames = [
                (Channel::Osc9, "\x1b]9;", "\x07"),
                (Channel::Osc777, "\x1b]777;notify;ctxgauge;", "\x07"),
                (Channel::Osc99, "\x1b]99;;", "\x1b\\"),
            ];
            for (channel, begin, end) in frames {
                let sent = sequence(channel, &message, Route::Direct);
                let inside = sent.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
                let inside = inside.unwrap();
                prop_assert!(!inside.contains(is_unsafe_to_show), "{:?}", sent);
                prop_assert!(!inside.contains(';'));
                prop_assert!(inside.chars().count() < 5 * LONGEST_TEXT);
                // In tmux no escape is alone before the end.
                let wrapped = sequence(channel, &message, Route::Tmux);
                let inside = wrapped.strip_prefix("\x1bPtmux;").unwrap();
                let inside = inside.strip_suffix("\x1b\\").unwrap();
                prop_assert_eq!(inside.replace("\x1b\x1b", "\x1b"), sent);
                prop_assert!(!inside.replace("\x1b\x1b", "").contains('\x1b'));
            }
        }
    }
}
