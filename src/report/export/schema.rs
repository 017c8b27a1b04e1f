//! The JSON schema of a row, made from the columns.

use super::cell::{Column, Kind};
use super::tables::Table;
use serde_json::{Map, Value, json};

/// Returns the JSON schema of the rows of a table.
pub fn json_schema(table: Table) -> Value {
    let columns = table.columns();
    let properties: Map<String, Value> = columns
        .iter()
        .map(|column| (column.name.to_owned(), property(column)))
        .collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": table.schema(),
        "description": format!("A row of `ctxgauge export --what {}`", table.name()),
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}

fn property(column: &Column) -> Value {
    let about = column.about.trim_end_matches('.');
    let kind = match column.kind {
        Kind::Text | Kind::Time => "string",
        Kind::Int => "integer",
        Kind::Float => "number",
        Kind::Bool => "boolean",
    };
    let mut property = json!({ "type": [kind, "null"], "description": about });
    if column.kind == Kind::Time {
        property["format"] = "date-time".into();
    }
    property
}
