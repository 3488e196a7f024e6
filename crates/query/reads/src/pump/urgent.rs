//! Unplanned reads.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use nandle_io::{Arena, Completion, DeviceId, Operation};

use super::file::ReadFile;
use crate::{FileId, ReadsError, Want};

pub(crate) struct Urgent {
    reserve_bytes: usize,
    /// Allocated on the first urgent read; most scans have none.
    reserve: Option<Arena>,
    asked: VecDeque<Asked>,
    /// Requests in flight, by token.
    sent: HashMap<u64, Sent>,
    /// Reads in progress, by number.
    gathered: HashMap<u64, Gathered>,
    next_number: u64,
    next_token: u64,
}

/// Blocks that aren't requested yet.
struct Asked {
    number: u64,
    file: FileId,
    blocks_bytes: Range<u64>,
    align_bytes: u64,
}

struct Sent {
    number: u64,
    file: FileId,
    offset_bytes: u64,
}

struct Gathered {
    offset_bytes: u64,
    bytes: Vec<u8>,
    missing_bytes: u64,
}

/// Number of bits in a token.
const TOKEN_MASK: u64 = (1 << 31) - 1;

impl Urgent {
    pub(crate) fn new(reserve_bytes: usize) -> Self {
        Self {
            reserve_bytes,
            reserve: None,
            asked: VecDeque::new(),
            sent: HashMap::new(),
            gathered: HashMap::new(),
            next_number: 0,
            next_token: 0,
        }
    }

    pub(crate) fn ask(
        &mut self,
        files: &[ReadFile],
        file: FileId,
        range: Range<u64>,
        align_bytes: u64,
    ) -> Result<u64, ReadsError> {
        let step = u32::MAX;
        let Some(found) = files.get(file.0 as usize) else {
            return Err(ReadsError::UnknownFile { file, step, files: files.len() });
        };
        let (offset_bytes, end_bytes) = (range.start, range.end);
        if end_bytes > found.plan.length_bytes {
            let length_bytes = found.plan.length_bytes;
            return Err(ReadsError::BeyondEnd { file, step, offset_bytes, end_bytes, length_bytes });
        }
        if self.reserve.is_none() {
            self.reserve = Some(Arena::new(self.reserve_bytes)?);
        }
        let number = self.next_number;
        self.next_number += 1;
        let length_bytes = end_bytes - offset_bytes;
        let mut bytes = vec![0; usize::try_from(length_bytes).unwrap_or(usize::MAX)];
        let tail = found.in_tail(&Want { file, offset_bytes, length_bytes, step });
        let in_tail = bytes.len() - tail.len();
        bytes.split_at_mut(in_tail).1.copy_from_slice(&tail);
        let missing_bytes = length_bytes - tail.len() as u64;
        self.gathered.insert(number, Gathered { offset_bytes, bytes, missing_bytes });
        if missing_bytes > 0 {
            let start = offset_bytes - offset_bytes % align_bytes;
            let end = end_bytes.min(found.plan.readable_bytes).next_multiple_of(align_bytes);
            let blocks_bytes = start..end.min(found.plan.readable_bytes);
            self.asked.push_back(Asked { number, file, blocks_bytes, align_bytes });
        }
        Ok(number)
    }

    /// Returns a request for as many of the blocks as the reserve has room for.
    pub(crate) fn next_request(&mut self, files: &[ReadFile]) -> Option<(DeviceId, u64, Operation)> {
        let asked = self.asked.front_mut()?;
        let left_bytes = asked.blocks_bytes.end - asked.blocks_bytes.start;
        let reserve = self.reserve.as_ref()?;
        let room_bytes = reserve.bytes() as u64;
        let fitting_bytes = left_bytes.min(room_bytes - room_bytes % asked.align_bytes);
        let buffer = reserve.allocate(usize::try_from(fitting_bytes).ok()?).ok()?;
        let file = files.get(asked.file.0 as usize)?;
        let offset_bytes = asked.blocks_bytes.start;
        asked.blocks_bytes.start += fitting_bytes;
        let token = self.next_token;
        self.next_token = (self.next_token + 1) & TOKEN_MASK;
        self.sent.insert(token, Sent { number: asked.number, file: asked.file, offset_bytes });
        if asked.blocks_bytes.is_empty() {
            self.asked.pop_front();
        }
        Some((file.device, token, Operation::read(file.start_bytes + offset_bytes, buffer)))
    }

    pub(crate) fn complete(
        &mut self,
        token: u64,
        completion: Completion,
        files: &[ReadFile],
    ) -> Result<(), ReadsError> {
        let Some(Sent { number, file, offset_bytes }) = self.sent.remove(&token) else {
            unreachable!("token {token} is that of an urgent request")
        };
        let Some(found) = files.get(file.0 as usize) else {
            unreachable!("the file was found when it was asked for")
        };
        let buffer = found.checked(file, offset_bytes, completion)?;
        if let Some(gathered) = self.gathered.get_mut(&number) {
            gathered.take(offset_bytes, &buffer);
        }
        Ok(())
    }

    pub(crate) fn take(&mut self, number: u64) -> Option<Vec<u8>> {
        if self.gathered.get(&number)?.missing_bytes > 0 {
            return None;
        }
        Some(self.gathered.remove(&number)?.bytes)
    }

    pub(crate) fn is_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.sent.len()
    }
}

impl Gathered {
    /// Copies the wanted part of some blocks.
    fn take(&mut self, block_offset_bytes: u64, blocks: &[u8]) {
        let end_bytes = self.offset_bytes + self.bytes.len() as u64;
        let from = self.offset_bytes.max(block_offset_bytes);
        let to = end_bytes.min(block_offset_bytes + blocks.len() as u64);
        let at = |bytes: u64, start: u64| usize::try_from(bytes - start).unwrap_or(usize::MAX);
        let into = self.bytes.get_mut(at(from, self.offset_bytes)..at(to, self.offset_bytes));
        let taken = blocks.get(at(from, block_offset_bytes)..at(to, block_offset_bytes));
        let (Some(into), Some(taken)) = (into, taken) else {
            unreachable!("blocks that were sent for are wanted")
        };
        into.copy_from_slice(taken);
        self.missing_bytes -= to - from;
    }
}
