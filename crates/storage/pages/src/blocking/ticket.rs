use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use super::ended;
use crate::PageError;

/// What the store's thread owes to somebody who asked for something. Dropped, it lets the store do it all the same.
#[must_use = "nobody learns what became of it"]
#[derive(Debug)]
pub struct Ticket<T> {
    answer: Receiver<Result<T, PageError>>,
}

/// Answers once. Whoever asked may have gone.
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
        self.answer.recv().map_err(|_| ended())?
    }

    /// What became of it, if it is done, without waiting; gives the ticket back if it isn't.
    ///
    /// # Errors
    /// It isn't done yet.
    pub fn try_wait(self) -> Result<Result<T, PageError>, Self> {
        match self.answer.try_recv() {
            Ok(answer) => Ok(answer),
            Err(TryRecvError::Disconnected) => Ok(Err(ended())),
            Err(TryRecvError::Empty) => Err(self),
        }
    }
}

impl<T> Answer<T> {
    pub(super) fn give(self, answer: Result<T, PageError>) {
        let _ = self.0.send(answer);
    }
}
