//! Pushes the numbers of sessions, and each compaction, to a receiver of OpenTelemetry: OTLP by HTTP.
//!
//! These are the [metrics](crate::catalogue) that Prometheus gets, of the moment in which they are sent. A receiver that does
//! not answer misses some and costs nothing: nothing of a metric waits for it. Compactions do, as log records, until it has
//! taken them or refused them.
//!
//! | module | what it is |
//! |---|---|
//! | [`mod@settings`] | what is pushed and where to, by an option or the variables of OpenTelemetry |
//! | [`endpoint`] | the address of a receiver |
//! | [`wire`] | messages as bytes or as JSON |
//! | [`messages`] | the requests |
//! | [`starts`] | the times since which counters count |
//! | [`compactions`] | those since the program began, each once |
//! | [`schedule`] | when something is sent next |
//! | [`answer`] | what an answer means |
//! | [`client`] | a connection to a receiver |
//! | [`mod@push`] | all of these together |

pub mod answer;
pub mod client;
pub mod compactions;
pub mod endpoint;
pub mod messages;
pub mod push;
pub mod schedule;
pub mod settings;
pub mod starts;
pub mod wire;

pub use endpoint::Endpoint;
pub use push::push;
pub use settings::{Settings, settings};
