//! What the benchmarks share. Each uses a part of it.
#![allow(clippy::panic, clippy::unwrap_used, dead_code)]

pub mod corpus;
pub mod home;
pub mod measure;
pub mod monitor;
pub mod plain;
pub mod rows;
pub mod screen;
