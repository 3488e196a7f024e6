use std::io::{Result, Write};

use super::block_sum;
use super::check::{BLOCK_LENGTH, Sums};
use crate::ReadAt;
use crate::number::index;

/// Computes checksums of the bytes written through it.
#[derive(Debug)]
pub(crate) struct SummingWriter<W> {
    into: W,
    identity: u64,
    length_bytes: u64,
    /// Beginning of the incomplete block.
    begun: Vec<u8>,
    blocks: Vec<u32>,
}

impl<W: Write> SummingWriter<W> {
    pub(crate) fn new(into: W, identity: u64) -> Self {
        Self { into, identity, length_bytes: 0, begun: Vec::with_capacity(BLOCK_LENGTH), blocks: Vec::new() }
    }

    /// Returns the inner writer and the checksums. No writes may follow.
    pub(crate) fn finish(&mut self) -> (&mut W, Sums) {
        self.sum_begun();
        let sums = Sums::new(self.identity, self.length_bytes, std::mem::take(&mut self.blocks));
        (&mut self.into, sums)
    }

    fn sum(&mut self, mut bytes: &[u8]) {
        self.length_bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let room = BLOCK_LENGTH - self.begun.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.begun.extend_from_slice(now);
            if self.begun.len() == BLOCK_LENGTH {
                self.sum_begun();
            }
            bytes = later;
        }
    }

    fn sum_begun(&mut self) {
        if !self.begun.is_empty() {
            self.blocks.push(block_sum(self.identity, self.blocks.len() as u64, &self.begun));
            self.begun.clear();
        }
    }
}

impl<W: Write> Write for SummingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.into.write(bytes)?;
        self.sum(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.into.flush()
    }
}

/// Computes the checksums of an existing file.
pub(crate) fn sum_file(file: &dyn ReadAt, identity: u64) -> Result<Sums> {
    const PIECE_BYTES: u64 = 1 << 20;
    let mut writer = SummingWriter::new(std::io::sink(), identity);
    let mut piece = vec![0; index(PIECE_BYTES)];
    let mut offset_bytes = 0;
    while offset_bytes < file.length_bytes() {
        let length_bytes = PIECE_BYTES.min(file.length_bytes() - offset_bytes);
        let Some(part) = piece.get_mut(..index(length_bytes)) else {
            unreachable!("no piece is longer than the buffer")
        };
        file.read_exact_at(offset_bytes, part)?;
        writer.write_all(part)?;
        offset_bytes += length_bytes;
    }
    Ok(writer.finish().1)
}
