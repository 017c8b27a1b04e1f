//! Waits for work that is done elsewhere for the screens.

use std::future::Future;
use std::pin::Pin;
use tokio::sync::oneshot;

/// The result of the work that is being done, if any is.
pub(super) struct Pending<T>(Option<Pin<Box<dyn Future<Output = Option<T>>>>>);

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Pending(None)
    }
}

impl<T: Send + 'static> Pending<T> {
    /// Returns true if work is being done.
    pub(super) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Does this work from now on. Earlier work that is not done yet is given up.
    pub(super) fn wait(&mut self, work: impl Future<Output = Option<T>> + 'static) {
        self.0 = Some(Box::pin(work));
    }

    /// Waits from now on for what the function that it returns is given.
    pub(super) fn begin(&mut self) -> Box<dyn FnOnce(T) + Send> {
        let (sender, made) = oneshot::channel();
        self.wait(async { made.await.ok() });
        // The screens may have ended.
        Box::new(move |made| drop(sender.send(made)))
    }

    /// Waits until the work is done; without any, forever. `None`: it could not be begun.
    pub(super) async fn made(&mut self) -> Option<T> {
        let made = match &mut self.0 {
            Some(made) => made.await,
            None => std::future::pending().await,
        };
        self.0 = None;
        made
    }
}
