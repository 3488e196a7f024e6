use std::marker::PhantomData;
use std::sync::Arc;

use super::call::Call;
use super::pool::{Done, Pool};
use crate::file::DeviceFile;
use crate::io::Wake;
use crate::served::Served;
use crate::slots::{InFlight, Slots};
use crate::{
    Arena, Backend, Cause, Completion, Device, DeviceId, Full, Io, IoError, Nanos, Request, SetupError, Wait,
    Waker, clock,
};

/// Limit of threads; more help no device and burden the machine.
const WORKERS_MAX: usize = 256;
/// Time that a dropped world waits for running calls before it leaks their memory.
const DRAIN: Nanos = Nanos::from_secs(2);

/// World of files and block devices with blocking system calls.
pub struct Threads {
    pool: Pool,
    served: Served<()>,
    done: Vec<Done>,
    has_waker: bool,
    /// Reason why it replaces a better world.
    stands_in: Option<String>,
    /// Fallbacks of its files.
    stepped_down: Vec<&'static str>,
    /// A world belongs to one thread.
    _not_send: PhantomData<*const ()>,
}

impl Threads {
    /// World with `slots` slots and a thread for each running request, up to 256.
    pub fn new(slots: u32) -> Self {
        let slots = slots.max(1);
        Self::with_pool(Pool::new(WORKERS_MAX.min(slots as usize)), slots)
    }

    fn with_pool(pool: Pool, slots: u32) -> Self {
        Self {
            pool,
            served: Served::new(slots),
            done: Vec::new(),
            has_waker: false,
            stands_in: None,
            stepped_down: Vec::new(),
            _not_send: PhantomData,
        }
    }

    /// World without threads. Collecting completions runs the requests one after the other in the
    /// caller's thread, like a program with blocking system calls. A call that hangs also hangs the
    /// caller.
    pub fn blocking(slots: u32) -> Self {
        Self::with_pool(Pool::new(0), slots.max(1))
    }

    /// Like [`Self::new`], as a replacement for an unavailable world; its [`Backend`] reports that.
    pub fn in_place_of(better: &SetupError, slots: u32) -> Self {
        let mut world = Self::new(slots);
        world.stands_in = Some(better.to_string());
        world
    }

    /// Adds a file or a block device.
    pub fn add(&mut self, file: Arc<DeviceFile>) -> Device {
        let note = file.durable_calls().stepped_down();
        self.stepped_down.extend(note.filter(|note| !self.stepped_down.contains(note)));
        self.served.add(file)
    }

    fn files_stepped_down(&self) -> impl Iterator<Item = String> {
        self.stepped_down.iter().map(|note| String::from(*note))
    }

    fn hand_out(&mut self, into: &mut Vec<Completion>) {
        for done in self.done.drain(..) {
            if let Some(in_flight) = self.served.slots.remove(done.slot) {
                let result = done.result.map_err(|cause| IoError::new(&in_flight.operation, cause));
                into.push(in_flight.complete(done.completed_at, result));
            }
        }
    }
}

impl Io for Threads {
    crate::forward_io!(served: devices in_flight slots now cpu_time timer_slack);

    /// Does nothing: real work takes its own time.
    fn charge_cpu(&mut self, _span: Nanos) {}

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        if self.in_flight() >= self.slots() {
            return Err(Full(request));
        }
        let in_flight = InFlight::new(device, request, clock::monotonic(), ());
        let refusal = self.served.refusal(device, &in_flight.operation);
        let call = match (refusal, self.served.file(device)) {
            (None, Some(file)) => Call::new(Arc::clone(file), &in_flight.operation),
            (refusal, _) => {
                let cause = refusal.unwrap_or(Cause::UnknownDevice { index: device.0 });
                self.served.refuse(in_flight, cause);
                return Ok(());
            }
        };
        match self.served.slots.insert(in_flight) {
            Ok(slot) => {
                self.pool.start(slot, call);
                Ok(())
            }
            Err(in_flight) => Err(Full(Request { token: in_flight.token, operation: in_flight.operation })),
        }
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let enough = wait.target(self.in_flight(), self.has_waker);
        let before = into.len();
        self.served.reap_refused(into);
        let wanted = enough.saturating_sub(into.len() - before);
        self.pool.run_without_workers();
        self.pool.shared.take_done(wanted, wait.until, &mut self.done);
        self.hand_out(into);
    }

    fn waker(&mut self) -> Option<Waker> {
        self.has_waker = true;
        let wake: Arc<dyn Wake> = Arc::clone(&self.pool.shared) as Arc<dyn Wake>;
        Some(Waker::new(wake))
    }

    fn register(&mut self, _arena: &Arena) -> usize {
        0
    }

    fn backend(&self) -> Backend {
        let threads = self.pool.workers_max();
        if threads == 0 {
            let features = vec!["one request after the other, in the caller's own thread".into()];
            return Backend { name: "blocking", features, stepped_down: self.files_stepped_down().collect() };
        }
        let waits = self.slots() > threads;
        let waits =
            waits.then(|| format!("of {} requests at a time {threads} reach the device", self.slots()));
        let refusal = self.pool.refusal().map(Into::into);
        Backend {
            name: "threads",
            features: vec![format!("up to {threads} threads")],
            stepped_down: (self.stands_in.iter().cloned())
                .chain(waits)
                .chain(refusal)
                .chain(self.files_stepped_down())
                .collect(),
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let until = clock::monotonic() + DRAIN;
        let mut completions = Vec::new();
        while self.served.slots.in_use() > 0 && clock::monotonic() < until {
            self.reap(Wait { completions: self.served.slots.in_use(), until: Some(until) }, &mut completions);
        }
        let idle = self.served.slots.in_use() == 0;
        self.pool.close(idle);
        if !idle {
            // A call is stuck, and the kernel may still write to its memory.
            std::mem::forget(std::mem::replace(&mut self.served.slots, Slots::new(0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_that_stands_in_for_another_says_so() {
        let refused = SetupError::Refused { errno: rustix::io::Errno::PERM };
        let backend = Threads::in_place_of(&refused, 1).backend();
        assert_eq!(backend.name, "threads");
        assert_eq!(backend.stepped_down, [refused.to_string()]);
    }

    #[test]
    fn a_blocking_world_is_no_pool_of_no_threads() {
        let backend = Threads::blocking(8).backend();
        assert_eq!((backend.name, backend.stepped_down.len()), ("blocking", 0));
    }

    #[test]
    fn a_queue_deeper_than_there_are_threads_is_told() {
        assert!(Threads::new(256).backend().stepped_down.is_empty());
        let told = Threads::new(1000).backend().stepped_down;
        assert_eq!(told, ["of 1000 requests at a time 256 reach the device"]);
    }
}
