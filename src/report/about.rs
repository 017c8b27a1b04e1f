//! What the program reads and goes by: agents, models, the configuration.

pub mod agents;
pub mod configuration;
pub mod models;
