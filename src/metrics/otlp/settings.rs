//! Decides where to and how numbers are pushed: by the option `--otlp` and the variables that the specification of OpenTelemetry names.
//!
//! The variables may be meant for an agent in the same shell. None of them ends the program: one that is not understood, or
//! that asks for what there is not, is named with what was done.

use super::endpoint::Endpoint;
use super::wire::Encoding;
use hyper::header::{HeaderName, HeaderValue};
use std::ffi::OsString;
use std::time::Duration;

/// The pause between two pushes of all numbers.
const EVERY: Duration = Duration::from_secs(60);
/// The shortest one: the numbers of a thousand sessions take 50 ms.
const SHORTEST: Duration = Duration::from_millis(100);
/// The time for which an answer is waited for.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The time that stands for no limit.
const NO_TIMEOUT: Duration = Duration::from_secs(3_600);
/// The beginning of the names of most variables.
const PREFIX: &str = "OTEL_EXPORTER_OTLP_";

/// Looks up a variable; an empty one is not there.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The receivers, and what they get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The receiver of the numbers; `None`: they are not sent.
    pub metrics: Option<Target>,
    /// The receiver of the compactions; `None`: they are not sent.
    pub logs: Option<Target>,
    /// The pause between two pushes of all numbers.
    pub every: Duration,
    /// The attributes of this program and machine.
    pub resource: Vec<(String, String)>,
}

/// A receiver, and how it is sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its address.
    pub endpoint: Endpoint,
    /// The encoding that it gets.
    pub encoding: Encoding,
    /// Headers that the user adds.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The time for which an answer is waited for.
    pub timeout: Duration,
}

/// A kind of data.
#[derive(Debug, Clone, Copy)]
enum Signal {
    Metrics,
    Logs,
}

impl Signal {
    /// Returns its part of the names of variables.
    fn variable(self) -> &'static str {
        match self {
            Signal::Metrics => "METRICS",
            Signal::Logs => "LOGS",
        }
    }

    /// Returns its path below the address of a receiver.
    fn path(self) -> &'static str {
        match self {
            Signal::Metrics => "/v1/metrics",
            Signal::Logs => "/v1/logs",
        }
    }
}

/// The variables, and what there is to say of them.
struct Variables<'a> {
    lookup: Lookup<'a>,
    notes: Vec<String>,
}

/// Returns what is to be pushed, and what there is to say of it; `None`: nothing is. `instance` returns a name that
/// distinguishes this machine from others.
///
/// # Errors
///
/// If there is no such name.
pub fn settings<E>(
    option: Option<&Endpoint>,
    lookup: Lookup<'_>,
    instance: impl FnOnce() -> Result<String, E>,
) -> Result<(Option<Settings>, Vec<String>), E> {
    let mut variables = Variables {
        lookup,
        notes: Vec::new(),
    };
    let mut settings = variables.settings(option);
    if let Some(settings) = &mut settings {
        settings.add("service.instance.id", &instance()?);
    }
    let mut notes = variables.notes;
    // A variable for all kinds of data is read for each.
    let mut seen = Vec::new();
    notes.retain(|note| {
        let is_new = !seen.contains(note);
        seen.push(note.clone());
        is_new
    });
    Ok((settings, notes))
}

impl Settings {
    /// Adds an attribute that the user has not given.
    fn add(&mut self, key: &str, value: &str) {
        if self.resource.iter().all(|(given, _)| given != key) {
            self.resource.push((key.into(), value.into()));
        }
    }
}

impl Variables<'_> {
    fn settings(&mut self, option: Option<&Endpoint>) -> Option<Settings> {
        let is_asked_for = option.is_some()
            || ["ENDPOINT", "METRICS_ENDPOINT", "LOGS_ENDPOINT"]
                .iter()
                .any(|name| self.text(&format!("{PREFIX}{name}")).is_some());
        if !is_asked_for {
            return None;
        }
        if self.is_true("OTEL_SDK_DISABLED") {
            if option.is_some() {
                self.note("OTEL_SDK_DISABLED is true: nothing is pushed");
            }
            return None;
        }
        let metrics = self.target(Signal::Metrics, option);
        let logs = self.target(Signal::Logs, option);
        if metrics.is_none() && logs.is_none() {
            if option.is_some() {
                self.note(
                    "OTEL_METRICS_EXPORTER and OTEL_LOGS_EXPORTER are none: nothing is pushed",
                );
            }
            return None;
        }
        let mut settings = Settings {
            metrics,
            logs,
            every: self.every(),
            resource: self.resource(),
        };
        settings.add("service.name", "ctxgauge");
        settings.add("service.version", env!("CARGO_PKG_VERSION"));
        Some(settings)
    }

    /// Returns the receiver of a kind of data; `None`: it is not sent.
    fn target(&mut self, signal: Signal, option: Option<&Endpoint>) -> Option<Target> {
        let exporter = format!("OTEL_{}_EXPORTER", signal.variable());
        if let Some(exporter) = self.text(&exporter) {
            let mut all = exporter.split(',').map(str::trim);
            // An agent may be told to do something else instead. The receiver that is named here is pushed to.
            let is_off = match option {
                Some(_) => all.all(|one| one == "none"),
                None => all.all(|one| one != "otlp"),
            };
            if is_off {
                return None;
            }
        }
        let endpoint = match option {
            Some(option) => option.below(signal.path()),
            None => self.endpoint(signal)?,
        };
        let encoding = self.encoding(signal, option.is_some())?;
        Some(Target {
            endpoint,
            encoding,
            headers: self.headers(signal),
            timeout: self.timeout(signal),
        })
    }

    fn endpoint(&mut self, signal: Signal) -> Option<Endpoint> {
        let (name, text) = self.of_signal(signal, "ENDPOINT")?;
        match Endpoint::read(&text) {
            // The address of a kind of data is used as it is.
            Ok(endpoint) if name.contains(signal.variable()) => Some(endpoint),
            Ok(endpoint) => Some(endpoint.below(signal.path())),
            Err(why) => {
                self.note(format!("{name} is not used: {why}"));
                None
            }
        }
    }

    /// Returns the encoding; `None`: the variables ask for another protocol, which is meant for an address of that protocol.
    fn encoding(&mut self, signal: Signal, is_named: bool) -> Option<Encoding> {
        let Some((name, text)) = self.of_signal(signal, "PROTOCOL") else {
            return Some(Encoding::Protobuf);
        };
        let all = [Encoding::Protobuf, Encoding::Json];
        let known = all.into_iter().find(|one| text == <&str>::from(*one));
        if known.is_some() {
            return known;
        }
        let text = text.escape_debug();
        let known = "ctxgauge speaks http/protobuf and http/json";
        if is_named {
            self.note(format!(
                "{name} is {text}, which is not used: {known}, and --otlp gets http/protobuf"
            ));
            Some(Encoding::Protobuf)
        } else {
            self.note(format!(
                "{name} is {text}: {known}, so nothing is pushed there; --otlp gives another address"
            ));
            None
        }
    }

    fn headers(&mut self, signal: Signal) -> Vec<(HeaderName, HeaderValue)> {
        let Some((name, text)) = self.of_signal(signal, "HEADERS") else {
            return Vec::new();
        };
        let mut headers = Vec::new();
        for (nth, pair) in pairs(&text).enumerate() {
            let header = pair.and_then(|(name, value)| {
                let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
                let mut value = HeaderValue::from_str(&value).ok()?;
                value.set_sensitive(true);
                Some((name, value))
            });
            match header {
                Some(header) => headers.push(header),
                // It may be a password.
                None => self.note(format!("{name}: header {} is not used", nth + 1)),
            }
        }
        headers
    }

    fn timeout(&mut self, signal: Signal) -> Duration {
        match self.of_signal(signal, "TIMEOUT") {
            Some((name, text)) => match self.millis(&name, &text) {
                Some(Duration::ZERO) => NO_TIMEOUT,
                Some(time) => time.min(NO_TIMEOUT),
                None => TIMEOUT,
            },
            None => TIMEOUT,
        }
    }

    fn every(&mut self) -> Duration {
        let name = "OTEL_METRIC_EXPORT_INTERVAL";
        let Some(text) = self.text(name) else {
            return EVERY;
        };
        match self.millis(name, &text) {
            Some(every) if every < SHORTEST => {
                self.note(format!("{name} is not used: it is less than 100 ms"));
                EVERY
            }
            Some(every) => every,
            None => EVERY,
        }
    }

    /// Returns the attributes of this program and machine that the user gives.
    fn resource(&mut self) -> Vec<(String, String)> {
        let name = "OTEL_RESOURCE_ATTRIBUTES";
        let given = self.text(name).unwrap_or_default();
        let mut all: Vec<(String, String)> = match pairs(&given).collect() {
            Some(all) => all,
            None => {
                self.note(format!(
                    "{name} is not used: it must be key=value,key=value"
                ));
                Vec::new()
            }
        };
        if let Some(service) = self.text("OTEL_SERVICE_NAME") {
            all.retain(|(key, _)| key != "service.name");
            all.push(("service.name".into(), service));
        }
        all
    }

    /// Returns the variable for a kind of data, else the one for all, with its name.
    fn of_signal(&mut self, signal: Signal, what: &str) -> Option<(String, String)> {
        let names = [
            format!("{PREFIX}{}_{what}", signal.variable()),
            format!("{PREFIX}{what}"),
        ];
        let mut names = names.into_iter();
        names.find_map(|name| {
            let text = self.text(&name)?;
            Some((name, text))
        })
    }

    fn text(&self, name: &str) -> Option<String> {
        let value = (self.lookup)(name)?;
        Some(value.to_str()?.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn is_true(&self, name: &str) -> bool {
        let text = self.text(name);
        text.is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }

    fn millis(&mut self, name: &str, text: &str) -> Option<Duration> {
        let millis = text.parse().ok().map(Duration::from_millis);
        if millis.is_none() {
            self.note(format!(
                "{name} is not used: it must be a number of milliseconds"
            ));
        }
        millis
    }

    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// Returns the pairs of a list as `a=1,b=2`, whose values may have bytes as `%20`; `None`: one that is none.
fn pairs(text: &str) -> impl Iterator<Item = Option<(String, String)>> {
    let all = text.split(',').map(str::trim);
    all.filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=')?;
        let key = decoded(key.trim())?;
        Some((key, decoded(value.trim())?)).filter(|(key, _)| !key.is_empty())
    })
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
