//! Cleaning, and the effect of its parameters.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::driver::{Load, Outcome, run};
use common::patterns::Pattern;
use nandle_model::flash::parameters::{
    CleaningPace, IdleCleaning, MappingParameters, PageMapParameters, Separation, VictimPolicy,
};
use nandle_model::flash::{FlashDrive, FlashParameters, FlashStats};
use nandle_model::library;
use nandle_model::timing::{TimedOperation, TimedRequest, Timing};

const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };

/// Page-mapped drive of 512 MB with superblocks of 1.3 MB and its whole map in memory.
fn parameters(change: impl FnOnce(&mut PageMapParameters)) -> FlashParameters {
    let mut parameters = library::flash("x25-e-64").unwrap();
    parameters.chips.dies_per_channel = 1;
    let mut parameters = parameters.with_capacity_bytes(512 << 20).unwrap();
    let MappingParameters::Page(page) = &mut parameters.mapping else { panic!("a page-mapped drive") };
    page.raw_over_user = 1.15;
    page.map_memory = None;
    page.low_free_superblocks = 4;
    page.pace = CleaningPace::Burst { superblocks: 1 };
    change(page);
    parameters
}

/// Write amplification and outcome of the last pass over the area. Data that is seldom written
/// takes many passes to gather in its own superblocks.
fn steady(parameters: &FlashParameters, pattern: Pattern, area_bytes: u64) -> (f64, Outcome) {
    let warm_turns = if matches!(pattern, Pattern::Skewed | Pattern::Zipf) { 5 } else { 2 };
    let mut drive = FlashDrive::new(parameters).unwrap();
    drive.fill_sequentially(area_bytes as f64 / parameters.capacity_bytes as f64).unwrap();
    let turn = Load { depth: 32, requests: area_bytes / 4096, ..Load::write(pattern, 4096, area_bytes) };
    let warm = run(&mut drive, Load { requests: warm_turns * turn.requests, ..turn }, 0);
    let before = drive.stats();
    let outcome = run(&mut drive, Load { seed: 2, ..turn }, warm.end_ns);
    let after = drive.stats();
    let moved = (after.moved_units - before.moved_units) as f64;
    // Data rewritten in the buffer isn't programmed.
    let programmed = |stats: &FlashStats| stats.host_written_units - stats.overwritten_in_buffer_units;
    (1.0 + moved / (programmed(&after) - programmed(&before)) as f64, outcome)
}

fn amplification(change: impl FnOnce(&mut PageMapParameters), pattern: Pattern) -> f64 {
    let parameters = parameters(change);
    steady(&parameters, pattern, parameters.capacity_bytes).0
}

#[test]
fn more_spare_space_means_less_amplification() {
    let [little, some, much] =
        [1.1, 1.25, 1.5].map(|ratio| amplification(|page| page.raw_over_user = ratio, RANDOM));
    assert!(little > 1.5 * some && some > 1.2 * much && much > 1.0, "{little} {some} {much}");
}

#[test]
fn greedy_agrees_with_the_closed_form_for_uniform_writes() {
    // Desnoyers (SYSTOR 2012) and Luojie, Kurkoski (arXiv 1110.4245): for large blocks and uniform
    // writes, the victims' utilisation u solves u = exp(−α (1 − u)), where α is the ratio of flash
    // to data. The write amplification is 1 / (1 − u).
    let closed_form = |alpha: f64| 1.0 / (1.0 - (0..2_000).fold(0.5_f64, |u, _| (-alpha * (1.0 - u)).exp()));
    assert!((closed_form(1.3) - 2.36).abs() < 0.01, "the second paper's own example: {}", closed_form(1.3));
    for raw_over_user in [1.1, 1.2, 1.3] {
        let parameters = parameters(|page| page.raw_over_user = raw_over_user);
        let (measured, _) = steady(&parameters, RANDOM, parameters.capacity_bytes);
        let expected = closed_form(raw_over_user);
        assert!(
            (measured / expected - 1.0).abs() < 0.04,
            "{raw_over_user}: {measured}, closed form {expected}"
        );
    }
}

#[test]
fn victims_drawn_at_random_cost_the_same_whatever_is_written() {
    // Van Houdt (SIGMETRICS 2013): a random victim is as full as the mean superblock, so the write
    // amplification is 1 / (1 − 1/α), even if some pages are written far more often than others.
    let parameters = parameters(|page| {
        page.raw_over_user = 1.25;
        page.victim = VictimPolicy::DChoices { choices: 1, seed: 7 };
    });
    let expected = 1.0 / (1.0 - 1.0 / 1.25);
    for pattern in [RANDOM, Pattern::Skewed, Pattern::Zipf] {
        let (measured, _) = steady(&parameters, pattern, parameters.capacity_bytes);
        assert!((measured / expected - 1.0).abs() < 0.1, "{pattern:?}: {measured}, theory {expected}");
    }
}

#[test]
fn skewed_writes_cost_no_less_than_with_perfect_separation() {
    // Lower bound of any policy: hot and cold data are cleaned separately, with the best division
    // of the spare space (Desnoyers, ACM TOS 10(2), 2014).
    let alpha = 1.2;
    let utilisation = |alpha: f64| (0..2_000).fold(0.5_f64, |u, _| (-alpha * (1.0 - u)).exp());
    let apart = |hot_spare: f64| {
        let spare = alpha - 1.0;
        let (hot, cold) = (1.0 + spare * hot_spare / 0.1, 1.0 + spare * (1.0 - hot_spare) / 0.9);
        0.9 / (1.0 - utilisation(hot)) + 0.1 / (1.0 - utilisation(cold))
    };
    let best = (1..100).map(|percent| apart(f64::from(percent) / 100.0)).fold(f64::INFINITY, f64::min);
    let measured = |separation| {
        let parameters = parameters(|page| {
            page.raw_over_user = 1.2;
            page.separation = separation;
        });
        steady(&parameters, Pattern::Skewed, parameters.capacity_bytes).0
    };
    let (mixed, by_age) = (measured(Separation::None), measured(Separation::ByAge));
    assert!(best < by_age && by_age < 0.95 * mixed, "best {best}, by age {by_age}, mixed {mixed}");
}

#[test]
fn d_choices_come_close_to_greedy_as_d_grows() {
    let policy =
        |choices| amplification(|page| page.victim = VictimPolicy::DChoices { choices, seed: 7 }, RANDOM);
    let greedy = amplification(|page| page.victim = VictimPolicy::Greedy, RANDOM);
    let [one, ten] = [1, 10].map(policy);
    assert!(one > 1.2 * ten && ten < 1.15 * greedy && ten > 0.95 * greedy, "{one} {ten} {greedy}");
}

#[test]
fn cost_benefit_and_separation_help_skewed_writes() {
    let plain = amplification(|page| page.separation = Separation::None, Pattern::Skewed);
    let apart = amplification(
        |page| {
            page.separation = Separation::ByOrigin;
            page.victim = VictimPolicy::CostBenefit;
        },
        Pattern::Skewed,
    );
    let by_age = amplification(
        |page| {
            page.separation = Separation::ByAge;
            page.victim = VictimPolicy::CostBenefit;
        },
        Pattern::Skewed,
    );
    assert!(apart < 0.9 * plain && by_age < 0.9 * plain, "none {plain}, by origin {apart}, by age {by_age}");
}

#[test]
fn pacing_shortens_the_pauses() {
    let longest = |pace| {
        let parameters = parameters(|page| page.pace = pace);
        let mut drive = FlashDrive::new(&parameters).unwrap();
        drive.fill_sequentially(1.0).unwrap();
        let area_bytes = parameters.capacity_bytes;
        let load = Load::write(RANDOM, 4096, area_bytes);
        let warm = run(&mut drive, Load { depth: 32, requests: 2 * area_bytes / 4096, ..load }, 0);
        run(&mut drive, Load { requests: 20_000, seed: 2, ..load }, warm.end_ns).max_latency_ms()
    };
    let (burst, paced) = (longest(CleaningPace::Burst { superblocks: 2 }), longest(CleaningPace::Paced));
    assert!(paced < burst / 2.0, "burst {burst} ms, paced {paced} ms");
}

#[test]
fn a_burst_takes_as_long_on_a_full_drive_as_on_a_half_empty_one() {
    let longest_ms = |percent: u64| {
        let parameters = parameters(|page| page.pace = CleaningPace::Burst { superblocks: 4 });
        let mut drive = FlashDrive::new(&parameters).unwrap();
        drive.fill_sequentially(percent as f64 / 100.0).unwrap();
        let area_bytes = parameters.capacity_bytes / 100 * percent / 4096 * 4096;
        let load = Load::write(RANDOM, 4096, area_bytes);
        let warm = run(&mut drive, Load { depth: 32, requests: 3 * area_bytes / 4096, ..load }, 0);
        run(&mut drive, Load { requests: 20_000, seed: 2, ..load }, warm.end_ns).max_latency_ms()
    };
    let (half, full) = (longest_ms(60), longest_ms(100));
    // A pause moves four superblocks at most, however little that gains.
    assert!(full < 5.0 * half, "60 % full {half} ms, full {full} ms");
}

#[test]
fn discarded_space_serves_as_spare_space() {
    let parameters = parameters(|_| {});
    let half = parameters.capacity_bytes / 2;
    let (full, _) = steady(&parameters, RANDOM, parameters.capacity_bytes);
    let mut drive = FlashDrive::new(&parameters).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    drive.arrive(
        0,
        TimedRequest { id: 1, operation: TimedOperation::Discard, offset_bytes: half, length_bytes: half },
    );
    let event_ns = drive.next_event_ns().unwrap();
    drive.advance(event_ns, &mut Vec::new());
    let writes = Load { depth: 32, requests: 3 * half / 4096, ..Load::write(RANDOM, 4096, half) };
    run(&mut drive, writes, event_ns);
    assert!(drive.stats().write_amplification().unwrap() < 1.2, "{:?}, full: {full}", drive.stats());
    assert!(full > 2.0);
}

#[test]
fn idle_time_pays_for_the_next_burst() {
    let burst_ms = |idle: Option<IdleCleaning>| {
        let parameters = parameters(|page| page.idle_cleaning = idle);
        let mut drive = FlashDrive::new(&parameters).unwrap();
        drive.fill_sequentially(1.0).unwrap();
        let area_bytes = parameters.capacity_bytes;
        let warm =
            Load { depth: 32, requests: 2 * area_bytes / 4096, ..Load::write(RANDOM, 4096, area_bytes) };
        let end_ns = run(&mut drive, warm, 0).end_ns;
        let rested_ns = end_ns + 60_000_000_000;
        drive.advance(rested_ns, &mut Vec::new());
        let burst = Load { depth: 32, requests: 4_000, seed: 3, ..Load::write(RANDOM, 4096, area_bytes) };
        run(&mut drive, burst, rested_ns).mean_latency_ms()
    };
    let without = burst_ms(None);
    let with = burst_ms(Some(IdleCleaning { after_ns: 1_000_000, high_free_superblocks: 10 }));
    assert!(with < 0.75 * without, "with {with} ms, without {without} ms");
}

#[test]
fn wear_is_spread() {
    let parameters = parameters(|_| {});
    let mut drive = FlashDrive::new(&parameters).unwrap();
    let area_bytes = parameters.capacity_bytes;
    run(
        &mut drive,
        Load { depth: 32, requests: 5 * area_bytes / 4096, ..Load::write(RANDOM, 4096, area_bytes) },
        0,
    );
    let wear = drive.erase_counts();
    assert!(wear.mean > 5.0 && f64::from(wear.most) < 3.0 * wear.mean, "{wear:?}");
}
