//! The address of a receiver.

use hyper::Uri;

/// The address of a receiver, by HTTP without encryption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    host: String,
    port: u16,
    /// With what stands after it in the address.
    path: String,
}

/// The advice about an address that has encryption.
const NO_TLS: &str = "ctxgauge has no TLS: let a collector on this machine pass the numbers on, and give its address, such as \
                      http://127.0.0.1:4318";

impl Endpoint {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// If it is none, or one that cannot be sent to; the error says what to do, and does not repeat the address, which may
    /// contain a password.
    pub fn read(text: &str) -> Result<Endpoint, String> {
        const EXAMPLE: &str = "it must be an address such as http://127.0.0.1:4318";
        let uri: Uri = text.trim().parse().map_err(|_| EXAMPLE.to_owned())?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(NO_TLS.into()),
            _ => return Err(EXAMPLE.into()),
        }
        let authority = uri.authority().ok_or(EXAMPLE)?;
        if authority.as_str().contains('@') {
            return Err(
                "it must not contain a name or password: OTEL_EXPORTER_OTLP_HEADERS is for those"
                    .into(),
            );
        }
        let host = authority.host();
        if host.is_empty() {
            return Err(EXAMPLE.into());
        }
        let port = match authority.as_str()[host.len()..].strip_prefix(':') {
            Some(port) => port.parse().map_err(|_| EXAMPLE)?,
            None => 80,
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Endpoint {
            host: host.into(),
            port,
            path: if path.starts_with('/') {
                path.into()
            } else {
                format!("/{path}")
            },
        })
    }

    /// Returns the address of one kind of data, below this one.
    pub fn below(&self, path: &str) -> Endpoint {
        let base = self.path.split('?').next().unwrap_or_default();
        Endpoint {
            path: format!("{}{path}", base.trim_end_matches('/')),
            ..self.clone()
        }
    }

    /// Returns the name or address of its machine, as a connection needs it.
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Returns its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns its path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns its machine and port, as a request names them.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// Leaves out the part after a `?`, which may be a key.
impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.split('?').next().unwrap_or_default();
        write!(f, "http://{}{path}", self.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_put_below_the_address() {
        for (base, whole) in [
            ("http://host:4318", "http://host:4318/v1/logs"),
            ("http://host:4318/", "http://host:4318/v1/logs"),
            (" http://host/otlp// ", "http://host:80/otlp/v1/logs"),
            ("http://[::1]:4318/a", "http://[::1]:4318/a/v1/logs"),
        ] {
            let endpoint = Endpoint::read(base).unwrap();
            assert_eq!(endpoint.below("/v1/logs").to_string(), whole);
        }
        let endpoint = Endpoint::read("http://[::1]:4318").unwrap();
        assert_eq!((endpoint.host(), endpoint.port()), ("::1", 4318));
        assert_eq!(endpoint.path(), "/");
    }

    #[test]
    fn what_cannot_be_sent_to_is_refused_with_what_to_do() {
        for (text, why) in [
            ("https://collector:4318", "no TLS"),
            ("localhost:4318", "http://127.0.0.1:4318"),
            ("127.0.0.1", "http://127.0.0.1:4318"),
            ("grpc://host:4317", "http://127.0.0.1:4318"),
            ("http://", "http://127.0.0.1:4318"),
            ("http://host:99999999", "http://127.0.0.1:4318"),
            ("", "http://127.0.0.1:4318"),
            ("http://me:secret@host:4318", "OTEL_EXPORTER_OTLP_HEADERS"),
        ] {
            let error = Endpoint::read(text).unwrap_err();
            assert!(
                error.contains(why) && !error.contains("secret"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn a_key_in_the_address_is_not_shown() {
        let endpoint = Endpoint::read("http://host:1/v1/logs?key=secret").unwrap();
        assert_eq!(endpoint.to_string(), "http://host:1/v1/logs");
        assert_eq!(endpoint.path(), "/v1/logs?key=secret");
    }
}
