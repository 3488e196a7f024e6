use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use crate::{ReadCounts, ReadsError};

/// Where an owner leaves what it has read for one scan.
pub(crate) struct Mailbox {
    state: Mutex<State>,
    changed: Condvar,
    copies_bytes_max: u64,
}

/// A step's bytes, in the order of its wants.
pub(crate) struct Letter {
    pub(crate) number: u32,
    pub(crate) bytes: Vec<Bytes>,
}

/// What an urgent read gave, with the stream's number of it.
pub(crate) type Answer = (u64, Result<Vec<u8>, ReadsError>);

impl Letter {
    pub(crate) fn length_bytes(&self) -> u64 {
        self.bytes.iter().map(|bytes| bytes.len() as u64).sum()
    }
}

/// Whether more steps come.
enum End {
    Open,
    Done,
    Failed(ReadsError),
}

/// What is in a mailbox.
enum Taken {
    Letter(Letter),
    Failed(ReadsError),
    Done,
}

impl From<Taken> for Option<Result<Letter, ReadsError>> {
    fn from(taken: Taken) -> Self {
        match taken {
            Taken::Letter(letter) => Some(Ok(letter)),
            Taken::Failed(error) => Some(Err(error)),
            Taken::Done => None,
        }
    }
}

struct State {
    steps: VecDeque<Letter>,
    urgent: VecDeque<Answer>,
    /// Copies that are in the mailbox, or were taken and not yet dropped.
    held_bytes: u64,
    counts: ReadCounts,
    end: End,
    is_abandoned: bool,
    waker: Option<Waker>,
}

impl Mailbox {
    pub(crate) fn new(copies_bytes_max: u64) -> Self {
        let state = State {
            steps: VecDeque::new(),
            urgent: VecDeque::new(),
            held_bytes: 0,
            counts: ReadCounts::default(),
            end: End::Open,
            is_abandoned: false,
            waker: None,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), copies_bytes_max }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many bytes of copies there is room for, or none while there are copies that are all that is allowed.
    pub(crate) fn room_bytes(&self) -> Option<u64> {
        let held_bytes = self.lock().held_bytes;
        if held_bytes == 0 { Some(u64::MAX) } else { self.copies_bytes_max.checked_sub(held_bytes) }
    }

    /// The room that is left when a mailbox without copies has taken so many bytes.
    pub(crate) fn room_after(&self, bytes: u64) -> Option<u64> {
        self.copies_bytes_max.checked_sub(bytes)
    }

    pub(crate) fn put(&self, letters: Vec<Letter>, urgent: Vec<Answer>) {
        if letters.is_empty() && urgent.is_empty() {
            return;
        }
        let mut state = self.lock();
        state.held_bytes += letters.iter().map(Letter::length_bytes).sum::<u64>();
        state.steps.extend(letters);
        state.urgent.extend(urgent);
        self.tell(state);
    }

    /// What was read so far.
    pub(crate) fn set_counts(&self, counts: &ReadCounts) {
        self.lock().counts.clone_from(counts);
    }

    pub(crate) fn counts(&self) -> ReadCounts {
        self.lock().counts.clone()
    }

    /// Nothing more comes; an end that was told before stays.
    pub(crate) fn end(&self, error: Option<ReadsError>) {
        let mut state = self.lock();
        if matches!(state.end, End::Open) {
            state.end = error.map_or(End::Done, End::Failed);
        }
        self.tell(state);
    }

    fn tell(&self, mut state: MutexGuard<'_, State>) {
        let waker = state.waker.take();
        drop(state);
        self.changed.notify_all();
        waker.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.is_abandoned = true;
        state.steps.clear();
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.lock().is_abandoned
    }

    /// A copy was dropped.
    pub(crate) fn give_back(&self, bytes: u64) {
        let mut state = self.lock();
        state.held_bytes = state.held_bytes.saturating_sub(bytes);
    }

    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Result<Letter, ReadsError>>> {
        let mut state = self.lock();
        let taken = take(&mut state);
        if taken.is_none() {
            state.waker = Some(context.waker().clone());
        }
        taken.map_or(Poll::Pending, |taken| Poll::Ready(taken.into()))
    }

    pub(crate) fn wait(&self) -> Option<Result<Letter, ReadsError>> {
        let mut state = self.lock();
        loop {
            if let Some(taken) = take(&mut state) {
                return taken.into();
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn wait_urgent(&self, number: u64) -> Result<Vec<u8>, ReadsError> {
        let mut state = self.lock();
        loop {
            if let Some(index) = state.urgent.iter().position(|(found, _)| *found == number)
                && let Some((_, answer)) = state.urgent.remove(index)
            {
                return answer;
            }
            // Urgent reads are served as long as the stream exists, so an end without an error is none.
            if let End::Failed(error) = &state.end {
                return Err(error.clone());
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn take(state: &mut State) -> Option<Taken> {
    if let Some(letter) = state.steps.pop_front() {
        return Some(Taken::Letter(letter));
    }
    match &state.end {
        End::Failed(error) => Some(Taken::Failed(error.clone())),
        End::Done => Some(Taken::Done),
        End::Open => None,
    }
}
