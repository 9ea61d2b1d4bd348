//! A stream of messages under watch: how many have left, and whether the server still takes them.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_stream::Stream;

/// Since when the server owes something: to take the message that left last, or to answer after the last of all.
/// `None` while the next message is awaited, which may take as long as its author likes.
type Owed = Option<Instant>;

/// Hands on what `inner` gives.
pub struct Watched<S> {
    inner: S,
    owed: watch::Sender<Owed>,
    sent: Arc<AtomicU64>,
}

/// Watches the stream from outside.
pub struct Watch {
    owed: watch::Receiver<Owed>,
    sent: Arc<AtomicU64>,
}

impl<S> Watched<S> {
    /// The stream, and who watches it.
    pub fn new(inner: S) -> (Self, Watch) {
        let (owed, seen) = watch::channel(None);
        let sent = Arc::new(AtomicU64::new(0));
        (Self { inner, owed, sent: Arc::clone(&sent) }, Watch { owed: seen, sent })
    }
}

impl<S: Stream + Unpin> Stream for Watched<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let polled = Pin::new(&mut self.inner).poll_next(context);
        if let Poll::Ready(Some(_)) = &polled {
            self.sent.fetch_add(1, Ordering::Relaxed);
        }
        let owed = polled.is_ready().then(Instant::now);
        self.owed.send_replace(owed);
        polled
    }
}

impl Watch {
    /// Messages that have left.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Returns once the server has owed something for `patience`.
    pub async fn stalled(&mut self, patience: Duration) {
        loop {
            let owed = *self.owed.borrow_and_update();
            let changed = match owed {
                Some(since) => match timeout_at(since + patience, self.owed.changed()).await {
                    Ok(changed) => changed,
                    Err(_) => return,
                },
                None => self.owed.changed().await,
            };
            if changed.is_err() {
                // All has left; what remains owed is the answer.
                let since = owed.unwrap_or_else(Instant::now);
                return sleep_until(since + patience).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio_stream::StreamExt as _;

    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn only_what_the_server_owes_is_waited_for() {
        let patience = Duration::from_millis(20);
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        let (mut stream, mut watch) = Watched::new(tokio_stream::wrappers::ReceiverStream::new(receiver));
        // The server waits for the next message, however long that takes.
        let waiting = tokio::time::timeout(patience * 3, async {
            tokio::select! { _ = stream.next() => {}, () = watch.stalled(patience) => {} }
        });
        assert!(waiting.await.is_err());
        sender.try_send(7).unwrap();
        assert_eq!(stream.next().await, Some(7));
        assert_eq!(watch.sent(), 1);
        // It took one, and does not come for the next.
        watch.stalled(patience).await;
        drop(sender);
        assert_eq!(stream.next().await, None);
        drop(stream);
        watch.stalled(patience).await;
    }
}
