//! Copies to the buffer of tmux, from which its users paste. With its usual settings tmux takes no text from the sequence
//! of [`super::clipboard`]; its own command also passes the text on to its terminal (`load-buffer -w`, tmux(1)).

use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// The time in which tmux must have taken the text. It needs some milliseconds.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Gives a text to tmux, whose program and first arguments these words are. It prints nothing to the screen.
///
/// # Errors
///
/// Returns the reason if tmux did not take the text.
pub(super) async fn load(words: &[&str], text: &str) -> Result<(), String> {
    let (name, first) = words.split_first().ok_or("no program is named")?;
    let mut command = Command::new(name);
    command
        .args(first)
        .args(["load-buffer", "-w", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child = command
        .spawn()
        .map_err(|e| format!("could not run {name}: {e}"))?;
    let taken = async {
        if let Some(mut stdin) = child.stdin.take() {
            // A program that ends early says why by its status.
            let _ = stdin.write_all(text.as_bytes()).await;
        }
        child.wait().await
    };
    match timeout(LONGEST_WAIT, taken).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("{name} load-buffer ended with {status}")),
        Ok(Err(e)) => Err(format!("could not wait for {name}: {e}")),
        Err(_) => Err(format!(
            "{name} took nothing for {} s",
            LONGEST_WAIT.as_secs()
        )),
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use super::*;

    #[cfg(unix)]
    fn run(words: &[&str], text: &str) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(load(words, text))
    }

    #[cfg(unix)]
    #[test]
    fn the_text_is_passed_whole() {
        // It reads after a while, and more than a pipe holds.
        let script = "sleep 0.01; [ $(wc -c) -eq 350000 ]";
        let text = "a line\n".repeat(50_000);
        assert_eq!(run(&["sh", "-c", script], &text), Ok(()));
        assert!(run(&["sh", "-c", script], "short").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_failure_is_said_and_nothing_is_waited_for_long() {
        let long = "x".repeat(1_000_000);
        let error = run(&["no-such-program"], "a").unwrap_err();
        assert!(
            error.starts_with("could not run no-such-program"),
            "{error}"
        );
        let error = run(&["sh", "-c", "exit 1"], &long).unwrap_err();
        assert_eq!(error, "sh load-buffer ended with exit status: 1");
        let error = run(&["sh", "-c", "exec sleep 1000"], &long).unwrap_err();
        assert_eq!(error, "sh took nothing for 2 s");
    }
}
