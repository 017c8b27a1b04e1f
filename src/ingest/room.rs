//! Checks that there is memory for more of a log.
//!
//! If an allocation fails, the program ends at once, and nothing in it can restore the terminal. So readers check
//! beforehand: under a limit of the address space a log that is too large is an error, and the memory of the part that
//! was read is freed.

use std::hint::black_box;
use std::io;

/// The bytes that are left for everything else. They are asked for and given back, but not written to. The system's
/// allocator changes its ways when it gets back up to 32 MiB.
const SPARE_BYTES: usize = 40 << 20;

/// The number of entries that are taken in before room is looked for again.
pub(crate) const ENTRIES_PER_CHECK: usize = 1024;

/// Returns true if memory is left, and `reserve` succeeds in reserving its part of it.
pub(crate) fn is_left<E>(reserve: impl FnOnce() -> Result<(), E>) -> bool {
    let mut rest: Vec<u8> = Vec::new();
    let is_left = reserve().is_ok() && rest.try_reserve_exact(SPARE_BYTES).is_ok();
    black_box(&rest);
    is_left
}

/// Checks that there is room for this many bytes.
pub(crate) fn reserve(bytes: &mut Vec<u8>, more: usize) -> io::Result<()> {
    if is_left(|| bytes.try_reserve(more)) {
        return Ok(());
    }
    Err(none_left())
}

/// Returns the error of a log that is too large for the memory there is.
pub(crate) fn none_left() -> io::Error {
    let why = "it needs more memory than there is; raise the limit, as with `ulimit -v unlimited`";
    io::Error::new(io::ErrorKind::OutOfMemory, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_memory_can_hold_is_an_error() {
        let mut bytes = Vec::new();
        let error = reserve(&mut bytes, usize::MAX / 2).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        assert!(reserve(&mut bytes, 10).is_ok());
    }
}
