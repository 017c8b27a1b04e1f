//! Hand-written logs, damaged in every way. The generator of the damage is `fuzz/src/damage`; a property is asserted in
//! one place:
//!
//! * [`types`]: a field of another type costs itself alone, and what it costs is counted;
//! * [`usage`]: what is no number of tokens makes no known number, and is counted;
//! * [`lean`]: a reading for usage gives what all records say of it;
//! * [`nested`]: the stack does not end;
//! * [`random`]: sums hold, and work has a bound, whatever was done to a log.
//!
//! Elsewhere: bytes in pieces, files that grow and databases that are written to (`fuzzed`), odd values in columns
//! (`ingest::database::fixtures`), hostile texts on what is printed and shown (`hostile`), and files that fail, tear or
//! are replaced (`ingest::faults`).

mod lean;
mod logs;
mod nested;
mod random;
mod types;
mod usage;
