use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use super::session::Session;
use crate::{Arena, Device, Io, Nanos, Operation, Wait, Waker};

/// A wait of this length has missed its wake-up.
const LOST: Nanos = Nanos::from_secs(5);
const ROUNDS: u64 = 1000;

/// Checks that a waker ends the current wait, or else the next one, and that no wake-up is lost.
/// Does nothing in a world without wakers.
pub fn wakers_end_waits(io: &mut dyn Io, device: &Device, seed: u64) {
    let mut session = Session::new(io, device, "wakers", seed);
    let Some(waker) = session.io.waker() else { return };
    waking_before_the_wait(&mut session, &waker);
    waking_while_it_waits(&mut session, &waker);
    waking_while_requests_complete(&mut session, &waker);
}

/// Waits; fails if only the deadline ended the wait.
fn wait_for_wake(session: &mut Session<'_>) {
    let deadline = session.io.now() + LOST;
    let mut completions = Vec::new();
    session.io.reap(Wait::until_time(deadline), &mut completions);
    assert!(session.io.now() < deadline, "a wake-up was lost");
    assert!(completions.is_empty());
}

fn waking_before_the_wait(session: &mut Session<'_>, waker: &Waker) {
    for round in 0..ROUNDS {
        waker.wake();
        if round % 2 == 0 {
            // Collecting is no wait, so the wake-up is still pending.
            session.io.reap(Wait::NONE, &mut Vec::new());
        }
        wait_for_wake(session);
    }
    waker.clone().wake();
    wait_for_wake(session);
}

/// One wake-up a round, before or during the wait.
fn waking_while_it_waits(session: &mut Session<'_>, waker: &Waker) {
    let (go, rounds) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for round in rounds {
                (0..round % 64 * 50).for_each(|_| std::hint::spin_loop());
                waker.wake();
            }
        });
        let go = go; // Dropped here on a panic, too, so that the other thread ends.
        for round in 0..ROUNDS {
            go.send(round).unwrap();
            wait_for_wake(session);
        }
    });
}

/// Checks that some wait sees each increment by another thread that wakes it, while other requests
/// complete.
fn waking_while_requests_complete(session: &mut Session<'_>, waker: &Waker) {
    let bytes = session.whole_blocks(512);
    let arena = Arena::new(bytes.next_multiple_of(4096) * 2).unwrap();
    let (raised, seen) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=ROUNDS {
                raised.store(round, Ordering::Release);
                waker.wake();
                while seen.load(Ordering::Acquire) < round {
                    std::thread::yield_now();
                }
            }
        });
        let _release = Release(&seen);
        for round in 1..=ROUNDS {
            let deadline = session.io.now() + LOST;
            while raised.load(Ordering::Acquire) < round {
                if session.io.in_flight() == 0 && round % 3 == 0 {
                    session.submit(Operation::read(0, arena.allocate(bytes).unwrap()));
                }
                session.io.reap(Wait { completions: 5, until: Some(deadline) }, &mut Vec::new());
                assert!(session.io.now() < deadline, "a wake-up was lost");
            }
            seen.store(round, Ordering::Release);
        }
    });
    session.drain();
}

/// Releases the other thread on a panic.
struct Release<'a>(&'a AtomicU64);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.store(u64::MAX, Ordering::Release);
    }
}
