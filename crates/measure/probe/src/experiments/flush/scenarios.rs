use nandle_profile::experiments::{CommitMethod, ExtentState};

use super::super::Circumstances;
use super::log::Commit;
use super::sites::{CommitScenario, durability};

const SIZES: [u64; 8] = [512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];
/// Page size of `PostgreSQL` and of most logs, used to compare the states of extents.
pub(super) const PAGE_BYTES: u64 = 8 << 10;
/// Writes of the `open_sync` test in `pg_test_fsync`: 16 kB in one write, and in several.
const OPEN_SYNC_WRITES: [(u64, u32); 4] = [(16 << 10, 1), (8 << 10, 2), (4 << 10, 4), (2 << 10, 8)];

/// Most writers. Beyond that, a database uses several flushes.
const WRITERS_MAX: u32 = 128;

/// All scenarios with a single writer.
pub(super) fn scenarios(circumstances: &Circumstances, with_files: bool) -> Vec<CommitScenario> {
    let block_bytes = circumstances.shape.logical_block_bytes.max(circumstances.shape.memory_alignment_bytes);
    let mut scenarios: Vec<CommitScenario> = SIZES
        .into_iter()
        .flat_map(|bytes| {
            [CommitMethod::WriteThenFlush, CommitMethod::DurableWrite].map(|method| on_device(method, bytes))
        })
        .collect();
    if with_files {
        scenarios.extend(in_files());
    }
    scenarios.retain(|scenario| scenario.commit.write_bytes.is_multiple_of(block_bytes));
    scenarios
}

fn on_device(method: CommitMethod, write_bytes: u64) -> CommitScenario {
    CommitScenario {
        method,
        extent: ExtentState::Overwritten,
        commit: Commit { write_bytes, writes: 1, writers: 1, durability: durability(method) },
        in_file: false,
    }
}

/// Scenarios of `pg_test_fsync`, also in files that grow or have never been written.
fn in_files() -> Vec<CommitScenario> {
    use CommitMethod::{DurableWrite, Fdatasync, Fsync, OpenSync};
    let in_file = |method, extent, write_bytes, writes| {
        let commit = Commit { write_bytes, writes, writers: 1, durability: durability(method) };
        CommitScenario { method, extent, commit, in_file: true }
    };
    let mut scenarios = Vec::new();
    for writes in [1, 2] {
        for method in [DurableWrite, Fdatasync, Fsync, OpenSync] {
            scenarios.push(in_file(method, ExtentState::Overwritten, PAGE_BYTES, writes));
        }
    }
    for extent in [ExtentState::Extended, ExtentState::Unwritten] {
        for method in [DurableWrite, Fdatasync, Fsync] {
            scenarios.push(in_file(method, extent, PAGE_BYTES, 1));
        }
    }
    for (write_bytes, writes) in OPEN_SYNC_WRITES {
        let scenario = in_file(OpenSync, ExtentState::Overwritten, write_bytes, writes);
        if !scenarios.contains(&scenario) {
            scenarios.push(scenario);
        }
    }
    scenarios
}

/// Groups of 1, 2, 4 … writers, with a shared flush and with durable writes.
pub(super) fn groups(circumstances: &Circumstances) -> Vec<CommitScenario> {
    let most = WRITERS_MAX.min(circumstances.slots);
    let page_bytes = PAGE_BYTES.next_multiple_of(circumstances.shape.logical_block_bytes);
    let doublings = std::iter::successors(Some(1_u32), |writers| writers.checked_mul(2));
    let group = |writers| {
        [CommitMethod::WriteThenFlush, CommitMethod::DurableWrite].map(|method| {
            let scenario = on_device(method, page_bytes);
            CommitScenario { commit: Commit { writers, ..scenario.commit }, ..scenario }
        })
    };
    doublings.take_while(|writers| *writers <= most).flat_map(group).collect()
}
