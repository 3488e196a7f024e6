//! The aged state of a drive, to be saved and loaded.

use nandle_io::DriveCounters;
use serde::{Deserialize, Serialize};

use super::map_memory::MapMemory;
use super::mapping::Mapping;
use super::parameters::{FlashParameters, ParameterError};
use super::stats::FlashStats;

/// What outlives a power cycle, and what of the map is in memory, as it is again when a drive has been in use for a while.
/// It serialises with any serde format.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgedState {
    drive: String,
    unit_bytes: u64,
    superblock_bytes: u64,
    mapping: Mapping,
    map_memory: Option<MapMemory>,
    stats: FlashStats,
}

/// A drive can't be brought into a state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The parameters make no drive.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// Only a new drive can be filled without writing to it.
    #[error("{drive:?} has been written to, so it can't be filled as if it were new; make a new one")]
    AlreadyWritten {
        /// The drive.
        drive: String,
    },
    /// The state belongs to a drive of another layout.
    #[error(
        "the aged state is one of {state_drive:?}, whose capacity, chips or mapping differ from those of {drive:?}; \
         load it with the parameters it was made with"
    )]
    OtherLayout {
        /// The drive whose state it is.
        state_drive: String,
        /// The drive it was to be given to.
        drive: String,
    },
}

impl AgedState {
    pub(super) fn of(
        parameters: &FlashParameters,
        mapping: &Mapping,
        map_memory: Option<&MapMemory>,
        stats: &FlashStats,
    ) -> Self {
        Self {
            drive: parameters.name.clone(),
            unit_bytes: parameters.unit_bytes(),
            superblock_bytes: parameters.superblock_bytes(),
            mapping: mapping.clone(),
            map_memory: map_memory.cloned(),
            stats: stats.clone(),
        }
    }

    /// What the drive had counted.
    pub fn counters(&self) -> DriveCounters {
        self.stats.counters(self.unit_bytes, self.superblock_bytes)
    }

    pub(super) fn into_parts(
        self,
        parameters: &FlashParameters,
    ) -> Result<(Mapping, Option<MapMemory>, FlashStats), StateError> {
        let Self { drive: state_drive, mapping, map_memory: aged_memory, stats, .. } = self;
        let Some(mapping) = Mapping::new(parameters).with_state_of(mapping) else {
            return Err(StateError::OtherLayout { state_drive, drive: parameters.name.clone() });
        };
        let map_memory = MapMemory::of(parameters).map(|memory| match aged_memory {
            Some(aged) => memory.with_state_of(aged),
            None => memory,
        });
        Ok((mapping, map_memory, stats))
    }
}
