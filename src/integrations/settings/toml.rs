//! Codex's `config.toml`, changed with all that is around a change left as it is: line ends, a byte order mark, comments.
//!
//! The server is a table of its own, so it is put in and taken out as text. Only where the servers are one value, or
//! somebody has written the entry otherwise, the document is written by a library, which has one kind of line end.

use super::Program;
use super::entries::{NAME, NAME_IS_TAKEN};
use super::json::BYTE_ORDER_MARK;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value, value};

const SERVERS: &str = "mcp_servers";
const COMMAND: &str = "command";
const ARGUMENTS: &str = "args";

/// Enters the server.
pub(super) fn enter(text: &str, program: &Program) -> Result<String, String> {
    with_body(text, |body, line_end| {
        let mut document = read(body)?;
        let servers = document.entry(SERVERS).or_insert_with(|| {
            let mut servers = Table::new();
            servers.set_implicit(true);
            Item::Table(servers)
        });
        let servers = servers
            .as_table_like_mut()
            .ok_or_else(|| format!("its `{SERVERS}` is no table"))?;
        if let Some(server) = servers.get(NAME) {
            let is_there = call(server).is_some_and(|call| program.is_server(&call));
            let there = is_there.then(|| body.to_owned());
            return there.ok_or_else(|| NAME_IS_TAKEN.to_owned());
        }
        let call = program.server();
        let entered = format!("{body}{}", block(body, &call, line_end));
        if read(&entered).is_ok() {
            return Ok(entered);
        }
        let mut server = Table::new();
        server.insert(COMMAND, value(&call[0]));
        server.insert(ARGUMENTS, value(Array::from_iter(&call[1..])));
        servers.insert(NAME, Item::Table(server));
        Ok(document.to_string())
    })
}

/// Takes the server out, if it is as it was entered.
pub(super) fn take_out(text: &str, program: &Program) -> Result<String, String> {
    with_body(text, |body, line_end| {
        let mut document = read(body)?;
        let servers = document.get_mut(SERVERS).and_then(Item::as_table_like_mut);
        let Some((servers, call)) = servers.and_then(|servers| {
            let call = entered(servers.get(NAME)?, program)?;
            Some((servers, call))
        }) else {
            return Ok(body.to_owned());
        };
        // With the blank line before it, unless it was the first.
        for before in [line_end, ""] {
            let block = block(before, &call, line_end);
            if let Some((before, after)) = body.split_once(&block) {
                let taken_out = format!("{before}{after}");
                if read(&taken_out).is_ok() {
                    return Ok(taken_out);
                }
            }
        }
        servers.remove(NAME);
        if servers.is_empty() {
            document.remove(SERVERS);
        }
        Ok(document.to_string())
    })
}

/// Returns the text of the server's table, to be put after this text.
fn block(before: &str, call: &[String], line_end: &str) -> String {
    let ended = match before {
        "" => "",
        ended if ended.ends_with('\n') => line_end,
        _ => &[line_end, line_end].concat(),
    };
    let (command, arguments) = (Value::from(&call[0]), Array::from_iter(&call[1..]));
    let lines = [
        format!("[{SERVERS}.{NAME}]"),
        format!("{COMMAND} = {command}"),
        format!("{ARGUMENTS} = {arguments}"),
    ];
    format!("{ended}{}{line_end}", lines.join(line_end))
}

/// Edits a text without its byte order mark and with its kind of line end.
fn with_body(
    text: &str,
    edit: impl FnOnce(&str, &str) -> Result<String, String>,
) -> Result<String, String> {
    let (mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => (BYTE_ORDER_MARK, body),
        None => ("", text),
    };
    let line_end = if body.contains("\r\n") { "\r\n" } else { "\n" };
    let edited = edit(body, line_end)?;
    // The library writes the other kind.
    let is_mixed = line_end == "\r\n" && edited.replace("\r\n", "").contains('\n');
    let was_mixed = body.replace("\r\n", "").contains('\n');
    let edited = if is_mixed && !was_mixed {
        edited.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        edited
    };
    Ok(format!("{mark}{edited}"))
}

/// Returns the program of a server and its arguments.
fn call(server: &Item) -> Option<Vec<String>> {
    let server = server.as_table_like()?;
    let program = server.get(COMMAND)?.as_str()?;
    let arguments = server.get(ARGUMENTS).and_then(Item::as_array);
    let arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
    Some(
        std::iter::once(program)
            .chain(arguments)
            .map(str::to_owned)
            .collect(),
    )
}

/// Returns the program and arguments of a server that was entered by us and to which nothing was added; `None`: it is
/// another one.
fn entered(server: &Item, program: &Program) -> Option<Vec<String>> {
    let keys = server.as_table_like().map(TableLike::iter)?;
    let is_plain = keys
        .into_iter()
        .all(|(key, _)| key == COMMAND || key == ARGUMENTS);
    call(server).filter(|call| is_plain && program.is_server(call))
}

fn read(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>()
        .map_err(|error| format!("it is not valid TOML: {error}"))
}
