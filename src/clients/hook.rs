//! The JSON that a hook is given, and what it may answer.
