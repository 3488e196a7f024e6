use super::session::Session;
use crate::{Arena, Device, Io, Nanos, Operation, Wait};

/// How much later than its deadline a wait may end on a busy machine. Far more than any timer is late, far
/// less than a wait that has forgotten its deadline.
const LATE: Nanos = Nanos::from_secs(5);

/// Waiting ends when it should: at once, when enough has completed, at the deadline, or because nothing is
/// left to wait for.
pub fn waits_end_when_they_should(io: &mut dyn Io, device: &Device, seed: u64) {
    let mut session = Session::new(io, device, "waits", seed);
    take_old_wake_ups(&mut session);
    nothing_to_wait_for(&mut session);
    deadlines(&mut session);
    enough_completions(&mut session);
    polling_gets_there(&mut session);
}

/// An earlier subject may have left a wake-up behind, which would end one of the waits to come.
fn take_old_wake_ups(session: &mut Session<'_>) {
    let soon = session.io.now() + Nanos::from_millis(1);
    session.io.reap(Wait::until_time(soon), &mut Vec::new());
}

fn nothing_to_wait_for(session: &mut Session<'_>) {
    let mut completions = Vec::new();
    session.io.reap(Wait::NONE, &mut completions);
    session.io.reap(Wait { completions: 0, until: Some(Nanos::MAX) }, &mut completions);
    let passed = session.io.now();
    session.io.reap(Wait::until_time(Nanos::ZERO), &mut completions);
    session.io.reap(Wait::until_time(passed), &mut completions);
    // A waker that was given out keeps a wait without a deadline alive, so this can be asked only of worlds
    // that give none.
    if session.io.timer_slack() == Nanos::ZERO {
        session.io.reap(Wait::until_completed(1), &mut completions);
    }
    assert!(completions.is_empty());
}

fn deadlines(session: &mut Session<'_>) {
    for span in [Nanos(1), Nanos::from_micros(50), Nanos::from_millis(3), Nanos::from_millis(20)] {
        let deadline = session.io.now() + span;
        let mut completions = Vec::new();
        let mut reaps = 0;
        while session.io.now() < deadline {
            session.io.reap(Wait::until_time(deadline), &mut completions);
            reaps += 1;
            assert!(reaps < 100, "waiting until a deadline is not polling");
        }
        assert!(completions.is_empty());
        assert!(session.io.now() < deadline + LATE);
        if session.io.timer_slack() == Nanos::ZERO {
            assert_eq!(session.io.now(), deadline, "virtual time stops at the deadline");
        }
    }
}

fn enough_completions(session: &mut Session<'_>) {
    let bytes = session.whole_blocks(4096);
    let depth = session.io.slots().min(16);
    let arena = Arena::new(depth * bytes.next_multiple_of(4096)).unwrap();
    for wanted in [1, 2, depth, depth + 1, usize::MAX] {
        for _ in 0..depth {
            session.submit(Operation::read(0, arena.allocate(bytes).unwrap()));
        }
        let mut completions = Vec::new();
        session.io.reap(Wait::until_completed(wanted), &mut completions);
        assert!(completions.len() >= wanted.min(depth), "{} of {wanted} completions", completions.len());
        session.drain();
    }
}

/// Without ever waiting, requests complete: by polling in real time, and in virtual time because that only
/// passes when it is waited for.
fn polling_gets_there(session: &mut Session<'_>) {
    let bytes = session.whole_blocks(4096);
    let arena = Arena::new(bytes).unwrap();
    session.submit(Operation::read(0, arena.allocate(bytes).unwrap()));
    let until = session.io.now() + LATE;
    let mut completions = Vec::new();
    while completions.is_empty() {
        session.io.reap(Wait::NONE, &mut completions);
        if session.io.timer_slack() == Nanos::ZERO {
            session.io.reap(Wait::until_completed(1), &mut completions);
        }
        assert!(session.io.now() < until, "polling never saw the completion");
    }
}
