//! Request times of a page store.

use nandle_profile::arithmetic::{inverse, map, product, sum};
use nandle_profile::{Interval, WritePatternCost};
use nandle_units::format_bytes;

use super::Figures;
use super::physics::{non_falling, time_of_size};
use super::words::{bounded, number, time};
use super::writes::PROBE_WRITES;
use crate::pages::PageFigures;
use crate::settings::{Figure, MissingFigure};

/// Pages in a write that is long enough to show the time of an additional page.
const LONG_BY_PAGE: u64 = 2;
/// Least queue depth that counts as several writes at a time.
const DEEP_MIN: u32 = 4;

fn missing_figure(needs: &'static str) -> MissingFigure {
    MissingFigure { needs, how: PROBE_WRITES }
}

impl Figures<'_> {
    /// Computes all figures for one page size.
    pub(crate) fn page_times(&self, device: String, page_bytes: u64) -> Result<PageFigures, MissingFigure> {
        let (alone_ns, sequential) = self.sequential_pages(page_bytes)?;
        let request = map(&alone_ns, |ns| (ns - sequential.value.value).max(0.0));
        let page = format_bytes(page_bytes);
        let says = format!("a sequential write has a fixed cost of {}", bounded(&request, time));
        let random = self.random_page(page_bytes)?;
        let (focused, focused_area_bytes) = self.focused_page(page_bytes, &alone_ns, &random);
        let flush = self.flush_mean_of(page_bytes).or_else(|_| self.flush_mean(page_bytes))?;
        let alone_flush = map(&flush.value, |ns| (ns - alone_ns.value).max(0.0));
        let flush_says = format!("{}, including {} for the write", flush.says, bounded(&alone_ns, time));
        let read = self.random_read_iops(page_bytes)?;
        let read_ns = inverse(1e9, &read.value);
        let read_says = format!("random reads of {page} at depth: {} each", bounded(&read_ns, time));
        Ok(PageFigures {
            device,
            request: Figure::new("request_ns", request, says),
            sequential,
            focused,
            focused_area_bytes,
            random_deep: self.random_write_deep(page_bytes, &random),
            random,
            read_deep: Figure::new("read_deep_ns", read_ns, read_says),
            flush: Figure::new("flush_ns", alone_flush, flush_says),
        })
    }

    /// Time of a sequential write of one page, and of each additional page in a long write.
    fn sequential_pages(&self, page_bytes: u64) -> Result<(Interval<f64>, Figure), MissingFigure> {
        let alone = self.plain_writes("sequential").filter(|row| row.queue_depth == 1);
        let times = non_falling(alone.map(|row| (row.block_bytes, row.request_ns)).collect());
        let missing = missing_figure("sequential writes of one page and of several pages");
        let short = time_of_size(&times, page_bytes).ok_or(missing)?;
        let long = times.last().filter(|(bytes, _)| *bytes >= LONG_BY_PAGE * page_bytes);
        let (long_bytes, long) = long.ok_or(missing)?;
        let pages = (*long_bytes / page_bytes) as f64;
        let page = map(long, |ns| ((ns - short.value) / (pages - 1.0)).clamp(0.0, short.value));
        let says = format!(
            "sequential writes of {} and {} take {} and {}{}: {} per additional page",
            format_bytes(page_bytes),
            format_bytes(*long_bytes),
            bounded(&short, time),
            bounded(long, time),
            not_measured(&times, page_bytes),
            bounded(&page, time)
        );
        Ok((short, Figure::new("sequential_ns", page, says)))
    }

    /// Time of a random page write at depth 1, measured or interpolated between two sizes.
    fn random_page(&self, page_bytes: u64) -> Result<Figure, MissingFigure> {
        let alone = self.random_writes_alone().map(|row| (row.block_bytes, row.request_ns));
        let times = non_falling(alone.collect());
        let ns = time_of_size(&times, page_bytes)
            .ok_or(missing_figure("the cost of random writes of several sizes"))?;
        let says = format!(
            "a random write of {} takes {}{}",
            format_bytes(page_bytes),
            bounded(&ns, time),
            not_measured(&times, page_bytes)
        );
        let by_cache =
            self.random_writes_alone().any(|row| row.block_bytes == page_bytes && self.cache_answers(row));
        Ok(Self::mark_cached(Figure::new("random_write_ns", ns, says), by_cache))
    }

    /// Time of a page write in the largest area with cheap random writes, and the area's size.
    /// Falls back to a page anywhere.
    fn focused_page(&self, page_bytes: u64, alone_ns: &Interval<f64>, random: &Figure) -> (Figure, u64) {
        let derived = &self.profile.derived;
        let cheap = derived.write_pattern_cost.zip(derived.focused_area_bytes).and_then(|(cost, area)| {
            Some((focused_ns(&cost, cost.focused?, page_bytes, alone_ns), cost, area.value))
        });
        let cheap = cheap.filter(|(ns, ..)| ns.value <= random.value.value);
        let (ns, area_bytes, says) = match cheap {
            Some((ns, cost, area_bytes)) => {
                let says = format!(
                    "a random write within {} takes {}{}",
                    format_bytes(area_bytes),
                    bounded(&ns, time),
                    from_larger(&cost, page_bytes)
                );
                (ns, area_bytes, says)
            }
            None => (random.value, 0, "no area with cheaper random writes is known".to_owned()),
        };
        (Figure::new("focused_ns", ns, says), area_bytes)
    }

    /// Time of a random page write at depth, measured or scaled from larger writes.
    fn random_write_deep(&self, page_bytes: u64, random: &Figure) -> Figure {
        let measured = self.small_writes(page_bytes).filter(|(depth, _)| *depth >= DEEP_MIN);
        let measured = measured.max_by_key(|(depth, _)| *depth).map(|(_, rate)| inverse(1e9, &rate));
        let ns = measured.or_else(|| Some(product(&random.value, &self.deep_by_alone()?)));
        let (ns, how) = match ns {
            Some(ns) if ns.value <= random.value.value => (ns, "at depth"),
            _ => (random.value, "at depth 1 (a deeper queue is no faster)"),
        };
        let says =
            format!("random writes of {}, {how}: {} each", format_bytes(page_bytes), bounded(&ns, time));
        Figure::new("random_deep_ns", ns, says)
    }

    /// Time of a random write at the greatest measured depth divided by the time at depth 1.
    fn deep_by_alone(&self) -> Option<Interval<f64>> {
        let deep = self.plain_writes("random").max_by_key(|row| row.queue_depth)?;
        let alone = self.random_writes_alone().find(|row| row.block_bytes == deep.block_bytes)?;
        (deep.queue_depth >= DEEP_MIN).then(|| deep.request_ns.over(&alone.request_ns))
    }
}

/// Time of a random page write in a small area. It adds a part of a block's extra time to a
/// sequential write. The extra time is mostly data that the drive moves, so a page takes its share
/// by bytes. The interval includes drives that move nothing, or a whole block per page.
fn focused_ns(
    cost: &WritePatternCost,
    times: Interval<f64>,
    page_bytes: u64,
    alone_ns: &Interval<f64>,
) -> Interval<f64> {
    if cost.block_bytes == page_bytes {
        return product(alone_ns, &times);
    }
    let more_ns = product(&cost.sequential_ns, &map(&times, |times| (times - 1.0).max(0.0)));
    let share = page_bytes as f64 / cost.block_bytes as f64;
    let own_ns = Interval { value: more_ns.value * share, low: 0.0, high: more_ns.high * share.max(1.0) };
    sum(alone_ns, &own_ns)
}

/// Explains a time scaled from another block size.
fn from_larger(cost: &WritePatternCost, page_bytes: u64) -> String {
    let Some(times) = cost.focused.filter(|_| cost.block_bytes != page_bytes) else { return String::new() };
    let block = format_bytes(cost.block_bytes);
    format!(
        "; measured with {block}, which take {} times as long there as in sequence; a page takes \
        its share of the extra time by bytes",
        bounded(&times, number)
    )
}

/// Explains a time interpolated between two sizes.
fn not_measured(times: &[(u64, Interval<f64>)], page_bytes: u64) -> String {
    if times.iter().any(|(bytes, _)| *bytes == page_bytes) {
        return String::new();
    }
    format!(" ({} interpolated between measured sizes)", format_bytes(page_bytes))
}
