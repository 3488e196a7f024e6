//! # A cluster
//!
//! ```text
//! byte   0  u32  CRC-32C of bytes 4 up to the end of what is used
//!        4  u32  bytes used behind this header
//!        8  u64  salt of the space
//!       16  u64  number of the cluster in the space: its place
//!       24  u32  number of the stream that it is a part of
//!       28  u32  its position in that stream, from 0
//!       32  u64  tag: what the writer wants to know of it when it has come (merging: an order of the last key that begins in it)
//!       40       what the stream holds; what is behind it is anything
//! ```
//!
//! Integers are little-endian. A cluster is valid where its checksum is right and salt, place, stream and position are those
//! that the reader expects: so one that is damaged, was never written, was written elsewhere, or is left from an earlier use of its
//! place is told from the right one. The reader fails on one that isn't valid; there is nothing to recover.

/// Length of the header.
pub(crate) const HEADER_BYTES: usize = 40;
/// Where what the checksum covers begins.
const SUMMED_FROM: usize = 4;

/// What a cluster is, as its writer and its reader know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) salt: u64,
    pub(crate) cluster: u64,
    pub(crate) stream: u32,
    pub(crate) position: u32,
}

/// Writes the header in front of `used` bytes that are there already.
pub(crate) fn seal(header: &Header, tag: u64, used: usize, bytes: &mut [u8]) {
    debug_assert!(HEADER_BYTES + used <= bytes.len(), "{used} bytes fit into a cluster of {}", bytes.len());
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

/// Checks a cluster. Returns its tag, and how many bytes it uses.
pub(crate) fn check(expected: &Header, bytes: &[u8]) -> Result<(u64, usize), &'static str> {
    let used = u32::from_le_bytes(get(bytes, 4)) as usize;
    if used > bytes.len().saturating_sub(HEADER_BYTES) {
        return Err("its length is impossible");
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
        return Err("it is another temporary space's");
    }
    if got.cluster != expected.cluster {
        return Err("it belongs to another place");
    }
    if (got.stream, got.position) != (expected.stream, expected.position) {
        return Err("it is left from an earlier use of its place");
    }
    Ok((u64::from_le_bytes(get(bytes, 32)), used))
}

fn summed(bytes: &[u8], used: usize) -> &[u8] {
    let Some(summed) = bytes.get(SUMMED_FROM..HEADER_BYTES + used) else {
        unreachable!("{used} bytes lie in a cluster of {}", bytes.len())
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
    fn a_cluster_is_what_was_written() {
        assert_eq!(check(&HEADER, &sealed()), Ok((99, 100)));
    }

    #[test]
    fn every_flipped_bit_of_what_is_used_is_found() {
        for bit in 0..8 * (HEADER_BYTES + 100) {
            let mut bytes = sealed();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(check(&HEADER, &bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_cluster_of_another_place_stream_or_space_is_told() {
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
    fn what_was_never_written_is_told() {
        assert!(check(&HEADER, &[0; 512]).is_err());
    }
}
