//! Request times of a page store. `nandle-pages` predicts the cost of its write policies from them.

use nandle_profile::DeviceProfile;
use serde::Serialize;

use crate::figures::{Figures, device_name};
use crate::settings::{Figure, MissingFigure};

/// Request times in nanoseconds, each with a sentence on its origin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageFigures {
    /// Name of the device.
    pub device: String,
    /// Fixed cost of a sequential write, without the time per page.
    pub request: Figure,
    /// Time of each page in a sequential write.
    pub sequential: Figure,
    /// Time of a random page write in a small area.
    pub focused: Figure,
    /// Largest area with cheap random writes; 0 if none was measured.
    pub focused_area_bytes: u64,
    /// Time of a random page write at depth 1.
    pub random: Figure,
    /// Elapsed time per random page write at depth.
    pub random_deep: Figure,
    /// Elapsed time per random page read at depth.
    pub read_deep: Figure,
    /// Time of a flush after a write, without the write.
    pub flush: Figure,
}

impl PageFigures {
    /// All figures in a fixed order.
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

/// Computes the request times for pages of `page_bytes`.
///
/// # Errors
/// Returns the missing figure and the way to measure it.
pub fn page_figures(profile: &DeviceProfile, page_bytes: u64) -> Result<PageFigures, MissingFigure> {
    Figures::of(profile).page_times(device_name(profile), page_bytes)
}
