use super::Area;

/// Several sequential streams, interleaved one block each (`StableBuffer` §3.1: 1, 50, 2, 51, 3, 52
/// …).
#[derive(Debug)]
pub struct Partitioned {
    area: Area,
    streams: u64,
    stream_blocks: u64,
    turn: u64,
}

impl Partitioned {
    /// `streams` streams, at most one per block. Each covers its own equal part of the area.
    pub fn new(area: Area, streams: u64) -> Self {
        let streams = streams.clamp(1, area.blocks);
        Self { area, streams, stream_blocks: area.blocks / streams, turn: 0 }
    }
}

impl Iterator for Partitioned {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let (stream, step) = (self.turn % self.streams, self.turn / self.streams % self.stream_blocks);
        self.turn += 1;
        Some(self.area.offset_bytes(stream * self.stream_blocks + step))
    }
}
