//! All sessions together, as lists show them.

pub mod children;
pub mod gauge;
pub(crate) mod other_host;
pub mod sessions;
pub mod summary;
pub mod text;
