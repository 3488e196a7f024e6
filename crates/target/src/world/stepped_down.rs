use nandle_io::{Arena, Backend, Completion, Device, DeviceId, Full, Io, Nanos, Request, Wait, Waker};

/// A world that stands in for a better one, and says so.
pub(super) struct SteppedDown {
    inner: Box<dyn Io>,
    reason: String,
}

impl SteppedDown {
    pub(super) fn new(inner: Box<dyn Io>, reason: String) -> Self {
        Self { inner, reason }
    }
}

impl Io for SteppedDown {
    fn devices(&self) -> &[Device] {
        self.inner.devices()
    }

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        self.inner.submit(device, request)
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        self.inner.reap(wait, into);
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight()
    }

    fn slots(&self) -> usize {
        self.inner.slots()
    }

    fn now(&self) -> Nanos {
        self.inner.now()
    }

    fn cpu_time(&self) -> Nanos {
        self.inner.cpu_time()
    }

    fn timer_slack(&self) -> Nanos {
        self.inner.timer_slack()
    }

    fn waker(&mut self) -> Option<Waker> {
        self.inner.waker()
    }

    fn register(&mut self, arena: &Arena) -> usize {
        self.inner.register(arena)
    }

    fn backend(&self) -> Backend {
        let mut backend = self.inner.backend();
        backend.stepped_down.insert(0, self.reason.clone());
        backend
    }
}

#[cfg(test)]
mod tests {
    use nandle_io::Threads;

    use super::*;

    #[test]
    fn the_reason_stands_in_the_record() {
        let io = SteppedDown::new(Box::new(Threads::new(1)), "io_uring is refused here".into());
        assert_eq!(io.backend().name, "threads");
        assert_eq!(io.backend().stepped_down, ["io_uring is refused here"]);
    }
}
