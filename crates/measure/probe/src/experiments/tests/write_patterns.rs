//! Write patterns of each kind of drive. The figures of the `MTron` are uFLIP's; see
//! `nandle-model`'s claims.

use nandle_io::Nanos;
use nandle_profile::experiments::{MicroBenchmark, PatternCost, WritePatterns};
use nandle_profile::{Conducted, Derived, Interval};

use super::bench::run;

const MIB: u64 = 1 << 20;

fn measure(drive: &str) -> (Conducted<WritePatterns>, Derived) {
    let outcome = run(drive, "write-patterns", Nanos::from_secs(150));
    outcome.result.unwrap();
    (outcome.experiments.write_patterns.unwrap(), outcome.derived)
}

fn cost_of<'a>(found: &'a WritePatterns, micro_benchmark: MicroBenchmark, pattern: &str) -> &'a PatternCost {
    let wanted = |cost: &&PatternCost| cost.micro_benchmark == micro_benchmark && cost.pattern == pattern;
    found.patterns.iter().find(wanted).unwrap()
}

#[test]
fn a_hybrid_map_has_a_focused_area_partitions_and_strides() {
    let (conducted, derived) = measure("mtron-16");
    assert!(conducted.complete, "{:?}", conducted.ended_by);
    // The next candidates are a fourth larger and clearly expensive.
    let neighbours = |value, high| Interval { value, low: value, high };
    assert_eq!(derived.focused_area_bytes, Some(neighbours(8 * MIB, 10 * MIB)));
    assert_eq!(derived.partition_count_max, Some(Interval { value: 8, low: 8, high: 10 }));
    assert_eq!(derived.cheap_strides_blocks, [-4, -2, -1, 0, 2, 4]);
    let cost = derived.write_pattern_cost.unwrap();
    assert!((cost.sequential_ns.value / 470_000.0 - 1.0).abs() < 0.15, "{cost:?}");
    assert!((13.0..30.0).contains(&cost.random.value), "{cost:?}");
    assert!((1.0..2.0).contains(&cost.focused.unwrap().value), "{cost:?}");
    assert!((0.9..1.1).contains(&cost.partitioned.unwrap().value), "{cost:?}");
    assert!((1.3..1.8).contains(&cost.ordered.unwrap().value), "{cost:?}");
    // All of uFLIP's micro-benchmarks are present and show the known behaviour of this drive.
    let found = &conducted.findings;
    let relative = |of, pattern| cost_of(found, of, pattern).relative_cost.unwrap().value;
    assert!(relative(MicroBenchmark::Order, "ordered:4") > 3.0);
    assert!(relative(MicroBenchmark::Alignment, "sequential") > 2.0, "half pages are written twice");
    assert!(relative(MicroBenchmark::Pause, "random") > 13.0, "it does nothing while idle");
    assert!(relative(MicroBenchmark::Bursts, "random") > 13.0);
    assert!(relative(MicroBenchmark::Mix, "random") > relative(MicroBenchmark::Mix, "sequential"));
    assert!(relative(MicroBenchmark::Parallelism, "random") > 13.0, "a queue doesn't help it");
    let small =
        found.patterns.iter().find(|cost| cost.block_bytes == 4096 && cost.pattern == "random").unwrap();
    assert!(small.relative_cost.unwrap().value > cost.random.value, "a small random write moves as much");
}

#[test]
fn a_card_with_two_open_blocks_keeps_two_streams() {
    let (conducted, derived) = measure("sd-card");
    assert_eq!(derived.partition_count_max.unwrap().value, 2);
    assert_eq!(derived.focused_area_bytes.unwrap().value, 8 * MIB);
    let cost = derived.write_pattern_cost.unwrap();
    assert!(cost.random.value > 40.0, "{cost:?}");
    assert!(conducted.elapsed_ns < 160_000_000_000, "{conducted:?}");
}

/// Page maps after their spare blocks are used up. The focused area is that of a sequentially
/// written drive. After random writes of twice its capacity and 4 GiB in each pattern, the x25-e-64
/// reaches 112 MB/s of random writes within 8 MiB, 46 MB/s within 64 MiB, and 15 MB/s over the
/// whole drive.
#[test]
fn page_maps_pay_for_random_writes_and_not_for_streams() {
    for drive in ["x25-e-64", "nvme-tlc"] {
        let (conducted, derived) = measure(drive);
        assert!(conducted.complete, "{drive}: {:?}", conducted.ended_by);
        assert!(
            derived.partition_count_max.unwrap().value >= 32,
            "{drive}: {:?}",
            derived.partition_count_max
        );
        if drive == "x25-e-64" {
            let focus = derived.focused_area_bytes.unwrap();
            assert!((64 * MIB..=256 * MIB).contains(&focus.value), "{focus:?}");
            assert!(
                derived.write_pattern_cost.unwrap().random.value > 6.0,
                "{:?}",
                derived.write_pattern_cost
            );
        }
    }
}

#[test]
fn a_disk_has_its_cache_and_its_arm() {
    let (conducted, derived) = measure("barracuda-7200.10");
    assert!(conducted.complete, "{:?}", conducted.ended_by);
    let focus = derived.focused_area_bytes.unwrap();
    assert!((2 * MIB..=16 * MIB).contains(&focus.value), "limited by its cache: {focus:?}");
    assert_eq!(derived.cheap_strides_blocks, [-1, 0], "an arm that skips blocks waits for a turn");
    let cost = derived.write_pattern_cost.unwrap();
    assert!((10.0..40.0).contains(&cost.random.value), "{cost:?}");
}

#[test]
fn the_same_seed_finds_the_same() {
    let twice = [(); 2].map(|()| run("mtron-16", "write-patterns", Nanos::from_secs(30)).experiments);
    assert_eq!(twice[0], twice[1]);
}
