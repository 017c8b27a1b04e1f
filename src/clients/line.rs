//! The JSON that a status line is given.
