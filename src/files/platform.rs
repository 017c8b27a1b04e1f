//! Holds all code that depends on the platform. The functions have the same signatures on each.

mod ignored;
#[cfg(not(unix))]
mod other;
mod processes;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use other as here;
#[cfg(unix)]
use unix as here;

pub use here::{
    HAS_TERMINAL_VARIABLES, bytes_read, change_time, check_reader, check_room, cpu_time,
    file_number, has_ended, ignore_file_size_limit, in_own_group, is_exhausted, is_pipe,
    kill_group, links, memory_in_use, open_pipe, parent_process, remote_file_system, system_zone,
    watch_limit_hint, zone_files,
};
pub(crate) use here::{
    copy_ownership, exchange, is_closed_to_its_owner, is_running, kind_name, open_to_all,
    private_file, private_folder, reading, reading_itself,
};
pub use ignored::ignored_signals;
pub use processes::{Process, Processes};

/// Returns what is for the system that the program was built for: Linux and others, macOS, or Windows.
pub const fn of_system<T: Copy>(unix: T, macos: T, windows: T) -> T {
    if cfg!(windows) {
        windows
    } else if cfg!(target_os = "macos") {
        macos
    } else {
        unix
    }
}
