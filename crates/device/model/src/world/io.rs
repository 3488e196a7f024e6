use nandle_io::{
    Arena, Backend, Completion, Device, DeviceId, DriveCounters, Full, Io, Nanos, Request, Wait, Waker,
};

use super::in_flight::InFlight;
use super::model_world::ModelWorld;

impl Io for ModelWorld {
    fn devices(&self) -> &[Device] {
        &self.devices
    }

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        if self.in_flight() >= self.host.slots {
            return Err(Full(request));
        }
        let request = InFlight { device, request, submitted_at: self.now };
        self.charge_cpu(self.host.request_cpu);
        match self.refusal(device, &request.request.operation) {
            Some(cause) => self.refuse(request, cause),
            None => self.start(request),
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let enough = into.len() + wait.target(self.in_flight(), false);
        self.advance_to(self.now);
        self.hand_over(into);
        while into.len() < enough {
            let until = wait.until.unwrap_or(Nanos::MAX);
            match self.agenda.next_ns() {
                Some(next_ns) if next_ns <= until.0 => self.advance_to(Nanos(next_ns)),
                _ => {
                    let Some(until) = wait.until else { self.deadlock() };
                    self.advance_to(until);
                    return;
                }
            }
            self.hand_over(into);
        }
    }

    fn in_flight(&self) -> usize {
        self.requests.len() + self.ready.len()
    }

    fn slots(&self) -> usize {
        self.host.slots
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn cpu_time(&self) -> Nanos {
        self.cpu
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
        let features = vec!["modelled".into(), "virtual time".into()];
        Backend { name: "model", features, stepped_down: Vec::new() }
    }

    fn counters(&self, device: DeviceId) -> Option<DriveCounters> {
        self.timing(device)?.counters()
    }
}
