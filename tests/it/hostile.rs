//! What reaches the terminal, and how the program behaves as a process: hostile text, closed pipes, signals,
//! terminals of every kind.

mod bytes;
#[cfg(target_os = "linux")]
mod confined;
mod content;
mod locale;
mod messages;
mod pipes;
mod plant;
#[cfg(unix)]
mod run;
mod screen;
#[cfg(unix)]
mod signals;
mod sizes;
mod threats;

/// Waits for a program to end; kills it if it does not.
#[cfg(target_os = "linux")]
fn wait(child: &mut std::process::Child) -> std::process::ExitStatus {
    use std::time::{Duration, Instant};
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            panic!("it never ended");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
