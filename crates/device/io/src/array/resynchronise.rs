use super::error::ArrayError;
use super::geometry::{Columns, Leg};
use super::world::Arrays;
use crate::{Arena, Completion, DeviceId, Io, IoError, Operation, Request, Wait};

/// Length of one copy.
const COPY_BYTES: u64 = 1 << 20;

impl Arrays {
    /// Makes both legs of every mirror of a raid10 equal: copies the `newest` to the other and
    /// flushes. Blocks until that is done.
    ///
    /// # Errors
    /// Fails if the device is no raid10, or requests are in flight. If a request fails, the legs
    /// may still differ.
    pub fn resynchronise(&mut self, array: DeviceId, newest: Leg) -> Result<(), ArrayError> {
        if self.in_flight() > 0 {
            return Err(ArrayError::Busy { in_flight: self.in_flight() });
        }
        let no_mirror = ArrayError::NoMirror { index: array.index() };
        let Some((geometry, shape)) = self.array(array) else { return Err(no_mirror) };
        let Columns::Mirrored(pairs) = &geometry.columns else { return Err(no_mirror) };
        let column_bytes = shape.capacity_bytes / geometry.stripes.columns;
        let copy_bytes = COPY_BYTES.min(shape.largest_transfer_bytes) / shape.logical_block_bytes
            * shape.logical_block_bytes;
        let arena = Arena::new(usize::try_from(copy_bytes).unwrap_or(usize::MAX))?;
        for [first, second] in pairs.clone() {
            let (from, to) = match newest {
                Leg::First => (first, second),
                Leg::Second => (second, first),
            };
            let mut at = 0;
            while at < column_bytes {
                let bytes = copy_bytes.min(column_bytes - at);
                self.copy(&arena, from, to, at, bytes)?;
                at += bytes;
            }
            self.do_one(to, Operation::Flush)?;
        }
        Ok(())
    }

    fn copy(
        &mut self,
        arena: &Arena,
        from: DeviceId,
        to: DeviceId,
        at: u64,
        bytes: u64,
    ) -> Result<(), ArrayError> {
        let buffer = arena.allocate(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        if let Operation::Read { into, .. } = self.do_one(from, Operation::read(at, buffer))? {
            for buffer in into {
                self.do_one(to, Operation::write(at, buffer.freeze()))?;
            }
        }
        Ok(())
    }

    /// Runs one request on a plain device, with nothing else in flight.
    fn do_one(&mut self, device: DeviceId, operation: Operation) -> Result<Operation, IoError> {
        let mut request = Request { token: 0, operation };
        let mut completions: Vec<Completion> = Vec::new();
        while let Err(full) = self.submit(device, request) {
            request = full.0;
            self.reap(Wait::until_completed(1), &mut completions);
        }
        loop {
            self.reap(Wait::until_completed(1), &mut completions);
            if let Some(completion) = completions.pop() {
                return completion.result.map(|()| completion.operation);
            }
        }
    }
}
