//! Worlds with a thread of their own, for engines whose threads must not block.
//!
//! An [`Owner`] is a thread and the world that it opened. A [scan](Owner::scan) is one message to
//! it. After each reap it hands out the completed steps, small ones in one message. They are copied
//! from the arenas once, so that a consumer which keeps bytes doesn't hold up the reads. The memory
//! of copies is limited per scan.

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

/// Memory that an owner keeps if it shares none.
const KEPT_BYTES: usize = 64 << 20;

/// Thread that owns a world and reads for other threads.
pub struct Owner {
    address: Address,
    progress: Arc<Progress>,
    thread: Option<JoinHandle<()>>,
}

impl Owner {
    /// Starts the thread. It opens its world by `open` and keeps up to 64 MiB of a scan's memory
    /// for the next one.
    ///
    /// # Errors
    /// The world can't be opened, or no thread can be started.
    pub fn start<F>(name: &str, open: F) -> Result<Self, ReadsError>
    where
        F: FnOnce() -> Result<Box<dyn Io>, String> + Send + 'static,
    {
        Self::keeping(KeptMemory::new(KEPT_BYTES), name, open)
    }

    /// Starts an owner that keeps free memory up to the limit shared by `kept`.
    ///
    /// # Errors
    /// See [`start`](Self::start).
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
                // The starting thread waits for this.
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

    /// Progress of its world.
    pub fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Reads the plan's steps. Copies that are queued or not yet dropped take at most
    /// `copies_bytes`, but a single step always fits. The plan's own memory comes in addition. A
    /// consumer that holds all this memory and waits for a step deadlocks: it has to drop steps
    /// first.
    pub fn scan(&self, files: Arc<[ReadFile]>, plan: Arc<Plan>, copies_bytes: u64) -> StepStream {
        self.scan_without(files, plan, copies_bytes, Vec::new())
    }

    /// Reads the plan without the `skipped` steps, which are handed out without bytes.
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
    /// Ends the thread. Scans in progress fail.
    fn drop(&mut self) {
        self.address.tell(Command::End);
        if let Some(thread) = self.thread.take() {
            // A panic has been reported already, and its streams have ended.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Owner").finish_non_exhaustive()
    }
}
