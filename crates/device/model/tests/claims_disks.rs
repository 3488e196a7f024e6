//! Traces of three real disks, with a measured response time for each request, compared with their
//! models: distribution of response times, and position of the platter.
//!
//! A position's error is measured minus modelled response time, modulo one revolution. A tenth of
//! random errors would be less than a twentieth of a revolution.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::book::{Entry, Verdict};
use common::traces::{CASES, Case, first_sector, is_read, measured_ms, play_on, sectors};
use nandle_model::disk::DiskParameters;
use nandle_trace::Record;

/// Reads that take longer than this need the medium.
const MEDIUM_MS: f64 = 2.5;

/// A trace and its model's response times.
struct Replayed {
    trace: Vec<Record>,
    modelled_ms: Vec<f64>,
    parameters: DiskParameters,
}

impl Replayed {
    fn new(case: &Case) -> Self {
        let (parameters, trace) = (case.parameters(), case.trace());
        Self { modelled_ms: play_on(&parameters, &trace).response_ms, trace, parameters }
    }

    fn measured_ms(&self, index: usize) -> f64 {
        measured_ms(&self.trace[index])
    }

    /// Reads that follow a read at this distance and need the medium, in reality and in the model.
    fn after_reads(&self, distance_sectors: std::ops::Range<u64>) -> impl Iterator<Item = usize> + '_ {
        (1..self.trace.len()).filter(move |&index| {
            let (before, read) = (&self.trace[index - 1], &self.trace[index]);
            is_read(before)
                && is_read(read)
                && distance_sectors.contains(&first_sector(before).abs_diff(first_sector(read)))
                && self.measured_ms(index).min(self.modelled_ms[index]) > MEDIUM_MS
        })
    }

    /// Share of positions correct to a twentieth of a revolution, and the median absolute error.
    fn positions(&self, distance_sectors: std::ops::Range<u64>) -> (f64, f64) {
        let revolution_ms = 60_000.0 / self.parameters.rotations_per_minute;
        let mut errors: Vec<f64> = self
            .after_reads(distance_sectors)
            .map(|index| (self.measured_ms(index) - self.modelled_ms[index]) / revolution_ms)
            .map(|revolutions| ((revolutions + 0.5).rem_euclid(1.0) - 0.5).abs())
            .collect();
        assert!(errors.len() > 200, "{} positions", errors.len());
        errors.sort_by(f64::total_cmp);
        let right = errors.partition_point(|error| *error < 0.05);
        (right as f64 / errors.len() as f64, errors[errors.len() / 2])
    }
}

#[test]
fn response_times_are_distributed_as_measured() {
    let [fitted, extracted] = [false, true].map(|whole_seek| {
        CASES.each_ref().map(|case| {
            let mut parameters = case.parameters();
            if whole_seek {
                parameters.seek.settle_us = None;
            }
            play_on(&parameters, &case.trace()).demerit_ms()
        })
    });
    let published = CASES.each_ref().map(|case| case.published_demerit_ms);
    Entry {
        id: "Disks, response times",
        paper: "demerits of the best published simulator: 0.107, 0.349, 0.378 ms (Cheetah 9LP, Barracuda, Atlas III)",
        precondition: "10 000 measured requests each, one at a time, with parameters extracted from the drives; one share of \
                       the shortest seek, which settling anew takes, is fitted to the three together",
        tolerance: "no greater, with that share and with the whole seek",
        model: format!("{fitted:.3?} ms; with nothing fitted {extracted:.3?} ms"),
        verdict: Verdict::Met,
    }
    .print();
    for demerits in [fitted, extracted] {
        assert!(demerits.iter().zip(&published).all(|(got, published)| got <= published), "{demerits:?}");
    }
}

#[test]
fn positions_are_known_on_a_track_and_unknown_far_away() {
    let disks = CASES.each_ref().map(Replayed::new);
    let [near, far] = [1..300, 100_000..u64::MAX]
        .map(|distance| disks.each_ref().map(|disk| disk.positions(distance.clone())));
    let shares = |positions: [(f64, f64); 3]| positions.map(|(share, _)| share * 100.0);
    let medians = |positions: [(f64, f64); 3]| positions.map(|(_, median)| median);
    Entry {
        id: "Disks, near positions",
        paper: "where the platter is when a read begins shortly before or behind the one it follows",
        precondition: "reads within 300 sectors of a read before them that need the medium",
        tolerance: "more than half of the positions within a twentieth of a revolution; by chance it would be a tenth",
        model: format!("{:.0?} %, median errors {:.3?} revolutions", shares(near), medians(near)),
        verdict: Verdict::Met,
    }
    .print();
    Entry {
        id: "Disks, far positions",
        paper: "where the platter is when a read begins far from the one it follows",
        precondition: "reads more than 100 000 sectors from a read before them",
        tolerance: "more than half of the positions within a twentieth of a revolution; by chance it would be a tenth",
        model: format!("{:.0?} %, median errors {:.3?} revolutions", shares(far), medians(far)),
        verdict: Verdict::NotMet(
            "far positions are at chance on all three drives: their response times are right as a distribution, not one by \
             one. Positions are known within a track or two and lost within a hundred; the likely cause is that skews are \
             extracted in whole sectors, and what a fraction of one is off adds up over the tracks between",
        ),
    }
    .print();
    assert!(near.iter().all(|&(share, median)| share > 0.5 && median < 0.05), "{near:?}");
    // A better result would make the entry obsolete.
    assert!(far.iter().all(|&(share, median)| (0.05..0.2).contains(&share) && median > 0.2), "{far:?}");
}

/// A drive that starts to read as soon as its head arrives on a track caches the sectors that pass
/// before the requested ones. It would serve a read of them from its cache.
#[test]
fn measured_drives_do_not_read_on_arrival() {
    let served = CASES.each_ref().map(|case| {
        let disk = Replayed::new(case);
        let behind: Vec<usize> = (1..disk.trace.len())
            .filter(|&index| {
                let (before, read) = (&disk.trace[index - 1], &disk.trace[index]);
                let step = first_sector(before).saturating_sub(first_sector(read));
                let both_read = is_read(before) && is_read(read) && (sectors(read)..60).contains(&step);
                both_read && disk.measured_ms(index - 1) > 2.0 * MEDIUM_MS
            })
            .collect();
        // A read from the medium takes at least its overhead, settling and transfer.
        let least_us =
            disk.parameters.overheads.read_miss_after_read_us + disk.parameters.seek.settle_us.unwrap();
        let from_memory = behind.iter().filter(|&&index| {
            let transfer_us =
                sectors(&disk.trace[index]) as f64 * disk.parameters.interface.sector_transfer_us;
            disk.measured_ms(index) * 1e3 < least_us + transfer_us
        });
        (from_memory.count(), behind.len())
    });
    Entry {
        id: "Disks, reading on arrival",
        paper: "a drive may begin to read at any sector of the wanted track and serve those before the wanted ones from its \
                buffer",
        precondition: "reads up to 60 sectors before a read that took the medium longer than 5 ms, most of which waited for \
                       that many sectors",
        tolerance: "as the model has it: none are served from memory",
        model: format!("0; measured {served:?} (served from memory, of so many)"),
        verdict: Verdict::Partly(
            "Cheetah and Barracuda don't, as the model has it; what the Atlas III serves does not depend on how long it had \
             waited, so it is older contents of its buffer, by a rule that its extracted parameters don't tell",
        ),
    }
    .print();
    assert!(served[..2].iter().all(|&(hits, of)| of > 80 && hits * 50 < of), "{served:?}");
    assert!(served[2].0 * 2 < served[2].1, "{served:?}");
}
