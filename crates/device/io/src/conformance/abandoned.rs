use crate::{Arena, BufferMut, Device, Io, Nanos, Operation, Request, Wait};

/// Checks that a world dropped with requests in flight never writes to memory that is in use again:
/// the buffers return to the arena once no request can access them, or never.
///
/// `open` makes a world and returns a device in it. It is called many times.
pub fn abandoned_requests_keep_their_memory(mut open: impl FnMut() -> (Box<dyn Io>, Device)) {
    for reaped in [false, true] {
        for _ in 0..10 {
            let arena = Arena::new(8 << 20).unwrap();
            let (io, device) = open();
            abandon(io, &device, &arena, reaped);
            let mut again = everything_left(&arena);
            for buffer in &mut again {
                buffer.fill(0xC3);
            }
            pass_some_time(open().0);
            assert!(
                again.iter().all(|buffer| buffer.iter().all(|byte| *byte == 0xC3)),
                "memory was written to"
            );
        }
    }
}

/// Fills the world with requests and drops it. If `reaped`, the requests are sent first.
fn abandon(mut io: Box<dyn Io>, device: &Device, arena: &Arena, reaped: bool) {
    io.register(arena);
    let block = usize::try_from(device.shape.logical_block_bytes).unwrap();
    let bytes = 65_536_usize.next_multiple_of(block);
    let places = device.shape.capacity_bytes / bytes as u64;
    for number in 0..io.slots() as u64 {
        let Ok(buffer) = arena.allocate(bytes) else { break };
        let offset_bytes = number % places * bytes as u64;
        let operation = if number % 3 == 0 && device.shape.writable {
            Operation::write(offset_bytes, buffer.freeze())
        } else {
            Operation::read(offset_bytes, buffer)
        };
        io.submit(device.id, Request { token: number, operation }).unwrap();
    }
    if reaped {
        io.reap(Wait::NONE, &mut Vec::new());
    }
}

fn everything_left(arena: &Arena) -> Vec<BufferMut> {
    std::iter::from_fn(|| arena.allocate(4096).ok()).collect()
}

fn pass_some_time(mut io: Box<dyn Io>) {
    let until = io.now() + Nanos::from_millis(5);
    while io.now() < until {
        io.reap(Wait::until_time(until), &mut Vec::new());
    }
}
