//! What the threads that read logs send to those who asked them to.

use model::fleet::Update;
use model::text::TextPage;
use std::path::PathBuf;

/// A message of the threads that read logs, or of the demo.
#[derive(Debug)]
pub enum Delivery {
    /// What the fleet takes in.
    Fleet(Update),
    /// A page of an item's text that was asked for.
    Text(Box<TextPage>),
    /// Something could not be read: a folder, a file.
    Problem {
        /// Where.
        path: PathBuf,
        /// What is wrong and what to do.
        what: String,
    },
    /// A line to show at the top from now on; empty: none.
    Banner(String),
}

impl From<Update> for Delivery {
    fn from(update: Update) -> Delivery {
        Delivery::Fleet(update)
    }
}
