//! A filter of system calls that lets a ring be set up, and refuses to let it be entered.
#![allow(
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test's way to fail"
)]

use std::sync::Arc;

use super::{SetupError, Uring};
use crate::{Arena, DeviceFile, DeviceId, FileOptions, FileWorld, Io, Operation, Request, Wait};

const BLOCK_BYTES: usize = 4096;

fn file() -> Arc<DeviceFile> {
    let file = tempfile::tempfile().unwrap();
    file.set_len(4 * BLOCK_BYTES as u64).unwrap();
    Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap())
}

/// Lets the calling thread, and those that it starts, make no call of this number.
#[allow(unsafe_code, reason = "installs a filter of system calls")]
fn refuse(call: libc::c_long) -> std::io::Result<()> {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let refusal = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
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

/// Of each call that a ring takes: threads stand in, or the ring does without and says so.
#[test]
fn a_ring_that_a_filter_refuses_is_replaced_by_threads() {
    let calls = [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];
    for call in calls {
        // A filter is the thread's for good.
        let tried = std::thread::spawn(move || {
            if let Err(error) = refuse(call) {
                eprintln!("SKIPPED: a filter of system calls: {error}");
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
        tried.join().unwrap();
    }
}
