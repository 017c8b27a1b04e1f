//! The file of a session that is being written, one at a time.

use super::Logs;
use crate::app::FileRequest;
use tokio::sync::oneshot;

/// What is being written.
#[derive(Default)]
pub(super) struct Writing(Option<oneshot::Receiver<String>>);

impl Writing {
    /// Begins to write a file. Otherwise returns why not.
    pub(super) fn begin(&mut self, logs: &dyn Logs, request: FileRequest) -> Option<&'static str> {
        if self.0.is_some() {
            return Some("another file is still being written");
        }
        if logs.is_invented(request.file) {
            return Some("nothing is written of the demo: its sessions are invented");
        }
        let (sender, said) = oneshot::channel();
        // The screens may have ended.
        logs.write(request, Box::new(move |text| drop(sender.send(text))));
        self.0 = Some(said);
        None
    }

    /// Waits until it is written, for what is to be said of it; without one, forever.
    pub(super) async fn said(&mut self) -> String {
        let said = match &mut self.0 {
            Some(said) => said.await,
            None => std::future::pending().await,
        };
        self.0 = None;
        said.unwrap_or_else(|_| "nothing was written: no thread could be started".to_owned())
    }
}
