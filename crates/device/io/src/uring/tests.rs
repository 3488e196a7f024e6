//! Tests with a request that doesn't complete by itself: a read from an empty pipe.
use std::os::fd::AsRawFd;

use super::Uring;
use crate::{
    Access, Arena, Cause, Device, DeviceId, DurableWrites, Io, Nanos, Operation, Request, Shape, Wait,
};

fn pipe_shape() -> Shape {
    Shape {
        capacity_bytes: 1 << 20,
        logical_block_bytes: 1,
        memory_alignment_bytes: 1,
        largest_transfer_bytes: 1 << 20,
        access: Access::Buffered { reason: "it is a pipe".into() },
        durable_writes: DurableWrites::Unknown,
        writable: true,
        discards: false,
    }
}

/// Creates a ring with one device, an empty pipe, and `reads` one-byte reads in flight on it.
fn stuck_on(pipe: &std::io::PipeReader, arena: &Arena, reads: u64) -> Option<Uring> {
    let mut ring = Uring::new(100).ok()?;
    let device = add_pipe(&mut ring, pipe);
    (0..reads).for_each(|token| read(&mut ring, device, arena, token));
    Some(ring)
}

/// Adds a pipe as the first device.
pub(super) fn add_pipe(ring: &mut Uring, pipe: &std::io::PipeReader) -> DeviceId {
    let device = Device { id: DeviceId::from_index(0), shape: pipe_shape() };
    ring.add_raw(pipe.as_raw_fd(), device.clone());
    device.id
}

/// Submits a read of one byte.
pub(super) fn read(ring: &mut Uring, device: DeviceId, arena: &Arena, token: u64) {
    let request = Request { token, operation: Operation::read(0, arena.allocate(1).unwrap()) };
    ring.submit(device, request).unwrap();
}

#[test]
fn an_arena_that_is_not_registered_is_noted_with_the_reason() {
    let Ok(mut ring) = Uring::new(1) else { return };
    let arenas: Vec<Arena> = (0..17).map(|_| Arena::new(1 << 12).unwrap()).collect();
    let registered: Vec<usize> = arenas.iter().map(|arena| ring.register(arena)).collect();
    if registered[..16] == [1 << 12; 16] {
        assert_eq!(registered[16], 0);
        let noted = ring.backend().stepped_down;
        assert!(
            noted.iter().any(|note| note.contains("0 of 4096 bytes") && note.contains("16 arenas")),
            "{noted:?}"
        );
    }
}

#[test]
fn a_wake_up_ends_a_wait_for_several() {
    let (reader, _writer) = std::io::pipe().unwrap();
    let arena = Arena::new(1 << 20).unwrap();
    let Some(mut ring) = stuck_on(&reader, &arena, 100) else { return };
    let waker = ring.waker().unwrap();
    for completions in [3, 1, 100, 65, 7] {
        waker.wake();
        let until = ring.now() + Nanos::from_secs(5);
        ring.reap(Wait { completions, until: Some(until) }, &mut Vec::new());
        assert!(ring.now() < until, "the wake-up was lost");
        assert_eq!(ring.in_flight(), 100);
    }
}

#[test]
fn a_deadline_ends_a_wait_for_requests_that_hang() {
    let (reader, _writer) = std::io::pipe().unwrap();
    let arena = Arena::new(1 << 16).unwrap();
    let Some(mut ring) = stuck_on(&reader, &arena, 3) else { return };
    let until = ring.now() + Nanos::from_millis(5);
    ring.reap(Wait { completions: 3, until: Some(until) }, &mut Vec::new());
    assert!(ring.now() >= until && ring.now() < until + Nanos::from_secs(5));
}

#[test]
fn requests_that_hang_are_cancelled_when_the_world_is_dropped() {
    let (reader, writer) = std::io::pipe().unwrap();
    let arena = Arena::new(3 << 12).unwrap();
    let Some(mut ring) = stuck_on(&reader, &arena, 3) else { return };
    ring.reap(Wait::NONE, &mut Vec::new());
    let before = ring.now();
    drop(ring);
    assert!(crate::clock::monotonic() < before + Nanos::from_secs(1), "it waited for what can be cancelled");
    let mut again = arena.allocate(3 << 12).unwrap();
    again.fill(7);
    std::io::Write::write_all(&mut &writer, b"late").unwrap();
    assert!(again.iter().all(|byte| *byte == 7));
}

/// A signal that arrives during the call that sends requests must end the wait, too, so that Ctrl-C
/// works while a device hangs.
#[test]
#[allow(unsafe_code, reason = "installs a handler that does nothing, and sends its signal")]
fn a_signal_ends_a_wait() {
    extern "C" fn nothing(_: libc::c_int) {}
    let (reader, _writer) = std::io::pipe().unwrap();
    let arena = Arena::new(1 << 16).unwrap();
    let Some(mut ring) = stuck_on(&reader, &arena, 2) else { return };
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the structure's other fields may be zero, and the handler does nothing.
    let waiting_thread = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        assert_eq!(libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut()), 0);
        libc::pthread_self()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(200));
            // SAFETY: the thread is alive: it waits for this one at the end of the scope.
            assert_eq!(unsafe { libc::pthread_kill(waiting_thread, libc::SIGUSR2) }, 0);
        });
        let until = ring.now() + Nanos::from_secs(5);
        ring.reap(Wait { completions: 2, until: Some(until) }, &mut Vec::new());
        assert!(ring.now() < until, "the signal went by unseen");
    });
}

/// If the kernel refuses to enter the ring, its requests fail with that error.
#[test]
#[allow(unsafe_code, reason = "puts something else in the place of the ring's descriptor")]
fn requests_of_a_ring_that_the_kernel_refuses_fail() {
    let (reader, _writer) = std::io::pipe().unwrap();
    let arena = Arena::new(1 << 12).unwrap();
    let Some(mut ring) = stuck_on(&reader, &arena, 1) else { return };
    let nothing = std::fs::File::open("/dev/null").unwrap();
    // SAFETY: both descriptors are open, and the ring's closes what is in its place now.
    assert!(unsafe { libc::dup2(nothing.as_raw_fd(), ring.descriptor()) } >= 0);
    let mut completions = Vec::new();
    ring.reap(Wait::until_completed(1), &mut completions);
    let cause = completions.pop().unwrap().result.unwrap_err().cause;
    assert!(matches!(cause, Cause::Stopped { tries: 1, errno: libc::EOPNOTSUPP, .. }), "{cause:?}");
}

#[test]
fn a_file_that_is_not_registered_is_noted_once() {
    let Ok(mut ring) = Uring::new(1) else { return };
    let file = std::fs::File::open("Cargo.toml").unwrap();
    let file = std::sync::Arc::new(crate::DeviceFile::new(file, crate::FileOptions::default()).unwrap());
    for _ in 0..66 {
        ring.add(std::sync::Arc::clone(&file));
    }
    let noted = ring.backend().stepped_down;
    let about_files = noted.iter().filter(|note| note.contains("files"));
    assert_eq!(about_files.count(), 1, "{noted:?}");
}
