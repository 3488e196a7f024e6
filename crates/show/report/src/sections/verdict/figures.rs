use maud::{Markup, html};
use nandle_advise::verdict::{
    CACHE_MARK, DIGITS_MAX, DepthOneLatency, FigureRow, TimeUnit, Verdict, digits_of,
};

use super::bound_units;
use crate::sections::Level;
use crate::text;

/// Table of common database loads.
pub(crate) fn figures(verdict: &Verdict, level: Level) -> Markup {
    let rows = &verdict.figures;
    let unit = TimeUnit::of(rows);
    let name = match unit {
        TimeUnit::Microseconds => "µs",
        TimeUnit::Milliseconds => "ms",
    };
    html! {
        section.load-figures {
            (level.heading("Figures"))
            div.scroll tabindex="0" role="region" aria-label="Figures by load" {
                table.load-table {
                    thead {
                        tr {
                            td {}
                            th scope="colgroup" colspan="2" { "At depth 1, " (name) }
                            th scope="colgroup" colspan="3" { "At most" }
                        }
                        tr {
                            th scope="col" { "Load" }
                            @for head in ["p50", "p99", "per second", "MB/s", "at depth"] { th scope="col" { (head) } }
                        }
                    }
                    tbody { @for row in rows { (row_of(row, unit)) } }
                }
            }
            p.aside { "– not timed, or too few for that quantile." }
            @if let Some(cached) = &verdict.cached_figures { p.aside { (CACHE_MARK) " " (bound_units(cached)) } }
        }
    }
}

fn row_of(row: &FigureRow, unit: TimeUnit) -> Markup {
    let digits = i32::from(row.alone.map_or(DIGITS_MAX, |alone| alone.digits()));
    let time = |of: fn(&DepthOneLatency) -> Option<u64>| {
        let nanos = row.alone.as_ref().and_then(of);
        nanos.map_or_else(|| "–".to_owned(), |nanos| text::significant(nanos as f64 / unit.nanos(), digits))
    };
    html! {
        tr {
            th scope="row" { (text::bind(&row.marked_name())) }
            @match &row.missing {
                Some(missing) => td.none colspan="5" { "not measured; " (missing.how) },
                None => {
                    td { (time(|alone| alone.p50_ns)) }
                    td { (time(|alone| alone.p99_ns)) }
                    @match &row.most {
                        Some(most) => {
                            td { (text::significant(most.rate_per_s.value, i32::from(digits_of(&most.rate_per_s)))) }
                            td { (text::significant(most.bandwidth_bytes_per_s.value / 1e6, i32::from(digits_of(&most.bandwidth_bytes_per_s)))) }
                            td { (text::plain(u64::from(most.queue_depth))) }
                        },
                        None => { td { "–" } td { "–" } td { "–" } },
                    }
                },
            }
        }
    }
}
