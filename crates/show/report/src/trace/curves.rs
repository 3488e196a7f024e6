use nandle_trace::{RunShare, TraceStatistics};

use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis};
use crate::text::{self, Quantity};

fn percent(share: f64) -> String {
    format!("{} %", text::significant(100.0 * share, 2))
}

fn figure(plot: Plot, finding: String, note: &str) -> Option<Figure> {
    (!plot.views.is_empty()).then(|| Figure::Plot(Plot { finding, note: note.to_owned(), ..plot }))
}

/// Time until a page is written again.
pub(super) fn rewrites(found: &TraceStatistics) -> Option<Figure> {
    let last = found.rewrites.last()?;
    let points =
        found.rewrites.iter().map(|rewrite| Point::bare(rewrite.within_writes as f64, rewrite.share));
    let curve = Curve::joined("written again within", Look::Kind(0), points.collect());
    let axes = (XAxis::Count("Page writes since its last write"), YAxis::Share("Share of all page writes"));
    let plot = Plot::joined("rewrites", "Rewrite distances", axes, "", View::single(vec![curve]));
    let half = found.rewrites.iter().find(|rewrite| rewrite.share >= last.share / 2.0)?;
    let finding = format!(
        "{} of the page writes are rewrites, half of them within {}.",
        percent(last.share),
        text::plural(half.within_writes, "write")
    );
    figure(
        plot,
        finding,
        "Share that a write buffer of that many pages would absorb if it kept \
        the newest.",
    )
}

/// Distribution of the writes over the pages.
pub(super) fn skew(found: &TraceStatistics) -> Option<Figure> {
    let tenth =
        found.skew.iter().min_by(|a, b| (a.of_pages - 0.1).abs().total_cmp(&(b.of_pages - 0.1).abs()))?;
    let points = found.skew.iter().map(|skew| Point::bare(100.0 * skew.of_pages, skew.of_writes));
    let curve = Curve::joined("most-written pages", Look::Kind(0), points.collect());
    let axes = (XAxis::Count("Most-written pages, % of all"), YAxis::Share("Share of all page writes"));
    let plot = Plot::joined("skew", "Skew", axes, "", View::single(vec![curve]));
    let finding = format!(
        "The most-written {} of the pages receive {} of the writes.",
        percent(tenth.of_pages),
        percent(tenth.of_writes)
    );
    figure(
        plot,
        finding,
        "The further it is above the pages’ own share, the more a small fast tier is worth.",
    )
}

/// Runs of consecutive pages among the collected writes.
pub(super) fn runs(found: &TraceStatistics) -> Option<Figure> {
    type Share = fn(&RunShare) -> f64;
    const SHARES: [(&str, Share); 4] = [
        ("in runs of 2 and more", |run| run.in_runs_of_2),
        ("in runs of 4 and more", |run| run.in_runs_of_4),
        ("in runs of 16 and more", |run| run.in_runs_of_16),
        ("rewritten meanwhile", |run| run.rewritten),
    ];
    let largest = found.runs.last()?;
    let curve = |(kind, (name, share)): (usize, &(&str, Share))| {
        let points = found.runs.iter().map(|run| Point::bare(run.window_writes as f64, share(run)));
        Curve::joined(*name, Look::Kind(kind), points.collect())
    };
    let curves = SHARES.iter().enumerate().map(curve).collect();
    let axes = (XAxis::Count("Page writes collected"), YAxis::Share("Share of the pages"));
    let plot = Plot::joined("runs", "Runs", axes, "", View::single(curves));
    let finding = format!(
        "Of {} collected, {} of the pages have a neighbour; the longest run has {}.",
        text::plural(largest.window_writes, "write"),
        percent(largest.in_runs_of_2),
        text::plural(largest.longest_pages, "page")
    );
    figure(
        plot,
        finding,
        "Pages that a staging area of that size can destage in sequence, or need not destage at \
        all.",
    )
}

/// Writes that gather in an area.
pub(super) fn areas(found: &TraceStatistics) -> Option<Figure> {
    let largest = found.areas.last()?;
    let points = found.areas.iter().map(|area| Point::bare(area.area_bytes as f64, area.writes_per_area));
    let curve = Curve::joined("writes per touched area", Look::Kind(0), points.collect());
    let axes = (XAxis::Size("Size of an area"), YAxis::Number("Mean writes per touched area"));
    let plot = Plot::joined("areas", "Areas", axes, "", View::single(vec![curve]));
    let finding = format!(
        "{} consecutive page writes put {} into each area of {} that they touch.",
        text::plural(largest.window_writes, "write"),
        text::significant(largest.writes_per_area, 3),
        Quantity::size(largest.area_bytes)
    );
    figure(
        plot,
        finding,
        "Drives that map large units rewrite one per touched area: the more writes share it, the \
        better.",
    )
}

/// Writes to the two busiest areas.
pub(super) fn busiest(found: &TraceStatistics) -> Option<Figure> {
    let largest = found.areas.last()?;
    let points = found.areas.iter().map(|area| Point::bare(area.area_bytes as f64, area.in_busiest_two));
    let curve = Curve::joined("in the busiest two", Look::Kind(0), points.collect());
    let axes = (XAxis::Size("Size of an area"), YAxis::Share("Share of the writes"));
    let plot = Plot::joined("busiest-areas", "The busiest areas", axes, "", View::single(vec![curve]));
    let finding = format!(
        "The two busiest areas of {} receive {} of {} consecutive writes.",
        Quantity::size(largest.area_bytes),
        percent(largest.in_busiest_two),
        text::plural(largest.window_writes, "write")
    );
    figure(
        plot,
        finding,
        "Focused writing: the share that could stay in an area where writes are \
        cheap.",
    )
}
