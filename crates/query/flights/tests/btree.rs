//! Covering indexes in a real SQLite: their leaves and counts.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "these are tests")]

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nandle_flights::{Btree, BtreeError, BtreeOptions, Column, CubeQuery, Generator, IndexKind, Leaves};
use nandle_reads::FileId;

const ROWS: u64 = 60_000;

fn query(name: &str) -> CubeQuery {
    name.parse().unwrap()
}

fn make(path: &Path, queries: &[CubeQuery], options: BtreeOptions) -> Btree {
    let generator = Generator::new(ROWS, 5).unwrap();
    let mut btree = Btree::create(path, queries, options).unwrap();
    for chunk in 0..generator.chunks() {
        btree.add(&generator.chunk(chunk).unwrap()).unwrap();
    }
    btree.finish().unwrap();
    btree
}

/// Type bytes of pages in SQLite's file format: 10 for a leaf of an index.
fn page_types(path: &Path, leaves: &Leaves) -> Vec<u8> {
    let file = File::open(path).unwrap();
    let wants: Vec<_> = leaves.wants(FileId(3)).collect();
    assert!(wants.iter().enumerate().all(|(at, want)| want.step as usize == at && want.file == FileId(3)));
    let type_at = |offset| {
        let mut byte = [0];
        file.read_exact_at(&mut byte, offset).unwrap();
        byte[0]
    };
    wants.iter().map(|want| type_at(want.offset_bytes)).collect()
}

thread_local! {
    static TICKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Advances by a millisecond per call.
fn ticking() -> nandle_io::Nanos {
    TICKS.set(TICKS.get() + 1_000_000);
    nandle_io::Nanos(TICKS.get())
}

#[test]
fn built_indexes_lie_in_order_and_grown_ones_do_not() {
    let directory = tempfile::tempdir().unwrap();
    let cube = query("delay-airline-dest-month-origin");
    let mut counts = Vec::new();
    for page_bytes in [8 << 10, 32 << 10] {
        let mut shares = Vec::new();
        for index in [IndexKind::Built, IndexKind::Grown] {
            let path = directory.path().join(format!("{page_bytes}-{index:?}"));
            let options = BtreeOptions { page_bytes, index, ..BtreeOptions::default() };
            let btree = make(&path, &[cube], options);
            let leaves = btree.leaves(cube).unwrap();
            counts.push(btree.groups(cube).unwrap());
            drop(btree);
            assert!(leaves.count() > 20 && leaves.inner_pages() > 0, "{} leaves", leaves.count());
            assert!(page_types(&path, &leaves).iter().all(|kind| *kind == 10));
            shares.push(leaves.share_of_jumps().unwrap());
        }
        assert!(shares[0] < 0.1, "built: {}", shares[0]);
        assert!(shares[1] > 0.6, "grown: {}", shares[1]);
    }
    assert!(counts.windows(2).all(|two| two[0] == two[1]), "{counts:?}");
}

#[test]
fn leaves_are_in_the_order_of_keys() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("flights");
    let cube = query("diverted-airline");
    let options = BtreeOptions { index: IndexKind::Grown, page_bytes: 512, ..BtreeOptions::default() };
    let btree = make(&path, &[cube], options);
    let leaves = btree.leaves(cube).unwrap();
    let generator = Generator::new(ROWS, 5).unwrap();
    let chunks = (0..generator.chunks()).map(|number| generator.codes(number));
    let groups: HashSet<_> = chunks.flat_map(|codes| codes.airline.into_iter().zip(codes.diverted)).collect();
    assert_eq!(btree.groups(cube).unwrap(), groups.len() as u64);
    drop(btree);
    let file = File::open(&path).unwrap();
    let mut carriers = Vec::new();
    for want in leaves.wants(FileId(0)) {
        let mut page = vec![0; 512];
        file.read_exact_at(&mut page, want.offset_bytes).unwrap();
        // The first cell: its length, its header's length, a text of two letters (17), and so on,
        // by the file format.
        let cell = usize::from(u16::from_be_bytes([page[8], page[9]]));
        let header = usize::from(page[cell + 1]);
        assert_eq!(page[cell + 2], 17);
        carriers.push(page[cell + 1 + header..cell + 3 + header].to_vec());
    }
    assert!(carriers.windows(2).all(|two| two[0] <= two[1]));
    assert!(carriers.first().unwrap() < carriers.last().unwrap());
}

/// Number of pages that a query read which weren't in the page cache, according to SQLite's shell.
fn cache_misses(path: &Path, cube: CubeQuery, pool_pages: u32) -> u64 {
    let columns = cube.columns().into_iter().map(Column::name).collect::<Vec<_>>().join(", ");
    let script = format!(
        "pragma cache_size = {pool_pages};\n.stats on\n\
         select count(*) from (select count(*) from flights indexed by \"{cube}\" group by {columns});\n"
    );
    let mut shell = Command::new("sqlite3");
    let shell = shell.args(["-batch", "-readonly"]).arg(path);
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let told = child.wait_with_output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let line = told.lines().find_map(|line| line.strip_prefix("Page cache misses:"));
    line.unwrap_or_else(|| panic!("{told}")).trim().parse().unwrap()
}

#[test]
fn a_cube_reads_its_leaves_and_what_lies_above_them_once() {
    if std::env::var_os("NANDLE_SKIP_SQLITE3").is_some() {
        eprintln!("SKIPPED: there is no sqlite3 here");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let cube = query("delay-airline-dest-month-origin");
    for index in [IndexKind::Built, IndexKind::Grown] {
        let path = directory.path().join(format!("{index:?}"));
        let btree = make(&path, &[cube], BtreeOptions { index, ..BtreeOptions::default() });
        let leaves = btree.leaves(cube).unwrap();
        drop(btree);
        let pages = leaves.count() as u64 + leaves.inner_pages();
        for pool_pages in [32, 4096] {
            // Besides the index: the database's first page and the schema's.
            let misses = cache_misses(&path, cube, pool_pages);
            assert!((pages..=pages + 3).contains(&misses), "{index:?}: {misses} misses, {pages} pages");
        }
    }
}

#[test]
fn a_cube_is_recorded_leaf_by_leaf() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("flights");
    let cube = query("delay-airline");
    let btree = make(&path, &[cube], BtreeOptions::default());
    let recorded = btree.recorded(cube, FileId(2), ticking).unwrap();
    let leaves = btree.leaves(cube).unwrap();
    assert_eq!(recorded.wants, leaves.wants(FileId(2)).collect::<Vec<_>>());
    assert_eq!(recorded.cpu_after_ns, vec![1_000_000 / leaves.count() as u64; leaves.count()]);
    assert_eq!(recorded.totals.result_rows, btree.groups(cube).unwrap());
}

#[test]
fn what_cannot_be_done_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("flights");
    let odd = BtreeOptions { page_bytes: 5000, ..BtreeOptions::default() };
    let made = Btree::create(&directory.path().join("odd"), &[], odd).map(|_| ());
    assert!(matches!(made, Err(BtreeError::PageBytes { page_bytes: 5000 })));
    let btree = Btree::create(&path, &[query("delay-month")], BtreeOptions::default()).unwrap();
    assert!(matches!(btree.leaves(query("delay-year")), Err(BtreeError::NoIndex { .. })));
    assert!(
        matches!(btree.leaves(query("delay-month")), Err(BtreeError::NoIndex { .. })),
        "it isn't finished"
    );
    drop(btree);
    let again = Btree::create(&path, &[], BtreeOptions::default()).map(|_| ());
    assert!(matches!(again, Err(BtreeError::Exists { .. })));
}
