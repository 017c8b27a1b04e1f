//! The tests that look at the project from outside, in one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod alerts;
#[cfg(feature = "mcp")]
mod asking;
mod audit;
mod bad_input;
mod beside;
mod catalogue;
mod check;
mod compacted;
mod config;
mod conversation;
mod custom;
mod damaged;
mod diff;
mod disorder;
mod documents;
#[cfg(unix)]
mod ended;
mod export;
#[cfg(unix)]
mod exported;
mod faces;
mod faults;
mod fixtures;
mod fleets;
mod follow;
mod forecast;
mod fuzzed;
mod handout;
mod hook;
mod hostile;
mod hosts;
mod house;
mod json;
mod limits;
mod list;
#[cfg(feature = "mcp")]
mod mcp;
mod meant;
mod metrics;
mod monitor;
mod named;
mod packages;
mod paths;
mod places;
mod provisional;
mod readme;
mod redact;
mod replay;
mod requests;
mod roots;
mod runs;
mod screens;
mod search;
mod settings;
mod setup;
mod spent;
mod statusline;
mod sums;
mod support;
mod tasks;
mod totals;
#[cfg(unix)]
mod transcripts;
mod triggers;
mod why;
