//! Cubes of a table by the path `scan`: compared with a hash map over the generator's rows, with
//! little memory, and of a damaged file.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "these are tests"
)]

use std::collections::BTreeMap;
use std::path::Path;

#[path = "common/cubes.rs"]
mod cubes;

use nandle_columns::{Snapshot, Table};
use nandle_flights::{
    Column, CountMethod, Counting, CubeError, CubeQuery, CubeRun, TemporarySpace, scan_cube,
};
use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::Runtime;
use nandle_io::{Cause, Io, Nanos};
use nandle_reads::recording::{Names, Recorder, Recording};
use nandle_spill::{Place, SpillCosts};

use self::cubes::{Groups, add, costs, owner, plainly, reads, shuffle, table, table_in_order, ticking};

const MIB: usize = 1 << 20;
const SPACE_BYTES: u64 = 256 << 20;

/// Computes a cube of a snapshot, with or without temporary space.
fn cube(
    directory: &Path,
    snapshot: &Snapshot,
    query: CubeQuery,
    memory_bytes: usize,
    may_spill: bool,
) -> Result<(Groups, CubeRun), CubeError> {
    let mut world = MemoryWorld::new(64, Nanos::from_micros(1));
    world.add(SPACE_BYTES, 4096);
    cube_in(world, directory, snapshot, query, memory_bytes, may_spill)
}

/// Computes a cube with temporary space on the world's only device.
fn cube_in(
    world: MemoryWorld,
    directory: &Path,
    snapshot: &Snapshot,
    query: CubeQuery,
    memory_bytes: usize,
    may_spill: bool,
) -> Result<(Groups, CubeRun), CubeError> {
    let (owner, files) = owner(directory, snapshot);
    let costs = costs();
    let reads = reads(&owner, files, &costs);
    let device = world.devices()[0].id;
    let runtime = Runtime::new(Box::new(world));
    let place = Place { device, start_bytes: 0, length_bytes: SPACE_BYTES, salt: 7, discards: false };
    let space = TemporarySpace { handle: runtime.handle(), place, costs: SpillCosts::default() };
    let counting = Counting { memory_bytes, threads: THREADS.get(), space: may_spill.then_some(space) };
    runtime.block_on(async {
        let mut results = scan_cube(snapshot, query, &reads, counting, ticking).await?;
        let mut groups = Groups::new();
        while let Some(batch) = results.next_batch().await? {
            add(&batch, &mut groups);
        }
        Ok((groups, results.finish()))
    })
}

thread_local! {
    /// Number of counting threads.
    static THREADS: std::cell::Cell<usize> = const { std::cell::Cell::new(1) };
}

#[test]
fn several_threads_count_as_one_does() {
    let directory = tempfile::tempdir().unwrap();
    let generator = table(directory.path(), 30_000, 16_000);
    let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
    for name in ["diverted-year", "delay-airline-dest", "delay-airline-dest-month-origin"] {
        let query: CubeQuery = name.parse().unwrap();
        for threads in [2, 3, 50] {
            THREADS.set(threads);
            let (groups, run) = cube(directory.path(), &snapshot, query, 32 * MIB, true).unwrap();
            assert!(groups == plainly(&generator, query), "{query} by {threads}");
            assert_eq!((run.count.rows, run.count.groups), (30_000, groups.len() as u64));
        }
    }
}

/// A thread without memory spills while the others continue.
#[test]
fn several_threads_share_little_memory() {
    let directory = tempfile::tempdir().unwrap();
    let generator = table_in_order(directory.path(), 1_200_000, 700_000, shuffle);
    let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
    let query: CubeQuery = "delay-airline-dest-month-origin".parse().unwrap();
    THREADS.set(2);
    let refused = cube(directory.path(), &snapshot, query, 24 * MIB, false).map(|_| ());
    assert!(matches!(refused, Err(CubeError::Count(_))), "{refused:?}");
    let (groups, run) = cube(directory.path(), &snapshot, query, 24 * MIB, true).unwrap();
    assert_eq!(run.count.method, CountMethod::Runs);
    assert!(groups == plainly(&generator, query));
}

/// Months may be in few row groups, entirely, partly or not at all: the groups are the same.
#[test]
fn rows_in_any_order_make_the_same_groups() {
    type Order = fn(&mut [u32]);
    let half = |places: &mut [u32]| places.chunks_mut(8000).step_by(2).for_each(shuffle);
    let back = |places: &mut [u32]| places.reverse();
    // Some months occur again much later.
    let moved = |places: &mut [u32]| places.rotate_left(7001);
    let by_turns =
        |places: &mut [u32]| places.chunks_mut(500).for_each(|rows| rows.sort_by_key(|row| row % 2));
    let orders: [(Order, bool); 6] =
        [(|_| {}, true), (shuffle, false), (half, false), (back, true), (moved, true), (by_turns, true)];
    for (order, is_by_value) in orders {
        let directory = tempfile::tempdir().unwrap();
        let generator = table_in_order(directory.path(), 30_000, 16_000, order);
        let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
        for name in
            ["delay-airline-dest-month-origin", "delay-dest-origin-year", "cancelled-dest-month-origin"]
        {
            let query: CubeQuery = name.parse().unwrap();
            let plain = plainly(&generator, query);
            for (threads, memory) in [(1, 16 * MIB), (2, 64 * MIB), (3, 64 * MIB)] {
                THREADS.set(threads);
                let (groups, run) = cube(directory.path(), &snapshot, query, memory, true).unwrap();
                assert!(groups == plain, "{query} by {threads}");
                assert_eq!((run.count.rows, run.count.groups), (30_000, groups.len() as u64));
                let by_value = run.count.method == CountMethod::ByValue;
                assert_eq!(by_value, run.count.early_groups == run.count.groups, "{:?}", run.count);
                assert!(by_value || !is_by_value, "{query} by {threads}: {:?}", run.count);
            }
        }
    }
}

/// Groups of a month that exceed the memory are counted with the rest, and spilled.
#[test]
fn groups_of_a_month_that_memory_does_not_hold_are_counted_with_the_rest() {
    let directory = tempfile::tempdir().unwrap();
    let generator = table(directory.path(), 1_200_000, 2_400_000);
    let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
    for name in ["delay-airline-dest-month-origin", "delay-airline-dest-origin-year"] {
        let query: CubeQuery = name.parse().unwrap();
        let (groups, run) = cube(directory.path(), &snapshot, query, 16 * MIB, true).unwrap();
        assert!(groups == plainly(&generator, query), "{query}");
        assert!(run.count.early_groups < run.count.groups, "{:?}", run.count);
        assert_eq!(run.count.rows, 1_200_000);
    }
}

/// A table that grows by the month needs no temporary space for any number of groups.
#[test]
fn months_are_counted_one_after_the_other_in_little_memory() {
    let directory = tempfile::tempdir().unwrap();
    let generator = table(directory.path(), 1_200_000, 300_000);
    let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
    let query: CubeQuery = "delay-airline-dest-month-origin".parse().unwrap();
    let (groups, run) = cube(directory.path(), &snapshot, query, 16 * MIB, false).unwrap();
    assert_eq!((run.count.method, run.count.spilled_bytes), (CountMethod::ByValue, 0), "{:?}", run.count);
    assert!(groups == plainly(&generator, query));
}

#[test]
fn all_cubes_are_those_of_the_rows() {
    let directory = tempfile::tempdir().unwrap();
    let generator = table(directory.path(), 30_000, 16_000);
    let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
    assert_eq!(snapshot.files().len(), 2);
    assert!(snapshot.files().iter().all(|file| file.metadata().num_row_groups() > 1));
    let mut recorder = Recorder::new(Vec::new(), Names::Kept).unwrap();
    for file in snapshot.files() {
        let groups = nandle_flights::column_chunks(file);
        recorder.file(file.name(), file.source().length_bytes(), &groups).unwrap();
    }
    for query in CubeQuery::all() {
        let (groups, run) = cube(directory.path(), &snapshot, query, 16 * MIB, true).unwrap();
        assert!(groups == plainly(&generator, query), "{query}");
        assert_eq!((run.count.rows, run.count.groups), (30_000, groups.len() as u64));
        assert!(run.requests > 0 && run.read_bytes >= run.wanted_bytes / 2, "{run:?}");
        run.record(&mut recorder).unwrap();
        // Each measured interval is at least a tick.
        assert!(run.recorded().cpu_after_ns.iter().all(|span| *span >= 10));
    }
    let written = recorder.finish().unwrap();
    let path = directory.path().join("cubes.needs.zst");
    std::fs::write(&path, written).unwrap();
    let recording = Recording::read(&path).unwrap();
    assert_eq!(recording.queries.len(), 69);
    assert!(recording.queries.iter().all(|query| query.totals.result_rows > 0 && !query.wants.is_empty()));
}

const BY_DUCKDB: &str = r#"
import duckdb, sys
directory, *queries = sys.argv[1:]
duckdb.sql(f"create view flights as select * from '{directory}/data/*.parquet'")
for query in queries:
    name, columns = query.split(":")
    columns = columns.split(",")
    texts = ", ".join(f"coalesce(cast({column} as varchar), 'missing')" for column in columns)
    by = ", ".join(columns)
    for row in duckdb.sql(f"select {texts}, count(*) from flights group by {by}").fetchall():
        print(name, *row, sep="|")
"#;

/// Row by row. Needs a Python with duckdb, named by `NANDLE_PYARROW`; otherwise does nothing.
#[test]
fn all_cubes_are_those_of_duckdb() {
    let Some(python) = std::env::var_os("NANDLE_PYARROW") else {
        return eprintln!("skipped: NANDLE_PYARROW names no Python with pyarrow and duckdb");
    };
    let directory = tempfile::tempdir().unwrap();
    table(directory.path(), 10_000, 4500);
    let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
    let named = |query: CubeQuery| {
        let columns: Vec<&str> = query.columns().into_iter().map(Column::name).collect();
        format!("{query}:{}", columns.join(","))
    };
    let mut command = std::process::Command::new(python);
    command.arg("-c").arg(BY_DUCKDB).arg(directory.path()).args(CubeQuery::all().into_iter().map(named));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut expected: BTreeMap<String, Groups> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let mut cells = line.split('|').map(ToOwned::to_owned);
        let name = cells.next().unwrap();
        let mut group: Vec<String> = cells.collect();
        let count = group.pop().unwrap().parse().unwrap();
        assert!(expected.entry(name).or_default().insert(group, count).is_none());
    }
    assert_eq!(expected.len(), 69);
    for query in CubeQuery::all() {
        let (groups, _) = cube(directory.path(), &snapshot, query, 16 * MIB, true).unwrap();
        assert!(groups == expected[&query.to_string()], "{query}");
    }
}

#[test]
fn little_memory_is_enough_with_temporary_space() {
    let directory = tempfile::tempdir().unwrap();
    let rows = 1_200_000;
    let generator = table_in_order(directory.path(), rows, 700_000, shuffle);
    let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
    let query: CubeQuery = "delay-airline-dest-month-origin".parse().unwrap();
    let refused = cube(directory.path(), &snapshot, query, 9 * MIB, false).map(|_| ());
    assert!(matches!(refused, Err(CubeError::Count(_))), "{refused:?}");
    let (groups, run) = cube(directory.path(), &snapshot, query, 16 * MIB, true).unwrap();
    assert_eq!(run.count.method, CountMethod::Runs);
    assert!(run.count.spilled_bytes > 0);
    assert!(groups == plainly(&generator, query));
    assert_eq!(run.recorded().totals.spilled_bytes, run.count.spilled_bytes);
}

/// Full temporary space is reported as an error, without a result.
#[test]
fn temporary_space_without_room_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    table_in_order(directory.path(), 1_200_000, 700_000, shuffle);
    let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
    let query: CubeQuery = "delay-airline-dest-month-origin".parse().unwrap();
    let mut world = MemoryWorld::new(64, Nanos::from_micros(1));
    let device = world.add(SPACE_BYTES, 4096).id;
    world.faults().fail_next(device, "write", Cause::System(28));
    let error = cube_in(world, directory.path(), &snapshot, query, 16 * MIB, true).map(|_| ()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("temporary space") && text.contains("No space left"), "{text}");
}

#[test]
fn a_damaged_page_is_an_error_and_no_result() {
    let directory = tempfile::tempdir().unwrap();
    table(directory.path(), 30_000, 16_000);
    let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
    let query: CubeQuery = "delay-airline".parse().unwrap();
    let plan = snapshot.scan(&nandle_columns::ScanSpec::of(["ArrDelay"])).unwrap();
    let want = *plan.wants().last().unwrap();
    let name = plan.files()[want.file.0 as usize].name().to_owned();
    let path = directory.path().join(&name);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[(want.end_bytes() - want.length_bytes / 2) as usize] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    for threads in [1, 2] {
        THREADS.set(threads);
        let error = cube(directory.path(), &snapshot, query, 16 * MIB, true).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(&name), "{error}");
    }
}
