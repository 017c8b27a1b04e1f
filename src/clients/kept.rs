//! What clients reported about a session that its log does not contain.
