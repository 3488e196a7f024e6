//! Claims of the Dashboard paper (Regola, Cieslak, Chawla, ASBD 2012) on cubes with one SSD and
//! with ten disks, checked for each path: the paper's own, covering B-trees in a real `SQLite` with
//! leaves read one by one; and this crate's, whole columns of a table and of a sorted copy. Device
//! time only, because processor time differs between machines.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "these are tests")]

#[path = "../../../device/model/tests/common/book.rs"]
#[allow(
    dead_code,
    clippy::print_stdout,
    reason = "each of the tests that share it uses a part of it, and a claim is printed"
)]
mod book;

use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use arrow_array::RecordBatch;
use book::{Entry, Verdict};
use nandle_columns::{Layout, ScanSpec, Snapshot, Table, TableOptions};
use nandle_flights::{
    Btree, BtreeOptions, Column, CubeQuery, Generator, IndexKind, flight_schema, turning_share, with_jumps,
};
use nandle_io::Nanos;
use nandle_predict::{CostsSource, Player, PlayerOptions};
use nandle_reads::recording::{RecordedFile, RecordedQuery, Recording};
use nandle_reads::{FileId, Groups, PlanOptions, Strategy, Want};
use nandle_session::{Access, Cancel, Unobserved};

const ROWS: u64 = 600_000;
/// Copies that give the paper's 70 million rows.
const COPIES: u64 = 117;
/// Simple cubes, and those with three partners.
const CUBES: [&str; 4] = [
    "diverted-airline",
    "diverted-airline-dest-month-origin",
    "delay-airline",
    "delay-airline-dest-month-origin",
];
const MEMORY_BYTES: u64 = 64 << 20;

/// The paper's two devices.
struct Devices {
    directory: tempfile::TempDir,
}

impl Devices {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let ssd = nandle_model::library::toml_of("crucial-m4-256").unwrap();
        let slower = ssd.replace("\nbytes_per_s = 425_000_000", "\nbytes_per_s = 285_000_000");
        assert_ne!(ssd, slower);
        std::fs::write(directory.path().join("ssd.toml"), slower).unwrap();
        Self { directory }
    }

    /// Players for the SSD and the array.
    fn players(&self, recording: &Recording) -> [Player; 2] {
        let options = PlayerOptions {
            access: Access::default(),
            costs: CostsSource::Probe(Some(Nanos::from_secs(5))),
            made_at: SystemTime::UNIX_EPOCH,
            cancel: Cancel::default(),
        };
        let ssd = format!("model:{}", self.directory.path().join("ssd.toml").display());
        [ssd.as_str(), "model:regola-raid10"].map(|target| {
            Player::open(&target.parse().unwrap(), recording, &options, &mut Unobserved).unwrap()
        })
    }

    /// Seconds of each query on the SSD and on the array.
    fn seconds(&self, recording: &Recording, strategy: Strategy) -> Vec<[f64; 2]> {
        let options = PlanOptions { strategy, ..PlanOptions::new(MEMORY_BYTES) };
        let mut players = self.players(recording);
        let mut both = |query| [0, 1].map(|device: usize| seconds(&mut players[device], query, options));
        recording.queries.iter().map(&mut both).collect()
    }
}

fn seconds(player: &mut Player, query: &RecordedQuery, options: PlanOptions) -> f64 {
    player.play(query, options, 1.0).unwrap().time_ns as f64 * 1e-9
}

/// One leaf at a time, as an engine with a buffer pool reads.
const ONE_BY_ONE: Strategy = Strategy::OneByOne { depth: 1 };

fn queries() -> Vec<CubeQuery> {
    CUBES.iter().map(|name| name.parse().unwrap()).collect()
}

fn flights() -> impl Iterator<Item = RecordBatch> {
    let generator = Generator::new(ROWS, 5).unwrap();
    (0..generator.chunks()).map(move |chunk| generator.chunk(chunk).unwrap())
}

/// Leaves of the cubes, and the share that don't follow the previous one.
fn leaves(index: IndexKind) -> (Recording, f64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("flights");
    let queries = queries();
    let mut btree =
        Btree::create(&path, &queries, BtreeOptions { index, ..BtreeOptions::default() }).unwrap();
    flights().for_each(|batch| btree.add(&batch).unwrap());
    btree.finish().unwrap();
    let length_bytes = path.metadata().unwrap().len();
    let recorded = queries.iter().map(|query| btree.recorded(*query, FileId(0), || Nanos::ZERO).unwrap());
    let jumps = btree.leaves(queries[3]).unwrap().share_of_jumps().unwrap();
    (recording(length_bytes, recorded.collect()), jumps)
}

fn recording(length_bytes: u64, queries: Vec<RecordedQuery>) -> Recording {
    Recording { files: vec![RecordedFile { name: None, length_bytes, groups: Groups::Unknown }], queries }
}

/// A table with a sorted copy for each cube's columns.
fn table(directory: &Path) -> Table {
    let layout = Layout { row_group_rows: ROWS, file_rows: ROWS, ..Layout::default() };
    let options = TableOptions { layout, ..TableOptions::new(flight_schema(), 1) };
    let table = Table::create(directory, &options).unwrap();
    let mut writer = table.load().unwrap();
    flights().for_each(|batch| writer.write(&batch).unwrap());
    writer.commit().unwrap();
    for query in queries() {
        table.project(&names(query), 256 << 20).unwrap();
    }
    Table::open(directory).unwrap()
}

fn names(query: CubeQuery) -> Vec<&'static str> {
    query.columns().into_iter().map(Column::name).collect()
}

/// Columns of a cube in a table with the paper's number of rows.
fn whole_columns(rows: &Snapshot, query: CubeQuery) -> Recording {
    let plan = rows.scan(&ScanSpec::of(names(query))).unwrap();
    let [file] = rows.files() else { panic!("{} files", rows.files().len()) };
    let (length_bytes, steps) = (file.source().length_bytes(), u32::try_from(plan.steps()).unwrap());
    let copy = |number: u64| {
        let moved = move |want: &Want| Want {
            offset_bytes: want.offset_bytes + number * length_bytes,
            step: want.step + u32::try_from(number).unwrap() * steps,
            ..*want
        };
        plan.wants().iter().map(moved)
    };
    let wants: Vec<Want> = (0..COPIES).flat_map(copy).collect();
    let cpu_after_ns = vec![0; plan.steps() * usize::try_from(COPIES).unwrap()];
    recording(length_bytes * COPIES, vec![RecordedQuery { wants, cpu_after_ns, ..RecordedQuery::default() }])
}

/// Ratio of the array's time to the SSD's for each cube.
fn ratios(times: &[[f64; 2]]) -> Vec<f64> {
    times.iter().map(|[ssd, array]| array / ssd).collect()
}

/// Time ratio of cubes with three partners to those with none: diverted and delay, each on the SSD
/// and on the array.
fn growth(times: &[[f64; 2]]) -> [[f64; 2]; 2] {
    [0, 2].map(|simple| [0, 1].map(|device| times[simple + 1][device] / times[simple][device]))
}

fn said(figures: impl IntoIterator<Item = f64>) -> String {
    figures.into_iter().fold(String::new(), |mut text, figure| {
        let _ = write!(text, "{}{figure:.2}", if text.is_empty() { "" } else { ", " });
        text
    })
}

const C41: &str = "one SSD beats ten disks for a variety of cubes, simple and multi-dimensional";
const C42: &str = "a cube with three partners takes 22 % longer than one with none (diverted) and 422 % longer (delay) on the SSD, 17 % and \
                   400 % on the array";

/// Published ratios: diverted and delay, each on the SSD and on the array.
const GROWTH: [[f64; 2]; 2] = [[1.22, 1.174], [5.225, 4.9975]];
/// Tolerance for published figures to which no parameter was fitted. The paper gives no spread, so
/// it is the book's own.
const FACTOR: f64 = 1.25;
/// Tolerance for the model's own figures, beyond which its entries must be reviewed.
const OWN: f64 = 1.1;

fn is_within(figure: f64, of: f64, factor: f64) -> bool {
    (of / factor..=of * factor).contains(&figure)
}

fn are_own(figures: &[f64], own: [f64; 4]) -> bool {
    figures.iter().zip(own).all(|(figure, own)| is_within(*figure, own, OWN))
}

/// Checks the ratios of array to SSD; the paper only states that they exceed 1.
fn hold_c41(
    id: &'static str,
    precondition: &'static str,
    of: &[f64],
    own: [f64; 4],
    and: &str,
    verdict: Verdict,
) {
    let tolerance = "the array takes longer for each cube, by 5 % at least; a direction, because the paper names no factor. Our factors are held within \
                     1.1 times of what they were";
    let model = format!("the array takes {} times as long{and}", said(of.iter().copied()));
    let is_met = of.iter().all(|ratio| *ratio > 1.05);
    assert_eq!(is_met, matches!(verdict, Verdict::Met), "{id}: {of:?}");
    Entry { id, paper: C41, precondition, tolerance, model, verdict }.print();
    assert!(are_own(of, own), "{id}: {of:?}");
}

/// Checks the growth against the paper's four ratios. Those of delay cubes, the point of the claim,
/// are missed by every path.
fn hold_c42(
    id: &'static str,
    precondition: &'static str,
    of: [[f64; 2]; 2],
    own: [f64; 4],
    why: &'static str,
) {
    let [diverted, delay] = of.map(said);
    let by = |kind: usize| said([0, 1].map(|device| of[kind][device] / GROWTH[kind][device]));
    let model = format!(
        "SSD, array: diverted {diverted} times (paper 1.22, 1.17), delay {delay} times (paper 5.23, 5.00); model by paper {} and {}",
        by(0),
        by(1)
    );
    let tolerance = "each of the four within a factor of 1.25, the book's own: the paper gives no spread. Our figures are held within 1.1 times of what they \
                     were";
    Entry { id, paper: C42, precondition, tolerance, model, verdict: Verdict::NotMet(why) }.print();
    let missed = [0, 1].map(|device| !is_within(of[1][device], GROWTH[1][device], FACTOR));
    assert_eq!(missed, [true; 2], "{id}: {of:?}");
    assert!(are_own(of.as_flattened(), own), "{id}: {of:?}");
}

const OF_LEAVES: &str = "600 000 made-up flights in SQLite, pages of 8 KiB read one after the other; crucial-m4-256 on a port of 3 Gb/s and regola-raid10, new, cold; no \
                         processor time";

#[test]
fn one_drive_beats_ten_disks_where_leaves_are_scattered() {
    let devices = Devices::new();
    let (grown, jumps) = leaves(IndexKind::Grown);
    let grown = devices.seconds(&grown, ONE_BY_ONE);
    hold_c41(
        "C41 (B-tree, grown)",
        OF_LEAVES,
        &ratios(&grown),
        [9.12, 5.91, 9.89, 6.30],
        &format!("; {:.1} % of leaves don't follow the one before", jumps * 100.0),
        Verdict::Met,
    );
    hold_c42(
        "C42 (B-tree, grown)",
        OF_LEAVES,
        growth(&grown),
        [2.36, 1.53, 2.30, 1.46],
        "diverted cubes grow 1.9 and 1.3 times as much as the paper's, delay cubes 0.44 and 0.29 times. The devices alone don't tell delay from diverted: \
         that delay cubes take five times as long is the processor's work on 20 million result rows, which isn't modelled. That the SSD grows by more \
         than the array is as in the paper",
    );
}

#[test]
fn ten_disks_beat_one_drive_where_leaves_follow_each_other() {
    let (built, jumps) = leaves(IndexKind::Built);
    let built = Devices::new().seconds(&built, ONE_BY_ONE);
    hold_c41(
        "C41 (B-tree, built)",
        OF_LEAVES,
        &ratios(&built),
        [0.73, 0.45, 0.65, 0.46],
        &format!("; {:.1} % of leaves don't follow the one before", jumps * 100.0),
        Verdict::NotMet(
            "where leaves follow each other the array reads ahead and its bandwidth wins; the paper doesn't say how its indexes were made",
        ),
    );
    hold_c42(
        "C42 (B-tree, built)",
        OF_LEAVES,
        growth(&built),
        [2.35, 1.45, 2.27, 1.64],
        "both kinds grow with the bytes of a leaf's keys, delay as diverted does: 1.9 and 1.2 times the paper's growth for diverted (the second is \
         met), 0.43 and 0.33 times for delay, whose results are the processor's work",
    );
}

const OF_COLUMNS: &str = "600 000 made-up flights 117 times over, whole columns read by the flexible plan in 64 MiB; crucial-m4-256 on a port of 3 Gb/s and \
                          regola-raid10, new, cold; no processor time";

#[test]
fn ten_disks_beat_one_drive_where_columns_are_long() {
    let directory = tempfile::tempdir().unwrap();
    let snapshot = table(directory.path()).snapshot().unwrap();
    let devices = Devices::new();
    let played = |rows: &Snapshot, query| devices.seconds(&whole_columns(rows, query), Strategy::Flexible)[0];
    let scanned: Vec<[f64; 2]> = queries().into_iter().map(|query| played(&snapshot, query)).collect();
    let projected = queries().into_iter().map(|query| {
        let covering = snapshot.covering(&ScanSpec::of(names(query)));
        let own = covering.into_iter().find(|projection| projection.columns == names(query)).unwrap();
        played(&snapshot.projection(own).unwrap(), query)
    });
    let projected: Vec<[f64; 2]> = projected.collect();
    let verdict = Verdict::NotMet(
        "the SSD wins the simple diverted cube alone, which wants a few bytes of each row group with seeks between them; columns that are long go at the \
         bandwidth of ten disks",
    );
    let [of_scan, of_projection] = [&scanned, &projected].map(|times| ratios(times));
    hold_c41("C41 (scan)", OF_COLUMNS, &of_scan, [7.39, 0.77, 0.85, 0.70], "", verdict);
    hold_c41("C41 (projection)", OF_COLUMNS, &of_projection, [11.03, 0.44, 1.02, 0.46], "", verdict);
    let why = "the simple diverted cube is so few bytes that diverted grows by more than delay, the reverse of the paper, whose delay cubes have results \
               that are the processor's work";
    hold_c42("C42 (scan)", OF_COLUMNS, growth(&scanned), [39.20, 4.09, 2.69, 2.21], why);
    hold_c42("C42 (projection)", OF_COLUMNS, growth(&projected), [318.30, 12.72, 44.46, 20.22], why);
}

/// Shares of leaves that don't follow the previous one.
const SHARES: [f64; 9] = [0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0];
/// Size of the paper's largest index: larger than any cache.
const INDEX_BYTES: u64 = 2 << 30;
const LEAVES_READ: usize = 10_000;

/// Share of jumps at which the SSD overtakes the array.
fn turning(devices: &Devices, page_bytes: u64) -> f64 {
    let want = |step: u64| Want {
        file: FileId(0),
        offset_bytes: step * page_bytes,
        length_bytes: page_bytes,
        step: u32::try_from(step).unwrap(),
    };
    let wants = (0..INDEX_BYTES / page_bytes).map(want).collect();
    let leaves = RecordedQuery { wants, ..RecordedQuery::default() };
    let played = SHARES.map(|share| with_jumps(&leaves, share, 1, LEAVES_READ));
    let times = devices.seconds(&recording(INDEX_BYTES, played.into()), ONE_BY_ONE);
    let times: Vec<_> =
        SHARES.into_iter().zip(times).map(|(share, [ssd, array])| (share, ssd, array)).collect();
    turning_share(&times).unwrap_or_else(|| panic!("it turns nowhere: {times:?}"))
}

#[test]
fn it_turns_at_a_small_share_of_jumps() {
    let devices = Devices::new();
    let [small, large] = [8 << 10, 32 << 10].map(|page_bytes| turning(&devices, page_bytes));
    Entry {
        id: "C41 (where it turns)",
        paper: C41,
        precondition: "10 000 pages of 8 and of 32 KiB out of 2 GiB, read one after the other: in the order of the file, cut into more and more runs that come in a \
                       random order; crucial-m4-256 on a port of 3 Gb/s and regola-raid10, new, cold; no processor time",
        tolerance: "0.1 to 1 % of jumps, and later with larger pages: bounds of our own, because the paper names no share",
        model: format!("the SSD is faster above {:.2} % (8 KiB) and {:.2} % (32 KiB) of jumps", 100.0 * small, 100.0 * large),
        verdict: Verdict::Partly("the paper names no share; it says which device won, which by this takes an index that is hardly in order"),
    }
    .print();
    assert!(0.001 < small && small < large && large < 0.01, "{small} {large}");
}
