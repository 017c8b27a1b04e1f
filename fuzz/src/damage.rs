//! What is done to hand-written logs, for all tests of damaged logs. It makes logs and asserts nothing.

pub mod fields;
pub mod random;
pub mod steps;
pub mod values;
