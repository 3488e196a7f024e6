//! CRC32C (Castagnoli), the checksum of every format that Nandle writes.

/// Checksum of `bytes`.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
}

/// Extends the checksum `before` of earlier bytes by `bytes`.
#[must_use]
pub fn extend_checksum(before: u32, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(before, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors of RFC 3720, appendix B.4.
    #[test]
    fn published_vectors_match() {
        assert_eq!(checksum(&[0; 32]), 0x8A91_36AA);
        assert_eq!(checksum(&[0xFF; 32]), 0x62A8_AB43);
        assert_eq!(checksum(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn parts_give_the_checksum_of_the_whole() {
        assert_eq!(extend_checksum(checksum(b"1234"), b"56789"), checksum(b"123456789"));
    }
}
