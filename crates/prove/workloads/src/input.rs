//! Input of a workload: sequential reads in long requests, several of them outstanding.

use std::collections::VecDeque;

use nandle_io::runtime::{AsyncDevice, Handle, Reply};
use nandle_io::{Arena, BufferMut, Operation};

use crate::data::RowGenerator;
use crate::{Area, InputContents, Role, WorkloadError};

/// Maximum length of a request for input or output, in bytes.
const REQUEST_BYTES_MAX: usize = 1 << 20;
/// Multiple of the block length of every device, in bytes.
const BLOCK_BYTES: usize = 4096;
/// Outstanding requests of the input, and of the output.
pub(crate) const IN_FLIGHT: usize = 4;

/// Layout of rows in requests. A request holds whole rows, back to back, and possibly a gap at its
/// end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestLayout {
    pub(crate) request_bytes: usize,
    pub(crate) rows_by_request: usize,
}

impl RequestLayout {
    /// Upper bound of the bytes for `rows` rows, for any maximum request length of a device.
    /// Shorter requests hold rows less densely.
    pub(crate) fn most_bytes(row_bytes: usize, rows: u64) -> u64 {
        let halves = std::iter::successors(Some(REQUEST_BYTES_MAX as u64), |bytes| Some(bytes / 2));
        let all = halves.take_while(|bytes| *bytes >= BLOCK_BYTES as u64);
        all.map(|bytes| Self::of(row_bytes, bytes).bytes_of(rows)).max().unwrap_or(0)
    }

    /// Layout for a device with this maximum request length.
    pub(crate) fn of(row_bytes: usize, transfer_bytes_max: u64) -> Self {
        let transfer_bytes_max = usize::try_from(transfer_bytes_max).unwrap_or(usize::MAX);
        let mut request_bytes = REQUEST_BYTES_MAX;
        while request_bytes > transfer_bytes_max && request_bytes / 2 >= row_bytes.max(BLOCK_BYTES) {
            request_bytes /= 2;
        }
        Self { request_bytes, rows_by_request: (request_bytes / row_bytes.max(1)).max(1) }
    }

    pub(crate) fn count_of(&self, rows: u64) -> u64 {
        rows.div_ceil(self.rows_by_request as u64)
    }

    pub(crate) fn bytes_of(&self, rows: u64) -> u64 {
        self.count_of(rows).saturating_mul(self.request_bytes as u64)
    }
}

/// Reader of one table, from its first row to its last.
pub(crate) struct Table<'a> {
    data: &'a RowGenerator,
    number: u64,
    requests: RequestLayout,
    device: Option<AsyncDevice>,
    start_bytes: u64,
    contents: InputContents,
    /// Requests sent, and requests whose rows were returned.
    sent: u64,
    given: u64,
    in_flight: VecDeque<Reply>,
    idle: Vec<BufferMut>,
}

/// The rows of one request.
pub(crate) struct RowBatch {
    buffer: BufferMut,
    rows: usize,
    row_bytes: usize,
}

impl RowBatch {
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.buffer.chunks_exact(self.row_bytes).take(self.rows)
    }
}

impl<'a> Table<'a> {
    pub(crate) fn new(
        handle: &Handle,
        area: Option<Area>,
        contents: InputContents,
        data: &'a RowGenerator,
        number: u64,
    ) -> Result<Self, WorkloadError> {
        let device = area.map(|area| handle.device(area.device));
        let shape = device.as_ref().and_then(AsyncDevice::shape);
        let transfer_bytes_max = shape.map_or(u64::MAX, |shape| shape.largest_transfer_bytes);
        let requests = RequestLayout::of(data.row_bytes, transfer_bytes_max);
        let memory = Arena::new(IN_FLIGHT * requests.request_bytes)?;
        let idle = (0..IN_FLIGHT).map(|_| memory.allocate(requests.request_bytes));
        let idle = idle.collect::<Result<Vec<_>, _>>()?;
        let start_bytes = area.map_or(0, |area| area.start_bytes) + number * requests.bytes_of(data.rows);
        let end_bytes = start_bytes + requests.bytes_of(data.rows);
        debug_assert!(
            area.is_none_or(|area| end_bytes <= area.start_bytes + area.length_bytes),
            "the table fits into its area"
        );
        let in_flight = VecDeque::new();
        Ok(Self { data, number, requests, device, start_bytes, contents, sent: 0, given: 0, in_flight, idle })
    }

    /// Returns the next rows, or none at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<RowBatch>, WorkloadError> {
        self.send();
        let first_row = self.given * self.requests.rows_by_request as u64;
        if first_row >= self.data.rows {
            return Ok(None);
        }
        let mut buffer = match self.in_flight.pop_front() {
            Some(reply) => read(reply).await?,
            None => self.idle_buffer(),
        };
        self.given += 1;
        let rows = (self.data.rows - first_row).min(self.requests.rows_by_request as u64);
        if self.device.is_none() || self.contents == InputContents::Generated {
            self.generate(first_row, rows, &mut buffer);
        }
        let rows = usize::try_from(rows).unwrap_or(self.requests.rows_by_request);
        Ok(Some(RowBatch { buffer, rows, row_bytes: self.data.row_bytes }))
    }

    /// Takes back the buffer of rows that have been consumed.
    pub(crate) fn give_back(&mut self, batch: RowBatch) {
        self.idle.push(batch.buffer);
        self.send();
    }

    fn idle_buffer(&mut self) -> BufferMut {
        let Some(buffer) = self.idle.pop() else {
            unreachable!("a batch was given back before the next one")
        };
        buffer
    }

    fn generate(&self, first_row: u64, rows: u64, into: &mut [u8]) {
        for (row, into) in (first_row..first_row + rows).zip(into.chunks_exact_mut(self.data.row_bytes)) {
            self.data.row(self.number, row, into);
        }
    }

    /// Submits reads while there are idle buffers.
    fn send(&mut self) {
        let Some(device) = &self.device else { return };
        while self.sent < self.requests.count_of(self.data.rows)
            && let Some(buffer) = self.idle.pop()
        {
            let offset_bytes = self.start_bytes + self.sent * self.requests.request_bytes as u64;
            self.in_flight.push_back(device.request(Operation::read(offset_bytes, buffer)));
            self.sent += 1;
        }
    }

    /// Writes the table to the place from which it is read later.
    pub(crate) async fn write(&mut self) -> Result<(), WorkloadError> {
        let Some(device) = self.device.clone() else { return Ok(()) };
        let failed = |source| WorkloadError::Io { role: Role::Input, source };
        for request in 0..self.requests.count_of(self.data.rows) {
            let mut buffer = self.idle_buffer();
            let first_row = request * self.requests.rows_by_request as u64;
            let rows = (self.data.rows - first_row).min(self.requests.rows_by_request as u64);
            self.generate(first_row, rows, &mut buffer);
            let offset_bytes = self.start_bytes + request * self.requests.request_bytes as u64;
            let buffer = buffer.freeze();
            device.write(offset_bytes, buffer.clone()).await.map_err(failed)?;
            self.idle.extend(buffer.thaw());
        }
        device.flush().await.map_err(failed)
    }
}

async fn read(reply: Reply) -> Result<BufferMut, WorkloadError> {
    let completion = reply.await;
    completion.result.map_err(|source| WorkloadError::Io { role: Role::Input, source })?;
    match completion.operation.into_read_buffer() {
        Some(buffer) => Ok(buffer),
        None => unreachable!("a completion has its request's buffer"),
    }
}
