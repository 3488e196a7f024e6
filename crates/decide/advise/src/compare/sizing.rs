use nandle_profile::{DeviceProfile, Interval};
use serde::Serialize;

use crate::economics::{
    Processor, break_even_seconds, drives_per_processor, index_rows, index_share, mixed_iops, per_money,
    speed_up,
};
use crate::figures::Figures;
use crate::settings::{Figure, MissingFigure};
use nandle_profile::arithmetic::{map, map_falling};

/// Workload and machine that drives are sized for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizingQuestion {
    /// Share of page requests that are reads.
    pub read_share: f64,
    /// Page size of the database.
    pub page_bytes: u64,
    /// Processor of the machine.
    pub processor: Processor,
    /// Share of the database's time that is spent in I/O.
    pub io_share: f64,
    /// Price of a byte of memory, in the currency of the drive prices.
    pub memory_price_per_byte: Option<f64>,
    /// Size of the table that is scanned or looked up.
    pub table_bytes: u64,
}

/// Performance of one drive per price and per machine, with intervals derived from the
/// measurements. A figure is `null` if the profile or the prices don't support it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Sizing {
    /// Price of the drive.
    pub price: Option<f64>,
    /// Random page reads per second at the best queue depth.
    pub read_iops: Option<Interval<f64>>,
    /// Random page writes per second in the steady state.
    pub write_iops: Option<Interval<f64>>,
    /// Bandwidth of sequential reads.
    pub read_bandwidth_bytes_per_s: Option<Interval<f64>>,
    /// Bandwidth of sequential writes.
    pub write_bandwidth_bytes_per_s: Option<Interval<f64>>,
    /// Random page reads per second per unit of money.
    pub read_iops_per_money: Option<Interval<f64>>,
    /// Random page writes per second per unit of money.
    pub write_iops_per_money: Option<Interval<f64>>,
    /// Sequential read bandwidth per unit of money.
    pub read_bytes_per_s_per_money: Option<Interval<f64>>,
    /// Sequential write bandwidth per unit of money.
    pub write_bytes_per_s_per_money: Option<Interval<f64>>,
    /// Page requests per second in the workload's mix of reads and writes.
    pub mixed_iops: Option<Interval<f64>>,
    /// Drives that keep one processor busy with the mix (balanced-system law).
    pub drives_per_processor: Option<Interval<f64>>,
    /// Price of the drives for one processor.
    pub price_per_processor: Option<Interval<f64>>,
    /// Speed-up of the database compared with the first drive (Amdahl).
    pub speed_up_of_first: Option<Interval<f64>>,
    /// Time between accesses above which rereading a page is cheaper than caching it (five-minute
    /// rule).
    pub keep_in_memory_s: Option<Interval<f64>>,
    /// Largest result for which an index scan at depth 1 beats a table scan.
    pub index_one_by_one: Option<BreakEven>,
    /// Largest result for which an index scan with prefetching beats a table scan.
    pub index_many_at_a_time: Option<BreakEven>,
    /// Figures that the profile lacks, with the way to measure them.
    pub missing: Vec<MissingFigure>,
}

/// Largest result for which an index scan beats a table scan with a cold cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BreakEven {
    /// Time of a random page divided by that of a sequential page; the other fields follow from it.
    pub page_cost_ratio: Interval<f64>,
    /// Share of the table's pages.
    pub page_share: Interval<f64>,
    /// Rows of the table, each fetched by one random read.
    pub rows: Interval<f64>,
}

/// Sizes each drive; speed-ups are compared with the first one.
pub fn size(drives: &[(&DeviceProfile, Option<f64>)], question: &SizingQuestion) -> Vec<Sizing> {
    let mut sizings: Vec<Sizing> =
        drives.iter().map(|(profile, price)| size_one(profile, *price, question)).collect();
    let first = sizings.first().and_then(|sizing| sizing.mixed_iops);
    for (index, sizing) in sizings.iter_mut().enumerate() {
        let against =
            |own: Interval<f64>, first| if index == 0 { Interval::exact(1.0) } else { own.over(&first) };
        let factor = sizing.mixed_iops.zip(first).map(|(own, first)| against(own, first));
        sizing.speed_up_of_first =
            factor.map(|factor| map(&factor, |factor| speed_up(question.io_share, factor)));
    }
    sizings
}

fn size_one(profile: &DeviceProfile, price: Option<f64>, question: &SizingQuestion) -> Sizing {
    let figures = Figures::of(profile);
    let mut missing = Vec::new();
    let mut take = |figure: Result<Figure, MissingFigure>| {
        figure.map(|figure| figure.value).map_err(|figure| missing.push(figure)).ok()
    };
    let mut sizing = Sizing {
        price,
        read_iops: take(figures.random_read_iops(question.page_bytes)),
        write_iops: take(figures.steady_write_iops(question.page_bytes)),
        read_bandwidth_bytes_per_s: take(figures.sequential_read_bandwidth()),
        write_bandwidth_bytes_per_s: take(figures.sequential_write_bandwidth()),
        ..Sizing::default()
    };
    match figures.page_cost_ratios(question.page_bytes) {
        Ok((alone, together)) => {
            let many = together.as_ref().unwrap_or(&alone);
            sizing.index_many_at_a_time = Some(break_even(&many.value, question));
            sizing.index_one_by_one = Some(break_even(&alone.value, question));
        }
        Err(figure) => missing.push(figure),
    }
    sizing.missing = missing;
    for_money(&mut sizing);
    for_machine(&mut sizing, question);
    sizing.keep_in_memory_s = keep_in_memory(&sizing, question);
    sizing
}

fn for_money(sizing: &mut Sizing) {
    let by_price = |figure: Option<Interval<f64>>| {
        figure.zip(sizing.price).map(|(figure, price)| map(&figure, |figure| per_money(figure, price)))
    };
    (sizing.read_iops_per_money, sizing.write_iops_per_money) =
        (by_price(sizing.read_iops), by_price(sizing.write_iops));
    (sizing.read_bytes_per_s_per_money, sizing.write_bytes_per_s_per_money) =
        (by_price(sizing.read_bandwidth_bytes_per_s), by_price(sizing.write_bandwidth_bytes_per_s));
}

/// A read-only workload needs no write figures, and a write-only workload no read figures.
fn for_machine(sizing: &mut Sizing, question: &SizingQuestion) {
    let unused = Interval::exact(f64::INFINITY);
    let side = |share: f64, iops: Option<Interval<f64>>| if share > 0.0 { iops } else { Some(unused) };
    let read = side(question.read_share, sizing.read_iops);
    let write = side(1.0 - question.read_share, sizing.write_iops);
    sizing.mixed_iops = read.zip(write).map(|(read, write)| {
        let mixed = |read, write| mixed_iops(question.read_share, read, write);
        Interval {
            value: mixed(read.value, write.value),
            low: mixed(read.low, write.low),
            high: mixed(read.high, write.high),
        }
    });
    let drives = |iops| drives_per_processor(question.processor, question.page_bytes, iops);
    sizing.drives_per_processor = sizing.mixed_iops.map(|iops| map_falling(&iops, drives));
    let priced = sizing.drives_per_processor.zip(sizing.price);
    sizing.price_per_processor = priced.map(|(drives, price)| map(&drives, |drives| drives * price));
}

fn keep_in_memory(sizing: &Sizing, question: &SizingQuestion) -> Option<Interval<f64>> {
    let (price, memory) = sizing.price.zip(question.memory_price_per_byte)?;
    let seconds = |iops| break_even_seconds(price, iops, memory, question.page_bytes);
    sizing.read_iops.map(|iops| map_falling(&iops, seconds))
}

fn break_even(page_cost_ratio: &Interval<f64>, question: &SizingQuestion) -> BreakEven {
    let rows = |ratio| index_rows(question.table_bytes as f64, question.page_bytes, ratio);
    BreakEven {
        page_cost_ratio: *page_cost_ratio,
        page_share: map_falling(page_cost_ratio, index_share),
        rows: map_falling(page_cost_ratio, rows),
    }
}
