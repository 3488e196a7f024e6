use nandle_profile::{DeviceProfile, Interval};
use serde::Serialize;

use crate::economics::{
    Processor, break_even_seconds, drives_per_processor, index_rows, index_share, mixed_iops, per_money,
    speed_up,
};
use crate::figures::Figures;
use crate::settings::{Figure, MissingFigure};
use nandle_profile::arithmetic::{map, map_falling};

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

/// A drive, weighed, each figure with the interval that follows from those of the measurements. What the profile doesn't
/// support, or no price was given for, is `null`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Sizing {
    /// What it costs.
    pub price: Option<f64>,
    /// Random page reads per second at the best depth.
    pub read_iops: Option<Interval<f64>>,
    /// Random page writes per second in the steady state.
    pub write_iops: Option<Interval<f64>>,
    /// Sequential reading.
    pub read_bandwidth_bytes_per_s: Option<Interval<f64>>,
    /// Sequential writing.
    pub write_bandwidth_bytes_per_s: Option<Interval<f64>>,
    /// Random page reads per second for a unit of money.
    pub read_iops_per_money: Option<Interval<f64>>,
    /// Random page writes per second for a unit of money.
    pub write_iops_per_money: Option<Interval<f64>>,
    /// Sequential reading for a unit of money.
    pub read_bytes_per_s_per_money: Option<Interval<f64>>,
    /// Sequential writing for a unit of money.
    pub write_bytes_per_s_per_money: Option<Interval<f64>>,
    /// Page requests per second of the mix.
    pub mixed_iops: Option<Interval<f64>>,
    /// Drives that keep one processor busy with the mix (balanced-system law).
    pub drives_per_processor: Option<Interval<f64>>,
    /// What the drives for one processor cost.
    pub price_per_processor: Option<Interval<f64>>,
    /// How much faster the database becomes on this drive than on the first one (Amdahl).
    pub speed_up_of_first: Option<Interval<f64>>,
    /// After this time a page is better read again than kept in memory (five-minute rule).
    pub keep_in_memory_s: Option<Interval<f64>>,
    /// Up to what an index beats a scan when it reads one page after the other.
    pub index_one_by_one: Option<BreakEven>,
    /// The same of an index whose pages are fetched many at a time.
    pub index_many_at_a_time: Option<BreakEven>,
    /// What the profile lacks, and how it is had.
    pub missing: Vec<MissingFigure>,
}

/// Up to what an index beats a scan, when nothing is cached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BreakEven {
    /// Time of a random page by that of one in sequence, from which the others follow.
    pub page_cost_ratio: Interval<f64>,
    /// Share of a table's pages.
    pub page_share: Interval<f64>,
    /// Rows of the table, each with a random read.
    pub rows: Interval<f64>,
}

/// Weighs drives; the first is the one that others are held against.
pub fn size(drives: &[(&DeviceProfile, Option<f64>)], question: &SizingQuestion) -> Vec<Sizing> {
    let mut sizings: Vec<Sizing> =
        drives.iter().map(|(profile, price)| one(profile, *price, question)).collect();
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

fn one(profile: &DeviceProfile, price: Option<f64>, question: &SizingQuestion) -> Sizing {
    let figures = Figures::of(profile);
    let mut missing = Vec::new();
    let mut take = |figure: Result<Figure, MissingFigure>| {
        figure.map(|figure| figure.value).map_err(|lack| missing.push(lack)).ok()
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
        Err(lack) => missing.push(lack),
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

/// A workload that doesn't write doesn't need figures of writing, and the other way round.
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
