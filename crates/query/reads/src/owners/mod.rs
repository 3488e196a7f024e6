//! Worlds with a thread of their own, for engines whose threads aren't theirs to wait in.
//!
//! An [`Owner`] is a thread and the world that it made. A [scan](Owner::scan) is one message in; after each reap the steps that have become whole go
//! out, small ones in one message. What is handed out is copied from the arenas once, so nothing that a consumer keeps holds up the reads. The copies that are
//! not yet dropped take at most the memory that the scan was given for them.

mod mailbox;
mod progress;
mod stream;
mod thread;

pub use progress::Progress;
pub use stream::{OwnedStep, StepStream, Steps, Stopper, UrgentRead};

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use nandle_io::Io;

use crate::{KeptMemory, Plan, ReadFile, ReadsError, ScanMemory};
use mailbox::{Address, Mailbox};
use thread::{Command, Worker};

/// Memory that a lone owner keeps.
const KEPT_BYTES: usize = 64 << 20;

/// A thread that owns a world, and reads for others.
pub struct Owner {
    address: Address,
    progress: Arc<Progress>,
    thread: Option<JoinHandle<()>>,
}

impl Owner {
    /// Starts the thread, which makes its world by `open` and keeps 64 MiB of a scan's memory for the next.
    ///
    /// # Errors
    /// The world can't be opened, or the system has no thread; `why` says so.
    pub fn start<F>(name: &str, open: F) -> Result<Self, ReadsError>
    where
        F: FnOnce() -> Result<Box<dyn Io>, String> + Send + 'static,
    {
        Self::keeping(KeptMemory::new(KEPT_BYTES), name, open)
    }

    /// The same for an owner that keeps memory, while no scan has it, as far as those leave room for it with which it shares this.
    ///
    /// # Errors
    /// As of [`start`](Self::start).
    pub fn keeping<F>(kept: KeptMemory, name: &str, open: F) -> Result<Self, ReadsError>
    where
        F: FnOnce() -> Result<Box<dyn Io>, String> + Send + 'static,
    {
        let (commands, received) = channel();
        let (opened, is_opened) = channel();
        let progress = Arc::new(Progress::default());
        let noted = Arc::clone(&progress);
        let body = move || match open() {
            Ok(mut io) => {
                let told = opened.send(Ok(io.waker()));
                if told.is_ok() {
                    Worker::new(io, received, ScanMemory::sharing(kept), noted).run();
                }
            }
            Err(why) => {
                // Whoever started the thread waits for this.
                let _ = opened.send(Err(why));
            }
        };
        let gone = |why: String| ReadsError::OwnerGone { why };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(body);
        let thread = thread.map_err(|error| gone(format!("starting it: {error}")))?;
        let answer = is_opened.recv().map_err(|_| gone("it ended while it opened its devices".to_owned()))?;
        let waker = answer.map_err(gone)?;
        Ok(Self { address: Address { commands, waker }, progress, thread: Some(thread) })
    }

    /// What its world is at.
    pub fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Reads the plan's steps. Copies that are on their way or not yet dropped take at most `copies_bytes`, but a single step always fits; the
    /// plan's own memory is beside that. A consumer
    /// that holds all that there is room for and asks for more waits for itself, so steps are dropped before the next is asked for.
    pub fn scan(&self, files: Arc<[ReadFile]>, plan: Arc<Plan>, copies_bytes: u64) -> StepStream {
        self.scan_without(files, plan, copies_bytes, Vec::new())
    }

    /// The same without some steps, which come without their bytes: what only they want isn't read.
    pub fn scan_without(
        &self,
        files: Arc<[ReadFile]>,
        plan: Arc<Plan>,
        copies_bytes: u64,
        skipped: Vec<Range<u32>>,
    ) -> StepStream {
        let mailbox = Arc::new(Mailbox::new(copies_bytes, self.address.clone()));
        let stream = StepStream::new(Arc::clone(&mailbox), Arc::clone(&plan), self.address.clone());
        if !self.address.tell(Command::Scan { files, plan, skipped, mailbox: Arc::clone(&mailbox) }) {
            mailbox.end(Some(ReadsError::OwnerGone { why: "it had ended before the scan".to_owned() }));
        }
        stream
    }
}

impl Drop for Owner {
    /// Ends the thread: scans that go on get an error.
    fn drop(&mut self) {
        self.address.tell(Command::End);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told so, and its streams have ended.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Owner").finish_non_exhaustive()
    }
}
