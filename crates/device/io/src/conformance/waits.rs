use super::session::Session;
use crate::{Arena, Device, Io, Nanos, Operation, Wait};

/// Limit of a wait's lateness on a busy machine: far beyond any timer's, far below a lost deadline.
const LATE: Nanos = Nanos::from_secs(5);

/// Checks that a wait ends when it should: at once, after enough completions, at its deadline, or
/// when nothing is left to wait for.
pub fn waits_end_when_they_should(io: &mut dyn Io, device: &Device, seed: u64) {
    let mut session = Session::new(io, device, "waits", seed);
    take_old_wake_ups(&mut session);
    nothing_to_wait_for(&mut session);
    deadlines(&mut session);
    enough_completions(&mut session);
    polling_gets_there(&mut session);
}

/// Consumes a wake-up left by an earlier subject, which would end a later wait.
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
    // A waker keeps a wait without a deadline alive, so this holds only in worlds without wakers.
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

/// Checks that requests complete without waiting: in real time by polling. Virtual time passes only
/// in a wait.
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
