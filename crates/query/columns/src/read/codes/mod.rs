//! Dictionary codes decoded directly from data pages.

mod column;
mod decoder;
mod hybrid;
mod page;
mod runs;

use arrow_array::ArrayRef;
use pulp::{Arch, Simd, WithSimd};

pub(in crate::read) use self::column::is_dictionary_encoded;
pub use self::decoder::CodeDecoder;
pub use self::runs::{CodeRun, Codes};

use self::runs::CodeBuffer;

/// Code of a null.
pub const NULL_CODE: u32 = u32::MAX;

/// Rows as codes.
#[derive(Debug, Clone, Copy)]
pub struct CodeBatch<'a> {
    /// Number of their row group in the plan, from 0.
    pub group: usize,
    /// Number of rows; each column has as many codes.
    pub rows: usize,
    /// Columns of the scan, in its order.
    pub columns: &'a [CodeColumn],
}

/// A column of a batch.
#[derive(Debug, Clone)]
pub struct CodeColumn {
    /// Values of the codes. It may contain duplicates and values without rows.
    pub dictionary: ArrayRef,
    /// Changes whenever the dictionary does: with each row group, and with each batch of a column
    /// that isn't dictionary-encoded in its row group.
    pub dictionary_number: u32,
    codes: CodeBuffer,
    /// True if a row of the batch is null, before predicates.
    pub has_nulls: bool,
}

impl CodeColumn {
    /// Returns for each row the index of its value in the dictionary, or [`NULL_CODE`].
    pub fn codes(&self) -> Codes<'_> {
        self.codes.codes()
    }
}

/// Returns the greatest code, or 0 for none.
pub fn greatest_code(codes: &[u32]) -> u32 {
    struct Greatest<'a>(&'a [u32]);

    impl WithSimd for Greatest<'_> {
        type Output = u32;

        #[expect(
            clippy::inline_always,
            reason = "only what is inlined is compiled for the processor's wide registers"
        )]
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> u32 {
            self.0.iter().copied().fold(0, u32::max)
        }
    }

    Arch::new().dispatch(Greatest(codes))
}
