//! Defines the widgets of more than one view.

pub mod canvas;
pub mod gauge;
