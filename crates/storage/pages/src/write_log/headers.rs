//! Shared tests of header formats.

use std::fmt::Debug;

use super::versions::ExtentHeader;
use crate::BLOCK_BYTES;

/// Store and position of the test headers.
const ID: u128 = 5;
const POSITION: u64 = 17;

/// Checks that headers of up to `pages_max` pages decode to their originals, whatever the block
/// held before.
pub(crate) fn is_read_as_it_was_written<H: ExtentHeader + Debug + PartialEq>(
    pages_max: usize,
    header: impl Fn(usize) -> H,
    decode: impl Fn(u128, u64, &[u8]) -> Option<H>,
) {
    for pages in [0, 1, 100, pages_max] {
        let mut block = vec![1; BLOCK_BYTES];
        let mut header = header(pages);
        header.encode(ID, &mut block);
        assert_eq!(decode(ID, POSITION, &block), Some(header));
    }
}

/// Checks that a header is refused at another position, under another id, and with a changed byte
/// in common or given fields.
pub(crate) fn is_refused_elsewhere_and_damaged<H: ExtentHeader + Debug + PartialEq>(
    mut header: H,
    fields: [usize; 3],
    decode: impl Fn(u128, u64, &[u8]) -> Option<H>,
) {
    let mut block = vec![0; BLOCK_BYTES];
    header.encode(ID, &mut block);
    assert_eq!(decode(ID, POSITION + 1, &block), None, "it was misdirected");
    assert_eq!(decode(ID + 1, POSITION, &block), None, "it is of another store");
    for at in [0, 8, 4000, BLOCK_BYTES - 1].into_iter().chain(fields) {
        block[at] ^= 1;
        assert_eq!(decode(ID, POSITION, &block), None, "byte {at}");
        block[at] ^= 1;
    }
    assert_eq!(decode(ID, POSITION, &block), Some(header), "as it was");
}
