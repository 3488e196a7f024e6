//! What requests of a page store's pages take, in the words of the store.

use nandle_advise::pages::PageFigures;
use nandle_pages::PageTimes;

/// The figures of a profile as the store predicts by them.
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
