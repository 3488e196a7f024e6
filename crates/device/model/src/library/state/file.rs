//! The file of an aged device: what `nandle models age` writes, and what a target's `state=PATH` reads.
//!
//! One zstd frame (RFC 8878) with its content checksum, and in it one JSON object:
//!
//! | key | what it holds |
//! |---|---|
//! | `format` | `nandle-model-state` |
//! | `version` | [`VERSION`]; another one is refused |
//! | `model` | name of the model |
//! | `drives` | for each drive of the model, in its order: mapping, wear and counters; `null` for what doesn't age |
//!
//! A file that is cut short or damaged fails its checksum and is refused whole. The state is a function of the model, the
//! writes and the seed, so no old version is converted: it is made again.

use std::io::{ErrorKind, Read as _};

use nandle_io::DriveCounters;
use nandle_units::format_bytes;
use serde::{Deserialize, Serialize};

use crate::flash::AgedState;
use crate::library::limits;

const FORMAT: &str = "nandle-model-state";
/// Rises with every change of what [`AgedState`] holds.
const VERSION: u32 = 2;
/// The compressor's own default: higher ones take longer for a few per cent.
const COMPRESSION: i32 = 3;

/// What outlives a power cycle of a modelled device: the mapping, wear and counters of each of its flash drives.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeviceState {
    format: String,
    version: u32,
    model: String,
    drives: Vec<Option<AgedState>>,
}

/// A text is no state that can be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateFileError {
    /// It is no zstd frame, or a damaged one.
    #[error("it can't be unpacked ({source}); expected a file that `nandle models age` wrote, whole")]
    Packing {
        /// What the decoder says.
        source: std::io::Error,
    },
    /// It unpacks to more than the model's drives have states of.
    #[error(
        "it unpacks to more than {}, and no state of this model does; expected one that `nandle models age` wrote of the same \
         model with the same capacity",
        format_bytes(*text_bytes_max)
    )]
    TooLong {
        /// The most that there may be.
        text_bytes_max: u64,
    },
    /// What is packed is something else.
    #[error(
        "it holds no state of a modelled drive ({source}); expected a file that `nandle models age` wrote"
    )]
    Contents {
        /// What the parser says.
        source: serde_json::Error,
    },
    /// Another program's version.
    #[error(
        "it says {format:?} version {version}, and this program reads {FORMAT:?} version {VERSION}: age the drive again"
    )]
    Version {
        /// The format it says it is of.
        format: String,
        /// The version.
        version: u32,
    },
}

/// What every version has.
#[derive(Deserialize)]
struct Heading {
    format: String,
    version: u32,
}

impl DeviceState {
    pub(crate) fn new(model: &str, drives: Vec<Option<AgedState>>) -> Self {
        Self { format: FORMAT.into(), version: VERSION, model: model.into(), drives }
    }

    /// The model that it belongs to.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The state of each drive, in the model's order.
    pub(crate) fn drives(&self) -> &[Option<AgedState>] {
        &self.drives
    }

    /// What its drives had counted, together.
    pub fn counters(&self) -> DriveCounters {
        let drives = self.drives.iter().flatten();
        drives.fold(DriveCounters::default(), |sum, drive| sum.plus(drive.counters()))
    }

    /// The file's bytes.
    ///
    /// # Errors
    /// The compressor has no memory.
    pub fn encode(&self) -> std::io::Result<Vec<u8>> {
        let mut encoder = zstd::Encoder::new(Vec::new(), COMPRESSION)?;
        encoder.include_checksum(true)?;
        serde_json::to_writer(&mut encoder, self)?;
        encoder.finish()
    }

    /// Whether a file that begins with these bytes is the state of some drive, of whatever version. 128 KiB are enough.
    pub fn begins(bytes: &[u8]) -> bool {
        let beginning = format!("{{\"format\":\"{FORMAT}\"");
        let mut unpacked = vec![0; beginning.len()];
        let decoder = zstd::Decoder::new(bytes);
        decoder.and_then(|mut decoder| decoder.read_exact(&mut unpacked)).is_ok()
            && unpacked == beginning.as_bytes()
    }

    /// Reads a file's bytes, which unpack to `text_bytes_max` at most.
    ///
    /// # Errors
    /// It is no state, a damaged one, one of a larger drive, or one of another version.
    pub fn decode(bytes: &[u8], text_bytes_max: u64) -> Result<Self, StateFileError> {
        let unpacked =
            zstd::Decoder::new(bytes).and_then(|decoder| limits::read_all(decoder, text_bytes_max));
        let json = unpacked.map_err(|source| match source.kind() {
            ErrorKind::FileTooLarge => StateFileError::TooLong { text_bytes_max },
            _ => StateFileError::Packing { source },
        })?;
        let contents = |source| StateFileError::Contents { source };
        let Heading { format, version } = serde_json::from_slice(&json).map_err(contents)?;
        if (format.as_str(), version) != (FORMAT, VERSION) {
            return Err(StateFileError::Version { format, version });
        }
        serde_json::from_slice(&json).map_err(contents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_unpacks_to_more_than_a_drive_has_is_refused_before_it_does() {
        let bomb = zstd::encode_all(std::io::repeat(b' ').take(1 << 30), 1).unwrap();
        assert!(bomb.len() < 1 << 18, "{}", bomb.len());
        let refused = DeviceState::decode(&bomb, 5 << 20).unwrap_err();
        assert!(matches!(refused, StateFileError::TooLong { .. }), "{refused}");
        assert!(refused.to_string().contains("more than 5MiB"), "{refused}");
        assert!(!DeviceState::begins(&bomb));
    }

    #[test]
    fn a_state_is_known_by_its_beginning() {
        let packed = DeviceState::new("x", vec![None]).encode().unwrap();
        assert!(
            DeviceState::begins(&packed) && !DeviceState::begins(b"") && !DeviceState::begins(b"{\"format\"")
        );
        assert_eq!(DeviceState::decode(&packed, 1 << 10).unwrap().model(), "x");
    }
}
