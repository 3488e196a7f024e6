//! Dictionary indices straight from data pages.

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

/// The code of a null.
pub const NULL_CODE: u32 = u32::MAX;

/// Rows as codes.
#[derive(Debug, Clone, Copy)]
pub struct CodeBatch<'a> {
    /// Which of the plan's row groups they are of, from 0 on.
    pub group: usize,
    /// How many rows; each column has as many codes.
    pub rows: usize,
    /// The scan's columns, in its order.
    pub columns: &'a [CodeColumn],
}

/// A column of a batch.
#[derive(Debug, Clone)]
pub struct CodeColumn {
    /// The values that codes stand for. A writer may have put a value into it twice, or one that no row has.
    pub dictionary: ArrayRef,
    /// Rises whenever the dictionary is another one: with each row group, and with each batch of a column that isn't
    /// dictionary-encoded there.
    pub dictionary_number: u32,
    codes: CodeBuffer,
    /// Whether a row of the batch is null, before predicates.
    pub has_nulls: bool,
}

impl CodeColumn {
    /// For each row the place of its value in the dictionary, or [`NULL_CODE`].
    pub fn codes(&self) -> Codes<'_> {
        self.codes.codes()
    }
}

/// The greatest of some codes; 0 of none.
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
