//! A connection to a receiver, for the requests that are sent one after the other.

use super::answer::{Answer, Response};
use super::settings::Target;
use http_body_util::{BodyExt, Collected, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::header::{
    CONTENT_TYPE, DATE, HOST, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use hyper::http::response::Parts;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use std::error::Error;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The most bytes of the head of an answer.
const HEAD_BYTES: usize = 16 << 10;
/// The most bytes of its body. One that has more is no answer of a receiver.
const BODY_BYTES: usize = 64 << 10;
/// The name of this program in requests.
const AGENT: &str = concat!("ctxgauge/", env!("CARGO_PKG_VERSION"));

/// A connection that is opened for the first request.
pub struct Connection<'t> {
    target: &'t Target,
    open: Option<(SendRequest<Full<Bytes>>, Task)>,
}

/// The task that moves the bytes of a connection. It ends with this.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Why there is no answer.
type Failure = Box<dyn Error + Send + Sync>;

impl<'t> Connection<'t> {
    /// Returns a connection that is not open yet.
    pub fn new(target: &'t Target) -> Connection<'t> {
        Connection { target, open: None }
    }

    /// Sends a request, and returns what became of it.
    pub async fn send(&mut self, body: Vec<u8>, now: fn() -> Timestamp) -> Answer {
        let limit = self.target.timeout;
        let why = match timeout(limit, self.head(body.into())).await {
            Ok(Ok((head, body))) => {
                // The status says what became of the request, whatever comes after it.
                let body = timeout(limit, Limited::new(body, BODY_BYTES).collect()).await;
                let body = body.ok().and_then(Result::ok);
                let body = body.map(Collected::to_bytes);
                if body.is_none() {
                    self.open = None;
                }
                let response = Response {
                    status: head.status,
                    content_type: text(&head.headers, CONTENT_TYPE),
                    retry_after: text(&head.headers, RETRY_AFTER),
                    date: text(&head.headers, DATE),
                    body: body.as_deref(),
                };
                return response.meaning(now());
            }
            Ok(Err(failure)) => failure,
            Err(_) => format!("no answer within {limit:?}").into(),
        };
        self.open = None;
        let http = why.downcast_ref::<hyper::Error>();
        Answer::Later {
            wish: None,
            is_malformed: http.is_some_and(hyper::Error::is_parse),
            why: reason(&*why),
        }
    }

    /// Sends a request, and returns the head of its answer, with the body that is still to be read.
    async fn head(&mut self, body: Bytes) -> Result<(Parts, Incoming), Failure> {
        let was_open = self.open.is_some();
        match self.head_once(body.clone()).await {
            // The receiver may have closed it after the last answer, as many do.
            Err(_) if was_open => {
                self.open = None;
                self.head_once(body).await
            }
            done => done,
        }
    }

    async fn head_once(&mut self, body: Bytes) -> Result<(Parts, Incoming), Failure> {
        let request = self.request(body)?;
        let (sender, _) = match &mut self.open {
            Some(open) => open,
            None => self.open.insert(connect(self.target).await?),
        };
        sender.ready().await?;
        Ok(sender.send_request(request).await?.into_parts())
    }

    fn request(&self, body: Bytes) -> Result<Request<Full<Bytes>>, Failure> {
        let endpoint = &self.target.endpoint;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = endpoint.path().parse()?;
        let headers = request.headers_mut();
        for (name, value) in &self.target.headers {
            headers.append(name, value.clone());
        }
        let kind = self.target.encoding.content_type();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        headers.insert(HOST, HeaderValue::from_str(&endpoint.authority())?);
        Ok(request)
    }
}

async fn connect(target: &Target) -> Result<(SendRequest<Full<Bytes>>, Task), Failure> {
    let endpoint = &target.endpoint;
    let stream = TcpStream::connect((endpoint.host(), endpoint.port())).await?;
    stream.set_nodelay(true)?;
    let mut builder = Builder::new();
    builder.max_buf_size(HEAD_BYTES);
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    let moved = tokio::spawn(async move {
        // A failure is said to who waits for the answer.
        let _ = connection.await;
    });
    Ok((sender, Task(moved)))
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Returns an error with its cause, where it does not say that itself.
fn reason(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    if let Some(cause) = error.source() {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::otlp::endpoint::Endpoint;
    use crate::otlp::wire::Encoding;
    use crate::testing::now;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(60);

    /// Sends two requests to a server that answers so on each connection, and then closes it.
    fn answers(answer: &'static [u8]) -> [Answer; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}/v1/logs", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            for _ in 0..2 {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 4_096];
                let mut read = 0;
                while !request[..read].ends_with(b"\r\n\r\nbody") {
                    read += stream.read(&mut request[read..]).unwrap();
                }
                let head = String::from_utf8_lossy(&request[..read]).to_ascii_lowercase();
                assert!(head.starts_with("post /v1/logs http/1.1\r\n"), "{head}");
                assert!(head.contains("content-length: 4\r\n"), "{head}");
                assert!(
                    head.contains("content-type: application/json\r\n"),
                    "{head}"
                );
                let _ = stream.write_all(answer);
            }
        });
        let target = Target {
            endpoint: Endpoint::read(&endpoint).unwrap(),
            encoding: Encoding::Json,
            headers: Vec::new(),
            timeout: LONG,
        };
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let done = runtime.block_on(async {
            let mut connection = Connection::new(&target);
            let first = connection.send(b"body".to_vec(), now).await;
            [first, connection.send(b"body".to_vec(), now).await]
        });
        server.join().unwrap();
        done
    }

    #[test]
    fn a_connection_that_the_receiver_closes_is_opened_again() {
        let taken = Answer::Taken {
            rejected: 0,
            said: None,
            is_malformed: false,
        };
        for answer in [
            b"HTTP/1.0 200 OK\r\n\r\n".as_slice(),
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 204 No Content\r\n\r\n",
        ] {
            assert_eq!(answers(answer), [taken.clone(), taken.clone()]);
        }
    }

    #[test]
    fn what_is_no_http_is_tried_again_and_a_status_is_believed_whatever_follows() {
        let is_malformed = |answer: &Answer| match answer {
            Answer::Later { is_malformed, .. } => *is_malformed,
            other => panic!("{other:?}"),
        };
        assert!(
            answers(b"220 mail.example ESMTP\r\n")
                .iter()
                .all(is_malformed)
        );
        assert!(!answers(b"").iter().any(is_malformed));
        let page = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(2 * BODY_BYTES));
        let page: &'static [u8] = Box::leak(page.into_bytes().into_boxed_slice());
        let taken = Answer::Taken {
            rejected: 0,
            said: None,
            is_malformed: true,
        };
        assert_eq!(answers(page), [taken.clone(), taken.clone()]);
        let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".as_slice();
        assert_eq!(answers(cut), [taken.clone(), taken]);
    }
}
