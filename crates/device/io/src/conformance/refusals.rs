use super::session::Session;
use crate::device::BUFFERS_MAX;
use crate::{Access, Arena, Buffer, Cause, Device, DeviceId, Io, Operation, WriteBuffers};

/// Checks that invalid requests complete with their cause and have no effect.
pub fn impossible_requests_are_refused(io: &mut dyn Io, device: &Device, seed: u64) {
    let mut session = Session::new(io, device, "refusals", seed);
    unknown_device(&mut session);
    misaligned(&mut session);
    beyond_the_end(&mut session);
    bad_lengths(&mut session);
    too_many_buffers(&mut session);
    kinds_it_lacks(&mut session);
    nothing_moves(&mut session);
    assert_eq!(session.run(Operation::Flush).result, Ok(()), "the device goes on working");
}

fn unknown_device(session: &mut Session<'_>) {
    let index = u32::try_from(session.io.devices().len()).unwrap();
    for index in [index, u32::MAX] {
        let request = session.request(Operation::Flush);
        session.io.submit(DeviceId::from_index(index), request).unwrap();
        let completion = session.drain().pop().unwrap();
        assert_eq!(completion.device, DeviceId::from_index(index));
        assert_eq!(completion.result.unwrap_err().cause, Cause::UnknownDevice { index });
    }
}

fn misaligned(session: &mut Session<'_>) {
    let shape = session.device.shape.clone();
    let block = session.block_bytes();
    let arena = Arena::new(8 * block + 65_536).unwrap();
    let expect = |cause: Cause, what: &str, needed: u64| match cause {
        Cause::Misaligned { what: got, needed: got_needed, .. } => {
            assert_eq!((got, got_needed), (what, needed));
        }
        other => panic!("{what} is misaligned, and the device says {other:?}"),
    };
    if block > 1 {
        let needed = shape.logical_block_bytes;
        let read = |offset, bytes| Operation::read(offset, arena.allocate(bytes).unwrap());
        expect(session.refused(read(1, block)), "offset", needed);
        expect(session.refused(read(0, block - 1)), "length", needed);
        let mut second = arena.allocate(2 * block).unwrap();
        let first = second.split_to(block / 2);
        let into = [first, second.split_to(block + block / 2)].into_iter().collect();
        expect(session.refused(Operation::Read { offset_bytes: 0, into }), "length of a buffer", needed);
    }
    if shape.memory_alignment_bytes > 1 {
        let mut buffer = arena.allocate(block + 1).unwrap();
        let _ = buffer.split_to(1);
        let cause = session.refused(Operation::read(0, buffer));
        expect(cause, "memory address", shape.memory_alignment_bytes);
    } else {
        assert_ne!(shape.access, Access::Direct, "no direct I/O takes memory at any address");
    }
}

fn beyond_the_end(session: &mut Session<'_>) {
    let capacity_bytes = session.device.shape.capacity_bytes;
    let block = session.block_bytes() as u64;
    let arena = Arena::new(4 * session.block_bytes().next_multiple_of(4096)).unwrap();
    let last_block_of_all = u64::MAX / block * block;
    for offset in [capacity_bytes - block, capacity_bytes, capacity_bytes + block, last_block_of_all] {
        let end_bytes = offset.saturating_add(2 * block);
        let buffer = arena.allocate(2 * session.block_bytes()).unwrap();
        let cause = session.refused(Operation::read(offset, buffer));
        assert_eq!(cause, Cause::BeyondEnd { end_bytes, capacity_bytes });
    }
    let last = arena.allocate(session.block_bytes()).unwrap();
    assert_eq!(session.run(Operation::read(capacity_bytes - block, last)).result, Ok(()));
}

fn bad_lengths(session: &mut Session<'_>) {
    let largest_bytes = session.device.shape.largest_transfer_bytes;
    let arena = Arena::new(2 * session.whole_blocks(1 << 20)).unwrap();
    let empty = arena.allocate(0).unwrap();
    assert_eq!(session.refused(Operation::read(0, empty)), Cause::Length { largest_bytes });
    let into = std::iter::empty().collect();
    let cause = session.refused(Operation::Read { offset_bytes: 0, into });
    assert_eq!(cause, Cause::Length { largest_bytes });
    if session.device.shape.writable {
        let part = arena.allocate(session.whole_blocks(1 << 20)).unwrap().freeze();
        let parts = usize::try_from(largest_bytes).unwrap() / part.len() + 1;
        let from: WriteBuffers = (0..parts).map(|_| part.clone()).collect();
        let cause = session.refused(writing(from));
        assert_eq!(cause, Cause::Length { largest_bytes });
    }
}

/// Checks the limit of buffers: `BUFFERS_MAX` succeed, one more is refused.
fn too_many_buffers(session: &mut Session<'_>) {
    let shape = session.device.shape.clone();
    let block = session.block_bytes();
    let bytes = ((BUFFERS_MAX + 1) * block) as u64;
    if !shape.writable || bytes > shape.largest_transfer_bytes || bytes > shape.capacity_bytes {
        return;
    }
    let part = Arena::new(session.whole_blocks(4096)).unwrap().allocate(block).unwrap().freeze();
    let parts = |count| writing((0..count).map(|_| part.clone()).collect());
    assert_eq!(session.run(parts(BUFFERS_MAX)).result, Ok(()));
    let cause = session.refused(parts(BUFFERS_MAX + 1));
    assert_eq!(cause, Cause::Buffers { count: BUFFERS_MAX + 1, most: BUFFERS_MAX });
}

fn writing(from: WriteBuffers) -> Operation {
    Operation::Write { offset_bytes: 0, from, durability: crate::Durability::Volatile }
}

fn kinds_it_lacks(session: &mut Session<'_>) {
    let shape = session.device.shape.clone();
    let arena = Arena::new(session.whole_blocks(4096)).unwrap();
    let block: Buffer = arena.allocate(session.block_bytes()).unwrap().freeze();
    let discard = Operation::Discard { offset_bytes: 0, length_bytes: shape.logical_block_bytes };
    let unsupported = |cause: Cause| assert!(matches!(cause, Cause::Unsupported { .. }), "{cause:?}");
    if !shape.writable {
        unsupported(session.refused(Operation::write(0, block.clone())));
        unsupported(session.refused(Operation::durable_write(0, block)));
    }
    if !shape.writable || !shape.discards {
        unsupported(session.refused(discard));
    }
}

/// Checks that a refused read leaves its memory unchanged, and a refused write the device.
fn nothing_moves(session: &mut Session<'_>) {
    let (capacity_bytes, bytes) = (session.device.shape.capacity_bytes, session.block_bytes());
    let arena = Arena::new(4 * bytes.next_multiple_of(4096)).unwrap();
    let last_bytes = capacity_bytes - bytes as u64;
    let filled = |byte| {
        let mut buffer = arena.allocate(bytes).unwrap();
        buffer.fill(byte);
        buffer
    };
    let completion = session.run(Operation::read(capacity_bytes, filled(0x5A)));
    let untouched = completion.operation.into_read_buffer().unwrap();
    assert!(completion.result.is_err() && untouched.iter().all(|byte| *byte == 0x5A));
    drop(untouched);
    if session.device.shape.writable {
        assert_eq!(session.run(Operation::write(last_bytes, filled(1).freeze())).result, Ok(()));
        let mut twice = arena.allocate(2 * bytes).unwrap();
        twice.fill(2);
        session.refused(Operation::write(last_bytes, twice.freeze()));
        let read = session.run(Operation::read(last_bytes, filled(3))).operation.into_read_buffer().unwrap();
        assert!(read.iter().all(|byte| *byte == 1), "a refused write reached the device");
    }
}
