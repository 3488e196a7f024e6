//! Arm, heads and rotation: when does a sector pass under a head that is somewhere else now?
//!
//! The spindle never slips: at time `t` the platter has turned by `t mod revolution` since its index mark passed.
//! Sector boundaries are rounded down to nanoseconds once per revolution, so neighbouring sectors join exactly.

use super::geometry::{Geometry, Place, Track};
use super::parameters::DiskParameters;
use super::seek::Seek;
use super::units::{microseconds_to_ns, revolution_ns};

/// Where the heads are, and since when they could do something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Arm {
    pub(super) track: Track,
    pub(super) free_ns: u64,
}

/// Whether the heads read or write: a write needs a quieter arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

/// A transfer between medium and cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Transfer {
    /// The first sector has passed the head.
    pub(super) first_sector_ns: u64,
    /// The heads after the last sector; `free_ns` is its end.
    pub(super) arm: Arm,
}

/// The moving parts.
#[derive(Debug)]
pub(super) struct Mechanics {
    pub(super) geometry: Geometry,
    read_seek: Seek,
    write_seek: Option<Seek>,
    write_settle_ns: u64,
    head_switch_ns: u64,
    revolution_ns: u64,
}

impl Mechanics {
    pub(super) fn new(parameters: &DiskParameters) -> Self {
        let seek = &parameters.seek;
        let cylinders = parameters.geometry.zones.last().map_or(1, |zone| zone.last_cylinder + 1);
        Self {
            geometry: Geometry::new(&parameters.geometry),
            read_seek: Seek::new(&seek.read, cylinders),
            write_seek: seek.write.as_ref().map(|curve| Seek::new(curve, cylinders)),
            write_settle_ns: microseconds_to_ns(seek.write_settle_us),
            head_switch_ns: microseconds_to_ns(seek.head_switch_us),
            revolution_ns: revolution_ns(parameters.rotations_per_minute),
        }
    }

    /// Time of one sector under the head, at a place's zone.
    pub(super) fn sector_ns(&self, sector: u64) -> u64 {
        self.revolution_ns / self.geometry.locate(sector).sectors_per_track
    }

    /// When the heads, free at `arm.free_ns`, can begin with a sector, but not before `not_before_ns`.
    pub(super) fn start_ns(&self, arm: Arm, sector: u64, direction: Direction, not_before_ns: u64) -> u64 {
        self.start_at(arm, &self.geometry.locate(sector), direction, not_before_ns)
    }

    /// Transfers the sectors from `first` to before `end`, track by track.
    pub(super) fn transfer(&self, arm: Arm, first: u64, end: u64, direction: Direction, not_before_ns: u64) -> Transfer {
        let mut first_sector_ns = None;
        let mut arm = arm;
        let mut next = first;
        while next < end {
            let place = self.geometry.locate(next);
            let start_ns = self.start_at(arm, &place, direction, not_before_ns);
            first_sector_ns.get_or_insert(start_ns + self.pass_ns(&place, 1));
            // Data past the end of the drive does not exist: `track_end` stops there.
            let last = (end.min(place.track_end).max(next + 1)) - 1;
            let passed = self.geometry.locate(last).physical - place.physical + 1;
            arm = Arm { track: place.track, free_ns: start_ns + self.pass_ns(&place, passed) };
            next = last + 1;
        }
        Transfer { first_sector_ns: first_sector_ns.unwrap_or(arm.free_ns), arm }
    }

    /// Reads on from `next` until `until_ns` or `limit`: gives the sector after the last whole one, and the heads as
    /// they were when it had passed.
    pub(super) fn read_until(&self, arm: Arm, next: u64, limit: u64, until_ns: u64) -> (Arm, u64) {
        let (mut arm, mut next) = (arm, next);
        while next < limit {
            let place = self.geometry.locate(next);
            let start_ns = self.start_at(arm, &place, Direction::Read, 0);
            let stop = limit.min(place.track_end).max(next + 1);
            let reached = if start_ns + self.pass_ns(&place, self.passed_to(&place, stop)) <= until_ns {
                stop
            } else {
                self.reached_by(next, &place, until_ns.saturating_sub(start_ns)).min(stop)
            };
            if reached == next {
                break;
            }
            let passed = self.passed_to(&place, reached);
            arm = Arm { track: place.track, free_ns: start_ns + self.pass_ns(&place, passed) };
            next = reached;
        }
        (arm, next)
    }

    /// The heads when they are called away from reading ahead at `now_ns`: a head or arm that is on its way to the
    /// next track gets there first.
    pub(super) fn call_away(&self, arm: Arm, next: u64, limit: u64, now_ns: u64) -> Arm {
        let target = self.geometry.locate(next).track;
        if next >= limit || target == arm.track {
            return Arm { track: arm.track, free_ns: arm.free_ns.max(now_ns) };
        }
        let arrives_ns = arm.free_ns + self.reposition_ns(arm.track, target, Direction::Read);
        Arm { track: target, free_ns: arrives_ns.max(now_ns) }
    }

    fn start_at(&self, arm: Arm, place: &Place, direction: Direction, not_before_ns: u64) -> u64 {
        let moved_ns = arm.free_ns + self.reposition_ns(arm.track, place.track, direction);
        let ready_ns = moved_ns.max(not_before_ns);
        let angle_ns = place.angle_sectors * self.revolution_ns / place.sectors_per_track;
        ready_ns + (angle_ns + self.revolution_ns - ready_ns % self.revolution_ns) % self.revolution_ns
    }

    fn reposition_ns(&self, from: Track, to: Track, direction: Direction) -> u64 {
        let curve = match (direction, &self.write_seek) {
            (Direction::Write, Some(curve)) => curve,
            _ => &self.read_seek,
        };
        let seek_ns = curve.time_ns(from.cylinder.abs_diff(to.cylinder));
        let switch_ns = if from.head == to.head { 0 } else { self.head_switch_ns };
        let moved_ns = seek_ns.max(switch_ns);
        let settles = direction == Direction::Write && moved_ns > 0;
        moved_ns + if settles { self.write_settle_ns } else { 0 }
    }

    /// Time in which `sectors` physical sectors pass, from a place on.
    fn pass_ns(&self, place: &Place, sectors: u64) -> u64 {
        let boundary_ns = |angle: u64| angle * self.revolution_ns / place.sectors_per_track;
        boundary_ns(place.angle_sectors + sectors) - boundary_ns(place.angle_sectors)
    }

    /// Physical sectors from a place to the end of the logical sector before `end`, on the same track.
    fn passed_to(&self, place: &Place, end: u64) -> u64 {
        self.geometry.locate(end - 1).physical - place.physical + 1
    }

    /// The sector after the last that is wholly read within `duration_ns` of the start of `first`.
    fn reached_by(&self, first: u64, place: &Place, duration_ns: u64) -> u64 {
        let mut passed = duration_ns * place.sectors_per_track / self.revolution_ns;
        while passed > 0 && self.pass_ns(place, passed) > duration_ns {
            passed -= 1;
        }
        self.geometry.sector_after(first, passed)
    }
}
