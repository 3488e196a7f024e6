use std::ops::Range;

/// Expected contents of a device. A byte is unknown before its first write and after a discard.
pub(super) struct Oracle {
    bytes: Vec<u8>,
    known: Vec<bool>,
}

impl Oracle {
    pub(super) fn new(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes], known: vec![false; bytes] }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Records buffers written consecutively from `offset` on.
    pub(super) fn wrote<'b>(&mut self, offset: usize, buffers: impl IntoIterator<Item = &'b [u8]>) {
        let mut at = offset;
        for buffer in buffers {
            let range = at..at + buffer.len();
            self.bytes[range.clone()].copy_from_slice(buffer);
            self.known[range.clone()].fill(true);
            at = range.end;
        }
    }

    /// Makes a range unknown.
    pub(super) fn forget(&mut self, range: Range<usize>) {
        self.known[range].fill(false);
    }

    /// Checks buffers read consecutively from `offset` on.
    pub(super) fn check_read<'b>(&self, offset: usize, buffers: impl IntoIterator<Item = &'b [u8]>) {
        let mut at = offset;
        for buffer in buffers {
            let wrong = (0..buffer.len())
                .find(|index| self.known[at + index] && self.bytes[at + index] != buffer[*index]);
            if let Some(index) = wrong {
                panic!("a read of {offset} …: byte {} is not what was written there", at + index);
            }
            at += buffer.len();
        }
    }
}
