//! How far back the end of a log is read.

use super::conversations::SearchLimits;

/// The first piece of a file's end.
const FIRST_PIECE: u64 = 64 << 10;

/// The part of a file's end that is read.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    /// The first piece, in bytes. Each next one is larger.
    pub first: u64,
    /// The bytes that are searched.
    pub searched: SearchLimits,
    /// The largest file that is read whole where its end is not enough, in bytes.
    pub small: u64,
    /// True if nothing is read after this.
    pub is_final: bool,
}

impl Reach {
    /// Reads back only a little way: somebody waits for the screen.
    pub const SCREEN: Reach = Reach {
        first: FIRST_PIECE,
        searched: SearchLimits {
            report: 64 << 20,
            // It may not be logged at all.
            output: 4 << 20,
            // This part is read anyway. A list in which logs that end with a compaction are read whole costs a third
            // more.
            before: FIRST_PIECE,
        },
        small: 256 << 10,
        is_final: false,
    };
    /// Reads back as far as it takes.
    pub const ALL: Reach = Reach {
        searched: SearchLimits {
            report: u64::MAX,
            ..Reach::SCREEN.searched
        },
        is_final: true,
        ..Reach::SCREEN
    };
}
