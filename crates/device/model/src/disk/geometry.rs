//! Layout of logical sectors: zone, track and angle, with skews, spare regions and slipped sectors.
//!
//! Physical sectors of a zone are numbered track by track. A spare region keeps its last sectors
//! free; a slipped sector shifts every later logical sector of its region by one. Angles count in
//! sectors of the zone from the platter's index mark. The first sector of every zone is assumed to
//! lie at the index.
#![allow(
    clippy::indexing_slicing,
    reason = "a zone's index comes from a search of the same vector, which validation keeps from being empty"
)]

use super::parameters::{GeometryParameters, ZoneParameters};

/// One surface of one cylinder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Track {
    pub(super) cylinder: u32,
    pub(super) head: u32,
}

/// Physical position of a logical sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PhysicalSector {
    pub(super) track: Track,
    /// Sectors from the index mark, less than `sectors_per_track`.
    pub(super) angle_sectors: u64,
    pub(super) sectors_per_track: u64,
    /// Physical sector number in its zone. On a track, differences are distances under the head.
    pub(super) physical: u64,
    /// First logical sector of the next track.
    pub(super) track_end: u64,
}

#[derive(Debug)]
struct Zone {
    first_sector: u64,
    sectors: u64,
    first_cylinder: u32,
    sectors_per_track: u64,
    track_skew: u64,
    cylinder_skew: u64,
    region_physical: u64,
    region_logical: u64,
    slips: Vec<u64>,
}

/// Mapping of the drive's sectors.
#[derive(Debug)]
pub(super) struct Geometry {
    surfaces: u64,
    zones: Vec<Zone>,
    sectors: u64,
}

impl Geometry {
    pub(super) fn new(parameters: &GeometryParameters) -> Self {
        let surfaces = u64::from(parameters.surfaces);
        let mut zones = Vec::new();
        let mut sectors = 0;
        for zone in &parameters.zones {
            let zone = Zone::new(zone, surfaces, sectors);
            sectors += zone.sectors;
            zones.push(zone);
        }
        Self { surfaces, zones, sectors }
    }

    /// Logical sectors of the drive.
    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Position of a logical sector; beyond the end, that of the last sector.
    pub(super) fn locate(&self, sector: u64) -> PhysicalSector {
        let sector = sector.min(self.sectors - 1);
        let zone = &self.zones[self.zones.partition_point(|zone| zone.first_sector <= sector) - 1];
        let physical = zone.physical(sector - zone.first_sector);
        let track_number = physical / zone.sectors_per_track;
        let (cylinder, head) = (track_number / self.surfaces, track_number % self.surfaces);
        let skew = zone.track_skew * (head + (self.surfaces - 1) * cylinder) + zone.cylinder_skew * cylinder;
        PhysicalSector {
            track: Track { cylinder: zone.first_cylinder + narrow(cylinder), head: narrow(head) },
            angle_sectors: (skew + physical) % zone.sectors_per_track,
            sectors_per_track: zone.sectors_per_track,
            physical,
            track_end: zone.logical_from((track_number + 1) * zone.sectors_per_track),
        }
    }

    /// First logical sector at least `passed` physical sectors after `sector`, in the same zone.
    pub(super) fn sector_after(&self, sector: u64, passed: u64) -> u64 {
        let sector = sector.min(self.sectors - 1);
        let zone = &self.zones[self.zones.partition_point(|zone| zone.first_sector <= sector) - 1];
        zone.logical_from(zone.physical(sector - zone.first_sector) + passed)
    }
}

impl Zone {
    fn new(parameters: &ZoneParameters, surfaces: u64, first_sector: u64) -> Self {
        let cylinder_sectors = u64::from(parameters.sectors_per_track) * surfaces;
        let cylinders = u64::from(parameters.last_cylinder - parameters.first_cylinder + 1);
        let region_cylinders = parameters.spare_region_cylinders.map_or(cylinders, u64::from);
        let region_physical = region_cylinders * cylinder_sectors;
        let region_logical = region_physical - u64::from(parameters.spare_sectors);
        // A last, shorter region has no spares, as in the extracted layouts.
        let rest = cylinders % region_cylinders * cylinder_sectors;
        Self {
            first_sector,
            sectors: cylinders / region_cylinders * region_logical + rest,
            first_cylinder: parameters.first_cylinder,
            sectors_per_track: u64::from(parameters.sectors_per_track),
            track_skew: u64::from(parameters.track_skew_sectors),
            cylinder_skew: u64::from(parameters.cylinder_skew_sectors),
            region_physical,
            region_logical,
            slips: parameters.slipped_sectors.clone(),
        }
    }

    /// Physical sector of a logical one, both counted from the zone's first.
    fn physical(&self, logical: u64) -> u64 {
        let region_start = logical / self.region_logical * self.region_physical;
        let unslipped = region_start + logical % self.region_logical;
        let slips = &self.slips[self.slips.partition_point(|&slip| slip < region_start)..];
        // Each slip shifts the sector by one, perhaps past the next slip.
        let mut passed = 0;
        for &slip in slips {
            if slip > unslipped + passed {
                break;
            }
            passed += 1;
        }
        unslipped + passed
    }

    /// First logical sector of the drive at or after a physical sector of this zone.
    fn logical_from(&self, physical: u64) -> u64 {
        let region = physical / self.region_physical;
        let region_start = region * self.region_physical;
        let count_before = |bound: u64| self.slips.partition_point(|&slip| slip < bound);
        let slipped = count_before(physical) - count_before(region_start);
        let within = (physical - region_start).saturating_sub(slipped as u64).min(self.region_logical);
        self.first_sector + (region * self.region_logical + within).min(self.sectors)
    }
}

/// Cylinders and heads come from 32-bit parameters, so they fit.
#[expect(clippy::cast_possible_truncation, reason = "bounded by 32-bit parameters")]
fn narrow(value: u64) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(first: u32, last: u32, sectors_per_track: u32) -> ZoneParameters {
        ZoneParameters {
            first_cylinder: first,
            last_cylinder: last,
            sectors_per_track,
            track_skew_sectors: 3,
            cylinder_skew_sectors: 5,
            spare_sectors: 0,
            spare_region_cylinders: None,
            slipped_sectors: Vec::new(),
        }
    }

    #[test]
    fn skews_add_up_over_tracks_and_cylinders() {
        let geometry = Geometry::new(&GeometryParameters { surfaces: 2, zones: vec![zone(0, 9, 10)] });
        assert_eq!(geometry.sectors(), 200);
        let angles: Vec<u64> = [0, 10, 20, 30].map(|sector| geometry.locate(sector).angle_sectors).to_vec();
        assert_eq!(angles, [0, 3, 8, 1]);
        assert_eq!(geometry.locate(35).track, Track { cylinder: 1, head: 1 });
        assert_eq!(geometry.locate(35).track_end, 40);
    }

    #[test]
    fn slipped_and_spare_sectors_shift_what_follows_in_their_region_only() {
        let mut spared = zone(0, 3, 10);
        spared.spare_sectors = 2;
        spared.spare_region_cylinders = Some(2);
        spared.slipped_sectors = vec![4, 5];
        let geometry = Geometry::new(&GeometryParameters { surfaces: 1, zones: vec![spared, zone(5, 6, 8)] });
        assert_eq!(geometry.sectors(), 18 + 18 + 16);
        let physical: Vec<u64> = [3, 4, 17, 18].map(|sector| geometry.locate(sector).physical).to_vec();
        assert_eq!(physical, [3, 6, 19, 20]);
        assert_eq!(geometry.locate(3).track_end, 8, "the first track lost two sectors");
        assert_eq!(geometry.locate(36).track, Track { cylinder: 5, head: 0 });
    }

    #[test]
    fn every_sector_lies_behind_the_one_before_it_and_maps_back() {
        let mut slipped = zone(0, 9, 10);
        slipped.spare_sectors = 9;
        slipped.slipped_sectors = vec![0, 7, 8, 9, 10, 11, 44, 90, 91];
        let geometry = Geometry::new(&GeometryParameters { surfaces: 1, zones: vec![slipped] });
        for sector in 1..geometry.sectors() {
            let (before, place) = (geometry.locate(sector - 1), geometry.locate(sector));
            assert!(before.physical < place.physical);
            assert_eq!(geometry.sector_after(sector - 1, place.physical - before.physical), sector);
            assert_eq!(before.track_end > sector, before.track == place.track);
        }
    }
}
