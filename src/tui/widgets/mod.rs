//! What more than one view draws.

pub mod canvas;
pub mod gauge;
