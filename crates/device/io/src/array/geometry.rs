use super::error::ArrayError;
use super::layout::Stripes;
use crate::{Access, DeviceId, DurableWrites, Shape};

/// Copy of a mirror.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leg {
    /// First of the two children.
    First,
    /// Second of the two children.
    Second,
}

impl Leg {
    pub(super) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// Columns of an array: single devices, or mirrors.
#[derive(Debug)]
pub(super) enum Columns {
    Single(Vec<DeviceId>),
    Mirrored(Vec<[DeviceId; 2]>),
}

impl Columns {
    /// Child with this leg of a column; a single device has both.
    pub(super) fn child(&self, column: usize, leg: Leg) -> Option<DeviceId> {
        match self {
            Self::Single(devices) => devices.get(column).copied(),
            Self::Mirrored(pairs) => pairs.get(column).map(|[first, second]| match leg {
                Leg::First => *first,
                Leg::Second => *second,
            }),
        }
    }

    /// Legs that a write goes to.
    pub(super) fn legs(&self) -> &'static [Leg] {
        match self {
            Self::Single(_) => &[Leg::First],
            Self::Mirrored(_) => &[Leg::First, Leg::Second],
        }
    }

    /// Devices of all columns, in order.
    pub(super) fn devices(&self) -> &[DeviceId] {
        match self {
            Self::Single(devices) => devices,
            Self::Mirrored(pairs) => pairs.as_flattened(),
        }
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Single(devices) => devices.len(),
            Self::Mirrored(pairs) => pairs.len(),
        }
    }
}

/// Address mapping and state of an array.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) stripes: Stripes,
    pub(super) columns: Columns,
    /// True after a failed flush.
    pub(super) latched: bool,
    /// Number of reads that failed on one leg and were retried on the other.
    pub(super) read_retries: u64,
}

impl Array {
    /// Builds an array of these columns, and its shape.
    pub(super) fn new(
        columns: Columns,
        children: &[&Shape],
        chunk_bytes: u64,
    ) -> Result<(Self, Shape), ArrayError> {
        let stripes = Stripes { chunk_bytes, columns: columns.count() as u64 };
        let shape = shape(stripes, children)?;
        Ok((Self { stripes, columns, latched: false, read_retries: 0 }, shape))
    }
}

/// Shape of an array: the capabilities that all `children` share.
fn shape(stripes: Stripes, children: &[&Shape]) -> Result<Shape, ArrayError> {
    let chunk_bytes = stripes.chunk_bytes;
    let most = |of: fn(&Shape) -> u64| children.iter().map(|child| of(child)).max().unwrap_or(1);
    let least = |of: fn(&Shape) -> u64| children.iter().map(|child| of(child)).min().unwrap_or(0);
    let memory_alignment_bytes = most(|child| child.memory_alignment_bytes);
    // Buffers are cut at the array's blocks, so each piece must be aligned in memory, too.
    let logical_block_bytes = most(|child| child.logical_block_bytes).max(memory_alignment_bytes);
    let fits = |child: &&Shape| chunk_bytes.is_multiple_of(child.logical_block_bytes);
    if chunk_bytes == 0 || !chunk_bytes.is_multiple_of(logical_block_bytes) || !children.iter().all(fits) {
        return Err(ArrayError::Chunk { chunk_bytes, needed_bytes: logical_block_bytes });
    }
    let capacity_bytes = least(|child| child.capacity_bytes);
    if capacity_bytes < chunk_bytes {
        return Err(ArrayError::TooSmall { capacity_bytes, chunk_bytes });
    }
    Ok(Shape {
        capacity_bytes: stripes.capacity_bytes(capacity_bytes),
        logical_block_bytes,
        memory_alignment_bytes,
        largest_transfer_bytes: least(|child| child.largest_transfer_bytes),
        access: access(children),
        durable_writes: durable_writes(children),
        writable: children.iter().all(|child| child.writable),
        discards: children.iter().all(|child| child.discards),
    })
}

fn access(children: &[&Shape]) -> Access {
    let buffered = children.iter().find(|child| child.access != Access::Direct);
    buffered.map_or(Access::Direct, |child| child.access.clone())
}

fn durable_writes(children: &[&Shape]) -> DurableWrites {
    let any = |kind| children.iter().any(|child| child.durable_writes == kind);
    if any(DurableWrites::Unknown) {
        DurableWrites::Unknown
    } else if any(DurableWrites::WriteThenFlush) {
        DurableWrites::WriteThenFlush
    } else {
        DurableWrites::OneCommand
    }
}

#[cfg(test)]
mod tests {
    use rand::seq::IndexedRandom;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn number(random: &mut Xoshiro256PlusPlus) -> u64 {
        let edges = [0, 1, 511, 512, 4096, 12_288, 1 << 20, 1 << 40, i64::MAX.cast_unsigned(), u64::MAX];
        if random.random() { *edges.choose(random).unwrap() } else { random.random() }
    }

    fn child(random: &mut Xoshiro256PlusPlus) -> Shape {
        Shape {
            capacity_bytes: number(random),
            logical_block_bytes: 1 << random.random_range(0..13_u32),
            memory_alignment_bytes: 1 << random.random_range(0..13_u32),
            largest_transfer_bytes: number(random),
            access: Access::Direct,
            durable_writes: DurableWrites::Unknown,
            writable: true,
            discards: false,
        }
    }

    #[test]
    fn arrays_of_any_children_and_chunks_are_made_or_refused() {
        let mut made = 0;
        for seed in 0..4000 {
            let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
            let children: Vec<_> = (0..random.random_range(1..9)).map(|_| child(random)).collect();
            let devices = (0..8).take(children.len()).map(DeviceId::from_index).collect();
            let children: Vec<_> = children.iter().collect();
            let chunk_bytes = number(random);
            if let Ok((_, shape)) = Array::new(Columns::Single(devices), &children, chunk_bytes) {
                made += 1;
                assert!(shape.capacity_bytes >= chunk_bytes, "seed {seed}: {shape:?}");
            }
        }
        assert!(made > 100, "{made}");
    }
}
