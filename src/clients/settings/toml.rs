//! Codex's `config.toml`, changed with all that is around a change left as it is.

use super::Program;
use toml_edit::{Array, DocumentMut, Item, Table, value};

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
    if servers.contains_key(NAME) {
        return Ok(text.to_owned());
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
    if servers.remove(NAME).is_none() {
        return Ok(text.to_owned());
    }
    if servers.is_empty() {
        document.remove(SERVERS);
    }
    Ok(document.to_string())
}

fn read(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>()
        .map_err(|error| format!("it is not valid TOML: {error}"))
}
