use nandle_io::virtual_world::{Arrival, Conduct, Fate, Scheduled, VirtualWorld};
use nandle_io::{Access, DeviceId, DurableWrites, Nanos, Operation, Shape};

/// Device that stores only its first bytes, where a store has its labels and ledgers, and thus
/// needs little memory at any length. All other bytes read as zeros, and filling the reader's
/// memory is its only work. Pages of zeros therefore read back as written.
pub(crate) struct Null {
    kept: Vec<u8>,
}

/// World with one device that completes requests immediately, and stores its first `kept_bytes`.
pub(crate) fn null_world(capacity_bytes: u64, kept_bytes: usize) -> VirtualWorld<Scheduled<Null>> {
    let mut world = VirtualWorld::of(Null { kept: vec![0; kept_bytes] }, usize::MAX);
    world.add_device(Shape {
        capacity_bytes,
        logical_block_bytes: 512,
        memory_alignment_bytes: 512,
        largest_transfer_bytes: 1 << 20,
        access: Access::Direct,
        durable_writes: DurableWrites::OneCommand,
        writable: true,
        discards: false,
    });
    world
}

impl Conduct for Null {
    const NAME: &'static str = "null";

    fn fate(&mut self, _now: Nanos, _arrival: &Arrival<'_>) -> Fate {
        Fate { takes: Nanos::ZERO, failure: None }
    }

    fn take_effect(&mut self, _key: usize, _device: DeviceId, operation: &mut Operation) {
        let mut at = usize::try_from(operation.offset_bytes()).unwrap();
        match operation {
            Operation::Read { into, .. } => {
                for buffer in into {
                    buffer.fill(0);
                    copy(self.kept.get(at..).unwrap_or_default(), buffer);
                    at += buffer.len();
                }
            }
            Operation::Write { from, .. } => {
                for buffer in from {
                    copy(buffer, self.kept.get_mut(at..).unwrap_or_default());
                    at += buffer.len();
                }
            }
            Operation::Flush | Operation::Discard { .. } => {}
        }
    }
}

/// Copies as many bytes as both have.
fn copy(from: &[u8], into: &mut [u8]) {
    into.iter_mut().zip(from).for_each(|(into, from)| *into = *from);
}
