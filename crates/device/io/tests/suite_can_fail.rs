//! The conformance suite detects faulty worlds: each of these breaks one guarantee.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use nandle_io::conformance::{MemoryWorld, check};
use nandle_io::{Arena, BufferMut, Completion, DeviceId, Full, Io, Nanos, Operation, Request, Wait};

/// Guarantee to break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lie {
    /// None: the world is correct.
    None,
    WrongByteRead,
    WriteElsewhere,
    VectorsSwapped,
    WrongToken,
    WrongDevice,
    CompletesTwice,
    NeverCompletes,
    CompletedBeforeSubmitted,
    CompletedInTheFuture,
    TakesTooMany,
    FullTooEarly,
    FullLosesTheRequest,
    ErrorsAreSuccesses,
    WaitReturnsTooEarly,
    DeadlineIgnored,
    AnotherBuffer,
    ChargesNothing,
    ChargesWait,
}

/// World in memory that breaks one guarantee now and then.
struct Liar {
    inner: MemoryWorld,
    lie: Lie,
    calls: u64,
    arena: Arena,
}

impl Liar {
    /// Returns true at every seventh call for this lie.
    fn lies_now(&mut self, lie: Lie) -> bool {
        self.calls += u64::from(self.lie == lie);
        self.lie == lie && self.calls.is_multiple_of(7)
    }

    fn falsify(&mut self, mut completion: Completion, into: &mut Vec<Completion>) {
        let another = |completion: &Completion, operation| Completion {
            operation,
            result: completion.result.clone(),
            ..*completion
        };
        if self.lie == Lie::ErrorsAreSuccesses {
            completion.result = Ok(());
        }
        if self.lies_now(Lie::WrongToken) {
            completion.token ^= 1 << 40;
        }
        if self.lies_now(Lie::WrongDevice) {
            completion.device = DeviceId::from_index(7);
        }
        if self.lies_now(Lie::CompletedBeforeSubmitted) {
            completion.completed_at = completion.submitted_at.since(Nanos(1));
        }
        if self.lies_now(Lie::CompletedInTheFuture) {
            completion.completed_at += Nanos::from_secs(1);
        }
        if self.lies_now(Lie::CompletesTwice) {
            into.push(another(&completion, Operation::Flush));
        }
        if let Operation::Read { into: buffers, .. } = &mut completion.operation {
            self.falsify_read(buffers);
        }
        if !self.lies_now(Lie::NeverCompletes) {
            into.push(completion);
        }
    }

    fn falsify_read(&mut self, buffers: &mut [BufferMut]) {
        if buffers.iter().any(BufferMut::is_empty) {
            return;
        }
        if self.lies_now(Lie::WrongByteRead)
            && let [.., last] = buffers
        {
            *last.last_mut().unwrap() ^= 1;
        }
        if self.lie == Lie::VectorsSwapped
            && let [first, .., last] = buffers
        {
            std::mem::swap(&mut first[0], &mut last[0]);
        }
        if self.lies_now(Lie::AnotherBuffer)
            && let [first, ..] = buffers
        {
            let mut copy = self.arena.allocate(first.len()).unwrap();
            copy.copy_from_slice(first);
            *first = copy;
        }
    }
}

impl Io for Liar {
    nandle_io::forward_io!(inner: devices in_flight slots now cpu_time timer_slack waker register backend counters);

    fn charge_cpu(&mut self, span: Nanos) {
        match self.lie {
            Lie::ChargesNothing => {}
            Lie::ChargesWait => self.inner.reap(Wait::until_time(self.now() + span), &mut Vec::new()),
            _ => self.inner.charge_cpu(span),
        }
    }

    fn submit(&mut self, device: DeviceId, mut request: Request) -> Result<(), Full> {
        let full = self.inner.in_flight() >= self.inner.slots();
        if self.lie == Lie::FullTooEarly && self.inner.in_flight() + 1 >= self.inner.slots() {
            return Err(Full(request));
        }
        if self.lie == Lie::TakesTooMany && full {
            return Ok(());
        }
        if self.lie == Lie::FullLosesTheRequest && full {
            return Err(Full(Request { token: request.token, operation: Operation::Flush }));
        }
        if let Operation::Write { offset_bytes, .. } = &mut request.operation
            && *offset_bytes >= 4096
            && self.lies_now(Lie::WriteElsewhere)
        {
            *offset_bytes -= 512;
        }
        self.inner.submit(device, request)
    }
    fn reap(&mut self, mut wait: Wait, into: &mut Vec<Completion>) {
        if self.lie == Lie::WaitReturnsTooEarly {
            wait.completions = wait.completions.min(1);
        }
        if self.lie == Lie::DeadlineIgnored {
            wait.until = wait.until.map(|until| until + Nanos(1));
        }
        let mut completions = Vec::new();
        self.inner.reap(wait, &mut completions);
        for completion in completions {
            self.falsify(completion, into);
        }
    }
}

fn passes(lie: Lie) -> bool {
    // No two requests complete at the same time, so that a wait can return too early.
    let mut inner = MemoryWorld::new(16, Nanos::from_micros(50)).with_request_cpu(Nanos(1));
    let device = inner.add(1 << 20, 512);
    let mut liar = Liar { inner, lie, calls: 0, arena: Arena::new(64 << 20).unwrap() };
    catch_unwind(AssertUnwindSafe(|| check(&mut liar, &device, 99))).is_ok()
}

#[test]
fn an_honest_world_passes() {
    assert!(passes(Lie::None));
}

#[test]
fn every_lie_is_found() {
    let lies = [
        Lie::WrongByteRead,
        Lie::WriteElsewhere,
        Lie::VectorsSwapped,
        Lie::WrongToken,
        Lie::WrongDevice,
        Lie::CompletesTwice,
        Lie::NeverCompletes,
        Lie::CompletedBeforeSubmitted,
        Lie::CompletedInTheFuture,
        Lie::TakesTooMany,
        Lie::FullTooEarly,
        Lie::FullLosesTheRequest,
        Lie::ErrorsAreSuccesses,
        Lie::WaitReturnsTooEarly,
        Lie::DeadlineIgnored,
        Lie::AnotherBuffer,
        Lie::ChargesNothing,
        Lie::ChargesWait,
    ];
    let unnoticed: Vec<Lie> = lies.into_iter().filter(|lie| passes(*lie)).collect();
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}
