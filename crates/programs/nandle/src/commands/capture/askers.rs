//! Attributes requests to the tasks that submitted them. A request is often issued by another task:
//! a flush by a kernel thread, once for all waiting tasks; a request held back by the I/O
//! scheduler, by whichever task submits next.

use std::collections::HashMap;

use nandle_trace::Operation;
use nandle_trace::ftrace::Request;

use super::processes::Whose;

/// Requests remembered at most. Merged requests are never issued; at this bound all are dropped.
const KEPT_MAX: usize = 1 << 16;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asker {
    pub(super) whose: Whose,
    pub(super) name: String,
}

/// Submitted request that hasn't completed.
#[derive(Debug)]
struct Asked {
    asker: Asker,
    is_issued: bool,
}

/// Submitters of all requests that haven't completed.
#[derive(Debug)]
pub(super) struct Askers {
    /// True if the disk supports durable writes (FUA); otherwise a flush follows each.
    takes_durable_writes: bool,
    /// Keyed by the first byte. A request that the device requeues is issued again, by any task.
    requests: HashMap<u64, Asked>,
    /// Submitter of the pending flush; of several, the greatest by [`Whose`].
    flush: Option<Asker>,
}

impl Askers {
    pub(super) fn new(takes_durable_writes: bool) -> Self {
        Self { takes_durable_writes, requests: HashMap::new(), flush: None }
    }

    /// Records that a request was submitted.
    pub(super) fn ask(&mut self, request: &Request, asker: Asker) {
        let is_flushed_after = request.letters.is_durable() && !self.takes_durable_writes;
        let has_flush = request.letters.begins_with_flush() || is_flushed_after;
        if has_flush && self.flush.as_ref() < Some(&asker) {
            self.flush = Some(asker.clone());
        }
        if request.operation != Operation::Sync {
            if self.requests.len() >= KEPT_MAX {
                self.requests.clear();
            }
            self.requests.insert(request.address, Asked { asker, is_issued: false });
        }
    }

    /// Submitter of a request issued by a task of `issuer`; `issuer` if unknown.
    pub(super) fn of(&mut self, request: &Request, issuer: Asker) -> Asker {
        let asked = match request.operation {
            Operation::Sync => self.flush.take(),
            Operation::Read
            | Operation::Write
            | Operation::Discard
            | Operation::Append
            | Operation::ZoneReset
            | Operation::ZoneFinish
            | Operation::ZoneOpen
            | Operation::ZoneClose => self.requests.get_mut(&request.address).map(|asked| {
                asked.is_issued = true;
                asked.asker.clone()
            }),
        };
        asked.unwrap_or(issuer)
    }

    /// Removes a completed request. A newer request at its address that hasn't been issued yet
    /// stays.
    pub(super) fn complete(&mut self, request: &Request) {
        let is_done = |asked: &Asked| asked.is_issued;
        if request.operation != Operation::Sync && self.requests.get(&request.address).is_some_and(is_done) {
            self.requests.remove(&request.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use nandle_trace::ftrace::Letters;

    use super::*;

    fn of(whose: Whose) -> Asker {
        Asker { whose, name: String::new() }
    }

    fn request(letters: &str, operation: Operation, address: u64) -> Request {
        Request { letters: Letters::new(letters), operation, address, length_bytes: 4096 }
    }

    #[test]
    fn a_request_is_its_askers() {
        let mut askers = Askers::new(true);
        let write = request("WS", Operation::Write, 4096);
        askers.ask(&write, of(Whose::Chosen));
        assert_eq!(askers.of(&write, of(Whose::Other)).whose, Whose::Chosen);
        assert_eq!(askers.of(&write, of(Whose::Kernel)).whose, Whose::Chosen, "it was sent back");
        askers.complete(&write);
        assert_eq!(askers.of(&write, of(Whose::Other)).whose, Whose::Other, "the next one is another's");
    }

    #[test]
    fn a_request_that_ends_takes_no_other_ones_asker_with_it() {
        let mut askers = Askers::new(true);
        let write = request("WS", Operation::Write, 4096);
        askers.ask(&write, of(Whose::Other));
        assert_eq!(askers.of(&write, of(Whose::Kernel)).whose, Whose::Other);
        askers.ask(&write, of(Whose::Chosen));
        askers.complete(&write);
        assert_eq!(askers.of(&write, of(Whose::Kernel)).whose, Whose::Chosen);
        askers.complete(&write);
        assert_eq!(askers.of(&write, of(Whose::Kernel)).whose, Whose::Kernel);
    }

    #[test]
    fn a_flush_is_that_of_all_who_have_asked() {
        let mut askers = Askers::new(true);
        let (asked, flush) = (request("FWS", Operation::Sync, 0), request("FF", Operation::Sync, 0));
        askers.ask(&asked, of(Whose::Chosen));
        askers.ask(&asked, of(Whose::Other));
        assert_eq!(askers.of(&flush, of(Whose::Kernel)).whose, Whose::Chosen);
        assert_eq!(askers.of(&flush, of(Whose::Kernel)).whose, Whose::Kernel);
        // A write with a preflush, which is a request of its own.
        let commit = request("FWFSM", Operation::Write, 8192);
        askers.ask(&commit, of(Whose::Kernel));
        assert_eq!(askers.of(&flush, of(Whose::Other)).whose, Whose::Kernel);
        assert_eq!(askers.of(&commit, of(Whose::Other)).whose, Whose::Kernel);
    }

    #[test]
    fn a_durable_write_has_a_flush_only_where_the_disk_needs_one() {
        let (write, flush) = (request("WFS", Operation::Write, 0), request("FF", Operation::Sync, 0));
        for (takes_durable_writes, expected) in [(true, Whose::Other), (false, Whose::Chosen)] {
            let mut askers = Askers::new(takes_durable_writes);
            askers.ask(&write, of(Whose::Chosen));
            askers.ask(&request("FWS", Operation::Sync, 0), of(Whose::Other));
            assert_eq!(askers.of(&flush, of(Whose::Kernel)).whose, expected);
        }
    }

    #[test]
    fn what_is_never_issued_takes_no_memory() {
        let mut askers = Askers::new(true);
        for address in 0..3 * KEPT_MAX as u64 {
            askers.ask(&request("R", Operation::Read, address), of(Whose::Chosen));
            assert!(askers.requests.len() <= KEPT_MAX);
        }
    }
}
