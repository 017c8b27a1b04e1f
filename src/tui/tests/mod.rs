//! Tests of the screens, and what tests of their parts use too.

mod screens;
pub(super) mod testing;
