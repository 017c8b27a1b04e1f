//! What more than one view draws, and the shapes of numbers and names.

pub mod chart;
pub mod gauge;
pub mod line;
pub mod number;
pub mod sparkline;
pub mod text;
