//! How anything is printed: a document in each format, JSON, tables of text, files, and what is left out of them.

pub(crate) mod document;
pub(crate) mod json;
pub(crate) mod names;
pub mod redact;
pub(crate) mod text;
pub(crate) mod to_file;
