use std::ops::Range;

/// What a device must hold: its bytes, as far as they are known. After a discard, and before the first write,
/// a byte may be anything.
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

    /// The buffers were written one after the other from `offset` on.
    pub(super) fn wrote<'b>(&mut self, offset: usize, buffers: impl IntoIterator<Item = &'b [u8]>) {
        let mut at = offset;
        for buffer in buffers {
            let range = at..at + buffer.len();
            self.bytes[range.clone()].copy_from_slice(buffer);
            self.known[range.clone()].fill(true);
            at = range.end;
        }
    }

    /// The range may hold anything from now on.
    pub(super) fn forget(&mut self, range: Range<usize>) {
        self.known[range].fill(false);
    }

    /// The buffers were read one after the other from `offset` on.
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
