use super::*;
use crate::virtual_world::{FakeWorld, Servers};

const STOP: Nanos = Nanos::from_millis(50);

#[test]
fn the_exact_mode_keeps_the_depth_outstanding_at_all_times() {
    for queue_depth in [1, 2, 7, 64] {
        let mut world = FakeWorld::new(CAPACITY_BYTES, Servers::new(4, uneven(100)));
        let ledger = world.ledger();
        let measured =
            whole(queue_depth, Stop::after(STOP)).run(&mut world.lane(1 << 20), reads(1), &Cancel::default());
        measured.unwrap();
        let outstanding = ledger.outstanding_until(STOP);
        assert!(outstanding.len() > 400);
        assert!(
            outstanding.iter().all(|count| *count == queue_depth as usize),
            "{queue_depth}: {outstanding:?}"
        );
    }
}

#[test]
fn the_batched_mode_lets_a_quarter_complete_and_never_has_more_outstanding() {
    for (queue_depth, least) in [(1, 1), (4, 4), (8, 7), (64, 49)] {
        let mut world = FakeWorld::new(CAPACITY_BYTES, Servers::new(4, uneven(100)));
        let ledger = world.ledger();
        let run = closed(queue_depth, Refill::Batched, Counting::Whole, Stop::after(STOP));
        run.run(&mut world.lane(1 << 20), reads(1), &Cancel::default()).unwrap();
        let outstanding = ledger.outstanding_until(STOP);
        assert_eq!(outstanding.iter().max(), Some(&(queue_depth as usize)));
        assert_eq!(outstanding.iter().min(), Some(&least), "depth {queue_depth}");
    }
}

#[test]
fn the_mean_outstanding_is_what_the_world_integrates() {
    for refill in [Refill::Exact, Refill::Batched] {
        for queue_depth in [1, 8, 32] {
            let mut world = FakeWorld::new(CAPACITY_BYTES, Servers::new(4, uneven(100)));
            let ledger = world.ledger();
            let run = closed(queue_depth, refill, Counting::Whole, Stop::after(STOP));
            let measured = run.run(&mut world.lane(1 << 20), reads(1), &Cancel::default()).unwrap();
            let expected = ledger.area_ns() / measured.elapsed.0 as f64;
            assert_near(measured.mean_outstanding(), expected, 1e-5, &format!("{refill:?} {queue_depth}"));
        }
    }
}

#[test]
fn rate_and_latency_are_those_of_the_queue() {
    // k servers, service time s, depth q: min(q, k) are served at a time, and a request waits for
    // q/k rounds.
    for (servers, queue_depth) in [(1, 1), (1, 8), (4, 1), (4, 4), (4, 16), (8, 4)] {
        let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(servers, even(100)));
        let requests = 1600;
        let run = whole(queue_depth, Stop::after_bytes(requests * BLOCK_BYTES));
        let measured = run.run(&mut world.lane(1 << 20), reads(1), &Cancel::default()).unwrap();
        let busy = u64::from(queue_depth).min(servers as u64);
        assert_eq!(measured.requests, requests);
        assert_eq!(measured.elapsed, Nanos(requests / busy * 100 * MICRO), "{servers} {queue_depth}");
        assert_near(measured.iops(), busy as f64 * 1e4, 1e-12, "requests per second");
        let bytes_per_s = busy as f64 * 1e4 * BLOCK_BYTES as f64;
        assert_near(measured.bandwidth_bytes_per_s(), bytes_per_s, 1e-12, "bandwidth");
        let rounds = (u64::from(queue_depth) / busy) as f64;
        let p50 = measured.latency_ns.summary().p50.unwrap() as f64;
        assert_near(p50, rounds * 1e5, 1e-3, "latency");
    }
}

#[test]
fn a_run_by_bytes_asks_for_that_many_rounded_up_to_a_block() {
    for (bytes, blocks) in [(1, 1), (4096, 1), (4097, 2), (100 * 4096, 100), (100 * 4096 - 1, 100)] {
        let mut world = FakeWorld::new(CAPACITY_BYTES, Servers::new(4, uneven(100)));
        let ledger = world.ledger();
        let run = whole(16, Stop::after_bytes(bytes));
        let measured = run.run(&mut world.lane(1 << 20), reads(1), &Cancel::default()).unwrap();
        assert_eq!(ledger.asked_bytes(), blocks * BLOCK_BYTES, "{bytes}");
        assert_eq!(measured.bytes, blocks * BLOCK_BYTES);
    }
}

#[test]
fn counting_the_whole_run_includes_the_time_in_which_it_drains() {
    // One server, depth 4: after 1 ms the run waits for the three remaining requests.
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(100)));
    let run = whole(4, Stop::after(Nanos::from_millis(1)));
    let measured = run.run(&mut world.lane(1 << 20), reads(1), &Cancel::default()).unwrap();
    assert_eq!((measured.requests, measured.elapsed), (13, Nanos(1300 * MICRO)));
}

#[test]
fn each_second_has_what_completed_in_it() {
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(100_000)));
    let run = whole(1, Stop::after(Nanos::from_millis(2500)));
    let measured = run.run(&mut world.lane(1 << 20), reads(1), &Cancel::default()).unwrap();
    // Requests that complete at exactly 1 s or 2 s belong to the second that begins then.
    let requests: Vec<_> = measured.seconds.iter().map(|second| second.requests).collect();
    assert_eq!(requests, [9, 10, 6]);
    assert!(measured.seconds.iter().all(|second| second.bytes == second.requests * BLOCK_BYTES));
    assert!(measured.seconds.iter().all(|second| second.latency_ns_max == 100_000 * MICRO));
}

#[test]
fn processor_time_is_that_of_the_requests() {
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(4, uneven(100))).request_cpu(Nanos(700));
    let run = closed(8, Refill::Exact, Counting::Window { warm_up_requests: 8 }, Stop::after(STOP));
    let measured = run.run(&mut world.lane(1 << 20), reads(1), &Cancel::default()).unwrap();
    assert_near(measured.cpu_ns_per_request(), 700.0, 1e-12, "processor time for a request");
}

#[test]
fn a_lane_serves_any_number_of_runs() {
    let mut lane = FakeWorld::new(CAPACITY_BYTES, Servers::new(4, uneven(100))).lane(1 << 20);
    for queue_depth in [256, 1, 256, 16, 256] {
        let run = whole(queue_depth, Stop::after_bytes(1000 * BLOCK_BYTES));
        assert_eq!(run.run(&mut lane, reads(1), &Cancel::default()).unwrap().requests, 1000);
    }
}
