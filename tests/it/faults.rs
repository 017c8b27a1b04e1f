//! Faults, one by one: each has a test by its name.

mod accounts;
mod damage;
mod files;
mod follow;
#[cfg(target_os = "linux")]
mod opened;
mod order;
mod stalled;
