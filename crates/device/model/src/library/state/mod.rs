//! The state in which a modelled device begins.

mod file;

use std::sync::Arc;

use nandle_units::format_bytes;

pub use file::{DeviceState, StateFileError};

/// The state in which a modelled device begins. Magnetic disks have but one: idle, their caches empty.
#[derive(Debug, Clone)]
pub enum FirstState {
    /// The first part written, as if once and from start to end; nothing else ever.
    Filled {
        /// How much of it, in per cent; 0 is a new drive.
        percent: u8,
    },
    /// As another device of the same layout was left.
    Aged(Arc<DeviceState>),
}

impl Default for FirstState {
    /// Filled whole.
    fn default() -> Self {
        Self::Filled { percent: 100 }
    }
}

impl FirstState {
    /// What a flash drive's user should know of it, a sentence.
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
