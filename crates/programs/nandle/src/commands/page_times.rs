//! Request times of a page store, derived from a profile.

use nandle_advise::pages::PageFigures;
use nandle_pages::PageTimes;

/// Converts a profile's figures to those of the store's prediction.
pub(crate) fn page_times(figures: &PageFigures) -> PageTimes {
    PageTimes {
        request_ns: figures.request.value.value,
        sequential_ns: figures.sequential.value.value,
        focused_ns: figures.focused.value.value,
        focused_area_bytes: figures.focused_area_bytes,
        random_ns: figures.random.value.value,
        random_deep_ns: figures.random_deep.value.value,
        read_deep_ns: figures.read_deep.value.value,
        flush_ns: figures.flush.value.value,
    }
}
