//! The runtime in virtual time, where runs are deterministic, and on the real worlds.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

mod common;

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::Poll;

use common::{memory_file, real_worlds};
use nandle_io::conformance::{Faults, MemoryWorld};
use nandle_io::runtime::{Handle, Runtime};
use nandle_io::{Arena, Arrays, Cause, Completion, DeviceId, Io, Nanos, Operation, Wait};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const LATENCY: Nanos = Nanos::from_micros(100);

/// Runtime in virtual time with one device.
fn in_memory(slots: usize) -> (Runtime, DeviceId, Faults) {
    let mut world = MemoryWorld::new(slots, LATENCY);
    let device = world.add(1 << 20, 512);
    let faults = world.faults();
    (Runtime::new(Box::new(world)), device.id, faults)
}

/// Events and their times.
type Log = Rc<RefCell<Vec<(Nanos, String)>>>;

#[test]
fn tasks_run_in_the_order_in_which_they_were_woken() {
    let (runtime, _, _) = in_memory(1);
    let handle = runtime.handle();
    let order = Rc::new(RefCell::new(Vec::new()));
    let sum = runtime.block_on(async {
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let (order, handle) = (Rc::clone(&order), handle.clone());
                handle.clone().spawn(async move {
                    for round in 0..2 {
                        order.borrow_mut().push((round, number));
                        handle.yield_now().await;
                    }
                    number
                })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await;
        }
        sum
    });
    assert_eq!(sum, 3);
    assert_eq!(*order.borrow(), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
}

/// Task that sleeps, reads and writes at random, as a function of the seed.
async fn busy_task(number: u64, seed: u64, handle: Handle, device: DeviceId, log: Log) {
    let arena = Arena::new(1 << 16).unwrap();
    let device = handle.device(device);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed * 100 + number);
    for round in 0..20 {
        let offset = rng.random_range(0..100) * 512;
        match rng.random_range(0..4) {
            0 => handle.sleep(Nanos(rng.random_range(0..200_000))).await,
            1 => handle.yield_now().await,
            2 => drop(device.read(offset, arena.allocate(512).unwrap()).await),
            _ => device.write(offset, arena.allocate(1024).unwrap().freeze()).await.unwrap(),
        }
        log.borrow_mut().push((handle.now(), format!("task {number} round {round}")));
    }
}

fn busy_run(seed: u64) -> Vec<(Nanos, String)> {
    let (runtime, device, _) = in_memory(3);
    let handle = runtime.handle();
    let log = Log::default();
    runtime.block_on(async {
        let spawn = |number| handle.spawn(busy_task(number, seed, handle.clone(), device, Rc::clone(&log)));
        let tasks: Vec<_> = (0..10).map(spawn).collect();
        for task in tasks {
            task.await;
        }
    });
    drop(runtime);
    Rc::try_unwrap(log).unwrap().into_inner()
}

#[test]
fn a_run_in_virtual_time_is_the_same_every_time() {
    let first = busy_run(1);
    assert_eq!(first.len(), 200);
    assert!(first.iter().any(|(at, _)| *at > Nanos::from_micros(500)), "time passed");
    for _ in 0..5 {
        assert_eq!(busy_run(1), first);
    }
    assert_ne!(busy_run(2), first);
}

#[test]
#[should_panic(
    expected = "deadlock at 5ns: no task is ready, no request is in flight, no task sleeps, and no other thread \
                may wake one of those that wait: the future of block_on, the writer, task 2"
)]
fn a_deadlock_names_those_that_wait() {
    let (runtime, _, _) = in_memory(1);
    let handle = runtime.handle();
    runtime.block_on(async {
        let writer = handle.spawn_named("the writer", pending::<()>());
        handle.spawn(pending::<()>());
        handle.spawn_named("the one that ends", async {});
        handle.sleep(Nanos(5)).await;
        writer.await;
    });
}

#[test]
fn a_guard_against_deadlock_that_goes_away_leaves_one() {
    let world = real_worlds().remove(0);
    let runtime = Runtime::new(world);
    let guard = runtime.handle().foreign_wakes();
    let thread = std::thread::spawn(move || {
        std::thread::yield_now();
        drop(guard);
    });
    let run = std::panic::AssertUnwindSafe(|| runtime.block_on(pending::<()>()));
    let message = std::panic::catch_unwind(run).unwrap_err();
    assert!(message.downcast_ref::<String>().unwrap().starts_with("deadlock"));
    thread.join().unwrap();
    assert_eq!(runtime.block_on(async { 1 }), 1, "the runtime can be used again");
}

#[test]
#[should_panic(expected = "block_on inside of block_on")]
fn block_on_does_not_nest() {
    let (runtime, _, _) = in_memory(1);
    runtime.block_on(async { runtime.block_on(async {}) });
}

#[test]
fn requests_wait_in_order_when_the_world_is_full() {
    let (runtime, device, _) = in_memory(2);
    let handle = runtime.handle();
    let arena = Arena::new(1 << 20).unwrap();
    let order = Rc::new(RefCell::new(Vec::new()));
    runtime.block_on(async {
        let tasks: Vec<_> = (0..50)
            .map(|number| {
                let read = handle.device(device).read(number * 512, arena.allocate(512).unwrap());
                let order = Rc::clone(&order);
                handle.spawn(async move {
                    read.await.1.unwrap();
                    order.borrow_mut().push(number);
                })
            })
            .collect();
        for task in tasks {
            task.await;
        }
    });
    assert!(order.borrow().iter().copied().eq(0..50));
    let rounds = 25 * (LATENCY.0 + 512 / 8);
    assert_eq!(handle.now(), Nanos(rounds), "two at a time");
}

#[test]
fn a_dropped_future_leaves_its_buffer_with_the_request() {
    let (runtime, device, _) = in_memory(8);
    let handle = runtime.handle();
    let arena = Arena::new(4096).unwrap();
    runtime.block_on(async {
        drop(handle.device(device).read(0, arena.allocate(4096).unwrap()));
        handle.sleep(LATENCY).await;
        assert!(arena.allocate(4096).is_err(), "the request is in flight");
        handle.sleep(Nanos(4096 / 8)).await;
        assert!(arena.allocate(4096).is_ok(), "it has completed");
    });
}

#[test]
fn errors_and_buffers_come_back() {
    let (runtime, device, faults) = in_memory(8);
    let handle = runtime.handle();
    let arena = Arena::new(1 << 16).unwrap();
    faults.fail_next(device, "read", Cause::System(5));
    runtime.block_on(async {
        let (buffer, result) = handle.device(device).read(0, arena.allocate(512).unwrap()).await;
        assert_eq!((buffer.len(), result.unwrap_err().cause), (512, Cause::System(5)));
        let stranger = handle.device(DeviceId::from_index(9));
        assert_eq!(stranger.shape(), None);
        let result = stranger.write(0, buffer.freeze()).await;
        assert_eq!(result.unwrap_err().cause, Cause::UnknownDevice { index: 9 });
    });
}

/// World in memory that counts calls of `reap`.
struct Counting {
    inner: MemoryWorld,
    reaps: Rc<Cell<usize>>,
}

impl Io for Counting {
    nandle_io::forward_io!(inner: devices submit in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters);

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        self.reaps.set(self.reaps.get() + 1);
        self.inner.reap(wait, into);
    }
}

#[test]
fn sleeps_in_virtual_time_are_exact_and_never_poll() {
    let reaps = Rc::new(Cell::new(0));
    let world = Counting { inner: MemoryWorld::new(1, LATENCY), reaps: Rc::clone(&reaps) };
    let runtime = Runtime::new(Box::new(world));
    let handle = runtime.handle();
    let log = Log::default();
    runtime.block_on(async {
        for (name, span) in [("c", 3_000_000), ("a", 1), ("b", 70_000), ("b too", 70_000)] {
            let (log, handle) = (Rc::clone(&log), handle.clone());
            handle.clone().spawn(async move {
                handle.sleep(Nanos(span)).await;
                log.borrow_mut().push((handle.now(), name.to_owned()));
            });
        }
        handle.sleep(Nanos::from_secs(60)).await;
        handle.sleep_until(Nanos(5)).await;
    });
    assert_eq!(handle.now(), Nanos::from_secs(60));
    let expected = [(1, "a"), (70_000, "b"), (70_000, "b too"), (3_000_000, "c")];
    assert_eq!(*log.borrow(), expected.map(|(at, name)| (Nanos(at), name.to_owned())));
    assert!(reaps.get() < 20, "{} reaps for 5 sleeps", reaps.get());
}

#[test]
fn a_sleep_that_is_dropped_is_forgotten() {
    let (runtime, _, _) = in_memory(1);
    let handle = runtime.handle();
    runtime.block_on(async {
        let mut long = Box::pin(handle.sleep(Nanos::from_secs(100)));
        let polled = poll_fn(|context| Poll::Ready(long.as_mut().poll(context))).await;
        assert!(polled.is_pending());
        drop(long);
        handle.sleep(Nanos(7)).await;
    });
    assert_eq!(handle.now(), Nanos(7));
}

#[test]
fn real_sleeps_are_punctual() {
    for world in real_worlds() {
        let runtime = Runtime::new(world);
        let handle = runtime.handle();
        let mut late_ns: Vec<u64> = (0..101)
            .map(|_| {
                let deadline = handle.now() + Nanos::from_micros(300);
                runtime.block_on(handle.sleep_until(deadline));
                assert!(handle.now() >= deadline, "a sleep ended early");
                handle.now().since(deadline).0
            })
            .collect();
        late_ns.sort_unstable();
        // The median lateness of a plain sleeping thread is 50 us. The bound leaves room for a busy
        // machine.
        assert!(late_ns[25] < 30_000, "a quarter of the sleeps is at least {} ns late", late_ns[25]);
    }
}

#[test]
fn devices_work_on_real_worlds_and_arrays() {
    for mut world in real_worlds() {
        let children: Vec<DeviceId> = (0..4).map(|_| world.add_file(memory_file()).id).collect();
        let mut arrays = Arrays::new(world);
        let array = arrays.raid10(&children, 4096).unwrap();
        let runtime = Runtime::new(Box::new(arrays));
        let handle = runtime.handle();
        let arena = Arena::new(1 << 20).unwrap();
        handle.register(&arena);
        runtime.block_on(async {
            for device in [array.id, children[1]] {
                let device = handle.device(device);
                let mut buffer = arena.allocate(20_000).unwrap();
                buffer.fill(7);
                let shared = buffer.freeze();
                let (first, second) =
                    (device.write(100, shared.clone()), device.durable_write(20_100, shared));
                assert_eq!((second.await, first.await), (Ok(()), Ok(())));
                assert_eq!(device.flush().await, Ok(()));
                let into = [1, 39_998, 1].map(|bytes| arena.allocate(bytes).unwrap());
                let (buffers, result) = device.read_vectored(100, into.into_iter().collect()).await;
                assert_eq!(result, Ok(()));
                assert!(buffers.iter().all(|buffer| buffer.iter().all(|byte| *byte == 7)));
                assert_eq!(device.discard(0, 8192).await, Ok(()));
                let (last, result) = device.read(40_099, arena.allocate(1).unwrap()).await;
                assert_eq!((last[0], result), (7, Ok(())));
            }
        });
    }
}

#[test]
fn a_request_of_any_kind_answers_with_its_completion() {
    let (runtime, device, _) = in_memory(1);
    let handle = runtime.handle();
    let completion = runtime.block_on(handle.device(device).request(Operation::Flush));
    assert_eq!(completion.completed_at.since(completion.submitted_at), LATENCY);
}
