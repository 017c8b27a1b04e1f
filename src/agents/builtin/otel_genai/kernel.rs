//! Semantic Kernel's numbers in the log of its host, where nothing else is exported.
//!
//! microsoft/semantic-kernel logs a line for each answer (`ClientCore.ChatCompletion.cs`, at the level
//! Information): `Prompt tokens: 210. Completion tokens: 35. Total tokens: 245.` What is around it depends on
//! the host's logger: a console's category on the line before, a time and a level on the same line, or JSON
//! with the message or its template beside the values. Neither the model nor the conversation is in it: all
//! calls of a file are taken for one conversation.

use super::attributes::Attributes;
use super::call::Call;
use decode::bodies::{Numbers, string};
use decode::lenient::{Count, LostFields, Raw};
use decode::time::time_before;

/// The words before each of the numbers.
const WORDS: [&str; 3] = ["Prompt tokens: ", "Completion tokens: ", "Total tokens: "];

/// Returns true if a file that begins so has such lines.
pub(super) fn looks_like_log(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n');
    lines
        .map(String::from_utf8_lossy)
        .any(|line| WORDS.iter().all(|words| line.contains(words)))
}

/// Returns the call of a line of text.
pub(super) fn of_text(line: &str) -> Option<Call> {
    let at = line.find(WORDS[0])?;
    Some(Call {
        at: time_before(&line[..at]),
        ..of_message(&line[at..])?
    })
}

/// Returns the call of a line of JSON.
pub(super) fn of_json(line: Raw<'_>, lost: &LostFields) -> Option<Call> {
    const MESSAGES: [&str; 5] = ["Message", "message", "@m", "RenderedMessage", "@mt"];
    let line = Attributes::of(Some(line), lost);
    let message = MESSAGES.iter().find_map(|name| string(line.get(name)?))?;
    let of_message = of_message(message.get(message.find(WORDS[0])?..)?);
    let call = of_message.or_else(|| {
        let object = ["State", "Properties"]
            .iter()
            .find_map(|name| line.get(name));
        let values = object.map(|object| Attributes::of(Some(object), lost));
        let values = values.as_ref().unwrap_or(&line);
        let prompt = values.count(&["InputTokenCount", "PromptTokens"]);
        let answered = values.count(&["OutputTokenCount", "CompletionTokens"]);
        let is_unreadable = prompt.is_err() || answered.is_err();
        let [prompt, answered] = [prompt, answered].map(|count| count.ok().flatten());
        (is_unreadable || prompt.is_some()).then(|| call(prompt, answered, is_unreadable))
    })?;
    let at = line.text(&["Timestamp", "@t", "timestamp", "time"]);
    Some(Call {
        at: at.as_deref().and_then(time_before),
        ..call
    })
}

fn of_message(message: &str) -> Option<Call> {
    let [prompt, answered, _] = WORDS.map(|words| {
        let (_, rest) = message.split_once(words)?;
        let end = rest.find([' ', '.']);
        let digits = &rest[..end.unwrap_or(rest.len())];
        // A template has the number's name in its place.
        (!digits.starts_with('{')).then(|| Count::of(digits).0)
    });
    let is_unreadable = prompt?.is_none() || answered == Some(None);
    Some(call(prompt?, answered.flatten(), is_unreadable))
}

fn call(whole: Option<u64>, output: Option<u64>, is_unreadable: bool) -> Call {
    Call {
        numbers: Numbers {
            whole,
            output,
            is_unreadable,
            ..Numbers::default()
        },
        ..Call::default()
    }
}
