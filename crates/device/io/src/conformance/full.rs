use super::session::Session;
use crate::{Arena, Device, DeviceId, Full, Io, Operation, Request};

/// Checks that a world accepts as many requests as it has slots, including invalid ones, and
/// returns the next one unchanged.
pub fn a_full_world_gives_requests_back(io: &mut dyn Io, device: &Device, seed: u64) {
    let mut session = Session::new(io, device, "a full world", seed);
    fill(&mut session, device.id);
    fill(&mut session, DeviceId::from_index(u32::MAX));
}

fn fill(session: &mut Session<'_>, device: DeviceId) {
    let slots = session.io.slots();
    let bytes = session.whole_blocks(512);
    let arena = Arena::new((slots + 1) * bytes.next_multiple_of(4096)).unwrap();
    for taken in 0..slots {
        assert_eq!(session.io.in_flight(), taken);
        let request = session.request(Operation::read(0, arena.allocate(bytes).unwrap()));
        session.io.submit(device, request).expect("there is room for as many as there are slots");
    }
    let mut buffer = arena.allocate(bytes).unwrap();
    buffer.fill(0xA5);
    let address = buffer.as_ptr();
    let Full(Request { token, operation }) = session
        .io
        .submit(device, Request { token: 77, operation: Operation::read(0, buffer) })
        .expect_err("there is room for no more than there are slots");
    assert_eq!((token, operation.offset_bytes()), (77, 0));
    let buffer = operation.into_read_buffer().expect("the buffer comes back");
    assert_eq!(buffer.as_ptr(), address);
    assert!(buffer.len() == bytes && buffer.iter().all(|byte| *byte == 0xA5));
    assert_eq!(session.drain().len(), slots);
}
