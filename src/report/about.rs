//! Reports on the program itself: its agents, its models, its configuration.

pub mod agents;
pub mod configuration;
pub mod models;
