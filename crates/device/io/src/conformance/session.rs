use crate::{Cause, Completion, Device, Io, Nanos, Operation, Request, Wait};

/// Limit of a request's latency on a working device.
const PATIENCE: Nanos = Nanos::from_secs(120);

/// One subject of the suite on one device.
pub(super) struct Session<'a> {
    pub(super) io: &'a mut dyn Io,
    pub(super) device: Device,
    next_token: u64,
    note: Note,
}

/// Prints how to repeat a failed check.
struct Note {
    subject: &'static str,
    device: u32,
    seed: u64,
}

impl Drop for Note {
    #[allow(clippy::print_stderr, reason = "a test suite reports on standard error")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("conformance: {} failed on device {}, seed {}", self.subject, self.device, self.seed);
        }
    }
}

impl<'a> Session<'a> {
    pub(super) fn new(io: &'a mut dyn Io, device: &Device, subject: &'static str, seed: u64) -> Self {
        assert_eq!(io.in_flight(), 0, "the suite needs the world to itself");
        assert_eq!(io.devices().get(device.id.index() as usize), Some(device), "the world knows its device");
        let note = Note { subject, device: device.id.index(), seed };
        Self { io, device: device.clone(), next_token: seed << 20, note }
    }

    pub(super) fn seed(&self) -> u64 {
        self.note.seed
    }

    /// Request with a unique token.
    pub(super) fn request(&mut self, operation: Operation) -> Request {
        self.next_token += 1;
        Request { token: self.next_token, operation }
    }

    /// Submits an operation and returns its token.
    pub(super) fn submit(&mut self, operation: Operation) -> u64 {
        let request = self.request(operation);
        let token = request.token;
        self.io.submit(self.device.id, request).expect("there is room for the request");
        token
    }

    /// Collects everything in flight, in the order of completion.
    pub(super) fn drain(&mut self) -> Vec<Completion> {
        let mut completions = Vec::new();
        let until = self.io.now() + PATIENCE;
        while self.io.in_flight() > 0 {
            assert!(self.io.now() < until, "{} requests never completed", self.io.in_flight());
            self.io.reap(Wait { completions: usize::MAX, until: Some(until) }, &mut completions);
        }
        completions
    }

    /// Runs one request alone.
    pub(super) fn run(&mut self, operation: Operation) -> Completion {
        let token = self.submit(operation);
        let mut completions = self.drain();
        assert_eq!(completions.len(), 1, "one request has one completion");
        let completion = completions.pop().unwrap();
        assert_eq!(completion.token, token);
        completion
    }

    /// Runs one request that must be refused; returns the cause.
    pub(super) fn refused(&mut self, operation: Operation) -> Cause {
        let expected = (operation.name(), operation.offset_bytes(), operation.length_bytes());
        let completion = self.run(operation);
        let error = completion.result.expect_err("the request is impossible");
        assert_eq!((error.operation, error.offset_bytes, error.length_bytes), expected);
        assert_eq!(completion.operation.length_bytes(), expected.2, "the buffers come back");
        error.cause
    }

    /// Logical block of the device.
    pub(super) fn block_bytes(&self) -> usize {
        usize::try_from(self.device.shape.logical_block_bytes).unwrap()
    }

    /// `bytes` rounded up to whole logical blocks.
    pub(super) fn whole_blocks(&self, bytes: usize) -> usize {
        bytes.next_multiple_of(self.block_bytes())
    }
}
