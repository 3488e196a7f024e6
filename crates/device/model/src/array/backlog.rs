//! Cached writes that a controller has not given its drives yet, and which of them goes next: the next one up in
//! addresses, and at the end the first again. So a full cache writes in sweeps, and a drive's arm has short ways.
//! Published of HP's Smart Array controllers: commands in the cache are reordered to reduce the drives' latency (*HP
//! Smart Array controllers and basic RAID performance factors*, 2012).

use std::collections::BTreeMap;

use super::cache::Ticket;

#[derive(Debug, Default)]
pub(crate) struct Backlog {
    /// By offset, and by age where writes have the same.
    waiting: BTreeMap<(u64, u64), Ticket>,
    added: u64,
    /// From where the sweep goes on.
    position_bytes: u64,
}

impl Backlog {
    pub(crate) fn add(&mut self, offset_bytes: u64, ticket: Ticket) {
        self.waiting.insert((offset_bytes, self.added), ticket);
        self.added += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes the write that goes next.
    pub(crate) fn take_next(&mut self) -> Option<Ticket> {
        let ahead = self.waiting.range((self.position_bytes, 0)..).next();
        let &key = ahead.or_else(|| self.waiting.first_key_value()).map(|(key, _)| key)?;
        self.position_bytes = key.0;
        self.waiting.remove(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_go_up_and_begin_again_and_nothing_is_passed_over() {
        let mut backlog = Backlog::default();
        for (ticket, offset_bytes) in [50, 10, 30, 50].into_iter().enumerate() {
            backlog.add(offset_bytes, ticket);
        }
        assert_eq!([backlog.take_next(), backlog.take_next()], [Some(1), Some(2)]);
        backlog.add(20, 4);
        backlog.add(40, 5);
        let rest: Vec<Ticket> = std::iter::from_fn(|| backlog.take_next()).collect();
        assert_eq!(rest, [5, 0, 3, 4]);
    }
}
