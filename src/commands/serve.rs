//! `ctxgauge serve`.

use super::metrics::Named;
#[cfg(feature = "otlp")]
use super::metrics::salt;
use super::options::MonitorOptions;
use super::{Call, Run};
use ::metrics::Followed;
#[cfg(feature = "otlp")]
use ::metrics::otlp::{Endpoint, push, settings};
use ::metrics::server::{self, listen};
use anyhow::Result;
use clap::Args;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

/// `ctxgauge serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// The address and port to listen at. Other machines can ask where it is not a loopback address; there is no password.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9799", value_parser = address)]
    pub listen: SocketAddr,
    /// Push the numbers, and each compaction, to this receiver of OpenTelemetry too, by OTLP over HTTP. Without this, the
    /// variable OTEL_EXPORTER_OTLP_ENDPOINT and those beside it decide.
    #[cfg(feature = "otlp")]
    #[arg(long, value_name = "URL", value_parser = Endpoint::read)]
    pub otlp: Option<Endpoint>,
    /// The sessions and their names.
    #[command(flatten)]
    pub sessions: Named,
}

/// The work beside answering, until the end.
type Beside = Pin<Box<dyn Future<Output = ()> + Send>>;

#[cfg(feature = "otlp")]
impl Serve {
    /// Prepares to push, where that is asked for, and returns a line that says where to.
    fn push(&self, call: &mut Call<'_>, followed: &Arc<Followed>) -> Result<(Beside, String)> {
        let instance = || Ok::<_, anyhow::Error>(salt(call.user)?.instance());
        let lookup = call.user.env.look_up();
        let (settings, notes) = settings(self.otlp.as_ref(), &lookup, instance)?;
        for note in notes {
            writeln!(call.err, "warning: {note}")?;
        }
        let Some(settings) = settings else {
            return Ok((Box::pin(std::future::ready(())), String::new()));
        };
        let targets = [&settings.metrics, &settings.logs].into_iter().flatten();
        let places: Vec<String> = targets.map(|of| of.endpoint.to_string()).collect();
        let why = match self.otlp {
            Some(_) => "",
            None => ", as variables of OpenTelemetry say; OTEL_SDK_DISABLED=true prevents it",
        };
        let line = format!("pushing to {}{why}\n", places.join(" and "));
        Ok((Box::pin(push(followed, settings)), line))
    }
}

#[cfg(not(feature = "otlp"))]
impl Serve {
    fn push(&self, _call: &mut Call<'_>, _followed: &Arc<Followed>) -> Result<(Beside, String)> {
        Ok((Box::pin(std::future::ready(())), String::new()))
    }
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
        let (beside, more) = self.push(call, &begun.followed)?;
        // Whoever started it may not read on after the first line.
        let text = format!("listening at http://{address}/metrics\n{more}");
        let _ = call.out.write_all(text.as_bytes());
        let _ = call.out.flush();
        let err = &mut *call.err;
        begun.run(|followed| server::run(listener, followed, beside, err))
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
