//! What requests of a page store's pages take.

use nandle_profile::Interval;
use nandle_profile::arithmetic::{inverse, map, product};
use nandle_units::format_bytes;

use super::Figures;
use super::physics::non_falling;
use super::words::{bounded, time};
use super::writes::PROBE_WRITES;
use crate::pages::PageFigures;
use crate::settings::{Figure, MissingFigure};

/// A write so many times as long as a page tells what a byte takes.
const LONG_BY_PAGE: u64 = 4;
/// What is written so many at a time is not written alone.
const DEEP_MIN: u32 = 4;

fn lack(needs: &'static str) -> MissingFigure {
    MissingFigure { needs, how: PROBE_WRITES }
}

impl Figures<'_> {
    /// All of them, for pages of one length.
    pub(crate) fn of_pages(&self, device: String, page_bytes: u64) -> Result<PageFigures, MissingFigure> {
        let (alone_ns, sequential) = self.sequential_pages(page_bytes)?;
        let request = map(&alone_ns, |ns| (ns - sequential.value.value).max(0.0));
        let page = format_bytes(page_bytes);
        let says = format!("a sequential write takes {} beside its bytes", bounded(&request, time));
        let random = self.random_write_of(page_bytes)?;
        let (focused, focused_area_bytes) = self.focused_page(&alone_ns, &random);
        let flush = self.flush_mean_of(page_bytes).or_else(|_| self.flush_mean(page_bytes))?;
        let alone_flush = map(&flush.value, |ns| (ns - alone_ns.value).max(0.0));
        let flush_says = format!("{}, of which the write is {}", flush.says, bounded(&alone_ns, time));
        let read = self.random_read_iops(page_bytes)?;
        let read_ns = inverse(1e9, &read.value);
        let read_says =
            format!("random reads of {page}, several at a time: {} each", bounded(&read_ns, time));
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

    /// A sequential write of one page, and each page in a long one.
    fn sequential_pages(&self, page_bytes: u64) -> Result<(Interval<f64>, Figure), MissingFigure> {
        let alone = self.plain_writes("sequential").filter(|row| row.queue_depth == 1);
        let times = non_falling(alone.map(|row| (row.block_bytes, row.request_ns)).collect());
        let missing = lack("sequential writes of a page, and of several pages at once");
        let (_, short) = times.iter().find(|(bytes, _)| *bytes == page_bytes).ok_or(missing)?;
        let long = times.last().filter(|(bytes, _)| *bytes >= LONG_BY_PAGE * page_bytes);
        let (long_bytes, long) = long.ok_or(missing)?;
        let pages = (*long_bytes / page_bytes) as f64;
        let page = map(long, |ns| ((ns - short.value) / (pages - 1.0)).clamp(0.0, short.value));
        let says = format!(
            "sequential writes of {} and of {} take {} and {}: {} for a page more",
            format_bytes(page_bytes),
            format_bytes(*long_bytes),
            bounded(short, time),
            bounded(long, time),
            bounded(&page, time)
        );
        Ok((*short, Figure::new("sequential_ns", page, says)))
    }

    /// A page in the largest area in which random writes are cheap, and how large that is; a page anywhere, where there is none.
    fn focused_page(&self, alone_ns: &Interval<f64>, random: &Figure) -> (Figure, u64) {
        let derived = &self.profile.derived;
        let focused =
            derived.write_pattern_cost.and_then(|cost| cost.focused).zip(derived.focused_area_bytes);
        let cheap = focused.map(|(times, area)| (product(alone_ns, &times), area.value));
        let cheap = cheap.filter(|(ns, _)| ns.value <= random.value.value);
        let (ns, area_bytes, says) = match cheap {
            Some((ns, area_bytes)) => {
                let says = format!(
                    "a random write within {} takes {}",
                    format_bytes(area_bytes),
                    bounded(&ns, time)
                );
                (ns, area_bytes, says)
            }
            None => (random.value, 0, "no area is known in which random writes are cheaper".to_owned()),
        };
        (Figure::new("focused_ns", ns, says), area_bytes)
    }

    /// Random writes of a page, several at a time: as measured, or of larger writes in proportion.
    fn random_write_deep(&self, page_bytes: u64, random: &Figure) -> Figure {
        let measured = self.small_writes(page_bytes).filter(|(depth, _)| *depth >= DEEP_MIN);
        let measured = measured.max_by_key(|(depth, _)| *depth).map(|(_, rate)| inverse(1e9, &rate));
        let ns = measured.or_else(|| Some(product(&random.value, &self.deep_by_alone()?)));
        let (ns, how) = match ns {
            Some(ns) if ns.value <= random.value.value => (ns, "several at a time"),
            _ => (random.value, "one at a time, and no faster when several are under way"),
        };
        let says =
            format!("random writes of {}, {how}: {} each", format_bytes(page_bytes), bounded(&ns, time));
        Figure::new("random_deep_ns", ns, says)
    }

    /// Random writes of the size at which several at a time were measured, by those alone.
    fn deep_by_alone(&self) -> Option<Interval<f64>> {
        let deep = self.plain_writes("random").max_by_key(|row| row.queue_depth)?;
        let alone = self.random_writes_alone().find(|row| row.block_bytes == deep.block_bytes)?;
        (deep.queue_depth >= DEEP_MIN).then(|| deep.request_ns.over(&alone.request_ns))
    }
}
