use std::collections::{BTreeMap, BTreeSet};

use super::*;

const AREA: Area = Area { start_bytes: 8192, blocks: 100, block_bytes: 4096 };

fn blocks(spec: &str, group_blocks: u64, count: usize) -> Vec<u64> {
    let spec: PatternSpec = spec.parse().unwrap();
    let offsets = spec.start(AREA, group_blocks, 7).take(count);
    offsets.map(|offset| (offset - AREA.start_bytes) / AREA.block_bytes).collect()
}

#[test]
fn every_pattern_stays_in_its_area_and_on_its_blocks() {
    for spec in
        ["random", "sequential", "focused:64KiB", "partitioned:8", "ordered:3", "ordered:-7", "zipf:0.9"]
    {
        let spec: PatternSpec = spec.parse().unwrap();
        for group in [1, 3, 1000] {
            for offset in spec.start(AREA, group, 1).take(2000) {
                assert_eq!((offset - AREA.start_bytes) % AREA.block_bytes, 0, "{spec}");
                assert!(
                    offset >= AREA.start_bytes && offset < AREA.offset_bytes(AREA.blocks),
                    "{spec}: {offset}"
                );
            }
        }
    }
}

#[test]
fn groups_are_runs_of_their_length() {
    let blocks = blocks("random", 4, 4000);
    for group in blocks.chunks(4) {
        assert!(group.windows(2).all(|pair| pair[1] == pair[0] + 1), "{group:?}");
    }
    let starts: BTreeSet<_> = blocks.iter().step_by(4).collect();
    assert!(starts.len() > 80, "groups start at {} places of 97", starts.len());
}

#[test]
fn random_meets_every_block_about_equally_often() {
    let mut counts = BTreeMap::new();
    for block in blocks("random", 1, 100_000) {
        *counts.entry(block).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 100);
    assert!(counts.values().all(|count| (800..1200).contains(count)), "{counts:?}");
}

#[test]
fn sequential_wraps_around() {
    let blocks = blocks("sequential", 1, 200);
    assert!(blocks.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 100));
}

#[test]
fn focused_stays_in_a_part_of_the_size() {
    let blocks: BTreeSet<_> = blocks("focused:40KiB", 1, 1000).into_iter().collect();
    assert_eq!(blocks.len(), 10);
    assert_eq!(blocks.last().unwrap() - blocks.first().unwrap(), 9);
}

#[test]
fn partitions_alternate() {
    assert_eq!(blocks("partitioned:4", 1, 8), [0, 25, 50, 75, 1, 26, 51, 76]);
}

#[test]
fn strides_go_both_ways_and_meet_every_block() {
    assert_eq!(blocks("ordered:2", 1, 4), [0, 2, 4, 6]);
    assert_eq!(blocks("ordered:-2", 1, 3), [99, 97, 95]);
    assert_eq!(blocks("ordered:0", 1, 3), [0, 0, 0]);
    assert_eq!(blocks("ordered:40", 1, 5), [0, 40, 80, 1, 41]);
    for stride in
        ["ordered:1", "ordered:2", "ordered:7", "ordered:-1", "ordered:-2", "ordered:-7", "ordered:99"]
    {
        assert_eq!(blocks(stride, 1, 1000).into_iter().collect::<BTreeSet<_>>().len(), 100, "{stride}");
    }
}

#[test]
fn zipf_is_skewed_and_scattered() {
    let mut counts = BTreeMap::new();
    for block in blocks("zipf:1.0", 1, 50_000) {
        *counts.entry(block).or_insert(0_u32) += 1;
    }
    let mut by_count: Vec<_> = counts.iter().map(|(block, count)| (*count, *block)).collect();
    by_count.sort_unstable_by(|a, b| b.cmp(a));
    // 1/1 and 1/2 of the harmonic number of 100, 5.187.
    assert!(
        (9_200..10_100).contains(&by_count[0].0) && (4_500..5_150).contains(&by_count[1].0),
        "{by_count:?}"
    );
    assert!(by_count[0].1.abs_diff(by_count[1].1) > 1, "the hottest blocks are not adjacent");
    assert_eq!(counts.len(), 100);
}

#[test]
fn names_read_back_as_they_print() {
    for name in
        ["random", "sequential", "focused:8MiB", "partitioned:8", "ordered:-2", "ordered:0", "zipf:0.8"]
    {
        assert_eq!(name.parse::<PatternSpec>().unwrap().to_string(), name);
    }
    for name in
        ["", "rnd", "random:2", "focused", "focused:0", "partitioned:x", "ordered:", "zipf:-1", "zipf:inf"]
    {
        assert!(name.parse::<PatternSpec>().unwrap_err().to_string().contains("focused:SIZE"), "{name}");
    }
}

#[test]
fn the_same_seed_gives_the_same_addresses() {
    for spec in
        [PatternSpec::Random, PatternSpec::Zipf { theta: 0.8 }, PatternSpec::Focused { focus_bytes: 65_536 }]
    {
        let run = |seed| spec.start(AREA, 1, seed).take(50).collect::<Vec<_>>();
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
    }
}
