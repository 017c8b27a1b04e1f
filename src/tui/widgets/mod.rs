//! What more than one view draws.

pub mod chart;
pub mod gauge;
pub mod line;
pub mod sparkline;
