//! `ctxgauge serve`.

use super::metrics::Named;
use super::options::MonitorOptions;
use super::{Call, Run};
use ::metrics::server::{self, listen};
use anyhow::Result;
use clap::Args;
use std::net::SocketAddr;

/// `ctxgauge serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// The address and port to listen at. Other machines can ask where it is not a loopback address; there is no password.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9799", value_parser = address)]
    pub listen: SocketAddr,
    /// The sessions and their names.
    #[command(flatten)]
    pub sessions: Named,
}

impl Run for Serve {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.sessions.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        // Before anything is read: a port that is in use is said at once.
        let listener = listen(self.listen)?;
        let begun = self.sessions.begin(call)?;
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() {
            writeln!(
                call.err,
                "warning: other machines can ask at {address}, without a password: for how full each session is, for agents \
                 and models{}",
                if self.sessions.labels.is_empty() {
                    ""
                } else {
                    ", and for the labels that you added"
                }
            )?;
        }
        // Whoever started it may not read that line.
        let _ = writeln!(call.out, "listening at http://{address}/metrics");
        let _ = call.out.flush();
        let err = &mut *call.err;
        begun.run(|followed| server::run(listener, followed, err))
    }
}

/// Reads an address with its port.
fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let text = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    text.parse().map_err(
        |_| "not an address of this machine with a port, such as 127.0.0.1:9799 or [::1]:9799",
    )
}
