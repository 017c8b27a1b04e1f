//! Messages of the protocol as lines of JSON. A thread reads lines, another one writes them; what waits between them is
//! bounded, so that a client that sends without reading waits, and costs no memory.

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonObject, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Notify, mpsc};

/// The most lines that wait to be read, or to be written.
pub(crate) const WAITING_LINES: usize = 16;
/// The longest line that is taken in, in bytes. Longer ones are passed over: no request is nearly as long.
const LONGEST_LINE: usize = 256 << 10;
/// The most answers that wait for the writer. With more, no requests are read.
const MOST_UNSENT: usize = 64;

/// Reads lines until `input` ends or nobody takes them.
pub(crate) fn read_lines(input: impl Read, lines: &mpsc::Sender<Vec<u8>>) {
    let mut input = BufReader::new(input);
    while let Ok(Some(line)) = read_line(&mut input) {
        if !line.trim_ascii().is_empty() && lines.blocking_send(line).is_err() {
            return;
        }
    }
}

/// Reads the next line, without its end; empty if it is too long. `None`: there are no more.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let bytes = match input.fill_buf() {
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() {
            return Ok((!line.is_empty()).then_some(line));
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        is_too_long |= line.len() + part.len() > LONGEST_LINE;
        if is_too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

/// The transport of a server.
pub(crate) struct Wire {
    requests: mpsc::Receiver<Vec<u8>>,
    answers: mpsc::Sender<Vec<u8>>,
    unsent: Arc<Unsent>,
    /// The answer to a line that is no message, while it waits to be sent.
    refusal: Option<Vec<u8>>,
    /// True once a request has come. Lines before the first are ignored.
    has_begun: bool,
}

/// The number of answers that wait for the writer.
#[derive(Default)]
struct Unsent {
    count: AtomicUsize,
    sent: Notify,
}

impl Wire {
    pub(crate) fn new(requests: mpsc::Receiver<Vec<u8>>, answers: mpsc::Sender<Vec<u8>>) -> Wire {
        Wire {
            requests,
            answers,
            unsent: Arc::default(),
            refusal: None,
            has_begun: false,
        }
    }

    /// Waits until few answers wait for the writer.
    async fn room(&self) {
        while self.unsent.count.load(Ordering::Relaxed) >= MOST_UNSENT {
            self.unsent.sent.notified().await;
        }
    }
}

/// Nobody reads the answers any more.
#[derive(Debug, thiserror::Error)]
#[error("nobody reads the answers any more")]
pub(crate) struct Gone;

impl Transport<RoleServer> for Wire {
    type Error = Gone;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Gone>> + Send + 'static {
        let (answers, unsent) = (self.answers.clone(), Arc::clone(&self.unsent));
        unsent.count.fetch_add(1, Ordering::Relaxed);
        let line = line_of(&message);
        async move {
            let sent = answers.send(line).await;
            unsent.count.fetch_sub(1, Ordering::Relaxed);
            unsent.sent.notify_one();
            sent.map_err(|_| Gone)
        }
    }

    /// Receives the next message. It may be dropped at any point where it waits: nothing is lost.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // Earlier requests are answered first.
            tokio::task::yield_now().await;
            self.room().await;
            if self.refusal.is_some() {
                let place = self.answers.reserve().await.ok()?;
                if let Some(line) = self.refusal.take() {
                    place.send(line);
                }
            }
            let line = self.requests.recv().await?;
            match parse(&line) {
                Ok(message) => {
                    self.has_begun |= matches!(message, JsonRpcMessage::Request(_));
                    if self.has_begun {
                        return Some(message);
                    }
                }
                Err(refusal) => self.refusal = refusal,
            }
        }
    }

    async fn close(&mut self) -> Result<(), Gone> {
        self.requests.close();
        Ok(())
    }
}

fn line_of(message: &TxJsonRpcMessage<RoleServer>) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Parses the message of a line. The error is the line to answer with; a line that is not JSON gets none.
fn parse(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Option<Vec<u8>>> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    serde_json::from_slice(line).map_err(|_| {
        let object: JsonObject = serde_json::from_slice(line).ok()?;
        let id: RequestId = serde_json::from_value(object.get("id")?.clone()).ok()?;
        let error = ErrorData::invalid_request("not a request of the protocol", None);
        let answer = TxJsonRpcMessage::<RoleServer>::error(error, Some(id));
        Some(line_of(&answer))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_they_end_and_long_ones_are_passed_over() {
        let long = "x".repeat(LONGEST_LINE + 1);
        let text = format!("a\r\n\n{long}\nb\nrest");
        for chunk in [1, 7, 1 << 20] {
            let mut input = BufReader::with_capacity(chunk, text.as_bytes());
            let mut lines = Vec::new();
            while let Some(line) = read_line(&mut input).unwrap() {
                lines.push(String::from_utf8(line).unwrap());
            }
            assert_eq!(lines, ["a\r", "", "", "b", "rest"], "{chunk}");
        }
    }

    #[test]
    fn what_is_no_message_is_refused_by_its_id_or_not_at_all() {
        let refused = |line: &str| {
            let refusal = parse(line.as_bytes()).err()?;
            refusal.map(|line| String::from_utf8(line).unwrap())
        };
        let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        assert!(parse(ping.as_bytes()).is_ok());
        for cut in 0..ping.len() {
            assert_eq!(refused(&ping[..cut]), None, "{cut}");
        }
        for other in ["[1]", "null", "7", "{}", "[[[[", "\u{feff}"] {
            assert_eq!(refused(other), None, "{other}");
        }
        let refusal = refused(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#).unwrap();
        assert!(
            refusal.contains(r#""id":"a""#) && refusal.contains("-32600"),
            "{refusal}"
        );
    }

    #[test]
    fn while_nobody_reads_answers_no_requests_are_taken_in() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (lines, requests) = mpsc::channel(WAITING_LINES);
            let (answers, mut written) = mpsc::channel(WAITING_LINES);
            let mut wire = Wire::new(requests, answers);
            let request = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
            for _ in 0..2 {
                lines.send(request.to_vec()).await.unwrap();
            }
            assert!(wire.receive().await.is_some());
            let answer = || {
                let error = ErrorData::invalid_request("no", None);
                TxJsonRpcMessage::<RoleServer>::error(error, None)
            };
            for _ in 0..MOST_UNSENT + WAITING_LINES {
                tokio::spawn(wire.send(answer()));
            }
            // Answers that are written at once are not counted any more.
            for _ in 0..2 * MOST_UNSENT {
                tokio::task::yield_now().await;
            }
            assert_eq!(wire.unsent.count.load(Ordering::Relaxed), MOST_UNSENT);
            let waits = tokio::select! {
                biased;
                _ = wire.receive() => false,
                () = async { for _ in 0..100 { tokio::task::yield_now().await; } } => true,
            };
            assert!(waits);
            written.recv().await.unwrap();
            assert!(wire.receive().await.is_some(), "nothing is lost");
        });
    }

    #[test]
    fn a_nest_without_end_is_no_message() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{}"#,
            "[".repeat(100_000)
        );
        assert!(matches!(parse(deep.as_bytes()), Err(None)));
    }
}
