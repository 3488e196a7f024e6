//! Plays the request traces of three real disks on their models and compares the distributions of
//! response times. The claims among these results are in `claims_disks.rs`.
//!
//! `cargo test -p nandle-model --test measured_traces -- --nocapture demerit` prints the table.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "test code")]

mod common;

use common::traces::{CASES, first_sector, is_read, measured_ms, play_on, sectors};
use nandle_model::disk::SeekCurve;
use nandle_trace::Record;

/// Means may differ by 5 %.
const MEAN_ERROR_MAX: f64 = 0.05;

#[test]
fn demerit_and_means_match_the_measured_disks() {
    println!("drive         demerit ms  (published)  mean ms: measured  modelled   error");
    for case in &CASES {
        let modelled = play_on(&case.parameters(), &case.trace());
        let demerit_ms = modelled.demerit_ms();
        let means = [modelled.compared.recorded_ns, modelled.compared.played_ns];
        let [measured_ms, modelled_ms] = means.map(|summary| summary.mean.unwrap() / 1e6);
        let error = modelled_ms / measured_ms - 1.0;
        println!(
            "{:12} {demerit_ms:11.3} {:10.3} {:18.3} {:9.3} {:+6.2}%",
            case.name,
            case.published_demerit_ms,
            measured_ms,
            modelled_ms,
            error * 100.0
        );
        assert!(demerit_ms <= case.published_demerit_ms, "{}: demerit {demerit_ms} ms", case.name);
        assert!(error.abs() <= MEAN_ERROR_MAX, "{}: mean off by {error}", case.name);
    }
}

/// Settle time as a fraction of the shortest seek.
const SETTLE_SHARE: f64 = 0.7;

/// A single fitted fraction serves three drives, and both halves of each trace.
#[test]
fn an_arm_that_stays_settles_in_less_than_the_shortest_seek() {
    for case in &CASES {
        let (parameters, trace) = (case.parameters(), case.trace());
        let SeekCurve::Extracted { points } = &parameters.seek.read else {
            panic!("{} was extracted", case.name)
        };
        let settle_us = parameters.seek.settle_us.unwrap();
        assert!((settle_us / points[0].1 / SETTLE_SHARE - 1.0).abs() < 0.01, "{}: {settle_us} µs", case.name);
        let mut whole_seek = parameters.clone();
        whole_seek.seek.settle_us = None;
        for half in trace.chunks(trace.len() / 2) {
            let [with, without] =
                [&parameters, &whole_seek].map(|parameters| play_on(parameters, half).demerit_ms());
            println!("{:12}: {with:.4} ms, {without:.4} with the whole seek", case.name);
            assert!(with < 0.95 * without, "{}: {with} {without}", case.name);
        }
    }
}

/// A model that swapped the times of requests would have the right distribution. Here hits and
/// misses must also fall on the right reads. The Atlas III is left out: equally many of its reads
/// hit in the model, but not the same ones. Its read-ahead depends on history in a way that its
/// extracted parameters don't describe.
#[test]
fn hits_fall_on_the_same_requests_where_the_drive_reads_ahead_regularly() {
    for case in &CASES[..2] {
        let trace = case.trace();
        let modelled = play_on(&case.parameters(), &trace);
        // Without its transfer, a hit takes less than all but the luckiest seek and rotation.
        let is_hit = |ms: f64, traced: &Record| ms * 1_000.0 - sectors(traced) as f64 * 100.0 < 750.0;
        let reads: Vec<(bool, bool)> = trace
            .iter()
            .zip(&modelled.response_ms)
            .filter(|(traced, _)| is_read(traced))
            .map(|(traced, &ms)| (is_hit(measured_ms(traced), traced), is_hit(ms, traced)))
            .collect();
        let alike = reads.iter().filter(|(measured, modelled)| measured == modelled).count();
        let share = alike as f64 / reads.len() as f64;
        println!("{:12} {:5.1}% of reads hit or miss as measured", case.name, share * 100.0);
        assert!(share > 0.95, "{}: {share}", case.name);
    }
}

/// Distributions could match by chance; rotational positions can't. A read whose
/// address is just below the previous one's needs the medium near the heads' position. So its
/// response time, modulo one revolution, depends on the platter's position alone. A tenth of random
/// errors would be less than a twentieth of a revolution.
#[test]
fn rotational_positions_are_predicted_request_by_request() {
    for case in &CASES {
        let (parameters, trace) = (case.parameters(), case.trace());
        let modelled = play_on(&parameters, &trace);
        let revolution_ms = 60_000.0 / parameters.rotations_per_minute;
        let errors: Vec<f64> = trace
            .windows(2)
            .zip(&modelled.response_ms[1..])
            .filter(|(pair, _)| is_short_step_back(&pair[0], &pair[1]))
            .map(|(pair, modelled_ms)| measured_ms(&pair[1]) - modelled_ms)
            .map(|error_ms| (error_ms / revolution_ms + 0.5).rem_euclid(1.0) - 0.5)
            .collect();
        let close = errors.iter().filter(|error| error.abs() < 0.05).count();
        let share = close as f64 / errors.len() as f64;
        println!("{:12} {:5.1}% of {} positions predicted", case.name, share * 100.0, errors.len());
        assert!(errors.len() > 300 && share > 0.5, "{}: {share}", case.name);
    }
}

fn is_short_step_back(before: &Record, after: &Record) -> bool {
    let step = first_sector(before).saturating_sub(first_sector(after));
    let pause_ms = (after.time_us - before.time_us) as f64 / 1e3 - measured_ms(before);
    is_read(before) && is_read(after) && (sectors(after)..300).contains(&step) && pause_ms < 100.0
}
