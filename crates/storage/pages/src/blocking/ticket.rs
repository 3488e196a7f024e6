use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};

use super::closed;
use crate::PageError;

/// The answer to a request that the store's thread has yet to give. Dropped, it lets the store do it all the same.
#[must_use = "what became of the request is lost"]
#[derive(Debug)]
pub struct Ticket<T> {
    answer: Receiver<Result<T, PageError>>,
}

/// Answers once; the ticket may have been dropped.
#[derive(Debug)]
pub(super) struct Answer<T>(SyncSender<Result<T, PageError>>);

/// A ticket and what it waits for.
pub(super) fn ticket<T>() -> (Answer<T>, Ticket<T>) {
    let (sender, answer) = sync_channel(1);
    (Answer(sender), Ticket { answer })
}

impl<T> Ticket<T> {
    /// Waits until it is done.
    ///
    /// # Errors
    /// What was asked for failed, or the store was closed first.
    pub fn wait(self) -> Result<T, PageError> {
        self.answer.recv().map_err(|_| closed())?
    }

    /// What became of it, if it is done, without waiting; gives the ticket back if it isn't.
    ///
    /// # Errors
    /// It isn't done yet.
    pub fn try_wait(self) -> Result<Result<T, PageError>, Self> {
        match self.answer.try_recv() {
            Ok(answer) => Ok(answer),
            Err(TryRecvError::Disconnected) => Ok(Err(closed())),
            Err(TryRecvError::Empty) => Err(self),
        }
    }
}

impl<T> Answer<T> {
    pub(super) fn give(self, answer: Result<T, PageError>) {
        let given = self.0.try_send(answer);
        debug_assert!(!matches!(given, Err(TrySendError::Full(_))), "a request has one answer");
    }
}
