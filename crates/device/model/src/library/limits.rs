//! Size limits of the files that users name. A longer file is something else (a device, a database)
//! or an attempt to exhaust memory; it is refused before it is read whole.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

use nandle_units::format_bytes;

use crate::flash::FlashParameters;

/// Limit for a model or fault file: the library's longest have 5 KiB.
pub const TOML_BYTES_MAX: u64 = 1 << 20;
/// Limit for a state file, which is compressed. It is unpacked to the [drive's](state_bytes_max)
/// limit.
pub(crate) const STATE_FILE_BYTES_MAX: u64 = 1 << 30;
/// Text of one mapping unit in a state: eight bytes with short numbers, eleven with the longest.
const STATE_UNIT_BYTES: u64 = 24;
/// Text of the rest of a state.
pub(crate) const STATE_REST_BYTES: u64 = 4 << 20;

/// Limit of a drive's unpacked state.
pub(crate) fn state_bytes_max(drive: &FlashParameters) -> u64 {
    let units = drive.capacity_bytes / drive.unit_bytes().max(1);
    units.saturating_mul(STATE_UNIT_BYTES).saturating_add(STATE_REST_BYTES)
}

/// Reads a file of at most `bytes_max`.
///
/// # Errors
/// Fails if the file can't be read or is longer.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    read_all(File::open(path)?, bytes_max)
}

/// Reads a text file of at most `bytes_max`, without the byte order mark that some editors add.
///
/// # Errors
/// Fails if the file can't be read, is longer, or is not UTF-8.
pub fn read_text(path: &Path, bytes_max: u64) -> Result<String> {
    let text = String::from_utf8(read(path, bytes_max)?);
    let text = text.map_err(|_| Error::new(ErrorKind::InvalidData, "it is no text of UTF-8"))?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), Into::into))
}

/// Reads to the end, at most `bytes_max`.
pub(crate) fn read_all(source: impl Read, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= bytes_max {
        return Ok(bytes);
    }
    let what =
        format!("it has more than {}, which no such file has; name another one", format_bytes(bytes_max));
    Err(Error::new(ErrorKind::FileTooLarge, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_longer_is_refused_and_not_read() {
        let endless = || std::io::repeat(b'x');
        let refused = read_all(endless(), 1 << 20).unwrap_err();
        assert!(refused.to_string().contains("more than 1MiB"), "{refused}");
        assert_eq!(read_all(endless().take(9), 9).unwrap().len(), 9);
        assert!(read_all(endless().take(10), 9).is_err());
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_text() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (bytes, text) in [("\u{feff}kind = 1", "kind = 1"), ("kind = 1", "kind = 1"), ("", "")] {
            std::fs::write(file.path(), bytes).unwrap();
            assert_eq!(read_text(file.path(), 99).unwrap(), text);
        }
        std::fs::write(file.path(), [0xff]).unwrap();
        assert!(read_text(file.path(), 99).unwrap_err().to_string().contains("UTF-8"));
    }
}
