use nandle_profile::DeviceProfile;
use serde::Serialize;

use crate::economics::{
    Processor, break_even_seconds, drives_per_processor, index_rows, index_share, mixed_iops, per_money,
    speed_up,
};
use crate::figures::Figures;
use crate::settings::{Figure, Lack};

/// For what drives are weighed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizingQuestion {
    /// Share of page requests that read; the rest writes.
    pub read_share: f64,
    /// The database's page.
    pub page_bytes: u64,
    /// The machine's processors.
    pub processor: Processor,
    /// Share of its time that the database spends in I/O.
    pub io_share: f64,
    /// What a byte of memory costs, in the money of the drives' prices.
    pub memory_price_per_byte: Option<f64>,
    /// The table that is scanned or sought in.
    pub table_bytes: u64,
}

/// A drive, weighed. What the profile doesn't support, or no price was given for, is `null`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Sizing {
    /// What it costs.
    pub price: Option<f64>,
    /// Random page reads per second at the best depth.
    pub read_iops: Option<f64>,
    /// Random page writes per second in the steady state.
    pub write_iops: Option<f64>,
    /// Sequential reading.
    pub read_bandwidth_bytes_per_s: Option<f64>,
    /// Sequential writing.
    pub write_bandwidth_bytes_per_s: Option<f64>,
    /// Random page reads per second for a unit of money.
    pub read_iops_per_money: Option<f64>,
    /// Random page writes per second for a unit of money.
    pub write_iops_per_money: Option<f64>,
    /// Sequential reading for a unit of money.
    pub read_bytes_per_s_per_money: Option<f64>,
    /// Sequential writing for a unit of money.
    pub write_bytes_per_s_per_money: Option<f64>,
    /// Page requests per second of the mix.
    pub mixed_iops: Option<f64>,
    /// Drives that keep one processor busy with the mix (balanced-system law).
    pub drives_per_processor: Option<f64>,
    /// Processors that one drive keeps busy.
    pub processors_per_drive: Option<f64>,
    /// What the drives for one processor cost.
    pub price_per_processor: Option<f64>,
    /// How much faster the database becomes on this drive than on the first one (Amdahl).
    pub speed_up_of_first: Option<f64>,
    /// After this time a page is better read again than kept in memory (five-minute rule).
    pub keep_in_memory_s: Option<f64>,
    /// Share of a table's pages up to which an index beats a scan.
    pub index_break_even_share: Option<f64>,
    /// Rows of the table up to which an index beats a scan, each with a random read.
    pub index_break_even_rows: Option<f64>,
    /// What the profile lacks, and how it is had.
    pub missing: Vec<Lack>,
}

/// Weighs drives; the first is the one that others are held against.
pub fn size(drives: &[(&DeviceProfile, Option<f64>)], question: &SizingQuestion) -> Vec<Sizing> {
    let mut sizings: Vec<Sizing> =
        drives.iter().map(|(profile, price)| one(profile, *price, question)).collect();
    let first = sizings.first().and_then(|sizing| sizing.mixed_iops);
    for sizing in &mut sizings {
        let factor = sizing.mixed_iops.zip(first).map(|(own, first)| own / first);
        sizing.speed_up_of_first = factor.map(|factor| speed_up(question.io_share, factor));
    }
    sizings
}

fn one(profile: &DeviceProfile, price: Option<f64>, question: &SizingQuestion) -> Sizing {
    let figures = Figures::of(profile);
    let mut missing = Vec::new();
    let mut take = |figure: Result<Figure, Lack>| {
        figure.map(|figure| figure.value.value).map_err(|lack| missing.push(lack)).ok()
    };
    let mut sizing = Sizing {
        price,
        read_iops: take(figures.random_read_iops(question.page_bytes)),
        write_iops: take(figures.steady_write_iops(question.page_bytes)),
        read_bandwidth_bytes_per_s: take(figures.sequential_read_bandwidth()),
        write_bandwidth_bytes_per_s: take(figures.sequential_write_bandwidth()),
        ..Sizing::default()
    };
    sizing.missing = missing;
    for_money(&mut sizing);
    for_machine(&mut sizing, question);
    for_memory_and_index(&mut sizing, question);
    sizing
}

fn for_money(sizing: &mut Sizing) {
    let by_price = |figure: Option<f64>| Some(per_money(figure?, sizing.price?));
    (sizing.read_iops_per_money, sizing.write_iops_per_money) =
        (by_price(sizing.read_iops), by_price(sizing.write_iops));
    (sizing.read_bytes_per_s_per_money, sizing.write_bytes_per_s_per_money) =
        (by_price(sizing.read_bandwidth_bytes_per_s), by_price(sizing.write_bandwidth_bytes_per_s));
}

/// A workload that doesn't write doesn't need figures of writing, and the other way round.
fn for_machine(sizing: &mut Sizing, question: &SizingQuestion) {
    let side = |share: f64, iops: Option<f64>| if share > 0.0 { iops } else { Some(f64::INFINITY) };
    let read = side(question.read_share, sizing.read_iops);
    let write = side(1.0 - question.read_share, sizing.write_iops);
    let mixed = read.zip(write).map(|(read, write)| mixed_iops(question.read_share, read, write));
    let drives = mixed.map(|iops| drives_per_processor(question.processor, question.page_bytes, iops));
    sizing.mixed_iops = mixed;
    sizing.drives_per_processor = drives;
    sizing.processors_per_drive = drives.map(|drives| 1.0 / drives);
    sizing.price_per_processor = drives.zip(sizing.price).map(|(drives, price)| drives * price);
}

fn for_memory_and_index(sizing: &mut Sizing, question: &SizingQuestion) {
    sizing.keep_in_memory_s = (|| {
        let memory = question.memory_price_per_byte?;
        Some(break_even_seconds(sizing.price?, sizing.read_iops?, memory, question.page_bytes))
    })();
    let rates = sizing.read_iops.zip(sizing.read_bandwidth_bytes_per_s);
    sizing.index_break_even_share =
        rates.map(|(iops, bytes_per_s)| index_share(question.page_bytes, iops, bytes_per_s));
    sizing.index_break_even_rows =
        rates.map(|(iops, bytes_per_s)| index_rows(question.table_bytes as f64, iops, bytes_per_s));
}
