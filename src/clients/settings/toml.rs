//! Codex's `config.toml`, changed with all that is around a change left as it is.

use super::Program;
use super::entries::NAME_IS_TAKEN;
use super::program::is_server;
use toml_edit::{Array, DocumentMut, Item, Table, Value, value};

const SERVERS: &str = "mcp_servers";
const NAME: &str = "ctxgauge";

/// Enters the server.
pub(super) fn enter(text: &str, program: &Program) -> Result<String, String> {
    let mut document = read(text)?;
    let servers = document.entry(SERVERS).or_insert_with(|| {
        let mut servers = Table::new();
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let servers = servers
        .as_table_like_mut()
        .ok_or_else(|| format!("its `{SERVERS}` is no table"))?;
    if let Some(server) = servers.get(NAME) {
        let is_there = is_our_server(server).then(|| text.to_owned());
        return is_there.ok_or_else(|| NAME_IS_TAKEN.to_owned());
    }
    let mut server = Table::new();
    server.insert("command", value(program.executable()));
    server.insert("args", value(Array::from_iter(["mcp"])));
    servers.insert(NAME, Item::Table(server));
    Ok(document.to_string())
}

/// Takes the server out.
pub(super) fn take_out(text: &str) -> Result<String, String> {
    let mut document = read(text)?;
    let Some(servers) = document.get_mut(SERVERS).and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    if !servers.get(NAME).is_some_and(is_our_server) {
        return Ok(text.to_owned());
    }
    servers.remove(NAME);
    if servers.is_empty() {
        document.remove(SERVERS);
    }
    Ok(document.to_string())
}

/// Whether a server of our name is ours, whatever the program is called.
fn is_our_server(server: &Item) -> bool {
    let arguments = server.get("args").and_then(Item::as_array);
    let texts = arguments.into_iter().flatten().filter_map(Value::as_str);
    is_server(&texts.map(str::to_owned).collect::<Vec<_>>())
}

fn read(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>()
        .map_err(|error| format!("it is not valid TOML: {error}"))
}
