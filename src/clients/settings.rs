//! The change to an agent's settings that enters ctxgauge.
