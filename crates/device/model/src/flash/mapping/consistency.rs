//! Tests of the page map against a plain table: no policy loses data.

use std::collections::BTreeSet;

use super::super::chips::Chips;
use super::super::parameters::{
    CleaningPace, FlashParameters, IdleCleaning, MappingParameters, PageMapParameters, Separation, SlcRegion,
    VictimPolicy,
};
use super::super::stats::FlashStats;
use super::super::units::UnitRange;
use super::super::write_buffer::WriteBuffer;
use super::lazy_array::NONE;
use super::{Geometry, Medium, PageMap};
use crate::library;

const SUPERBLOCK_UNITS: u32 = 320;

/// 32 MB with superblocks of 320 units.
fn parameters(page: &PageMapParameters) -> FlashParameters {
    let mut drive = library::flash("x25-e-64").unwrap();
    drive.chips.dies_per_channel = 1;
    drive.capacity_bytes = 26 * u64::from(SUPERBLOCK_UNITS) * 4096;
    drive.mapping = MappingParameters::Page(page.clone());
    drive
}

fn page(separation: Separation, victim: VictimPolicy, pace: CleaningPace, slc: bool) -> PageMapParameters {
    PageMapParameters {
        unit_bytes: 4096,
        raw_over_user: 1.4,
        victim,
        separation,
        low_free_superblocks: 3,
        pace,
        idle_cleaning: Some(IdleCleaning { after_ns: 1, high_free_superblocks: 5 }),
        map_memory: None,
        slc_region: slc.then_some(SlcRegion {
            bytes: 2 * u64::from(SUPERBLOCK_UNITS) * 4096,
            bits_per_cell: 3,
            program_ns: 1,
            read_ns: 1,
        }),
    }
}

/// Writes, discards and idles at random; then checks the tables against each other and against the
/// writes.
fn exercise(page: &PageMapParameters) {
    let drive = parameters(page);
    drive.validate().unwrap();
    let geometry = Geometry::of(&drive);
    let mut map = PageMap::new(geometry, page, &drive);
    let (mut chips, mut stats) = (Chips::new(&drive.chips), FlashStats::default());
    let mut buffer = WriteBuffer::new(1 << 20, 4096, drive.chips.dies());
    let mut written = vec![false; geometry.logical_units as usize];
    let mut draw = 1_u64;
    for step in 0..20 * u64::from(geometry.logical_units) {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let unit = u32::try_from((draw >> 33) % u64::from(geometry.logical_units)).unwrap();
        let mut medium =
            Medium { chips: &mut chips, buffer: &mut buffer, stats: &mut stats, map_memory: None };
        if draw >> 60 == 0 {
            map.discard(UnitRange { first: unit, end: unit + 1 });
        } else {
            medium.buffer.admit(step);
            map.write(unit, step, &mut medium);
        }
        written[unit as usize] = draw >> 60 != 0;
        if step % 5_000 == 0 {
            while map.work_while_idle(step, &mut medium).is_some() {}
        }
    }
    check(&map, &written);
}

fn check(map: &PageMap, written: &[bool]) {
    let mut valid = vec![0; map.superblocks.len() as usize];
    let mut taken = BTreeSet::new();
    for (unit, &is_written) in (0_u32..).zip(written) {
        let address = map.forward.get(unit);
        assert_eq!(address != NONE, is_written, "unit {unit}");
        if is_written {
            assert!(taken.insert(address), "unit {unit} shares address {address}");
            valid[map.geometry.superblock_of(address) as usize] += 1;
        }
    }
    for (index, &units) in (0_u32..).zip(&valid) {
        assert_eq!(map.superblocks.valid_units(index), units, "superblock {index}");
    }
}

#[test]
fn nothing_is_lost_under_any_policy() {
    let policies =
        [VictimPolicy::Greedy, VictimPolicy::CostBenefit, VictimPolicy::DChoices { choices: 3, seed: 5 }];
    for separation in [Separation::None, Separation::ByOrigin, Separation::ByAge] {
        for victim in policies {
            for pace in [CleaningPace::Burst { superblocks: 2 }, CleaningPace::Paced] {
                for slc in [false, true] {
                    exercise(&page(separation, victim, pace, slc));
                }
            }
        }
    }
}
