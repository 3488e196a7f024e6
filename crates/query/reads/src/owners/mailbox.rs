use std::collections::{HashSet, VecDeque};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::thread::Command;
use crate::{Outstanding, ReadCounts, ReadsError, Step};

/// Completed steps of one scan, and the memory of their copies.
pub(crate) struct Mailbox {
    state: Mutex<State>,
    changed: Condvar,
    copies_bytes_max: u64,
    owner: Address,
}

/// Channel to an owner from other threads.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) commands: Sender<Command>,
    pub(crate) waker: Option<nandle_io::Waker>,
}

impl Address {
    /// Sends a command. Returns false if the owner has ended.
    pub(crate) fn tell(&self, command: Command) -> bool {
        let is_told = self.commands.send(command).is_ok();
        if let Some(waker) = &self.waker {
            waker.wake();
        }
        is_told
    }
}

/// Bytes of a step, in the order of its wants.
pub(crate) struct Letter {
    pub(crate) number: u32,
    pub(crate) bytes: Vec<Bytes>,
}

/// Result of an urgent read, with its number in the stream.
pub(crate) type Answer = (u64, Result<Vec<u8>, ReadsError>);

/// Memory of a step's copy. It returns to the mailbox when its last part is dropped.
struct Copied {
    bytes: Vec<u8>,
    memory_bytes: u64,
    mailbox: Arc<Mailbox>,
}

impl AsRef<[u8]> for Copied {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        self.mailbox.give_back(self.memory_bytes, std::mem::take(&mut self.bytes));
    }
}

/// State of the scan.
enum End {
    Open,
    Done,
    Failed(ReadsError),
}

/// Next entry of a mailbox.
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
    urgent: Vec<Answer>,
    /// Urgent reads that were cancelled: their answers are discarded.
    forgotten: HashSet<u64>,
    /// Memory of copies in the mailbox or held by the consumer.
    held_bytes: u64,
    /// Memory of dropped copies for reuse: allocating costs the system more than the copy.
    spare: Vec<Vec<u8>>,
    /// The owner has a step that doesn't fit.
    is_full: bool,
    counts: ReadCounts,
    outstanding: Outstanding,
    end: End,
    /// Failure of the owner after the scan was complete.
    gone: Option<ReadsError>,
    is_abandoned: bool,
    /// Tasks that wait for a step or an urgent read.
    wakers: Vec<Waker>,
}

impl Mailbox {
    pub(crate) fn new(copies_bytes_max: u64, owner: Address) -> Self {
        let state = State {
            steps: VecDeque::new(),
            urgent: Vec::new(),
            forgotten: HashSet::new(),
            held_bytes: 0,
            spare: Vec::new(),
            is_full: false,
            counts: ReadCounts::default(),
            outstanding: Outstanding::default(),
            end: End::Open,
            gone: None,
            is_abandoned: false,
            wakers: Vec::new(),
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), copies_bytes_max, owner }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies a step if it fits. While no copies are held, any step fits.
    pub(crate) fn copy(self: &Arc<Self>, step: &Step) -> Option<Letter> {
        let lengths: Vec<usize> = step.parts().map(|(_, bytes)| bytes.len()).collect();
        let length: usize = lengths.iter().sum();
        let mut bytes = self.memory(length)?;
        let memory_bytes = bytes.capacity() as u64;
        step.parts().for_each(|(_, part)| bytes.extend_from_slice(part));
        let whole = Bytes::from_owner(Copied { bytes, memory_bytes, mailbox: Arc::clone(self) });
        let mut at = 0;
        let parts = lengths.into_iter().map(|length| {
            at += length;
            whole.slice(at - length..at)
        });
        Some(Letter { number: step.number(), bytes: parts.collect() })
    }

    /// Takes empty memory for a copy and counts it.
    fn memory(&self, length: usize) -> Option<Vec<u8>> {
        if length == 0 {
            return Some(Vec::new());
        }
        let mut state = self.lock();
        let fits = |capacity: usize| capacity >= length && capacity / 2 <= length;
        let fitting = state.spare.iter().rposition(|spare| fits(spare.capacity()));
        let capacity = fitting.and_then(|index| state.spare.get(index)).map_or(length, Vec::capacity);
        if state.held_bytes > 0 && state.held_bytes + capacity as u64 > self.copies_bytes_max {
            state.is_full = true;
            return None;
        }
        let memory = if let Some(index) = fitting {
            state.spare.swap_remove(index)
        } else {
            // Spare memory that doesn't fit would be held in addition.
            state.spare.clear();
            Vec::with_capacity(length)
        };
        state.held_bytes += memory.capacity() as u64;
        Some(memory)
    }

    fn give_back(&self, memory_bytes: u64, mut memory: Vec<u8>) {
        let mut state = self.lock();
        assert!(state.held_bytes >= memory_bytes, "a copy is given back once");
        state.held_bytes -= memory_bytes;
        memory.clear();
        let spare_bytes: usize = state.spare.iter().map(Vec::capacity).sum();
        let all_bytes = state.held_bytes + (spare_bytes + memory.capacity()) as u64;
        if memory.capacity() > 0 && all_bytes <= self.copies_bytes_max && !state.is_abandoned {
            state.spare.push(memory);
        }
        let is_awaited = std::mem::take(&mut state.is_full);
        drop(state);
        if is_awaited {
            // If the owner has ended, it doesn't need the memory.
            self.owner.tell(Command::Look);
        }
    }

    pub(crate) fn put(&self, letters: Vec<Letter>, urgent: Vec<Answer>) {
        if letters.is_empty() && urgent.is_empty() {
            return;
        }
        let mut state = self.lock();
        if state.is_abandoned {
            // Dropping copies takes the lock.
            drop(state);
            drop(letters);
            return;
        }
        state.steps.extend(letters);
        let State { urgent: kept, forgotten, .. } = &mut *state;
        kept.extend(urgent.into_iter().filter(|(number, _)| !forgotten.remove(number)));
        self.tell(state);
    }

    pub(crate) fn set_counts(&self, counts: &ReadCounts) {
        self.lock().counts.clone_from(counts);
    }

    pub(crate) fn counts(&self) -> ReadCounts {
        self.lock().counts.clone()
    }

    pub(crate) fn add_outstanding(&self, outstanding: Outstanding) {
        if !outstanding.is_empty() {
            self.lock().outstanding.merge(outstanding);
        }
    }

    pub(crate) fn take_outstanding(&self) -> Outstanding {
        std::mem::take(&mut self.lock().outstanding)
    }

    /// Ends the stream. An earlier error is kept.
    pub(crate) fn end(&self, error: Option<ReadsError>) {
        let mut state = self.lock();
        match (&state.end, error) {
            (End::Open, error) => state.end = error.map_or(End::Done, End::Failed),
            (End::Done, error) => state.gone = error,
            (End::Failed(_), _) => {}
        }
        self.tell(state);
    }

    fn tell(&self, mut state: MutexGuard<'_, State>) {
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends the scan with an error for its waiting consumers.
    pub(crate) fn stop(&self) {
        self.end(Some(ReadsError::Stopped));
        self.abandon();
    }

    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.is_abandoned = true;
        state.spare.clear();
        // Dropping copies takes the lock.
        let steps = std::mem::take(&mut state.steps);
        drop(state);
        drop(steps);
        self.owner.tell(Command::Look);
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.lock().is_abandoned
    }

    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Result<Letter, ReadsError>>> {
        let mut state = self.lock();
        let taken = take(&mut state);
        if taken.is_none() {
            state.wake(context);
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
            if let Some(answer) = state.take_urgent(number) {
                return answer;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn poll_urgent(
        &self,
        number: u64,
        context: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, ReadsError>> {
        let mut state = self.lock();
        let answer = state.take_urgent(number);
        if answer.is_none() {
            state.wake(context);
        }
        answer.map_or(Poll::Pending, Poll::Ready)
    }

    /// Cancels an urgent read.
    pub(crate) fn forget_urgent(&self, number: u64) {
        let mut state = self.lock();
        if state.take_urgent(number).is_none() {
            state.forgotten.insert(number);
        }
    }
}

impl State {
    fn take_urgent(&mut self, number: u64) -> Option<Result<Vec<u8>, ReadsError>> {
        if let Some(index) = self.urgent.iter().position(|(found, _)| *found == number) {
            return Some(self.urgent.swap_remove(index).1);
        }
        // Urgent reads are served as long as stream and owner exist, even at the end of the steps.
        match (&self.end, &self.gone) {
            (End::Failed(error), _) | (_, Some(error)) => Some(Err(error.clone())),
            (End::Open | End::Done, None) => None,
        }
    }

    /// Registers a task to be woken on a change.
    fn wake(&mut self, context: &Context<'_>) {
        if !self.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            self.wakers.push(context.waker().clone());
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

impl std::fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mailbox").field("copies_bytes_max", &self.copies_bytes_max).finish_non_exhaustive()
    }
}
