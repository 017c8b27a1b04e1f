//! One item of a context in words: its tool, its preview, the sign of its source.

use model::cost::tools::short_name;
use model::session::{Item, RequestIx};
use model::{Kind, Role, Source};
use std::borrow::Cow;

/// Returns the letter of a role.
pub const fn letter(role: Role) -> char {
    match role {
        Role::System => 'S',
        Role::Container => 'C',
        Role::User => 'U',
        Role::Assistant => 'A',
        Role::Tool => 'T',
    }
}

/// Returns the sign of a source, at most two columns wide.
pub const fn sign(source: Source) -> &'static str {
    match source {
        Source::Reported => "=",
        Source::Derived => "══",
        Source::Shared => "≈",
        Source::Estimated => "~",
        Source::Agent => "?",
    }
}

/// Returns the item's tool, without the name of its MCP server; without a tool, its kind. This is log text: not safe to
/// print.
pub fn label<'a>(item: &'a Item) -> Cow<'a, str> {
    label_of(item.kind, item.tool.as_deref())
}

/// Returns the label of an item of this kind and tool.
pub fn label_of(kind: Kind, tool: Option<&str>) -> Cow<'_, str> {
    match tool {
        Some(tool) => short_name(tool).into(),
        None => words(kind.name()).into(),
    }
}

/// Returns a name of the model as words: `tool_result` as `tool result`.
pub fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// Returns the request that an item entered the context with, as screens number it; `None`: it goes with the next one.
pub fn request(entered: Option<RequestIx>) -> String {
    match entered {
        Some(request) => format!("#{}", request + 1),
        None => "next".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::testing::Log;

    #[test]
    fn a_tool_of_a_server_has_its_own_name() {
        for (tool, shown) in [
            ("mcp__docs__search", "search"),
            ("mcp__docs__", "mcp__docs__"),
            ("mcp_lookup", "mcp_lookup"),
            ("Read", "Read"),
        ] {
            let log = Log::new().result("a", tool, 10);
            assert_eq!(label(&log.session.items()[0]), shown);
        }
    }
}
