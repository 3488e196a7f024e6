//! Output of a workload: sequential writes in long requests, several of them outstanding.

use std::collections::VecDeque;

use nandle_io::runtime::{AsyncDevice, Handle, Reply};
use nandle_io::{Arena, BufferMut, Operation};

use crate::input::{IN_FLIGHT, RequestLayout};
use crate::{Area, Role, WorkloadError};

/// Writer of the result rows.
pub(crate) struct ResultWriter {
    requests: RequestLayout,
    row_bytes: usize,
    device: Option<AsyncDevice>,
    offset_bytes: u64,
    memory: Arena,
    /// Buffer of the next request, and the number of rows in it.
    filling: Option<BufferMut>,
    filled: usize,
    in_flight: VecDeque<Reply>,
}

impl ResultWriter {
    pub(crate) fn new(handle: &Handle, area: Option<Area>, row_bytes: usize) -> Result<Self, WorkloadError> {
        let device = area.map(|area| handle.device(area.device));
        let shape = device.as_ref().and_then(AsyncDevice::shape);
        let requests =
            RequestLayout::of(row_bytes, shape.map_or(u64::MAX, |shape| shape.largest_transfer_bytes));
        let memory = Arena::new((IN_FLIGHT + 1) * requests.request_bytes)?;
        let offset_bytes = area.map_or(0, |area| area.start_bytes);
        let in_flight = VecDeque::new();
        Ok(Self { requests, row_bytes, device, offset_bytes, memory, filling: None, filled: 0, in_flight })
    }

    /// Appends a row, given in parts.
    pub(crate) async fn push(&mut self, parts: &[&[u8]]) -> Result<(), WorkloadError> {
        if self.device.is_none() {
            return Ok(());
        }
        let mut buffer = match self.filling.take() {
            Some(buffer) => buffer,
            None => self.memory.allocate(self.requests.request_bytes)?,
        };
        let mut at = self.filled * self.row_bytes;
        for part in parts {
            let Some(into) = buffer.get_mut(at..at + part.len()) else {
                unreachable!("a request has room for {} rows", self.requests.rows_by_request)
            };
            into.copy_from_slice(part);
            at += part.len();
        }
        self.filled += 1;
        self.filling = Some(buffer);
        if self.filled == self.requests.rows_by_request { self.write().await } else { Ok(()) }
    }

    async fn write(&mut self) -> Result<(), WorkloadError> {
        let (Some(device), Some(buffer)) = (&self.device, self.filling.take()) else { return Ok(()) };
        self.filled = 0;
        self.in_flight.push_back(device.request(Operation::write(self.offset_bytes, buffer.freeze())));
        self.offset_bytes += self.requests.request_bytes as u64;
        if self.in_flight.len() == IN_FLIGHT { self.wait().await } else { Ok(()) }
    }

    /// Waits for the oldest request.
    async fn wait(&mut self) -> Result<(), WorkloadError> {
        let Some(reply) = self.in_flight.pop_front() else { return Ok(()) };
        reply.await.result.map_err(|source| WorkloadError::Io { role: Role::Output, source })
    }

    /// Waits for all writes, without a flush.
    pub(crate) async fn finish(mut self) -> Result<(), WorkloadError> {
        self.write().await?;
        while !self.in_flight.is_empty() {
            self.wait().await?;
        }
        Ok(())
    }
}
