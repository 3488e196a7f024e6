//! State file of an aged device, written by `nandle models age` and read by a target's
//! `state=PATH`.
//!
//! It is one zstd frame (RFC 8878) with content checksum, which holds one JSON object:
//!
//! | key | value |
//! |---|---|
//! | `format` | `nandle-model-state` |
//! | `version` | [`VERSION`]; another one is refused |
//! | `model` | name of the model |
//! | `drives` | for each drive of the model, in order: mapping, wear and counters; `null` if it doesn't age |
//!
//! A truncated or damaged file fails its checksum and is refused. The state is a function of the
//! model, the writes and the seed, so old versions aren't converted: the state is computed again.

use std::io::{ErrorKind, Read as _};

use nandle_io::DriveCounters;
use nandle_units::format_bytes;
use serde::{Deserialize, Serialize};

use crate::flash::AgedState;
use crate::library::limits;

const FORMAT: &str = "nandle-model-state";
/// Incremented with every change of [`AgedState`].
const VERSION: u32 = 2;
/// The compressor's default: higher levels take longer for a few per cent.
const COMPRESSION: i32 = 3;

/// State of a modelled device that outlives a power cycle: mapping, wear and counters of each flash
/// drive.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeviceState {
    format: String,
    version: u32,
    model: String,
    drives: Vec<Option<AgedState>>,
}

/// Reasons why a text is no usable state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateFileError {
    /// The file is no valid zstd frame.
    #[error("it can't be unpacked ({source}); expected a file that `nandle models age` wrote, whole")]
    Packing {
        /// The decoder's error.
        source: std::io::Error,
    },
    /// The file unpacks to more than a state of this model can have.
    #[error(
        "it unpacks to more than {}, and no state of this model does; expected one that `nandle models age` wrote of the same \
         model with the same capacity",
        format_bytes(*text_bytes_max)
    )]
    TooLong {
        /// Limit of the unpacked text.
        text_bytes_max: u64,
    },
    /// The unpacked text is no state.
    #[error(
        "it holds no state of a modelled drive ({source}); expected a file that `nandle models age` wrote"
    )]
    Contents {
        /// The parser's error.
        source: serde_json::Error,
    },
    /// The file has another format or version.
    #[error(
        "it says {format:?} version {version}, and this program reads {FORMAT:?} version {VERSION}: age the drive again"
    )]
    Version {
        /// Format in the file.
        format: String,
        /// Version in the file.
        version: u32,
    },
}

/// Fields of every version.
#[derive(Deserialize)]
struct Heading {
    format: String,
    version: u32,
}

impl DeviceState {
    pub(crate) fn new(model: &str, drives: Vec<Option<AgedState>>) -> Self {
        Self { format: FORMAT.into(), version: VERSION, model: model.into(), drives }
    }

    /// Model of the state.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// State of each drive, in the model's order.
    pub(crate) fn drives(&self) -> &[Option<AgedState>] {
        &self.drives
    }

    /// Sum of the drives' counters.
    pub fn counters(&self) -> DriveCounters {
        let drives = self.drives.iter().flatten();
        drives.fold(DriveCounters::default(), |sum, drive| sum.plus(drive.counters()))
    }

    /// Encodes the state as a file.
    ///
    /// # Errors
    /// Fails if the compressor is out of memory.
    pub fn encode(&self) -> std::io::Result<Vec<u8>> {
        let mut encoder = zstd::Encoder::new(Vec::new(), COMPRESSION)?;
        encoder.include_checksum(true)?;
        serde_json::to_writer(&mut encoder, self)?;
        encoder.finish()
    }

    /// Returns true if a file that begins with `bytes` is a drive's state, of any version. 128 KiB
    /// suffice.
    pub fn begins(bytes: &[u8]) -> bool {
        let beginning = format!("{{\"format\":\"{FORMAT}\"");
        let mut unpacked = vec![0; beginning.len()];
        let decoder = zstd::Decoder::new(bytes);
        decoder.and_then(|mut decoder| decoder.read_exact(&mut unpacked)).is_ok()
            && unpacked == beginning.as_bytes()
    }

    /// Decodes a file that unpacks to at most `text_bytes_max`.
    ///
    /// # Errors
    /// Fails if the file holds no valid state, a state of a larger drive, or another version.
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
