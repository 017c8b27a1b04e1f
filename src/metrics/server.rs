//! A small server for Prometheus, on a loopback address unless the user gives another.
//!
//! It reads nothing but the head of a request, and answers each with the numbers of that moment. Whoever asks slowly, often
//! or with large heads costs a bounded amount of time and memory, and never keeps the logs from being followed: the server
//! has one thread, which is none of those.

use crate::followed::Followed;
use crate::pages::Pages;
use crate::text::{Format, text};
use anyhow::{Context, Result, anyhow};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderName,
    HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use ingest::bytes::sync::lock;
use report::print_problems;
use std::convert::Infallible;
use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// The most connections at a time; others wait until the system refuses them.
const CONNECTIONS: usize = 64;
/// The time in which a request must have come.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// The most bytes of the head of a request.
const HEAD_BYTES: usize = 16 << 10;
/// The time in which an answer must have been read.
const CONNECTION_TIME: Duration = Duration::from_secs(20);
/// The time for which an answer is given again. It is shared by all who ask meanwhile.
const FRESH: Duration = Duration::from_millis(250);
/// The pause after a connection could not be accepted: the program may have no more files for a while.
const PAUSE: Duration = Duration::from_millis(100);

/// Begins to listen at an address.
///
/// # Errors
///
/// If that is not possible; the error says what to do.
pub fn listen(address: SocketAddr) -> Result<TcpListener> {
    let listener = TcpListener::bind(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            let other = SocketAddr::new(address.ip(), address.port().wrapping_add(1).max(1_024));
            anyhow!(
                "{address} is in use, perhaps by another `ctxgauge serve`: end that one, or give another port, such as \
                 --listen {other}"
            )
        }
        ErrorKind::PermissionDenied => anyhow!(
            "{address} may not be used: ports below 1024 are the administrator's; give a larger one, such as \
             --listen {}:9799",
            address.ip()
        ),
        ErrorKind::AddrNotAvailable => anyhow!(
            "{address} is no address of this machine; --listen 0.0.0.0:{} means all that it has",
            address.port()
        ),
        _ => anyhow!("could not listen at {address}: {error}"),
    })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The state that all connections share.
struct Server {
    followed: Arc<Followed>,
    /// The pages for a browser; `None`: there are none.
    pages: Option<Arc<Pages>>,
    /// True if only this machine can ask.
    is_loopback: bool,
    /// The newest answers, by [format](Format).
    answers: Mutex<[Option<(Instant, Bytes)>; 2]>,
}

impl Server {
    /// Returns the numbers as text.
    fn numbers(&self, format: Format) -> Result<Bytes> {
        let mut kept = lock(&self.answers);
        let kept = &mut kept[format as usize];
        if let Some((_, text)) = kept.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(text.clone());
        }
        let text = Bytes::from(text(self.followed.snapshot(), format)?);
        *kept = Some((Instant::now(), text.clone()));
        Ok(text)
    }
}

/// Answers requests until the end. Prints the logs that cannot be read on `err`.
///
/// # Errors
///
/// If the system has no means to wait for connections, or `err` cannot be written to.
pub fn run(
    listener: TcpListener,
    (followed, pages): (&Arc<Followed>, Option<Pages>),
    err: &mut dyn Write,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .context("could not start the server")?;
    runtime.block_on(accept(listener, (followed, pages), err))
}

async fn accept(
    listener: TcpListener,
    (followed, pages): (&Arc<Followed>, Option<Pages>),
    err: &mut dyn Write,
) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let server = Arc::new(Server {
        followed: Arc::clone(followed),
        pages: pages.map(Arc::new),
        is_loopback: listener.local_addr()?.ip().is_loopback(),
        answers: Mutex::default(),
    });
    let next = async || -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
        let place = Arc::clone(&places).acquire_owned().await;
        let place = place.map_err(io::Error::other)?;
        let (stream, _) = listener.accept().await?;
        Ok((stream, place))
    };
    while !followed.is_ended() {
        let accepted = tokio::select! {
            () = followed.noted() => None,
            accepted = next() => Some(accepted),
        };
        match accepted {
            None => print_problems(&followed.problems(), err)?,
            Some(Ok((stream, place))) => {
                let server = Arc::clone(&server);
                tokio::spawn(async move {
                    let _ = timeout(CONNECTION_TIME, answer(stream, server)).await;
                    drop(place);
                });
            }
            Some(Err(_)) => sleep(PAUSE).await,
        }
    }
    Ok(())
}

/// Answers the request of a connection. A connection has one: a store asks every few seconds, and what waits for another
/// request would keep a place.
async fn answer(stream: TcpStream, server: Arc<Server>) {
    let answer = |request: Request<Incoming>| {
        let server = Arc::clone(&server);
        async move { Ok::<_, Infallible>(respond(&request, &server).await) }
    };
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service_fn(answer));
    // The other end may have gone at any time.
    let _ = served.await;
}

/// Returns true if a request is for the name of a web site. A page that a browser shows can ask under a name that its
/// owner has made to lead to this machine, and would then read the answer. Addresses, and names that lead only to machines
/// nearby, no site has.
fn is_for_web_site(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_end_matches('.');
    let in_brackets = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    let is_address = match in_brackets {
        Some(name) => name.parse::<Ipv6Addr>().is_ok(),
        None => name.parse::<IpAddr>().is_ok(),
    };
    let is_near = |end: &str| name.to_ascii_lowercase().ends_with(end);
    !is_address
        && name.contains('.')
        && ![".internal", ".local", ".localhost"]
            .iter()
            .any(|end| is_near(end))
}

async fn respond(request: &Request<Incoming>, server: &Server) -> Response<Full<Bytes>> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let host = request.headers().get(HOST).map(HeaderValue::as_bytes);
    let host = String::from_utf8_lossy(host.unwrap_or_default());
    if server.is_loopback && is_for_web_site(&host) {
        return plain(StatusCode::FORBIDDEN, "ask 127.0.0.1 or localhost\n");
    }
    match request.uri().path() {
        path if !is_read && (server.pages.is_some() || matches!(path, "/metrics" | "/healthz")) => {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
            let allowed = HeaderValue::from_static("GET, HEAD");
            response.headers_mut().insert(ALLOW, allowed);
            response
        }
        "/metrics" => {
            let accept = request.headers().get_all(ACCEPT).into_iter();
            let accept: Vec<&str> = accept.filter_map(|value| value.to_str().ok()).collect();
            let format = Format::accepted(&accept.join(","));
            match server.numbers(format) {
                Ok(text) => with_type(StatusCode::OK, format.content_type(), text),
                Err(_) => plain(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "no text of the numbers\n",
                ),
            }
        }
        "/healthz" if server.followed.is_scanned() => plain(StatusCode::OK, "ok\n"),
        "/healthz" => plain(StatusCode::SERVICE_UNAVAILABLE, "the logs are being read\n"),
        path => {
            let pages = server.pages.as_ref().map(Arc::clone);
            page(path, pages, &server.followed).await
        }
    }
}

/// Returns the page at a path, if there are pages.
async fn page(path: &str, pages: Option<Arc<Pages>>, of: &Followed) -> Response<Full<Bytes>> {
    let none = plain(StatusCode::NOT_FOUND, "there are /metrics and /healthz\n");
    let Some(pages) = pages else {
        return none;
    };
    match pages.page(path, of).await {
        None => plain(
            StatusCode::NOT_FOUND,
            "no such page; / lists the sessions\n",
        ),
        Some(Err(_)) => plain(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the log of this session could not be read\n",
        ),
        Some(Ok(page)) => {
            let kind = "text/html; charset=utf-8";
            let mut response = with_type(StatusCode::OK, kind, Bytes::from(page));
            response
                .headers_mut()
                .extend(GUARDS.map(|(name, value)| (name, HeaderValue::from_static(value))));
            response
        }
    }
}

/// The headers that keep a browser from running or loading something, showing a page inside of another one, guessing its
/// type, keeping it, and naming its address to others.
const GUARDS: [(HeaderName, &str); 4] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "no-referrer"),
];

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    with_type(
        status,
        "text/plain; charset=utf-8",
        Bytes::from_static(text.as_bytes()),
    )
}

fn with_type(status: StatusCode, kind: &'static str, text: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_web_site_is_no_name_of_this_machine() {
        for host in [
            "",
            "127.0.0.1:9799",
            "127.0.0.1",
            "[::1]:9799",
            "localhost:9799",
            "build-1",
            "host.docker.internal:9799",
            "mine.local",
            "a.LOCALHOST.:80",
        ] {
            assert!(!is_for_web_site(host), "{host}");
        }
        for host in [
            "example.com",
            "example.com:9799",
            "127.0.0.1.example.com:9799",
            "internal.example.com.",
            "1.2.3.4.5:80",
            "[evil.com]",
            "[evil.com]:9799",
            "[::1].evil.com",
            "[::1].evil.com:9799",
            "[::1]evil.com",
            "[evil.com",
            "[127.0.0.1]",
            "[::1%evil.com]",
        ] {
            assert!(is_for_web_site(host), "{host}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_had_is_said_with_what_to_do() {
        let taken = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = taken.local_addr().unwrap();
        let why = listen(address).unwrap_err().to_string();
        assert!(
            why.contains("is in use") && why.contains("--listen 127.0.0.1:"),
            "{why}"
        );
        let elsewhere = listen("203.0.113.7:9799".parse().unwrap()).unwrap_err();
        assert!(
            elsewhere.to_string().contains("no address of this machine"),
            "{elsewhere}"
        );
    }
}
