//! Makes hand-outs of sessions, one at a time.

use super::Logs;
use crate::app::{HandOutRequest, HandOutResult};
use tokio::sync::oneshot;

/// The hand-out that is being made.
#[derive(Default)]
pub(super) struct PendingHandOut(Option<oneshot::Receiver<HandOutResult>>);

impl PendingHandOut {
    /// Begins to make it. Otherwise returns why not.
    pub(super) fn begin(
        &mut self,
        logs: &dyn Logs,
        request: HandOutRequest,
    ) -> Option<&'static str> {
        if self.0.is_some() {
            return Some("another report or table is still being written");
        }
        if logs.is_invented(request.file) {
            return Some("nothing is written of the demo: its sessions are invented");
        }
        let (sender, made) = oneshot::channel();
        // The screens may have ended.
        logs.hand_out(request, Box::new(move |made| drop(sender.send(made))));
        self.0 = Some(made);
        None
    }

    /// Waits until it is made; without one, forever.
    pub(super) async fn made(&mut self) -> HandOutResult {
        let made = match &mut self.0 {
            Some(made) => made.await,
            None => std::future::pending().await,
        };
        self.0 = None;
        made.unwrap_or_else(|_| {
            HandOutResult::Said("nothing was written: no thread could be started".to_owned())
        })
    }
}
