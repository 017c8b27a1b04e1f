//! The meanings of a receiver's answers, by the specification of OTLP.

use super::wire::{Encoding, Value, fields};
use crate::labels::value;
use hyper::StatusCode;
use jiff::Timestamp;
use std::time::Duration;

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The receiver has taken it, but for so many data points or log records.
    Taken {
        /// Those that it has not taken, and never will.
        rejected: u64,
        /// Its message about that.
        said: Option<String>,
        /// True if the answer is none of a receiver.
        is_malformed: bool,
    },
    /// The receiver will never take it.
    Refused {
        /// Why.
        why: String,
    },
    /// It may be sent again.
    Later {
        /// The time after which the receiver wants it again.
        wish: Option<Duration>,
        /// Why.
        why: String,
        /// True if the answer is none of HTTP.
        is_malformed: bool,
    },
}

/// An answer as it came.
#[derive(Debug, Clone, Copy, Default)]
pub struct Response<'r> {
    /// Its status.
    pub status: StatusCode,
    /// The type of its body.
    pub content_type: Option<&'r str>,
    /// When the receiver wants the request again.
    pub retry_after: Option<&'r str>,
    /// The time at the receiver.
    pub date: Option<&'r str>,
    /// Its body; `None`: it could not be read.
    pub body: Option<&'r [u8]>,
}

/// The parts of the body of an answer that mean something here.
#[derive(Default)]
struct Said {
    rejected: u64,
    text: Option<String>,
}

impl Response<'_> {
    /// Returns what it means.
    pub fn meaning(&self, now: Timestamp) -> Answer {
        let said = self.said();
        if self.status.is_success() {
            let is_malformed = said.is_none();
            let Said { rejected, text } = said.unwrap_or_default();
            return Answer::Taken {
                rejected,
                said: text,
                is_malformed,
            };
        }
        let text = match said {
            Some(said) => said.text,
            None => self.body.and_then(text),
        };
        let why = match text {
            Some(text) => format!("{}: {text}", self.status),
            None => self.status.to_string(),
        };
        match self.status {
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Answer::Later {
                wish: self.wish(now),
                why,
                is_malformed: false,
            },
            _ => Answer::Refused { why },
        }
    }

    /// Returns the time after which the receiver wants the request again. Where it names a moment, that is by its own clock,
    /// which its answer shows.
    fn wish(&self, now: Timestamp) -> Option<Duration> {
        let after = self.retry_after?.trim();
        if let Ok(seconds) = after.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let moment = |text: &str| Some(jiff::fmt::rfc2822::parse(text).ok()?.timestamp());
        let now = self.date.and_then(moment).unwrap_or(now);
        let wish = moment(after)?.duration_since(now);
        Some(Duration::try_from(wish).unwrap_or_default())
    }

    /// Returns what the body says; `None`: it is none of a receiver.
    fn said(&self) -> Option<Said> {
        let body = self.body?;
        if body.is_empty() {
            return Some(Said::default());
        }
        let kind = self.content_type.unwrap_or_default();
        let is = |encoding: Encoding| kind.starts_with(encoding.content_type());
        if is(Encoding::Json) {
            json(body)
        } else if is(Encoding::Protobuf) || kind.is_empty() {
            protobuf(body, self.status.is_success())
        } else {
            None
        }
    }
}

/// Reads an answer in bytes. One to a request that was taken has a message with what was not; the others are a status.
fn protobuf(body: &[u8], is_taken: bool) -> Option<Said> {
    let mut all = fields(body)?;
    if is_taken {
        let partial = all.into_iter().find_map(|field| match field {
            (1, Value::Bytes(partial)) => Some(partial),
            _ => None,
        });
        all = match partial {
            Some(partial) => fields(partial)?,
            None => Vec::new(),
        };
    }
    let mut said = Said::default();
    for field in all {
        match field {
            (1, Value::Number(rejected)) if is_taken => said.rejected = positive(rejected),
            (2, Value::Bytes(bytes)) => said.text = text(bytes),
            _ => {}
        }
    }
    Some(said)
}

fn json(body: &[u8]) -> Option<Said> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    let body = body.as_object()?;
    let Some(partial) = body.get("partialSuccess") else {
        let message = body.get("message").and_then(|message| message.as_str());
        return Some(Said {
            rejected: 0,
            text: message.and_then(|message| text(message.as_bytes())),
        });
    };
    let number = |name: &str| match partial.get(name)? {
        serde_json::Value::String(number) => number.parse().ok(),
        number => number.as_u64(),
    };
    let rejected = number("rejectedDataPoints").or_else(|| number("rejectedLogRecords"));
    let message = partial.get("errorMessage").and_then(|text| text.as_str());
    Some(Said {
        rejected: rejected.unwrap_or(0),
        text: message.and_then(|message| text(message.as_bytes())),
    })
}

/// Returns a number of 64 bits with a sign, if it has none.
fn positive(bits: u64) -> u64 {
    u64::try_from(bits as i64).unwrap_or(0)
}

/// Returns the beginning of a text as it can be printed; `None`: it is empty.
fn text(bytes: &[u8]) -> Option<String> {
    let text = value(String::from_utf8_lossy(bytes).trim());
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::now;
    use proptest::prelude::*;

    const OK: Response<'_> = Response {
        status: StatusCode::OK,
        content_type: Some("application/x-protobuf"),
        retry_after: None,
        date: None,
        body: Some(b""),
    };

    fn taken(response: Response<'_>) -> (u64, Option<String>, bool) {
        match response.meaning(now()) {
            Answer::Taken {
                rejected,
                said,
                is_malformed,
            } => (rejected, said, is_malformed),
            other => panic!("{other:?}"),
        }
    }

    fn wish(retry_after: &str, date: Option<&str>) -> Option<Duration> {
        let response = Response {
            status: StatusCode::SERVICE_UNAVAILABLE,
            retry_after: Some(retry_after),
            date,
            ..OK
        };
        match response.meaning(now()) {
            Answer::Later { wish, .. } => wish,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_taken_may_be_taken_in_part() {
        let no = (0, None, false);
        assert_eq!(taken(OK), no);
        let status = StatusCode::ACCEPTED;
        assert_eq!(taken(Response { status, ..OK }), no);
        let body = Some(b"\x0a\x08\x08\xac\x02\x12\x03bad".as_slice());
        let (rejected, said, _) = taken(Response { body, ..OK });
        assert_eq!((rejected, said.as_deref()), (300, Some("bad")));
        for (body, expected) in [
            ("{}", (0, None, false)),
            (r#"{"partialSuccess":{}}"#, (0, None, false)),
            (
                r#"{"partialSuccess":{"rejectedDataPoints":"7","errorMessage":"a\u001bb"}}"#,
                (7, Some("a�b".to_owned()), false),
            ),
            (
                r#"{"partialSuccess":{"rejectedLogRecords":2}}"#,
                (2, None, false),
            ),
            ("[]", (0, None, true)),
            ("{", (0, None, true)),
        ] {
            let json = Response {
                content_type: Some("application/json; charset=utf-8"),
                body: Some(body.as_bytes()),
                ..OK
            };
            assert_eq!(taken(json), expected, "{body}");
        }
    }

    #[test]
    fn a_page_is_no_answer_of_a_receiver() {
        for (kind, body) in [
            (Some("text/html"), "<h1>It works!</h1>"),
            (None, "<h1>It works!</h1>"),
            (Some("application/x-protobuf"), "\n\u{7f}"),
        ] {
            let page = Response {
                content_type: kind,
                body: Some(body.as_bytes()),
                ..OK
            };
            assert_eq!(taken(page), (0, None, true), "{body}");
        }
    }

    #[test]
    fn only_four_statuses_are_worth_another_try() {
        for status in 300..600 {
            let status = StatusCode::from_u16(status).unwrap();
            let again = [429, 502, 503, 504].contains(&status.as_u16());
            let meaning = Response { status, ..OK }.meaning(now());
            assert_eq!(matches!(meaning, Answer::Later { .. }), again, "{status}");
            assert_eq!(
                matches!(meaning, Answer::Refused { .. }),
                !again,
                "{status}"
            );
        }
        let not_found = Response {
            status: StatusCode::NOT_FOUND,
            content_type: Some("text/plain"),
            body: Some(b"404 page not found\n"),
            ..OK
        };
        let why = "404 Not Found: 404 page not found".to_owned();
        assert_eq!(not_found.meaning(now()), Answer::Refused { why });
        let status = Response {
            status: StatusCode::BAD_REQUEST,
            body: Some(b"\x08\x03\x12\x03bad"),
            ..OK
        };
        let why = "400 Bad Request: bad".to_owned();
        assert_eq!(status.meaning(now()), Answer::Refused { why });
    }

    #[test]
    fn a_moment_is_by_the_clock_of_the_receiver() {
        let secs = |secs| Some(Duration::from_secs(secs));
        assert_eq!(wish("30", None), secs(30));
        assert_eq!(wish("soon", None), None);
        assert_eq!(wish("-1", None), None);
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(wish("Sun, 06 Nov 1994 08:50:37 GMT", date), secs(60));
        assert_eq!(wish("Sun, 06 Nov 1994 07:50:37 GMT", date), secs(0));
        // Without it the clock here has to do.
        assert_eq!(wish("Tue, 14 Nov 2023 22:15:01 GMT", None), secs(10));
    }

    proptest! {
        /// An answer may have any bytes.
        #[test]
        fn any_answer_has_a_meaning(
            status in 200_u16..600,
            kind in prop::option::of(prop_oneof![
                Just("application/json"), Just("application/x-protobuf"), Just("text/plain")
            ]),
            retry_after in prop::option::of(".{0,40}"),
            body in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let response = Response {
                status: StatusCode::from_u16(status).unwrap(),
                content_type: kind,
                retry_after: retry_after.as_deref(),
                date: None,
                body: Some(&body),
            };
            let text = match response.meaning(now()) {
                Answer::Taken { said, .. } => said.unwrap_or_default(),
                Answer::Refused { why } | Answer::Later { why, .. } => why,
            };
            prop_assert!(!text.contains(char::is_control) && text.chars().count() < 200, "{text:?}");
        }
    }
}
