use super::*;
use crate::virtual_world::{FakeWorld, Servers};

fn slice(queue_depth: u32, refill: Refill, time: Nanos) -> ClosedLoop {
    let counting = Counting::Window { warm_up_requests: queue_depth.into() };
    closed(queue_depth, refill, counting, Stop::after(time))
}

/// Checks that slices of each length give the steady rate of `servers` servers.
fn check(servers: usize, queue_depth: u32, micros: u64, slices_ms: &[u64], service: impl Fn(u64) -> Service) {
    for refill in [Refill::Exact, Refill::Batched] {
        for &millis in slices_ms {
            let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(servers, service(micros)));
            let run = slice(queue_depth, refill, Nanos::from_millis(millis));
            let measured = run.run(&mut world.lane(4 << 20), reads(1), &Cancel::default()).unwrap();
            let steady = (servers as f64).min(queue_depth.into()) / micros as f64 * 1e6;
            let what = format!("{servers} servers, {queue_depth} deep, {micros} us, {refill:?}, {millis} ms");
            assert_near(measured.iops(), steady, 1e-9, &what);
            assert_near(measured.bandwidth_bytes_per_s(), steady * BLOCK_BYTES as f64, 1e-9, &what);
        }
    }
}

type Service = Box<dyn FnMut(u64) -> Nanos>;

#[test]
fn a_slice_gives_the_steady_rate_when_requests_complete_one_at_a_time() {
    for queue_depth in [1, 4, 8, 32] {
        check(1, queue_depth, 100, &[1, 5, 50], |micros| Box::new(even(micros)));
    }
}

#[test]
fn a_slice_gives_the_steady_rate_when_requests_complete_together() {
    for (servers, queue_depth) in [(4, 4), (8, 32), (32, 32), (32, 128)] {
        check(servers, queue_depth, 100, &[1, 5, 50], |micros| Box::new(even(micros)));
    }
}

#[test]
fn a_slice_gives_the_steady_rate_of_a_device_that_does_few_requests_in_it() {
    for (servers, queue_depth) in [(1, 1), (1, 4), (4, 4), (4, 8)] {
        check(servers, queue_depth, 40_000, &[10, 100], |micros| Box::new(even(micros)));
    }
}

#[test]
fn the_sum_of_many_slices_of_a_random_device_gives_its_steady_rate() {
    // Random service times of 8 ms on average, 12 requests in a slice. The bias of the sum must be
    // far below the error of a single slice.
    for refill in [Refill::Exact, Refill::Batched] {
        let mut drawn = crate::pattern::generator(3, 0);
        let service = move |_| Nanos(4_000 * MICRO + crate::pattern::below(&mut drawn, 8_000 * MICRO));
        let mut lane = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, service)).lane(1 << 20);
        let mut sum = Measurement::new();
        for seed in 0..2000 {
            let run = slice(8, refill, Nanos::from_millis(100));
            sum.extend(&run.run(&mut lane, reads(seed), &Cancel::default()).unwrap());
        }
        assert_near(sum.iops(), 125.0, 0.006, &format!("{refill:?}"));
    }
}

#[test]
fn the_mean_outstanding_of_a_slice_leaves_its_ramps_out() {
    for queue_depth in [1, 8, 32] {
        let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(4, uneven(100)));
        let run = slice(queue_depth, Refill::Exact, Nanos::from_millis(20));
        let measured = run.run(&mut world.lane(1 << 20), reads(1), &Cancel::default()).unwrap();
        assert_near(measured.mean_outstanding(), queue_depth.into(), 1e-5, &format!("depth {queue_depth}"));
    }
}
