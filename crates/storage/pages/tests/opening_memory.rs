//! Peak memory of an opening. In its own test program, as the peak is that of the process.
#![allow(clippy::unwrap_used, reason = "helpers of tests are part of them")]

use std::sync::Arc;

use nandle_io::{DeviceFile, FileOptions};
use nandle_pages::{Batch, BlockingStore, CreateOptions, OpenOptions, PageNumber, PolicyKind};

const PAGES: u64 = 2 << 20;
/// Allowance for a thread, a ring, the allocator and one read.
const BESIDE_BYTES: u64 = 8 << 20;

/// Peak memory of this process.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() * 1024
}

#[test]
fn checksums_of_home_pages_take_what_they_are_said_to_take() {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let create = CreateOptions::new(PolicyKind::StableRing, 4096, PAGES).with_buffer_bytes(1 << 20);
    file.as_file().set_len(create.device_bytes().unwrap()).unwrap();
    let options = OpenOptions { memory_bytes: 1 << 20, gather_bytes: 0, ..OpenOptions::default() };
    let device = || {
        let file = std::fs::File::options().read(true).write(true).open(file.path()).unwrap();
        Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap())
    };
    let before_bytes = peak_bytes();
    let store = BlockingStore::create(device(), create.clone(), options).unwrap();
    for page in [0, 5000, PAGES - 1] {
        let mut batch = Batch::new();
        let mut buffer = store.buffer().unwrap();
        buffer.fill(7);
        batch.put(PageNumber(page), buffer.freeze());
        store.commit(batch).unwrap();
    }
    store.checkpoint().unwrap();
    store.close().unwrap();
    let store = BlockingStore::open(device(), options).unwrap();
    assert_eq!(store.verify().unwrap(), 3);
    let took_bytes = peak_bytes() - before_bytes;
    let most_bytes = create.index_bytes() + 2 * options.memory_bytes as u64 + BESIDE_BYTES;
    assert!(took_bytes <= most_bytes, "{took_bytes} bytes of {most_bytes}");
}
