//! Arm, heads and rotation: the time at which a sector passes under a head.
//!
//! The spindle never slips: at time `t` the platter has turned by `t mod revolution` since its
//! index mark passed. Sector boundaries are rounded down to nanoseconds once per revolution, so
//! adjacent sectors join exactly.
//!
//! Unless it continues with the very next sector, the arm settles before a transfer, even on the
//! same track. That costs most of a seek to the next cylinder (Ruemmler and Wilkes, *An
//! introduction to disk drive modeling*, 1994: very short seeks are dominated by the settle time).
//! All three measured drives show it: a read that needs the medium, from the track that was written
//! last, takes 0.8 to 1.5 ms beyond command overhead, half a revolution and transfer. This doesn't
//! depend on the extracted head switch time. Seven tenths of the shortest seek fit all three;
//! without data the whole of it is used.
//!
//! Left out, because the measured drives contradict it or can't tell (figures in
//! `tests/claims_disks.rs`): reading from the sector at which the head arrives on a track; a
//! separate settle for writes, which caches hide; a segment reserved for writes; serpentine
//! cylinders, which change head switches that a seek hides; and bus phases, which add up with the
//! overheads at one outstanding command.

use super::geometry::{Geometry, PhysicalSector, Track};
use super::parameters::DiskParameters;
use super::seek::Seek;
use super::units::{microseconds_to_ns, revolution_ns, signed_microseconds_to_ns};

/// Position of the heads, and the time from which they are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Arm {
    pub(super) track: Track,
    pub(super) free_ns: u64,
    /// Sector with which the heads continue at `free_ns` without a new seek.
    pub(super) next: Option<u64>,
}

impl Arm {
    /// Arm that receives a command at `now_ns`. After `free_ns`, the heads have to settle again.
    pub(super) fn at(self, now_ns: u64) -> Self {
        if now_ns <= self.free_ns { self } else { Self { track: self.track, free_ns: now_ns, next: None } }
    }
}

/// Direction of a transfer: a write needs a quieter arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

/// Transfer between medium and cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Transfer {
    /// Time at which the first sector has passed the head.
    pub(super) first_sector_ns: u64,
    /// Arm after the last sector; `free_ns` is the end of the transfer.
    pub(super) arm: Arm,
}

/// Moving parts of the drive.
#[derive(Debug)]
pub(super) struct Mechanics {
    pub(super) geometry: Geometry,
    read_seek: Seek,
    write_seek: Option<Seek>,
    settle_ns: Option<u64>,
    /// Negative if writing begins sooner than reading.
    write_settle_ns: i64,
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
            settle_ns: seek.settle_us.map(microseconds_to_ns),
            write_settle_ns: signed_microseconds_to_ns(seek.write_settle_us),
            head_switch_ns: microseconds_to_ns(seek.head_switch_us),
            revolution_ns: revolution_ns(parameters.rotations_per_minute),
        }
    }

    /// Time of one sector under the head, in the zone of `sector`.
    pub(super) fn sector_ns(&self, sector: u64) -> u64 {
        self.revolution_ns / self.geometry.locate(sector).sectors_per_track
    }

    /// Time at which the heads begin with a sector, at least `not_before_ns`.
    #[cfg(test)]
    fn start_ns(&self, arm: Arm, sector: u64, direction: Direction, not_before_ns: u64) -> u64 {
        self.start_at(arm, sector, &self.geometry.locate(sector), direction, not_before_ns)
    }

    /// Time at which the drive expects to begin with a sector, given that it predicts its
    /// positioning to within `margin_ns`. If the arm might just miss the sector, that is a
    /// revolution later.
    pub(super) fn expected_start_ns(
        &self,
        arm: Arm,
        sector: u64,
        direction: Direction,
        not_before_ns: u64,
        margin_ns: u64,
    ) -> u64 {
        let place = self.geometry.locate(sector);
        let margin_ns = if arm.next == Some(sector) { 0 } else { margin_ns };
        self.passes_ns(&place, self.ready_ns(arm, sector, &place, direction, not_before_ns) + margin_ns)
    }

    /// Transfers the sectors from `first` to before `end`, track by track.
    pub(super) fn transfer(
        &self,
        arm: Arm,
        first: u64,
        end: u64,
        direction: Direction,
        not_before_ns: u64,
    ) -> Transfer {
        let mut first_sector_ns = None;
        let mut arm = arm;
        let mut next = first;
        while next < end {
            let place = self.geometry.locate(next);
            let start_ns = self.start_at(arm, next, &place, direction, not_before_ns);
            first_sector_ns.get_or_insert(start_ns + self.pass_ns(&place, 1));
            // No data exists past the end of the drive: `track_end` stops there.
            let last = (end.min(place.track_end).max(next + 1)) - 1;
            let passed = self.geometry.locate(last).physical - place.physical + 1;
            next = last + 1;
            let free_ns = start_ns + self.pass_ns(&place, passed);
            arm = Arm { track: place.track, free_ns, next: Some(next) };
        }
        Transfer { first_sector_ns: first_sector_ns.unwrap_or(arm.free_ns), arm }
    }

    /// Reads from `next` until `until_ns` or `limit`. Returns the arm after the last whole sector,
    /// and the next sector.
    pub(super) fn read_until(&self, arm: Arm, next: u64, limit: u64, until_ns: u64) -> (Arm, u64) {
        let (mut arm, mut next) = (arm, next);
        while next < limit {
            let place = self.geometry.locate(next);
            let start_ns = self.start_at(arm, next, &place, Direction::Read, 0);
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
            next = reached;
            let free_ns = start_ns + self.pass_ns(&place, passed);
            arm = Arm { track: place.track, free_ns, next: Some(next) };
        }
        (arm, next)
    }

    /// Arm when its read-ahead is interrupted at `now_ns`. A head on its way to the next track
    /// arrives there first.
    pub(super) fn call_away(&self, arm: Arm, next: u64, limit: u64, now_ns: u64) -> Arm {
        let target = self.geometry.locate(next).track;
        if next >= limit || target == arm.track {
            return arm.at(now_ns);
        }
        let arrives_ns = arm.free_ns + self.reposition_ns(arm.track, target, Direction::Read);
        Arm { track: target, free_ns: arrives_ns.max(now_ns), next: None }
    }

    fn start_at(
        &self,
        arm: Arm,
        sector: u64,
        place: &PhysicalSector,
        direction: Direction,
        not_before_ns: u64,
    ) -> u64 {
        self.passes_ns(place, self.ready_ns(arm, sector, place, direction, not_before_ns))
    }

    /// Time at which the heads are over a sector's track and settled.
    fn ready_ns(
        &self,
        arm: Arm,
        sector: u64,
        place: &PhysicalSector,
        direction: Direction,
        not_before_ns: u64,
    ) -> u64 {
        let moves_ns = self.reposition_ns(arm.track, place.track, direction);
        let settles_ns = if arm.next == Some(sector) { 0 } else { self.settle_ns(direction) };
        (arm.free_ns + moves_ns.max(settles_ns)).max(not_before_ns)
    }

    /// Time at which a sector passes heads that wait from `ready_ns` on.
    fn passes_ns(&self, place: &PhysicalSector, ready_ns: u64) -> u64 {
        let angle_ns = place.angle_sectors * self.revolution_ns / place.sectors_per_track;
        ready_ns + (angle_ns + self.revolution_ns - ready_ns % self.revolution_ns) % self.revolution_ns
    }

    fn settle_ns(&self, direction: Direction) -> u64 {
        self.settle_ns.unwrap_or_else(|| self.curve(direction).time_ns(1))
    }

    fn curve(&self, direction: Direction) -> &Seek {
        match (direction, &self.write_seek) {
            (Direction::Write, Some(curve)) => curve,
            _ => &self.read_seek,
        }
    }

    fn reposition_ns(&self, from: Track, to: Track, direction: Direction) -> u64 {
        let seek_ns = self.curve(direction).time_ns(from.cylinder.abs_diff(to.cylinder));
        let switch_ns = if from.head == to.head { 0 } else { self.head_switch_ns };
        let moved_ns = seek_ns.max(switch_ns);
        let settles = direction == Direction::Write && moved_ns > 0;
        moved_ns.saturating_add_signed(if settles { self.write_settle_ns } else { 0 })
    }

    /// Time in which `sectors` physical sectors pass, from `place` on.
    fn pass_ns(&self, place: &PhysicalSector, sectors: u64) -> u64 {
        let boundary_ns = |angle: u64| angle * self.revolution_ns / place.sectors_per_track;
        boundary_ns(place.angle_sectors + sectors) - boundary_ns(place.angle_sectors)
    }

    /// Physical sectors from `place` to the end of the logical sector before `end`, on the same
    /// track.
    fn passed_to(&self, place: &PhysicalSector, end: u64) -> u64 {
        self.geometry.locate(end - 1).physical - place.physical + 1
    }

    /// Sector after the last one read completely within `duration_ns` from `first` on.
    fn reached_by(&self, first: u64, place: &PhysicalSector, duration_ns: u64) -> u64 {
        let mut passed = duration_ns * place.sectors_per_track / self.revolution_ns;
        while passed > 0 && self.pass_ns(place, passed) > duration_ns {
            passed -= 1;
        }
        self.geometry.sector_after(first, passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARRACUDA: &str = include_str!("../../drives/barracuda.toml");

    fn mechanics() -> Mechanics {
        Mechanics::new(&DiskParameters::from_toml(BARRACUDA).unwrap())
    }

    #[test]
    fn a_whole_track_passes_in_a_revolution() {
        let mechanics = mechanics();
        let end = mechanics.geometry.locate(0).track_end;
        let transfer = mechanics.transfer(Arm::default(), 0, end, Direction::Read, 0);
        let start_ns = mechanics.start_ns(Arm::default(), 0, Direction::Read, 0);
        assert_eq!(transfer.arm.free_ns - start_ns, mechanics.revolution_ns);
        assert_eq!(transfer.first_sector_ns - start_ns, mechanics.revolution_ns / end);
    }

    /// This range has three tracks of slipped sectors. The end of a transfer doesn't depend on its
    /// division.
    #[test]
    fn a_transfer_in_parts_takes_as_long_as_in_one() {
        let mechanics = mechanics();
        let (first, end) = (112_000, 114_500);
        let whole = mechanics.transfer(Arm::default(), first, end, Direction::Read, 0).arm;
        for part in [1, 7, 186, 500] {
            let (mut arm, mut next) = (Arm::default(), first);
            while next < end {
                arm = mechanics.transfer(arm, next, end.min(next + part), Direction::Read, 0).arm;
                next += part;
            }
            assert_eq!(arm, whole, "in parts of {part}");
        }
    }

    #[test]
    fn reading_on_step_by_step_comes_to_where_a_transfer_comes() {
        let mechanics = mechanics();
        let (first, limit) = (112_000, 114_500);
        let whole = mechanics.transfer(Arm::default(), first, limit, Direction::Read, 0).arm;
        let (mut arm, mut next) = (Arm::default(), first);
        for until_ns in (0..whole.free_ns + 100_000).step_by(33_333) {
            (arm, next) = mechanics.read_until(arm, next, limit, until_ns);
            assert!(arm.free_ns <= until_ns.max(1));
        }
        assert_eq!((arm, next), (whole, limit));
    }

    /// Parameter sets extracted from drives have such settle times.
    #[test]
    fn writes_may_begin_sooner_than_reads_but_no_move_takes_less_than_no_time() {
        let moves_ns = |write_settle_us: &str| {
            let text =
                BARRACUDA.replace("write_settle_us = 0.0", &format!("write_settle_us = {write_settle_us}"));
            let mechanics = Mechanics::new(&DiskParameters::from_toml(&text).unwrap());
            let [from, to] = [0, 10].map(|cylinder| Track { cylinder, head: 0 });
            mechanics.reposition_ns(from, to, Direction::Write)
        };
        assert_eq!(["0.0", "-300.0", "-1e6"].map(moves_ns), [2_351_000, 2_051_000, 0]);
    }

    #[test]
    fn who_pauses_on_a_track_settles_again() {
        let mechanics = mechanics();
        let arm = mechanics.transfer(Arm::default(), 0, 10, Direction::Read, 0).arm;
        assert_eq!(mechanics.start_ns(arm, 10, Direction::Read, 0), arm.free_ns, "the next sector follows");
        let late = arm.at(arm.free_ns + 1);
        assert_eq!(
            mechanics.start_ns(late, 10, Direction::Read, 0),
            arm.free_ns + mechanics.revolution_ns,
            "a nanosecond late costs a revolution"
        );
        let ahead = mechanics.start_ns(late, 40, Direction::Read, 0) - late.free_ns;
        assert!(ahead > mechanics.revolution_ns, "1.9 ms of settling miss a sector that comes in 1.3 ms");
    }
}
