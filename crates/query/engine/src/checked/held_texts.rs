//! Accounting of text buffers that retained values refer to.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray as _;
use arrow_buffer::Buffer;
use datafusion::common::HashMap;

use crate::texts::{text_buffers, texts_bytes, without_unreferenced_texts};

/// Values that keep more than this multiple of their own texts are copied.
const WASTE: usize = 2;

/// Text buffers; each counts once, however many arrays refer to it.
#[derive(Debug, Default)]
pub(super) struct HeldTexts {
    /// By address, which is unique while the buffers are held.
    buffers: HashMap<usize, Buffer>,
    bytes: usize,
}

impl HeldTexts {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Registers values to be retained, and returns them.
    pub(super) fn hold(&mut self, values: &[ArrayRef]) -> Vec<ArrayRef> {
        let values: Vec<ArrayRef> = values.iter().map(without_waste).collect();
        for values in &values {
            self.add(values);
        }
        values
    }

    /// Registers lists of values.
    pub(super) fn hold_lists(&mut self, lists: &[ArrayRef]) {
        for lists in lists.iter().filter_map(|lists| lists.as_list_opt::<i32>()) {
            self.add(lists.values());
        }
    }

    /// Accounts for removed values. Their share of the texts is estimated from their share of the
    /// bytes.
    pub(super) fn leave(&mut self, before_bytes: usize, after_bytes: usize) {
        self.buffers.clear();
        let part = u128::from(after_bytes as u64).saturating_mul(u128::from(self.bytes as u64));
        self.bytes = usize::try_from(part / u128::from(before_bytes.max(1) as u64)).unwrap_or(usize::MAX);
    }

    fn add(&mut self, values: &ArrayRef) {
        for buffer in text_buffers(values) {
            if self.buffers.insert(buffer.as_ptr().addr(), buffer.clone()).is_none() {
                self.bytes = self.bytes.saturating_add(buffer.len());
            }
        }
    }
}

fn without_waste(values: &ArrayRef) -> ArrayRef {
    let kept: usize = text_buffers(values).iter().map(Buffer::len).sum();
    if kept > texts_bytes(values).saturating_mul(WASTE) {
        without_unreferenced_texts(values)
    } else {
        ArrayRef::clone(values)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::StringViewArray;

    use super::*;

    fn texts(count: usize) -> ArrayRef {
        let texts = (0..count).map(|row| format!("a text that doesn't lie beside its length, {row:05}"));
        Arc::new(StringViewArray::from_iter_values(texts))
    }

    #[test]
    fn a_buffer_counts_once_and_few_values_of_many_are_copied() {
        let all = texts(1000);
        let bytes = texts_bytes(&all);
        let mut held = HeldTexts::default();
        held.hold(&[all.slice(0, 600)]);
        let once = held.bytes();
        assert!((bytes..2 * bytes).contains(&once), "{once} of {bytes}");
        held.hold(&[all.slice(400, 600)]);
        assert_eq!(held.bytes(), once);
        held.hold(&[all.slice(7, 10)]);
        assert_eq!(held.bytes(), once + bytes / 100, "ten of a thousand, copied");
    }

    #[test]
    fn what_has_gone_counts_no_longer() {
        let mut held = HeldTexts::default();
        held.hold(&[texts(100)]);
        let bytes = held.bytes();
        held.leave(1000, 250);
        assert_eq!(held.bytes(), bytes / 4);
        held.leave(1000, 0);
        assert_eq!(held.bytes(), 0);
    }
}
