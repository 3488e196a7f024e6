//! Properties of the modelled world beyond the conformance suite.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

use nandle_io::{Arena, Completion, Device, Io, Nanos, Operation, Request, Wait};
use nandle_model::library::Model;
use nandle_model::timing::{TimedCompletion, TimedRequest, Timing};
use nandle_model::world::{Host, ModelWorld, ModelledDevice};

/// Completes every request a fixed time after its arrival; `None` never completes any.
struct Fixed {
    latency_ns: Option<u64>,
    due: Vec<(u64, u64)>,
}

impl Timing for Fixed {
    fn arrive(&mut self, now_ns: u64, request: TimedRequest) {
        self.due.extend(self.latency_ns.map(|latency_ns| (now_ns + latency_ns, request.id)));
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.due.first().map(|(at_ns, _)| *at_ns)
    }

    fn advance(&mut self, now_ns: u64, completed: &mut Vec<TimedCompletion>) {
        let (done, left) = self.due.iter().partition(|(at_ns, _)| *at_ns <= now_ns);
        self.due = left;
        completed.extend(Vec::into_iter(done).map(|(completed_ns, id)| TimedCompletion { id, completed_ns }));
    }
}

fn world(request_cpu: Nanos, latencies_ns: &[Option<u64>]) -> (ModelWorld, Vec<Device>) {
    let mut world = ModelWorld::new(Host { slots: 8, request_cpu });
    let fixed = |latency_ns: &Option<u64>| Fixed { latency_ns: *latency_ns, due: Vec::new() };
    let add = |latency_ns| world.add(ModelledDevice::new(Box::new(fixed(latency_ns)), 1 << 20, 512));
    let devices = latencies_ns.iter().map(add).collect();
    (world, devices)
}

fn flush(world: &mut ModelWorld, device: &Device, token: u64) {
    world.submit(device.id, Request { token, operation: Operation::Flush }).unwrap();
}

fn reaped(world: &mut ModelWorld, wait: Wait) -> Vec<Completion> {
    let mut completions = Vec::new();
    world.reap(wait, &mut completions);
    completions
}

#[test]
fn completions_of_one_time_come_together_in_the_order_of_devices() {
    let (mut world, devices) = world(Nanos::ZERO, &[Some(50), Some(50), Some(70)]);
    for device in devices.iter().rev() {
        flush(&mut world, device, device.id.index().into());
    }
    let first = reaped(&mut world, Wait::until_completed(1));
    assert_eq!(
        first.iter().map(|done| (done.token, done.completed_at.0)).collect::<Vec<_>>(),
        [(0, 50), (1, 50)]
    );
    assert_eq!((world.now(), world.in_flight()), (Nanos(50), 1));
}

#[test]
fn the_processor_is_charged_to_clock_and_latency() {
    let (mut world, devices) = world(Nanos(1_000), &[Some(10)]);
    let device = devices.first().unwrap();
    flush(&mut world, device, 1);
    flush(&mut world, device, 2);
    assert_eq!((world.now(), world.cpu_time()), (Nanos(2_000), Nanos(2_000)));
    world.charge_cpu(Nanos(500));
    let done = reaped(&mut world, Wait::until_completed(2));
    // Both completed while the processor was busy with the following work, and waited for it.
    assert_eq!(
        done.iter().map(|done| (done.submitted_at.0, done.completed_at.0)).collect::<Vec<_>>(),
        [(0, 2_500), (1_000, 2_500)]
    );
    assert_eq!((world.now(), world.cpu_time()), (Nanos(2_500), Nanos(2_500)));
}

#[test]
fn a_device_that_forgets_a_request_hangs_no_caller() {
    let (mut world, devices) = world(Nanos::ZERO, &[None]);
    flush(&mut world, devices.first().unwrap(), 1);
    let deadline = Nanos::from_secs(1);
    assert!(reaped(&mut world, Wait::until_time(deadline)).is_empty());
    assert_eq!(world.now(), deadline);
}

#[test]
#[should_panic(expected = "1 requests in flight and no event to come: the oldest is a flush of 0 bytes")]
fn a_deadlock_says_who_waits() {
    let (mut world, devices) = world(Nanos::ZERO, &[None]);
    flush(&mut world, devices.first().unwrap(), 1);
    reaped(&mut world, Wait::until_completed(1));
}

#[test]
fn a_world_runs_as_its_devices_do_alone() {
    // 32 KiB random reads, one at a time: the latency in the world is that of the timing plus
    // processor time.
    let model = Model::named("x25-m-g2").unwrap();
    let mut world = ModelWorld::new(Host { slots: 1, request_cpu: Nanos(5_000) });
    let device = world.add(model.device().unwrap());
    let mut alone = model.device().unwrap().timing;
    let arena = Arena::new(1 << 20).unwrap();
    for number in 0..100_u64 {
        let offset_bytes = number * 7_919 % 200_000 * 32_768;
        let arrives_ns = world.now().0 + 5_000;
        let operation = Operation::read(offset_bytes, arena.allocate(32 << 10).unwrap());
        world.submit(device.id, Request { token: number, operation }).unwrap();
        let got = reaped(&mut world, Wait::until_completed(1)).remove(0).completed_at.0;
        let request = nandle_model::timing::TimedOperation::Read;
        alone.arrive(
            arrives_ns,
            TimedRequest { id: 1, operation: request, offset_bytes, length_bytes: 32_768 },
        );
        let mut completed = Vec::new();
        while completed.is_empty() {
            alone.advance(alone.next_event_ns().unwrap(), &mut completed);
        }
        assert_eq!(completed.first().map(|done| done.completed_ns), Some(got));
    }
}
