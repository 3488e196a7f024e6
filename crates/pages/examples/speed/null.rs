use nandle_io::{
    Access, Arena, Backend, Completion, Device, DeviceId, DurableWrites, Full, Io, IoError, Nanos, Operation,
    Request, Shape, Wait, Waker,
};

/// A world with one device that completes everything at once: the next reaping finds it done.
///
/// It keeps what is written to its first bytes, where a store has its labels and ledgers, and forgets all else, so it
/// takes no memory however large it is. What it forgot reads as zeros, and filling the reader's memory with them is all
/// the work that it has. So pages of zeros read back as they were written.
pub(crate) struct NullWorld {
    device: [Device; 1],
    kept: Vec<u8>,
    done: Vec<Completion>,
    requests: u64,
}

impl NullWorld {
    /// With a device of `capacity_bytes` that keeps its first `kept_bytes`.
    pub(crate) fn new(capacity_bytes: u64, kept_bytes: usize) -> Self {
        let shape = Shape {
            capacity_bytes,
            logical_block_bytes: 512,
            memory_alignment_bytes: 512,
            largest_transfer_bytes: 1 << 20,
            access: Access::Direct,
            durable_writes: DurableWrites::OneCommand,
            writable: true,
            discards: false,
        };
        let device = [Device { id: DeviceId::from_index(0), shape }];
        Self { device, kept: vec![0; kept_bytes], done: Vec::new(), requests: 0 }
    }

    fn take_effect(&mut self, operation: &mut Operation) {
        let mut at = usize::try_from(operation.offset_bytes()).unwrap();
        match operation {
            Operation::Read { into, .. } => {
                for buffer in into {
                    buffer.fill(0);
                    copy(self.kept.get(at..).unwrap_or_default(), buffer);
                    at += buffer.len();
                }
            }
            Operation::Write { from, .. } => {
                for buffer in from {
                    copy(buffer, self.kept.get_mut(at..).unwrap_or_default());
                    at += buffer.len();
                }
            }
            Operation::Flush | Operation::Discard { .. } => {}
        }
    }
}

/// As much as both have.
fn copy(from: &[u8], into: &mut [u8]) {
    into.iter_mut().zip(from).for_each(|(into, from)| *into = *from);
}

impl Io for NullWorld {
    fn devices(&self) -> &[Device] {
        &self.device
    }

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        let Request { token, mut operation } = request;
        self.requests += 1;
        let result = self.device[0].shape.check(&operation).map_err(|cause| IoError::new(&operation, cause));
        if result.is_ok() {
            self.take_effect(&mut operation);
        }
        let at = self.now();
        self.done.push(Completion { token, device, submitted_at: at, completed_at: at, result, operation });
        Ok(())
    }

    fn reap(&mut self, _wait: Wait, into: &mut Vec<Completion>) {
        into.append(&mut self.done);
    }

    fn in_flight(&self) -> usize {
        self.done.len()
    }

    fn slots(&self) -> usize {
        usize::MAX
    }

    /// Virtual: a nanosecond a request.
    fn now(&self) -> Nanos {
        Nanos(self.requests)
    }

    fn cpu_time(&self) -> Nanos {
        Nanos::ZERO
    }

    fn timer_slack(&self) -> Nanos {
        Nanos::ZERO
    }

    fn waker(&mut self) -> Option<Waker> {
        None
    }

    fn register(&mut self, _arena: &Arena) -> usize {
        0
    }

    fn backend(&self) -> Backend {
        Backend { name: "null", features: Vec::new(), stepped_down: Vec::new() }
    }
}
