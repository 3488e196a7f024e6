//! # A cluster
//!
//! ```text
//! byte   0  u32  CRC-32C from byte 4 to the end of the used bytes
//!        4  u32  bytes used behind this header
//!        8  u64  salt of the space
//!       16  u64  number of the cluster in the space, which gives its offset
//!       24  u32  number of the stream that the cluster belongs to
//!       28  u32  position in that stream, from 0
//!       32  u64  tag, defined by the writer (for a run: tag of the last key that begins here; for a chain: link)
//!       40       contents of the stream; bytes behind the used ones are arbitrary
//! ```
//!
//! Integers are little-endian. A cluster is valid if its checksum is correct, and salt, number,
//! stream and position are as the reader expects. This detects clusters that are damaged,
//! unwritten, misplaced, or left over from an earlier use. The reader fails on an invalid cluster;
//! there is nothing to recover.

/// Length of the header, in bytes.
pub(crate) const HEADER_BYTES: usize = 40;
/// Start of the bytes covered by the checksum.
const SUMMED_FROM: usize = 4;

/// Identity of a cluster, known to its writer and its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) salt: u64,
    pub(crate) cluster: u64,
    pub(crate) stream: u32,
    pub(crate) position: u32,
}

/// Writes the header in front of `used` bytes of contents.
pub(crate) fn seal(header: &Header, tag: u64, used: usize, bytes: &mut [u8]) {
    debug_assert!(HEADER_BYTES + used <= bytes.len(), "{used} bytes exceed a cluster of {}", bytes.len());
    let Ok(used_u32) = u32::try_from(used) else { unreachable!("a cluster is shorter than 4 GiB") };
    let Header { salt, cluster, stream, position } = *header;
    put(bytes, 4, used_u32.to_le_bytes());
    put(bytes, 8, salt.to_le_bytes());
    put(bytes, 16, cluster.to_le_bytes());
    put(bytes, 24, stream.to_le_bytes());
    put(bytes, 28, position.to_le_bytes());
    put(bytes, 32, tag.to_le_bytes());
    let sum = nandle_units::checksum(summed(bytes, used));
    put(bytes, 0, sum.to_le_bytes());
}

/// Checks a cluster. Returns its tag and the number of bytes used.
pub(crate) fn check(expected: &Header, bytes: &[u8]) -> Result<(u64, usize), &'static str> {
    let used = u32::from_le_bytes(get(bytes, 4)) as usize;
    if used > bytes.len().saturating_sub(HEADER_BYTES) {
        return Err("its length is out of range");
    }
    if nandle_units::checksum(summed(bytes, used)) != u32::from_le_bytes(get(bytes, 0)) {
        return Err("its checksum is wrong");
    }
    let got = Header {
        salt: u64::from_le_bytes(get(bytes, 8)),
        cluster: u64::from_le_bytes(get(bytes, 16)),
        stream: u32::from_le_bytes(get(bytes, 24)),
        position: u32::from_le_bytes(get(bytes, 28)),
    };
    if got.salt != expected.salt {
        return Err("it belongs to another temporary space");
    }
    if got.cluster != expected.cluster {
        return Err("it belongs to another offset");
    }
    if (got.stream, got.position) != (expected.stream, expected.position) {
        return Err("it is left over from an earlier use");
    }
    Ok((u64::from_le_bytes(get(bytes, 32)), used))
}

fn summed(bytes: &[u8], used: usize) -> &[u8] {
    let Some(summed) = bytes.get(SUMMED_FROM..HEADER_BYTES + used) else {
        unreachable!("{used} bytes exceed a cluster of {}", bytes.len())
    };
    summed
}

fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    let Some(into) = bytes.get_mut(at..at + N) else { unreachable!("a cluster is longer than its header") };
    into.copy_from_slice(&value);
}

fn get<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let value = bytes.get(at..at + N).and_then(|part| part.try_into().ok());
    let Some(value) = value else { unreachable!("a cluster is longer than its header") };
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header { salt: 7, cluster: 300, stream: 4, position: 1 };

    fn sealed() -> Vec<u8> {
        let mut bytes = vec![0xA5; 512];
        seal(&HEADER, 99, 100, &mut bytes);
        bytes
    }

    #[test]
    fn sealed_cluster_passes_the_check() {
        assert_eq!(check(&HEADER, &sealed()), Ok((99, 100)));
    }

    #[test]
    fn every_flipped_bit_is_detected() {
        for bit in 0..8 * (HEADER_BYTES + 100) {
            let mut bytes = sealed();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(check(&HEADER, &bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn misplaced_cluster_is_detected() {
        let others = [
            Header { salt: 8, ..HEADER },
            Header { cluster: 301, ..HEADER },
            Header { stream: 5, ..HEADER },
            Header { position: 0, ..HEADER },
        ];
        for other in others {
            assert!(check(&other, &sealed()).is_err(), "{other:?}");
        }
    }

    #[test]
    fn unwritten_cluster_is_detected() {
        assert!(check(&HEADER, &[0; 512]).is_err());
    }
}
