//! What a page store asks of its device: the figures from which `nandle-pages` predicts what each of its policies takes.

use nandle_profile::DeviceProfile;
use serde::Serialize;

use crate::figures::{Figures, device_name};
use crate::settings::{Figure, MissingFigure};

/// Times of requests, in nanoseconds, each with the sentence that says where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageFigures {
    /// The device, by its name.
    pub device: String,
    /// A sequential write without its bytes.
    pub request: Figure,
    /// Each page in it.
    pub sequential: Figure,
    /// A page at random in a small area.
    pub focused: Figure,
    /// The largest area in which that was measured; 0 where there is none.
    pub focused_area_bytes: u64,
    /// A page anywhere, one at a time.
    pub random: Figure,
    /// A page anywhere, several at a time: elapsed time by pages.
    pub random_deep: Figure,
    /// Reading a page anywhere, several at a time: elapsed time by pages.
    pub read_deep: Figure,
    /// A flush after a write, without the write.
    pub flush: Figure,
}

impl PageFigures {
    /// Each of them, in a fixed order.
    pub fn each(&self) -> [&Figure; 7] {
        [
            &self.request,
            &self.sequential,
            &self.focused,
            &self.random,
            &self.random_deep,
            &self.read_deep,
            &self.flush,
        ]
    }
}

/// What a profile says of requests of pages of this length.
///
/// # Errors
/// The profile lacks one of the figures: which, and how it is had.
pub fn page_figures(profile: &DeviceProfile, page_bytes: u64) -> Result<PageFigures, MissingFigure> {
    Figures::of(profile).of_pages(device_name(profile), page_bytes)
}
