//! The aged state of a drive, to be saved and loaded.

use nandle_io::DriveCounters;
use serde::{Deserialize, Serialize};

use super::map_memory::MapMemory;
use super::mapping::Mapping;
use super::parameters::{FlashParameters, ParameterError};
use super::stats::FlashStats;

/// State that outlives a power cycle, and the part of the map in memory, since a drive in use would
/// soon have it again. Serialises with any serde format.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgedState {
    drive: String,
    unit_bytes: u64,
    superblock_bytes: u64,
    mapping: Mapping,
    map_memory: Option<MapMemory>,
    stats: FlashStats,
}

/// Reasons why a drive can't be put into a state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The parameters are invalid.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// The drive has been written to; only a new one can be filled.
    #[error("{drive:?} has been written to, so it can't be filled as if it were new; make a new one")]
    AlreadyWritten {
        /// Name of the drive.
        drive: String,
    },
    /// The state belongs to a drive of another layout.
    #[error(
        "the aged state is one of {state_drive:?}, whose capacity, chips or mapping differ from those of {drive:?}; \
         load it with the parameters it was made with"
    )]
    OtherLayout {
        /// Drive that the state belongs to.
        state_drive: String,
        /// Drive that should receive the state.
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

    /// Counters of the drive.
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
