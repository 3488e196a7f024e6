//! First state of a modelled device.

mod file;

use std::sync::Arc;

use nandle_units::format_bytes;

pub use file::{DeviceState, StateFileError};

/// First state of a modelled device. Magnetic disks start idle with empty caches.
#[derive(Debug, Clone)]
pub enum FirstState {
    /// The first part is written once from start to end, the rest never.
    Filled {
        /// Written part in per cent; 0 is a new drive.
        percent: u8,
    },
    /// The state in which another device of the same layout was saved.
    Aged(Arc<DeviceState>),
}

impl Default for FirstState {
    /// Filled completely.
    fn default() -> Self {
        Self::Filled { percent: 100 }
    }
}

impl FirstState {
    /// The state of a flash drive, as a sentence for its user.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Filled { percent: 0 } => {
                "It begins new: nothing is written, and what was never written is read without the chips."
                    .into()
            }
            Self::Filled { percent: 100 } => {
                "It begins written once from its start to its end, and idle: cleaning sets \
                                              in when overwriting has used its spare space up."
                    .into()
            }
            Self::Filled { percent } => {
                format!(
                    "Its first {percent} % begin written once from start to end; the rest was never written."
                )
            }
            Self::Aged(state) => {
                let counted = state.counters();
                let amplification = counted
                    .write_amplification()
                    .map_or_else(String::new, |factor| format!(", write amplification {factor:.2}"));
                format!(
                    "It begins aged, as {} of writes by its host have left it{amplification}.",
                    format_bytes(counted.host_written_bytes)
                )
            }
        }
    }
}
