//! The formats of output: a document in each of them, JSON, tables of text, files, and redaction.

pub(crate) mod document;
pub(crate) mod finding;
pub(crate) mod json;
pub(crate) mod names;
pub mod redact;
pub(crate) mod text;
pub(crate) mod to_file;
