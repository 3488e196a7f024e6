//! Owners hand out the contents of the files, to several consumers at once.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_core::Stream;

use common::{Case, Faulty, byte_of, bytes_of, world};
use nandle_io::{Completion, Io, Wait, forward_io};
use nandle_reads::{Check, FileId, Mismatch, OwnedStep, Owner, Plan, PlannedRead, ReadsError, StepStream};

fn plan(case: &Case) -> Option<Arc<Plan>> {
    Plan::new(case.wants.clone(), &case.plan_files(), &case.costs, case.options).ok().map(Arc::new)
}

fn owner(seed: u64) -> Owner {
    Owner::start("reads", move || Ok(Box::new(world(&Case::random(seed))))).unwrap()
}

fn check(step: &OwnedStep, case: &Case) {
    let mut wants = case.wants.iter().filter(|want| want.step == step.number());
    for (want, bytes) in step.parts() {
        assert_eq!(Some(want), wants.next());
        assert_eq!(bytes[..], bytes_of(want)[..], "{want:?}");
    }
    assert_eq!(wants.next(), None);
}

fn consume(stream: StepStream, case: &Case, plan: &Plan) {
    let mut steps = 0;
    for step in stream {
        let step = step.unwrap();
        assert_eq!(step.number(), steps);
        check(&step, case);
        steps += 1;
    }
    assert_eq!(steps, plan.steps());
}

#[test]
fn every_want_gets_its_bytes_in_whatever_memory() {
    for seed in 0..150 {
        let case = Case::random(seed);
        let Some(plan) = plan(&case) else { continue };
        let owner = owner(seed);
        for copies_bytes in [0, 10_000, 1 << 20] {
            consume(owner.scan(Arc::clone(&case.files), Arc::clone(&plan), copies_bytes), &case, &plan);
        }
    }
}

#[test]
fn several_scans_go_on_beside_each_other() {
    for seed in 0..30 {
        let case = Case::random(seed);
        let Some(plan) = plan(&case) else { continue };
        let owner = owner(seed);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let stream = owner.scan(Arc::clone(&case.files), Arc::clone(&plan), 50_000);
                let (case, plan) = (&case, &plan);
                scope.spawn(move || consume(stream, case, plan));
            }
        });
    }
}

#[test]
fn copies_that_are_held_take_no_more_than_they_may() {
    let is_long = |seed: &u64| plan(&Case::random(*seed)).is_some_and(|plan| plan.steps() > 20);
    let seed = (0..1000).find(is_long).unwrap();
    let case = Case::random(seed);
    let plan = plan(&case).unwrap();
    let owner = owner(seed);
    let mut stream = owner.scan(Arc::clone(&case.files), plan, 0);
    // The memory has room for one step only, so each waits until the previous one is dropped.
    let first = stream.next_step().unwrap().unwrap();
    let bytes: usize = first.parts().map(|(_, bytes)| bytes.len()).sum();
    let clone = first.clone();
    drop(first);
    check(&clone, &case);
    drop(clone);
    assert!(bytes > 0 && stream.next_step().unwrap().is_some());
}

#[test]
fn urgent_reads_are_served_whatever_is_held() {
    for seed in 0..40 {
        let case = Case::random(seed);
        let Some(plan) = plan(&case) else { continue };
        let owner = owner(seed);
        let mut stream = owner.scan(Arc::clone(&case.files), plan, 0);
        let held = stream.next_step().unwrap();
        let length_bytes = case.files[0].plan.length_bytes;
        for (offset_bytes, wanted_bytes) in [(0, 1), (length_bytes / 2, length_bytes / 3), (0, length_bytes)]
        {
            let bytes = stream.read_urgently(FileId(0), offset_bytes, wanted_bytes).unwrap();
            let expected = (offset_bytes..offset_bytes + wanted_bytes).map(|at| byte_of(0, at));
            assert!(bytes.iter().copied().eq(expected));
        }
        assert!(matches!(
            stream.read_urgently(FileId(0), length_bytes, 1),
            Err(ReadsError::BeyondEnd { .. })
        ));
        drop(held);
    }
}

#[test]
fn a_failing_read_ends_the_stream_and_a_dropped_owner_too() {
    let case = Case::random(3);
    let plan = plan(&case).unwrap();
    for nth in 1..=plan.reads().len() as u64 {
        let failing =
            Owner::start("reads", move || Ok(Box::new(Faulty::new(world(&Case::random(3)), nth, false))));
        let stream = failing.unwrap().scan(Arc::clone(&case.files), Arc::clone(&plan), 1 << 20);
        let results: Vec<_> = stream.into_iter().collect();
        // The owner is dropped at once, so either error is possible.
        let error = results.last().unwrap().as_ref().err().unwrap();
        assert!(matches!(error, ReadsError::Io { .. } | ReadsError::OwnerGone { .. }), "{error}");
        assert!(results.iter().rev().skip(1).all(Result::is_ok));
    }
}

#[test]
fn streams_that_are_dropped_leave_room_for_others() {
    let case = Case::random(3);
    let plan = plan(&case).unwrap();
    let owner = owner(3);
    for _ in 0..50 {
        let mut stream = owner.scan(Arc::clone(&case.files), Arc::clone(&plan), 1000);
        drop(stream.next_step().unwrap().unwrap());
    }
    consume(owner.scan(Arc::clone(&case.files), Arc::clone(&plan), 1000), &case, &plan);
}

#[test]
fn a_world_that_cannot_be_opened_says_why() {
    let error = Owner::start("reads", || Err("no such device".to_owned())).unwrap_err();
    assert!(error.to_string().contains("no such device"), "{error}");
}

#[test]
fn streams_may_go_to_other_threads() {
    fn is_send<T: Send>() {}
    is_send::<StepStream>();
    is_send::<OwnedStep>();
    is_send::<Owner>();
}

#[test]
fn an_owner_that_has_ended_keeps_no_urgent_read_waiting() {
    let case = Case::random(3);
    let owner = owner(3);
    let mut stream = owner.scan(Arc::clone(&case.files), plan(&case).unwrap(), 1 << 20);
    while stream.next_step().unwrap().is_some() {}
    drop(owner);
    assert!(matches!(stream.read_urgently(FileId(0), 0, 1), Err(ReadsError::OwnerGone { .. })));
}

#[test]
fn files_that_arent_the_plans_end_the_stream() {
    let case = Case::random(3);
    let owner = owner(3);
    let none = owner.scan(Arc::new([]), plan(&case).unwrap(), 1 << 20).next_step();
    assert!(matches!(none, Err(ReadsError::OtherFiles { .. })));
    let mut files = case.files.to_vec();
    files[0].tail = bytes::Bytes::from(vec![0; files[0].tail.len() + 1]);
    let longer = owner.scan(files.into(), plan(&case).unwrap(), 1 << 20).next_step();
    assert!(matches!(longer, Err(ReadsError::Tail { .. })));
    consume(owner.scan(Arc::clone(&case.files), plan(&case).unwrap(), 1 << 20), &case, &plan(&case).unwrap());
}

/// Wakes a thread that waits for a future.
struct Unpark(std::thread::Thread);

impl std::task::Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(ready) = poll(&mut context) {
            return ready;
        }
        std::thread::park();
    }
}

/// Steps and urgent reads arrive in the same task.
#[test]
fn tasks_get_steps_and_urgent_reads() {
    for seed in 0..40 {
        let case = Case::random(seed);
        let Some(plan) = plan(&case) else { continue };
        let owner = owner(seed);
        let mut stream = owner.scan(Arc::clone(&case.files), Arc::clone(&plan), 0);
        let mut steps = 0;
        loop {
            let length_bytes = case.files[0].plan.length_bytes;
            let bytes = {
                let mut asked = pin!(stream.ask_urgently(FileId(0), 0, length_bytes));
                block_on(|context| asked.as_mut().poll(context)).unwrap()
            };
            // A cancelled read.
            drop(stream.ask_urgently(FileId(0), 0, 1));
            assert!(
                (0..).zip(&bytes).all(|(at, byte)| byte_of(0, at) == *byte)
                    && bytes.len() as u64 == length_bytes
            );
            let Some(step) = block_on(|context| Pin::new(&mut stream).poll_next(context)) else { break };
            check(&step.unwrap(), &case);
            steps += 1;
        }
        assert_eq!(steps, plan.steps());
        let mut beyond = pin!(stream.ask_urgently(FileId(0), u64::MAX, 1));
        assert!(matches!(
            block_on(|context| beyond.as_mut().poll(context)),
            Err(ReadsError::BeyondEnd { .. })
        ));
    }
}

struct Panics;

impl Check for Panics {
    fn check(&self, offset_bytes: u64, _: &[u8]) -> Result<(), Mismatch> {
        panic!("this check always panics, here at {offset_bytes}");
    }
}

#[test]
fn a_check_that_panics_fails_its_own_scan_alone() {
    let case = Case::random(3);
    let plan = plan(&case).unwrap();
    assert!(!plan.reads().is_empty());
    let owner = owner(3);
    let good = owner.scan(Arc::clone(&case.files), Arc::clone(&plan), 1000);
    let mut files = case.files.to_vec();
    for file in &mut files {
        file.check = Some(Arc::new(Panics));
    }
    let bad = owner.scan(files.into(), Arc::clone(&plan), 1000);
    let error = bad.into_iter().find_map(Result::err).unwrap();
    assert!(matches!(&error, ReadsError::Damaged { why, .. } if why.contains("panicked")), "{error}");
    consume(good, &case, &plan);
    consume(owner.scan(Arc::clone(&case.files), Arc::clone(&plan), 1000), &case, &plan);
}

/// A world that withholds completions while `leave` is locked.
struct Held<W> {
    inner: W,
    leave: Arc<Mutex<()>>,
}

impl<W: Io> Io for Held<W> {
    forward_io!(inner: devices submit in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters);

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let _leave = self.leave.lock().unwrap();
        self.inner.reap(wait, into);
    }
}

#[test]
fn requests_that_do_not_come_back_are_seen_from_outside() {
    let case = Case::random(3);
    let plan = plan(&case).unwrap();
    let leave = Arc::new(Mutex::new(()));
    let given = Arc::clone(&leave);
    let owner =
        Owner::start("reads", move || Ok(Box::new(Held { inner: world(&Case::random(3)), leave: given })));
    let (owner, waits) = (owner.unwrap(), leave.lock().unwrap());
    let stream = owner.scan(Arc::clone(&case.files), Arc::clone(&plan), 10_000);
    while owner.progress().in_flight() == 0 {
        std::thread::yield_now();
    }
    assert_eq!(owner.progress().completed(), 0);
    drop(waits);
    consume(stream, &case, &plan);
    assert!(owner.progress().completed() > 0 && owner.progress().in_flight() == 0);
}

#[test]
fn steps_that_are_skipped_come_without_bytes_and_the_others_with_theirs() {
    for seed in 0..150 {
        let case = Case::random(seed);
        let Some(plan) = plan(&case) else { continue };
        let (owner, every) = (owner(seed), 2 + u32::try_from(seed).unwrap() % 3);
        let known = (0..plan.steps()).filter(|step| step % every == 0).map(|step| step..step + 1).collect();
        let mut stream = owner.scan_without(Arc::clone(&case.files), Arc::clone(&plan), 10_000, known);
        let (mut next, later) = (0, plan.steps() / 2..plan.steps() / 2 + 3);
        while let Some(step) = stream.next_step().unwrap() {
            assert_eq!(step.number(), next);
            let is_empty = step.parts().len() == 0;
            if next % every == 0 {
                assert!(is_empty);
            } else if !is_empty || !later.contains(&next) {
                check(&step, &case);
            }
            next += 1;
            if next == later.start {
                stream.skip_steps(later.clone());
            }
        }
        assert_eq!(next, plan.steps());
    }
}

/// Independent of the order in which an extent's requests are sent.
#[test]
fn of_steps_that_are_all_skipped_nothing_is_read() {
    let mut backward = 0;
    for seed in 0..150 {
        let case = Case::random(seed);
        let Some(plan) = plan(&case) else { continue };
        let every = std::iter::once(0..plan.steps()).collect();
        let owner = owner(seed);
        let mut stream = owner.scan_without(Arc::clone(&case.files), Arc::clone(&plan), 10_000, every);
        while stream.next_step().unwrap().is_some() {}
        assert_eq!(stream.counts().requests, 0, "seed {seed}");
        backward += plan.reads().windows(2).filter(|two| follows(&two[1], &two[0])).count();
    }
    assert!(backward > 0, "some extents are sent from last to first");
}

fn follows(one: &PlannedRead, other: &PlannedRead) -> bool {
    one.file == other.file && one.offset_bytes + one.length_bytes == other.offset_bytes
}
