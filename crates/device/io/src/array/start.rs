//! Splits requests into parts, and sends them.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::cut::{Share, cut};
use super::geometry::{Array, Leg};
use super::joint::{Held, Joint, Part};
use super::layout::Piece;
use super::world::Arrays;
use crate::{Buffer, BufferMut, DeviceId, Full, Nanos, Operation, Request};

/// Request to a child that has not been sent.
struct NewPart {
    column: usize,
    leg: Leg,
    fragments: SmallVec<[usize; 1]>,
    operation: Operation,
}

impl Arrays {
    /// Sends a request to a plain device unchanged.
    pub(super) fn pass_on(&mut self, device: DeviceId, request: Request) {
        self.plain_in_flight += 1;
        let part = Part::Plain { token: request.token, submitted_at: self.inner.now() };
        self.send_part(device, part, request.operation);
    }

    /// Sends a request to the inner world, after those that wait for a slot.
    pub(super) fn send_part(&mut self, child: DeviceId, part: Part, operation: Operation) {
        let token = self.parts.insert(part) as u64;
        if let Some(load) = self.loads.get_mut(child.index() as usize) {
            *load += 1;
        }
        let request = Request { token, operation };
        if !self.waiting.is_empty() {
            self.waiting.push_back((child, request));
        } else if let Err(Full(request)) = self.inner.submit(child, request) {
            self.waiting.push_back((child, request));
        }
    }

    /// Splits a request to an array, and sends the parts.
    pub(super) fn start(&mut self, index: usize, device: DeviceId, request: Request) {
        let Some(array) = self.mapped.get(index) else { return };
        let (held, parts) = self.divide(array, request.operation);
        let joint = self.joints.insert(Joint {
            device,
            token: request.token,
            submitted_at: self.inner.now(),
            held,
            parts_left: parts.len(),
            completed_at: Nanos::ZERO,
            cause: None,
        });
        for NewPart { column, leg, fragments, operation } in parts {
            let child = self.mapped.get(index).and_then(|array| array.columns.child(column, leg));
            let Some(child) = child else { continue };
            let part = Part::Shared { joint, array: index, column, leg, fragments, retried: false };
            self.send_part(child, part, operation);
        }
    }

    /// Splits a request into the part kept by the array and the parts for its children.
    fn divide(&self, array: &Array, operation: Operation) -> (Held, Vec<NewPart>) {
        let Operation::Read { offset_bytes, into } = operation else {
            let parts = on_columns(array, &operation).into_iter().flat_map(|(column, operation)| {
                array.columns.legs().iter().filter_map(move |leg| NewPart::on_leg(&operation, column, *leg))
            });
            let parts = parts.collect();
            return (Held::Whole(operation), parts);
        };
        let length_bytes = into.iter().map(|buffer| buffer.len() as u64).sum();
        let (shares, owners) = cut::<BufferMut>(into, array.stripes.pieces(offset_bytes, length_bytes));
        let parts = shares.into_iter().map(|share| NewPart {
            column: share.column,
            leg: self.leg_to_read(array, share.column, share.offset_bytes),
            fragments: share.fragments,
            operation: Operation::Read { offset_bytes: share.offset_bytes, into: share.buffers },
        });
        let fragments = owners.places();
        (Held::Read { offset_bytes, owners, fragments }, parts.collect())
    }

    /// Leg with fewer requests in flight; ties alternate by chunk.
    fn leg_to_read(&self, array: &Array, column: usize, offset_bytes: u64) -> Leg {
        let load = |leg| {
            let child = array.columns.child(column, leg);
            child.and_then(|child| self.loads.get(child.index() as usize)).copied().unwrap_or(0)
        };
        let is_even = (offset_bytes / array.stripes.chunk_bytes).is_multiple_of(2);
        match load(Leg::First).cmp(&load(Leg::Second)) {
            Ordering::Less => Leg::First,
            Ordering::Equal if is_even => Leg::First,
            Ordering::Equal | Ordering::Greater => Leg::Second,
        }
    }
}

/// Share of each column in any operation but a read.
fn on_columns(array: &Array, operation: &Operation) -> Vec<(usize, Operation)> {
    let (offset, length) = (operation.offset_bytes(), operation.length_bytes());
    match operation {
        Operation::Read { .. } => Vec::new(),
        Operation::Write { from, durability, .. } => {
            let (shares, _) = cut::<Buffer>(from.clone(), array.stripes.pieces(offset, length));
            let write = |share: Share<Buffer>| {
                let (offset_bytes, from) = (share.offset_bytes, share.buffers);
                (share.column, Operation::Write { offset_bytes, from, durability: *durability })
            };
            shares.into_iter().map(write).collect()
        }
        Operation::Flush => (0..array.columns.count()).map(|column| (column, Operation::Flush)).collect(),
        Operation::Discard { .. } => {
            let discard = |piece: Piece| {
                let (offset_bytes, length_bytes) = (piece.offset_bytes, piece.length_bytes);
                (piece.column, Operation::Discard { offset_bytes, length_bytes })
            };
            array.stripes.shares(offset, length).into_iter().map(discard).collect()
        }
    }
}

impl NewPart {
    /// Copy of an operation for one leg, with its own handles to the same memory. `None` for a
    /// read, whose memory can't be shared.
    fn on_leg(operation: &Operation, column: usize, leg: Leg) -> Option<Self> {
        let operation = match operation {
            Operation::Read { .. } => return None,
            Operation::Write { offset_bytes, from, durability } => {
                Operation::Write { offset_bytes: *offset_bytes, from: from.clone(), durability: *durability }
            }
            Operation::Flush => Operation::Flush,
            Operation::Discard { offset_bytes, length_bytes } => {
                Operation::Discard { offset_bytes: *offset_bytes, length_bytes: *length_bytes }
            }
        };
        Some(Self { column, leg, fragments: SmallVec::new(), operation })
    }
}
