//! What more than one view draws.

pub mod canvas;
pub mod chart;
pub mod gauge;
