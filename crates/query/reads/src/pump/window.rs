use std::ops::Range;

use nandle_io::buffer::GRAIN_BYTES;
use nandle_io::{Buffer, BufferMut};

use crate::plan::{Extent, PlannedWindow};
use crate::{Plan, PlannedRead, Want};

/// A window with requests in flight or completed.
pub(crate) struct LoadedWindow {
    pub(crate) steps: Range<u32>,
    pub(crate) reads: Range<usize>,
    pub(crate) extents: Range<usize>,
    /// Memory not yet assigned to an extent. Keeps the window's memory alive even when empty.
    memory: BufferMut,
    loaded: Vec<LoadedExtent>,
}

/// Completed parts of an extent: consecutive pieces of one buffer.
#[derive(Default)]
struct LoadedExtent {
    /// Memory of requests not yet sent, which are sent in order or in reverse order.
    rest: Option<BufferMut>,
    /// Parts by request, followed by the file's tail; empty before the first request is sent.
    parts: Vec<Option<Buffer>>,
}

impl LoadedWindow {
    pub(crate) fn new(window: &PlannedWindow, memory: BufferMut) -> Self {
        let mut loaded = Vec::new();
        loaded.resize_with(window.extents.len(), LoadedExtent::default);
        let PlannedWindow { steps, reads, extents, .. } = window.clone();
        Self { steps, reads, extents, memory, loaded }
    }

    fn extent(&mut self, read: &PlannedRead) -> &mut LoadedExtent {
        let index = (read.extent as usize).checked_sub(self.extents.start);
        let Some(extent) = index.and_then(|index| self.loaded.get_mut(index)) else {
            unreachable!("the request belongs to this window: {read:?}")
        };
        extent
    }

    /// Returns the memory for a request. The file's tail follows an extent's last request, so that
    /// a want that needs both is contiguous.
    pub(crate) fn buffer(&mut self, plan: &Plan, read: &PlannedRead, tail: &[u8]) -> BufferMut {
        let length = usize::try_from(read.length_bytes).unwrap_or(usize::MAX);
        let planned = planned_extent(plan, read.extent);
        if self.extent(read).parts.is_empty() {
            let readable = usize::try_from(planned.length_bytes).unwrap_or(usize::MAX);
            let tail_bytes = plan.tail_bytes(planned);
            let tail = if tail_bytes > 0 { tail } else { &[] };
            let mut whole = self.memory.split_to((readable + tail.len()).next_multiple_of(GRAIN_BYTES));
            assert!(whole.len() >= readable + tail.len(), "a window's memory has room for its extents");
            let extent = self.extent(read);
            extent.parts.resize(planned.requests(), None);
            extent.rest = Some(whole.split_to(readable));
            if !tail.is_empty() {
                let mut behind = whole.split_to(tail.len());
                behind.copy_from_slice(tail);
                extent.parts.push(Some(behind.freeze()));
            }
        }
        let Some(mut rest) = self.extent(read).rest.take() else {
            unreachable!("an extent's requests are each sent once: {read:?}")
        };
        let buffer = if planned.is_backward {
            let before = rest.split_to(rest.len() - length);
            std::mem::replace(&mut rest, before)
        } else {
            rest.split_to(length)
        };
        self.extent(read).rest = (!rest.is_empty()).then_some(rest);
        buffer
    }

    /// Stores the bytes of a completed request.
    pub(crate) fn take(&mut self, plan: &Plan, read: &PlannedRead, buffer: BufferMut) {
        let number = planned_extent(plan, read.extent).request_number(read.offset_bytes);
        let extent = self.extent(read);
        let part = extent.parts.get_mut(number);
        assert!(part.as_ref().is_some_and(|part| part.is_none()), "part {number} of {read:?} comes once");
        if let Some(part) = part {
            *part = Some(buffer.freeze());
        }
    }

    /// Returns the parts of an extent that a want needs and the index of the first, or `None` if no
    /// request of the extent was sent.
    fn parts(&self, plan: &Plan, want: &Want, extent: u32) -> Option<(usize, &[Option<Buffer>])> {
        let planned = planned_extent(plan, extent);
        let loaded = self.loaded.get((extent as usize).checked_sub(self.extents.start)?)?;
        let first = planned.request_number(want.offset_bytes);
        let last = planned.request_number(want.end_bytes().min(planned.end_bytes()) - 1);
        let last = last + usize::from(want.end_bytes() > planned.end_bytes());
        Some((first, loaded.parts.get(first..=last)?))
    }

    /// Returns true if all bytes that a want needs of an extent have arrived.
    pub(crate) fn has(&self, plan: &Plan, want: &Want, extent: u32) -> bool {
        self.parts(plan, want, extent).is_some_and(|(_, parts)| parts.iter().all(Option::is_some))
    }

    /// Returns the bytes of a want in an extent, or `None` while some are missing.
    pub(crate) fn bytes(&self, plan: &Plan, want: &Want, extent: u32) -> Option<Buffer> {
        let planned = planned_extent(plan, extent);
        let (first, parts) = self.parts(plan, want, extent)?;
        let memory_end_bytes = planned.end_bytes() + plan.tail_bytes(planned);
        let end_bytes = want.end_bytes().min(memory_end_bytes);
        let mut parts = parts.iter();
        let mut whole = parts.next()?.clone()?;
        for part in parts {
            let Ok(joined) = whole.join(part.clone()?) else {
                unreachable!("parts of one buffer are neighbours")
            };
            whole = joined;
        }
        let from = usize::try_from(want.offset_bytes - planned.request(first).0).ok()?;
        let length = usize::try_from(end_bytes - want.offset_bytes).ok()?;
        Some(whole.slice(from..from + length))
    }
}

fn planned_extent(plan: &Plan, extent: u32) -> &Extent {
    let Some(planned) = plan.extents.get(extent as usize) else { unreachable!("extent {extent} is planned") };
    planned
}
