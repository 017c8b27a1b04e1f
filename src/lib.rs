//! ctxgauge: a terminal monitor for the context windows of LLM agents.
#![forbid(unsafe_code)]
pub mod agents;
pub mod cli;
pub mod config;
pub mod ingest;
pub mod model;
pub mod report;
pub mod tokens;
pub mod tui;
