//! The headless faces of the model: what the screens show, for scripts and pipes.

pub mod json;
pub mod ls;
pub mod text;
