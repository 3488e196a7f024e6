use maud::{Markup, html};

use super::Level;
use super::fold::fold;

/// Summary of the method.
pub(crate) fn method(level: Level) -> Markup {
    let body = html! {
        div.method {
            p {
                "Every combination of pattern, block size, group size and queue depth is a cell. \
                A cell is measured in short slices, spread over the whole probe in random order, \
                so that a slow minute affects all cells alike. A reference cell is measured in \
                between; bandwidths are corrected for its drift as far as that makes equal slices \
                more alike."
            }
            p {
                "Intervals contain 95 % of many random draws from the measured cells’ \
                distributions. A knee, such as the saturating depth, is the least value within 10 \
                % of the plateau; the upper end of its interval is safe. A latency quantile is \
                given only if at least ten requests were slower."
            }
            p {
                "Cells that were not measured come from a curve fitted to the others: a latency \
                bound, a request-rate bound and a bandwidth bound, joined smoothly, plus the \
                interpolated residuals of the measured cells."
            }
            p {
                "The grid of block size, group size and queue depth, and the flexible I/O unit, follow Baumann, de \
                 Nijs, Strobel and Sattler, “Flashing Databases: Expectations and Limitations”, DaMoN 2010. \
                 Bandwidths are decimal (1 MB/s is 10" sup { "6" } " bytes per second), block \
                     sizes binary (1KiB is 1024 bytes)."
            }
        }
    };
    fold("method", "Method", level, &body)
}
