use std::collections::BTreeSet;

use super::session::Session;
use crate::{Arena, Device, Io, Operation, Wait};

/// Checks that each request completes exactly once, with its own token and device, and with ordered
/// times.
pub fn completions_tell_the_truth(io: &mut dyn Io, device: &Device, seed: u64) {
    let mut session = Session::new(io, device, "completions", seed);
    let bytes = session.whole_blocks(512);
    let depth = session.io.slots().min(32);
    let arena = Arena::new(depth * bytes.next_multiple_of(4096)).unwrap();
    for _ in 0..20 {
        let before = session.io.now();
        let mut tokens: BTreeSet<u64> =
            (0..depth).map(|_| session.submit(Operation::read(0, arena.allocate(bytes).unwrap()))).collect();
        assert_eq!(tokens.len(), depth);
        while !tokens.is_empty() {
            let mut completions = Vec::new();
            session.io.reap(Wait::until_completed(3), &mut completions);
            let now = session.io.now();
            for completion in completions {
                assert!(tokens.remove(&completion.token), "a completion of no request in flight");
                assert_eq!(completion.device, session.device.id);
                assert_eq!(completion.result, Ok(()));
                assert!(before <= completion.submitted_at);
                assert!(completion.submitted_at <= completion.completed_at && completion.completed_at <= now);
            }
        }
        let mut more = Vec::new();
        session.io.reap(Wait::NONE, &mut more);
        assert!(more.is_empty() && session.io.in_flight() == 0);
    }
}
