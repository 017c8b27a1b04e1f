//! JSON-RPC 2.0, a message a line. The next line is taken in when the answer to the last one is written: a client that sends
//! without reading waits, and costs no memory.

use files::lines::{Line, next_line};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::{self, BufReader, Read, Write};

/// The longest line that is taken in, in bytes. Longer ones are passed over: no request is nearly as long.
const LONGEST_LINE: usize = 256 << 10;

/// A request of a client.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
    /// The member `_meta` of its parameters.
    pub(crate) meta: Map<String, Value>,
}

/// Why there is no result.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Fault {
    code: i32,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

impl Fault {
    /// There is no method of this name.
    pub(crate) fn no_such_method(method: String) -> Fault {
        Fault::new(-32601, method)
    }

    /// The parameters are not those of the method.
    pub(crate) fn wrong_params(why: impl Into<String>) -> Fault {
        Fault::new(-32602, why)
    }

    /// The request is of another revision of the protocol.
    pub(crate) fn unsupported_version(asked: &str, supported: &[&str]) -> Fault {
        Fault {
            data: Some(json!({"requested": asked, "supported": supported})),
            ..Fault::new(-32022, "Unsupported protocol version")
        }
    }

    fn new(code: i32, message: impl Into<String>) -> Fault {
        Fault {
            code,
            message: message.into(),
            data: None,
        }
    }
}

/// Answers requests from `input` until it ends.
///
/// # Errors
///
/// `out` cannot be written to.
pub(crate) fn serve(
    input: impl Read,
    out: &mut dyn Write,
    mut answer: impl FnMut(Request) -> Result<Value, Fault>,
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    while let Ok(Some(line)) = next_line(&mut input, LONGEST_LINE) {
        let (Line::Whole(line) | Line::Unfinished(line)) = line else {
            continue;
        };
        let Some((id, request)) = parse(&line) else {
            continue;
        };
        let answer = match request.and_then(&mut answer) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(fault) => json!({"jsonrpc": "2.0", "id": id, "error": fault}),
        };
        out.write_all(format!("{answer}\n").as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

/// The request of a line and its id. `None`: nothing is to be answered, as to notifications, responses and what is no
/// message at all.
fn parse(line: &[u8]) -> Option<(Value, Result<Request, Fault>)> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let mut message: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let id = message.remove("id")?;
    let is_answered = id.is_string() || id.is_number();
    let is_response = message.contains_key("result") || message.contains_key("error");
    if !is_answered || (is_response && !message.contains_key("method")) {
        return None;
    }
    let request = request(message);
    let no_request = || Fault::new(-32600, "not a request of the protocol");
    Some((id, request.ok_or_else(no_request)))
}

fn request(mut message: Map<String, Value>) -> Option<Request> {
    let is_2_0 = message.get("jsonrpc")? == "2.0";
    let mut params = object(message.remove("params"))?;
    let meta = object(params.remove("_meta"))?;
    match message.remove("method") {
        Some(Value::String(method)) if is_2_0 => Some(Request {
            method,
            params,
            meta,
        }),
        _ => None,
    }
}

/// An object that may be left out.
fn object(value: Option<Value>) -> Option<Map<String, Value>> {
    match value {
        None | Some(Value::Null) => Some(Map::new()),
        Some(Value::Object(object)) => Some(object),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn what_is_no_message_is_refused_by_its_id_or_not_at_all() {
        let refused = |line: &str| {
            let (id, request) = parse(line.as_bytes())?;
            request.is_err().then_some(id)
        };
        let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        let request = Request {
            method: "ping".to_owned(),
            params: Map::new(),
            meta: Map::new(),
        };
        assert_eq!(parse(ping.as_bytes()), Some((json!(7), Ok(request))));
        for cut in 0..ping.len() {
            assert_eq!(parse(&ping.as_bytes()[..cut]), None, "{cut}");
        }
        let unanswered = [
            "[1]",
            "null",
            "7",
            "{}",
            "[[[[",
            "\u{feff}",
            r#"{"jsonrpc":"2.0","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        ];
        for other in unanswered {
            assert_eq!(parse(other.as_bytes()), None, "{other}");
        }
        for wrong in [
            r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":7}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{"_meta":7}}"#,
            r#"{"id":"a"}"#,
        ] {
            assert_eq!(refused(wrong), Some(json!("a")), "{wrong}");
        }
    }

    /// Requests, a line a read.
    struct Requests<'a>(&'a Cell<usize>);

    impl Read for Requests<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.set(self.0.get() + 1);
            let mut line = &b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n"[..];
            line.read(into)
        }
    }

    /// A client that reads some answers, and then ends.
    struct Answers<'a> {
        requests: &'a Cell<usize>,
        left: usize,
    }

    impl Write for Answers<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.left = self.left.checked_sub(1).ok_or(io::ErrorKind::BrokenPipe)?;
            assert_eq!(self.requests.take(), 1, "requests for this answer");
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn while_nobody_reads_answers_no_requests_are_taken_in() {
        let requests = Cell::new(0);
        let mut answers = Answers {
            requests: &requests,
            left: 100,
        };
        let served = serve(Requests(&requests), &mut answers, |_| Ok(json!({})));
        assert_eq!(served.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!((requests.get(), answers.left), (1, 0));
    }

    #[test]
    fn a_nest_without_end_is_no_message() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{}"#,
            "[".repeat(100_000)
        );
        assert_eq!(parse(deep.as_bytes()), None);
    }
}
