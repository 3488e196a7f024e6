//! Cached writes that a controller has not destaged yet, and the order in which it does.
//!
//! Each volume is swept on its own: the next write is the one with the next higher address, and
//! after the last comes the first again. So a full cache writes in sweeps, and seeks are short. HP
//! documents this of its Smart Array controllers: commands in the cache are reordered to reduce the
//! drives' latency (*HP Smart Array controllers and basic RAID performance factors*, 2012). Volumes
//! are served in parallel: the volume with the fewest writes on its drives goes next, so that none
//! waits for another's sweep.

use std::collections::BTreeMap;

use super::cache::Ticket;

#[derive(Debug)]
pub(crate) struct Backlog {
    volumes: Vec<Sweep>,
    added: u64,
    /// Limit of writes that the drives of one volume work on at a time.
    most_per_volume: usize,
}

/// Waiting writes of one volume.
#[derive(Debug, Default)]
struct Sweep {
    /// Keyed by offset, then by age.
    waiting: BTreeMap<(u64, u64), Ticket>,
    /// Address at which the sweep continues.
    position_bytes: u64,
    on_drives: usize,
}

impl Backlog {
    pub(crate) fn new(volumes: usize, most_per_volume: usize) -> Self {
        let volumes = std::iter::repeat_with(Sweep::default).take(volumes).collect();
        Self { volumes, added: 0, most_per_volume }
    }

    pub(crate) fn add(&mut self, volume: usize, offset_bytes: u64, ticket: Ticket) {
        debug_assert!(volume < self.volumes.len(), "volume {volume} of {}", self.volumes.len());
        if let Some(sweep) = self.volumes.get_mut(volume) {
            sweep.waiting.insert((offset_bytes, self.added), ticket);
            self.added += 1;
        }
    }

    /// Returns true if a write is waiting and its volume may take it.
    pub(crate) fn has_next(&self) -> bool {
        self.next_volume().is_some()
    }

    /// Takes the next write. It counts as on the drives until [`Self::written`].
    pub(crate) fn take_next(&mut self) -> Option<Ticket> {
        let volume = self.next_volume()?;
        self.volumes.get_mut(volume)?.take_next()
    }

    /// Records that the drives have completed a write of `volume`.
    pub(crate) fn written(&mut self, volume: usize) {
        if let Some(sweep) = self.volumes.get_mut(volume) {
            debug_assert!(sweep.on_drives > 0, "volume {volume} had no write on its drives");
            sweep.on_drives = sweep.on_drives.saturating_sub(1);
        }
    }

    fn next_volume(&self) -> Option<usize> {
        let has_next = |sweep: &Sweep| !sweep.waiting.is_empty() && sweep.on_drives < self.most_per_volume;
        let volumes = self.volumes.iter().enumerate().filter(|(_, sweep)| has_next(sweep));
        volumes.min_by_key(|(_, sweep)| sweep.on_drives).map(|(volume, _)| volume)
    }
}

impl Sweep {
    fn take_next(&mut self) -> Option<Ticket> {
        let ahead = self.waiting.range((self.position_bytes, 0)..).next();
        let &key = ahead.or_else(|| self.waiting.first_key_value()).map(|(key, _)| key)?;
        self.position_bytes = key.0;
        self.on_drives += 1;
        self.waiting.remove(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_go_up_and_begin_again_and_nothing_is_passed_over() {
        let mut backlog = Backlog::new(1, 10);
        for (ticket, offset_bytes) in [50, 10, 30, 50].into_iter().enumerate() {
            backlog.add(0, offset_bytes, ticket);
        }
        assert_eq!([backlog.take_next(), backlog.take_next()], [Some(1), Some(2)]);
        backlog.add(0, 20, 4);
        backlog.add(0, 40, 5);
        let rest: Vec<Ticket> = std::iter::from_fn(|| backlog.take_next()).collect();
        assert_eq!(rest, [5, 0, 3, 4]);
    }

    #[test]
    fn volumes_are_served_in_parallel_each_up_to_its_limit() {
        let mut backlog = Backlog::new(2, 2);
        for ticket in 0..3 {
            backlog.add(0, ticket as u64, ticket);
        }
        backlog.add(1, 100, 3);
        let taken: Vec<Ticket> = std::iter::from_fn(|| backlog.take_next()).collect();
        assert_eq!(taken, [0, 3, 1], "the third of the first volume has to wait");
        assert!(!backlog.has_next());
        backlog.written(0);
        assert_eq!(backlog.take_next(), Some(2));
    }
}
