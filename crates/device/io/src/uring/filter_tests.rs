//! System call filters: some refuse a ring or its use at setup, others appear later.
#![allow(
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test's way to fail"
)]

use std::sync::Arc;

use super::{SetupError, Uring};
use crate::{
    Arena, Cause, Completion, DeviceFile, DeviceId, FileOptions, FileWorld, Io, IoError, Nanos, Operation,
    Request, Wait,
};

const BLOCK_BYTES: usize = 4096;

fn file() -> Arc<DeviceFile> {
    let file = tempfile::tempfile().unwrap();
    file.set_len(4 * BLOCK_BYTES as u64).unwrap();
    Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap())
}

/// Makes each system call with this number return an error, or 0, in the calling thread and the
/// threads that it starts.
#[allow(unsafe_code, reason = "installs a filter of system calls")]
fn refuse(call: libc::c_long, errno: i32) -> std::io::Result<()> {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let refusal = libc::SECCOMP_RET_ERRNO | errno.cast_unsigned();
    let mut filter = [
        // The number of the call is the first field of `seccomp_data`.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        libc::sock_filter { jf: 1, ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32) },
        statement(libc::BPF_RET | libc::BPF_K, refusal),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its filter live until the calls have returned.
    let installed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if installed { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

fn works(world: &mut dyn Io, device: DeviceId) {
    let arena = Arena::new(BLOCK_BYTES).unwrap();
    let mut block = arena.allocate(BLOCK_BYTES).unwrap();
    block.fill(7);
    for operation in [Operation::durable_write(0, block.freeze()), Operation::Flush] {
        world.submit(device, Request { token: 0, operation }).unwrap();
        let mut completions = Vec::new();
        world.reap(Wait::until_completed(1), &mut completions);
        completions.pop().unwrap().result.unwrap();
    }
}

/// Runs a test in a thread of its own, because a filter can't be removed. Skips it if rings are
/// unavailable.
fn in_a_thread(test: impl FnOnce(Uring) + Send + 'static) {
    let tried = std::thread::spawn(move || {
        if let Ok(ring) = Uring::new(8) {
            test(ring);
        }
    });
    tried.join().unwrap();
}

/// Returns true if the filter is installed, and reports a failure.
fn is_refused(call: libc::c_long, errno: i32) -> bool {
    let installed = refuse(call, errno);
    if let Err(error) = &installed {
        eprintln!("SKIPPED: a filter of system calls: {error}");
    }
    installed.is_ok()
}

/// For each call that a ring needs: threads replace it, or the ring works without the call and
/// notes it.
#[test]
fn a_ring_that_a_filter_refuses_is_replaced_by_threads() {
    let calls = [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];
    for call in calls {
        in_a_thread(move |_| {
            if !is_refused(call, libc::EPERM) {
                return;
            }
            let mut world = FileWorld::new(8).unwrap();
            let is_ring = matches!(world, FileWorld::Uring(_));
            let device = world.add(file()).id;
            let mut world = world.into_io();
            let backend = world.backend();
            assert!(!backend.stepped_down.is_empty(), "call {call}: {backend:?}");
            assert!(!is_ring || call == libc::SYS_io_uring_register, "call {call}: {backend:?}");
            works(&mut *world, device);
            if call == libc::SYS_io_uring_enter {
                let refused = Uring::new(8).err();
                assert!(matches!(refused, Some(SetupError::Refused { .. })), "{refused:?}");
            }
        });
    }
}

/// Reaps until `count` completions have arrived, even if waits end early.
fn reap(ring: &mut Uring, count: usize) -> Vec<Completion> {
    let mut completions = Vec::new();
    for _ in 0..2000 {
        ring.reap(Wait::until_completed(count - completions.len()), &mut completions);
        if completions.len() >= count {
            return completions;
        }
    }
    panic!("{} of {count} completions", completions.len());
}

fn stopped(completion: &Completion) -> (u32, i32) {
    match &completion.result {
        Err(IoError { cause: Cause::Stopped { call: "io_uring_enter", tries, errno }, .. }) => {
            (*tries, *errno)
        }
        other => panic!("{other:?}"),
    }
}

fn write(ring: &mut Uring, device: DeviceId, token: u64, byte: u8) {
    let arena = Arena::new(BLOCK_BYTES).unwrap();
    let mut block = arena.allocate(BLOCK_BYTES).unwrap();
    block.fill(byte);
    let operation = Operation::durable_write(token * BLOCK_BYTES as u64, block.freeze());
    ring.submit(device, Request { token, operation }).unwrap();
}

#[test]
fn requests_fail_when_a_filter_appears() {
    for errno in [libc::EPERM, libc::ENOSYS, libc::EACCES, libc::EINVAL] {
        in_a_thread(move |mut ring| {
            let device = ring.add(file()).id;
            write(&mut ring, device, 0, 7);
            assert!(reap(&mut ring, 1)[0].result.is_ok());
            if !is_refused(libc::SYS_io_uring_enter, errno) {
                return;
            }
            for _ in 0..2 {
                write(&mut ring, device, 1, 8);
                write(&mut ring, device, 2, 8);
                let completions = reap(&mut ring, 2);
                assert!(completions.iter().all(|completion| stopped(completion) == (1, errno)));
                assert!(
                    completions
                        .iter()
                        .all(|completion| matches!(completion.operation, Operation::Write { .. }))
                );
            }
            assert_eq!(ring.in_flight(), 0);
            let noted = ring.backend().stepped_down;
            assert!(noted.iter().any(|note| note.contains("io_uring_enter")), "{noted:?}");
        });
    }
}

/// Temporary errors of the kernel, returned without end, also to a wait for requests that the
/// kernel has.
#[test]
fn endless_answers_of_passing_shortages_are_an_error() {
    for errno in [libc::EAGAIN, libc::EBUSY, libc::EINTR, libc::ETIME, 0] {
        for is_sent in [false, true] {
            in_a_thread(move |mut ring| {
                let (pipe, _writer) = std::io::pipe().unwrap();
                let device = super::tests::add_pipe(&mut ring, &pipe);
                let arena = Arena::new(BLOCK_BYTES).unwrap();
                super::tests::read(&mut ring, device, &arena, 0);
                if is_sent {
                    ring.reap(Wait::NONE, &mut Vec::new());
                }
                if !is_refused(libc::SYS_io_uring_enter, errno) {
                    return;
                }
                let expected = if errno == 0 { libc::EAGAIN } else { errno };
                let completion = reap(&mut ring, 1).remove(0);
                // A call that returns 0 isn't an error by itself; only the lack of progress is.
                assert_eq!(stopped(&completion), (1000, expected), "sent: {is_sent}");
            });
        }
    }
}

/// Buffers of requests that the kernel holds return once it no longer writes to them.
#[test]
fn requests_that_the_kernel_has_end_before_they_fail() {
    in_a_thread(|mut ring| {
        let (pipe, mut writer) = std::io::pipe().unwrap();
        let device = super::tests::add_pipe(&mut ring, &pipe);
        let arena = Arena::new(4 * BLOCK_BYTES).unwrap();
        (0..3).for_each(|token| super::tests::read(&mut ring, device, &arena, token));
        ring.reap(Wait::NONE, &mut Vec::new());
        if !is_refused(libc::SYS_io_uring_enter, libc::EPERM) {
            return;
        }
        super::tests::read(&mut ring, device, &arena, 3);
        let completions = reap(&mut ring, 4);
        assert!(completions.iter().all(|completion| stopped(completion) == (1, libc::EPERM)));
        // No request reads it from the pipe any more.
        std::io::Write::write_all(&mut writer, b"late").unwrap();
        let untouched = |completion: Completion| completion.operation.into_read_buffer().unwrap()[0] == 0;
        assert!(completions.into_iter().all(untouched));
    });
}

/// Writes reported as successful were carried out; writes that the kernel never took weren't.
#[test]
fn writes_are_what_their_completions_say() {
    in_a_thread(|mut ring| {
        let file = file();
        let device = ring.add(Arc::clone(&file)).id;
        (0..4).for_each(|token| write(&mut ring, device, token, 9));
        ring.reap(Wait::NONE, &mut Vec::new());
        write(&mut ring, device, 0, 1);
        if !is_refused(libc::SYS_io_uring_enter, libc::EPERM) {
            return;
        }
        let in_flight = ring.in_flight();
        let completions = reap(&mut ring, in_flight);
        let mut bytes = Arena::new(4 * BLOCK_BYTES).unwrap().allocate(4 * BLOCK_BYTES).unwrap();
        std::os::unix::fs::FileExt::read_exact_at(file.file(), &mut bytes, 0).unwrap();
        for completion in completions {
            let offset = usize::try_from(completion.operation.offset_bytes()).unwrap();
            match completion.result {
                Ok(()) => assert_eq!(bytes[offset..offset + BLOCK_BYTES], [9; BLOCK_BYTES]),
                Err(_) => assert_eq!(stopped(&completion), (1, libc::EPERM)),
            }
        }
        assert!(!bytes.contains(&1));
    });
}

/// A ring without registered files can't detect its end, so it is kept, and its completions are
/// real.
#[test]
fn a_ring_without_registered_files_completes_what_it_has() {
    in_a_thread(|_| {
        if !is_refused(libc::SYS_io_uring_register, libc::EPERM) {
            return;
        }
        let mut ring = Uring::new(8).unwrap();
        let (pipe, mut writer) = std::io::pipe().unwrap();
        let device = super::tests::add_pipe(&mut ring, &pipe);
        let arena = Arena::new(2 * BLOCK_BYTES).unwrap();
        super::tests::read(&mut ring, device, &arena, 0);
        ring.reap(Wait::NONE, &mut Vec::new());
        assert!(refuse(libc::SYS_io_uring_enter, libc::EPERM).is_ok());
        super::tests::read(&mut ring, device, &arena, 1);
        let unsent = reap(&mut ring, 1).remove(0);
        assert_eq!((unsent.token, stopped(&unsent)), (1, (1, libc::EPERM)));
        std::io::Write::write_all(&mut writer, b"a").unwrap();
        let sent = reap(&mut ring, 1).remove(0);
        assert!(sent.result.is_ok(), "{:?}", sent.result);
        assert_eq!(sent.operation.into_read_buffer().unwrap()[0], b'a');
    });
}

#[test]
fn waits_of_a_stopped_ring_end_by_deadlines_and_wake_ups() {
    in_a_thread(|mut ring| {
        let device = ring.add(file()).id;
        let waker = ring.waker().unwrap();
        if !is_refused(libc::SYS_io_uring_enter, libc::EPERM) {
            return;
        }
        write(&mut ring, device, 0, 1);
        assert_eq!(stopped(&reap(&mut ring, 1)[0]), (1, libc::EPERM));
        waker.wake();
        ring.reap(Wait::NONE, &mut Vec::new());
        ring.reap(Wait::until_completed(1), &mut Vec::new());
        let until = ring.now() + Nanos::from_millis(2);
        ring.reap(Wait::until_time(until), &mut Vec::new());
        assert!(ring.now() >= until);
        let other = std::thread::spawn(move || waker.wake());
        ring.reap(Wait::until_completed(1), &mut Vec::new());
        other.join().unwrap();
    });
}

#[test]
fn a_stopped_ring_is_dropped_when_its_requests_have_ended() {
    in_a_thread(|mut ring| {
        let (pipe, _writer) = std::io::pipe().unwrap();
        let device = super::tests::add_pipe(&mut ring, &pipe);
        let arena = Arena::new(2 * BLOCK_BYTES).unwrap();
        (0..2).for_each(|token| super::tests::read(&mut ring, device, &arena, token));
        ring.reap(Wait::NONE, &mut Vec::new());
        if !is_refused(libc::SYS_io_uring_enter, libc::EPERM) {
            return;
        }
        drop(ring);
        // The whole arena is free again.
        assert!(arena.allocate(2 * BLOCK_BYTES).is_ok());
    });
}
