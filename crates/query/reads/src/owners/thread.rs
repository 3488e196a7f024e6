use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use nandle_io::{Completion, DeviceId, Io, Request, Wait};

use super::mailbox::{Answer, Letter, Mailbox};
use super::progress::Progress;
use crate::pump::TOKEN_BITS;
use crate::{FileId, Plan, Pump, ReadFile, ReadsError, ScanMemory, Step};

/// Batch size of copies: the consumer starts on one while the next is copied.
const HANDED_OUT_BYTES: usize = 256 << 10;

/// Command to an owner.
pub(crate) enum Command {
    Scan {
        files: Arc<[ReadFile]>,
        plan: Arc<Plan>,
        /// Steps to be handed out without bytes.
        skipped: Vec<Range<u32>>,
        mailbox: Arc<Mailbox>,
    },
    /// Skips further steps of a scan.
    Skip {
        mailbox: Arc<Mailbox>,
        steps: Range<u32>,
    },
    Urgent {
        mailbox: Arc<Mailbox>,
        number: u64,
        file: FileId,
        offset_bytes: u64,
        length_bytes: u64,
    },
    /// A copy or a stream was dropped.
    Look,
    End,
}

/// A scan in progress.
struct Running {
    pump: Pump,
    mailbox: Arc<Mailbox>,
    /// A step that doesn't fit in the mailbox.
    waiting: Option<Step>,
    /// Urgent reads: the numbers of the stream and of the pump.
    urgent: Vec<(u64, u64)>,
    is_ended: bool,
}

/// State of the thread.
pub(crate) struct Worker {
    io: Box<dyn Io>,
    commands: Receiver<Command>,
    /// Indexed by the upper bits of the requests' tokens; indices are reused.
    scans: Vec<Option<Running>>,
    memory: ScanMemory,
    refused: Option<(DeviceId, Request)>,
    /// The scan that sends first in the next round.
    first_scan: usize,
    completions: Vec<Completion>,
    progress: Arc<Progress>,
    is_ending: bool,
}

impl Worker {
    pub(crate) fn new(
        io: Box<dyn Io>,
        commands: Receiver<Command>,
        memory: ScanMemory,
        progress: Arc<Progress>,
    ) -> Self {
        Self {
            io,
            commands,
            scans: Vec::new(),
            memory,
            refused: None,
            first_scan: 0,
            completions: Vec::new(),
            progress,
            is_ending: false,
        }
    }

    pub(crate) fn run(mut self) {
        loop {
            self.obey();
            if self.is_ending {
                break;
            }
            self.send();
            if self.io.in_flight() == 0 {
                // Nothing is in flight, so only a command can end the wait.
                match self.commands.recv() {
                    Ok(command) => self.take(command),
                    Err(_) => break,
                }
                self.hand_out();
                continue;
            }
            self.reap(Wait::until_completed(1));
            self.hand_out();
        }
        self.end();
    }

    fn obey(&mut self) {
        loop {
            match self.commands.try_recv() {
                Ok(command) => self.take(command),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.is_ending = true;
                    break;
                }
            }
        }
        self.hand_out();
    }

    fn take(&mut self, command: Command) {
        match command {
            Command::Scan { files, plan, skipped, mailbox } => self.begin(files, plan, skipped, mailbox),
            Command::Skip { mailbox, steps } => {
                let of_stream = |running: &&mut Running| Arc::ptr_eq(&running.mailbox, &mailbox);
                if let Some(running) = self.scans.iter_mut().flatten().find(of_stream) {
                    running.pump.skip_steps(steps);
                }
            }
            Command::Urgent { mailbox, number, file, offset_bytes, length_bytes } => {
                let of_stream = |running: &&mut Running| Arc::ptr_eq(&running.mailbox, &mailbox);
                let Some(running) = self.scans.iter_mut().flatten().find(of_stream) else { return };
                match running.pump.ask_urgently(file, offset_bytes, length_bytes) {
                    Ok(asked) => running.urgent.push((number, asked)),
                    Err(error) => mailbox.put(Vec::new(), vec![(number, Err(error))]),
                }
            }
            Command::Look => {}
            Command::End => self.is_ending = true,
        }
    }

    fn begin(
        &mut self,
        files: Arc<[ReadFile]>,
        plan: Arc<Plan>,
        skipped: Vec<Range<u32>>,
        mailbox: Arc<Mailbox>,
    ) {
        match Pump::new(plan, files, &mut self.memory) {
            Ok(mut pump) => {
                for steps in skipped {
                    pump.skip_steps(steps);
                }
                let running = Running { pump, mailbox, waiting: None, urgent: Vec::new(), is_ended: false };
                match self.scans.iter_mut().find(|place| place.is_none()) {
                    Some(place) => *place = Some(running),
                    None => self.scans.push(Some(running)),
                }
            }
            Err(error) => mailbox.end(Some(error)),
        }
    }

    /// Submits requests of all scans in turn, until the queues are full.
    fn send(&mut self) {
        if let Some((device, request)) = self.refused.take()
            && let Err(full) = self.io.submit(device, request)
        {
            self.refused = Some((device, full.0));
            return;
        }
        // Urgent requests go first. Each round starts with another scan.
        let scans = self.scans.len();
        self.first_scan = (self.first_scan + 1) % scans.max(1);
        let turns =
            [true, false].into_iter().flat_map(|is_urgent| (0..scans).map(move |turn| (is_urgent, turn)));
        for (is_urgent, turn) in turns {
            let number = (self.first_scan + turn) % scans.max(1);
            let Some(Some(running)) = self.scans.get_mut(number) else { continue };
            while running.pump.has_urgent() || !is_urgent {
                let Some((device, mut request)) = running.pump.next_request() else { break };
                request.token |= (number as u64) << TOKEN_BITS;
                if let Err(full) = self.io.submit(device, request) {
                    self.refused = Some((device, full.0));
                    return;
                }
            }
        }
    }

    fn reap(&mut self, wait: Wait) {
        self.progress.note(self.io.in_flight(), 0);
        self.io.reap(wait, &mut self.completions);
        self.progress.note(self.io.in_flight(), self.completions.len());
        for completion in self.completions.drain(..) {
            let number = usize::try_from(completion.token >> TOKEN_BITS).unwrap_or(usize::MAX);
            let Some(running) = self.scans.get_mut(number).and_then(Option::as_mut) else {
                unreachable!("scan {number} has requests in flight, so it has its place")
            };
            running.pump.complete(completion);
        }
    }

    /// Puts completed steps into the mailboxes, and drops scans whose stream is gone.
    fn hand_out(&mut self) {
        for place in &mut self.scans {
            let Some(running) = place else { continue };
            if running.mailbox.is_abandoned() {
                running.pump.stop();
                if running.pump.in_flight() == 0 {
                    *place = None;
                    self.memory.trim();
                }
                continue;
            }
            running.hand_out();
        }
    }

    /// Ends all scans, and waits for the requests in flight.
    fn end(&mut self) {
        self.tell_end("it was told to end");
        for running in self.scans.iter_mut().flatten() {
            running.pump.stop();
        }
        self.refused = None;
        while self.io.in_flight() > 0 {
            self.reap(Wait::until_completed(self.io.in_flight()));
        }
    }

    fn tell_end(&mut self, why: &str) {
        let gone = || Some(ReadsError::OwnerGone { why: why.to_owned() });
        for running in self.scans.iter_mut().flatten() {
            running.mailbox.end(gone());
        }
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Scan { mailbox, .. } | Command::Urgent { mailbox, .. } => mailbox.end(gone()),
                Command::Skip { .. } | Command::Look | Command::End => {}
            }
        }
    }
}

impl Drop for Worker {
    /// Streams must not wait for a thread that has panicked.
    fn drop(&mut self) {
        self.tell_end("it failed, which is a bug: its message is on standard error");
    }
}

impl Running {
    fn hand_out(&mut self) {
        self.mailbox.add_outstanding(self.pump.take_outstanding());
        let urgent = self.urgent_answers();
        self.mailbox.put(Vec::new(), urgent);
        let failure = self.copy_steps().err();
        let is_done = self.waiting.is_none() && self.pump.is_done();
        if !self.is_ended && (is_done || failure.is_some()) {
            self.is_ended = true;
            self.mailbox.end(failure);
        }
    }

    /// Copies completed steps as far as they fit, and hands them out.
    fn copy_steps(&mut self) -> Result<(), ReadsError> {
        let (mut letters, mut bytes) = (Vec::new(), 0);
        let copied = loop {
            if self.is_ended {
                break Ok(());
            }
            if self.waiting.is_none() {
                match self.pump.take_step() {
                    Ok(step) => self.waiting = step,
                    Err(error) => break Err(error),
                }
            }
            let Some(letter) = self.waiting.as_ref().and_then(|step| self.mailbox.copy(step)) else {
                break Ok(());
            };
            self.waiting = None;
            bytes += letter.bytes.iter().map(bytes::Bytes::len).sum::<usize>();
            letters.push(letter);
            if bytes >= HANDED_OUT_BYTES {
                self.put(std::mem::take(&mut letters));
                bytes = 0;
            }
        };
        self.put(letters);
        copied
    }

    fn put(&self, letters: Vec<Letter>) {
        if !letters.is_empty() {
            self.mailbox.set_counts(self.pump.counts());
            self.mailbox.put(letters, Vec::new());
        }
    }

    fn urgent_answers(&mut self) -> Vec<Answer> {
        let mut answers = Vec::new();
        let Self { urgent, pump, .. } = self;
        urgent.retain(|(number, asked)| {
            let answer = pump.take_urgent(*asked).transpose();
            let is_missing = answer.is_none();
            answers.extend(answer.map(|answer| (*number, answer)));
            is_missing
        });
        answers
    }
}
