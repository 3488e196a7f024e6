//! Probes of modelled drives, compared with an exhaustive evaluation.

use super::drives;
use super::truth::{OUTSTANDING_MAX, Score, probe_drive, truth};
use crate::search::CellKey;
use crate::virtual_world::{Drive, SpeedVariation};

/// Number of seeds of each test, from the environment variable `NANDLE_TEST_SEEDS`.
fn seeds() -> std::ops::Range<u64> {
    let more = std::env::var("NANDLE_TEST_SEEDS").ok().and_then(|text| text.parse().ok());
    1..more.unwrap_or(2) + 1
}

fn score(name: &str, drive: &Drive, budget_s: u64, noise: f64, drift: f64) -> Score {
    score_over(seeds(), name, drive, budget_s, (noise, drift))
}

fn score_over(
    seeds: std::ops::Range<u64>,
    name: &str,
    drive: &Drive,
    budget_s: u64,
    (noise, drift): (f64, f64),
) -> Score {
    let truth = truth(drive);
    let mut score = Score::default();
    for seed in seeds {
        let variation = SpeedVariation { noise, drift, seed };
        let drive = Drive { variation, ..drive.clone() };
        score.add(&truth, &probe_drive(&drive, budget_s, seed));
    }
    println!("{name}, {budget_s} s, noise {noise}, drift {drift}: {score}");
    score
}

#[test]
fn without_noise_a_probe_matches_a_sweep() {
    for (name, drive, budgets_s) in
        [("sata", drives::sata(), &[5, 20, 60]), ("cloud", drives::cloud(), &[5, 20, 60])]
    {
        for &budget_s in budgets_s {
            let score = score(name, &drive, budget_s, 0.0, 0.0);
            let all =
                [score.knees, score.knee_values, score.efficient, score.groups, score.splits, score.blocks];
            assert!(
                all.iter().all(|share| share.share() > 0.97 || share.of == 0),
                "{name} {budget_s}: {score}"
            );
            assert!(score.right.share() >= 0.99, "{name} {budget_s}: {score}");
            assert!(score.covered.share() >= 0.8, "{name} {budget_s}: {score}");
        }
    }
}

#[test]
fn five_seconds_suffice_for_a_fast_drive() {
    let score = score("fast", &drives::fast(), 5, 0.0, 0.0);
    let all = [score.knee_values, score.efficient, score.groups, score.splits, score.blocks, score.right];
    assert!(all.iter().all(|share| share.share() > 0.97), "{score}");
}

#[test]
fn noise_and_drift_make_intervals_wider_and_not_wrong() {
    for (name, drive) in [("sata", drives::sata()), ("cloud", drives::cloud())] {
        for (budget_s, knee_values) in [(20, 0.9), (60, 0.95)] {
            for drift in [0.0, 0.2] {
                let score = score(name, &drive, budget_s, 0.05, drift);
                let sure = [score.knees, score.efficient, score.splits];
                assert!(sure.iter().all(|share| share.share() > 0.97), "{name} {budget_s}: {score}");
                assert!(score.knee_values.share() >= knee_values, "{name} {budget_s}: {score}");
                assert!(score.covered.share() >= 0.85, "{name} {budget_s}: {score}");
                assert!(score.groups.share() >= 0.85 || score.groups.of == 0, "{name} {budget_s}: {score}");
                assert!(score.right.share() >= 0.95, "{name} {budget_s}: {score}");
                assert!(score.narrow.share() >= 0.95, "{name} {budget_s}: {score}");
            }
        }
    }
}

#[test]
fn neighbours_compensate_for_noise_of_a_quarter() {
    for (name, drive) in [("sata", drives::sata()), ("cloud", drives::cloud())] {
        // With this much noise, two seeds are too few for a 90th percentile.
        let seeds = 1..seeds().end.max(5);
        let score = score_over(seeds, name, &drive, 60, (0.25, 0.1));
        assert!(score.right.share() >= 0.8, "{name}: {score}");
        assert!(score.error_p90() < 0.08, "{name}: {score}");
        assert!(score.fitted_covered.share() >= 0.85, "{name}: {score}");
        assert!(score.knee_values.share() >= 0.95 && score.narrow.share() >= 0.9, "{name}: {score}");
    }
}

#[test]
fn unpredictable_cells_are_measured() {
    let score = score("virtual disk", &drives::virtual_disk(), 60, 0.1, 0.1);
    assert!(score.measured.share() > 0.98, "{score}");
    assert!(score.error_p90() < 0.09, "{score}");
    assert!(score.knee_values.share() >= 0.9 && score.narrow.share() >= 0.85, "{score}");
}

#[test]
fn slow_drives_keep_to_the_budget_and_get_no_deep_queues() {
    for (name, drive) in [("disk", drives::disk()), ("array", drives::disk_array())] {
        for budget_s in [2, 5, 20, 60] {
            let score = score(name, &drive, budget_s, 0.05, 0.2);
            assert!(score.longest_s <= budget_s as f64 + 1.0, "{name}: {score}");
            assert!(score.knees.share() > 0.9 || score.knees.of == 0, "{name} {budget_s}: {score}");
            assert!(score.covered.share() >= 0.7, "{name} {budget_s}: {score}");
        }
    }
    let found = probe_drive(&drives::disk(), 60, 1);
    // 8 ms each, so 64 take half a second; depths 128 and 256 are skipped where memory would allow
    // them.
    let deepest = found.cells.iter().map(|cell| cell.cell.queue_depth).max();
    assert!(deepest.unwrap() <= 64, "{deepest:?}");
    let told = found.skipped.iter().filter(|cell| cell.reason.contains("filling the queue"));
    assert!(told.count() >= 15);
}

#[test]
fn every_cell_of_the_grid_is_measured_fitted_or_skipped() {
    for drive in [drives::sata(), drives::disk(), drives::disk_array()] {
        let found = probe_drive(&drive, 60, 1);
        let measured = found.cells.iter().map(|cell| &cell.cell);
        let single = measured.filter(|cell| cell.pattern == "random" && cell.group_blocks == 1);
        let mut keys: Vec<_> =
            single.map(|cell| CellKey::random(cell.block_bytes, cell.queue_depth)).collect();
        keys.extend(
            found.fitted_cells.iter().map(|cell| CellKey::random(cell.block_bytes, cell.queue_depth)),
        );
        let skipped = found.skipped.iter().filter(|cell| cell.pattern == "random" && cell.group_blocks == 1);
        keys.extend(skipped.map(|cell| CellKey::random(cell.block_bytes, cell.queue_depth)));
        keys.sort_unstable();
        let mut expected = Vec::new();
        for block_bytes in (11..=22).map(|power| 1_u64 << power) {
            expected.extend((0..=8).map(|power| CellKey::random(block_bytes, 1 << power)));
        }
        assert_eq!(keys, expected);
        assert!(
            found
                .cells
                .iter()
                .all(|cell| { cell.cell.block_bytes * u64::from(cell.cell.queue_depth) <= OUTSTANDING_MAX })
        );
    }
}

#[test]
fn the_same_seed_in_the_same_world_gives_the_same_findings() {
    let variation = SpeedVariation { noise: 0.05, drift: 0.2, seed: 3 };
    let drive = Drive { variation, ..drives::sata() };
    let run = |seed| format!("{:?}", probe_drive(&drive, 5, seed));
    assert!(run(1) == run(1));
    assert!(run(1) != run(2));
}
