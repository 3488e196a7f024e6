//! # A cluster of a partition
//!
//! ```text
//! u32  length of the tail of a row that began in the cluster before
//!      that tail
//!      rows, back to back; the last one may continue in the next cluster
//! ```
//!
//! A row is encoded as in a [run](crate::rows::encoding), but never shares a prefix with the row
//! before it. Clusters of a [chain](crate::space::Chain) are read from the last to the first. The
//! tail of a row that crosses clusters is therefore read before its head, and is kept until then.

mod reader;
mod writer;

pub(super) use self::reader::PartitionReader;
pub(super) use self::writer::PartitionWriter;
use crate::space::Chain;

/// Length of the header in front of the rows of a cluster, in bytes.
const CARRIED_BYTES: usize = size_of::<u32>();

/// A partition on the device.
#[derive(Debug, Clone)]
pub(super) struct Partition {
    pub(super) chain: Chain,
    pub(super) rows: u64,
    /// Bytes of keys and payloads.
    pub(super) row_bytes: u64,
    pub(super) row_bytes_max: usize,
}

impl Partition {
    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Size of its clusters on the device, in bytes.
    pub(super) fn stored_bytes(&self, cluster_bytes: usize) -> u64 {
        u64::from(self.chain.clusters()) * cluster_bytes as u64
    }
}

#[cfg(test)]
mod tests {
    use nandle_io::Nanos;
    use nandle_io::conformance::MemoryWorld;
    use nandle_io::runtime::Runtime;
    use nandle_io::{Access, DeviceId, DurableWrites, Shape};
    use proptest::prelude::*;

    use super::*;
    use crate::costs::WriteMemory;
    use crate::rows::Row;
    use crate::space::{AfterReading, Appender, Division, Space, WriteBuffers};
    use crate::{Budget, Place};

    type OwnedRow = (Vec<u8>, Vec<u8>);

    fn runtime() -> Runtime {
        let mut world = MemoryWorld::new(16, Nanos::from_micros(20));
        world.add_shaped(Shape {
            capacity_bytes: 4 << 20,
            logical_block_bytes: 512,
            memory_alignment_bytes: 512,
            largest_transfer_bytes: 1 << 20,
            access: Access::Direct,
            durable_writes: DurableWrites::OneCommand,
            writable: true,
            discards: false,
        });
        Runtime::new(Box::new(world))
    }

    /// Writes rows as a partition, and reads it back `times` times.
    fn written_and_read(rows: &[OwnedRow], reach: usize, buffers: usize, times: usize) -> Vec<Vec<OwnedRow>> {
        let runtime = runtime();
        let handle = runtime.handle();
        runtime.block_on(async {
            let device = DeviceId::from_index(0);
            let place = Place { device, start_bytes: 0, length_bytes: 4 << 20, salt: 7, discards: false };
            let division = Division { cluster_bytes: 512, zone_bytes: 4096 };
            let space = Space::new(&handle, place, division).unwrap();
            let budget = Budget::new(1 << 20).unwrap();
            let mut appender = Appender::new(
                &space,
                WriteBuffers::new(&budget, WriteMemory { buffer_bytes: 2048, buffers: 2 }).unwrap(),
            );
            let mut writer = PartitionWriter::new(appender.begin_chain(reach));
            let mut body = vec![0xEE; 512 - crate::space::cluster::HEADER_BYTES];
            for (key, payload) in rows {
                writer.write(Row { key, payload }, &mut body, &mut appender).await.unwrap();
            }
            let partition = writer.finish(&body, &mut appender).await.unwrap();
            appender.drain().await.unwrap();
            let mut all = Vec::new();
            for time in 0..times {
                let after = if time + 1 == times { AfterReading::Release } else { AfterReading::Keep };
                let (_grant, buffers) = budget.buffers("reading", buffers, 512).unwrap();
                let mut reader = PartitionReader::new(&space, &budget, &partition, buffers).unwrap();
                reader.set_after_reading(after);
                let mut got = Vec::new();
                while reader.advance().await.unwrap() {
                    let Row { key, payload } = reader.row();
                    got.push((key.to_vec(), payload.to_vec()));
                }
                all.push(got);
            }
            all
        })
    }

    fn rows() -> impl Strategy<Value = Vec<OwnedRow>> {
        let part = |longest: usize| {
            (any::<u8>(), prop_oneof![4 => 0..20_usize, 1 => 0..longest])
                .prop_map(|(byte, length)| vec![byte; length])
        };
        proptest::collection::vec((part(700), part(1500)), 0..80)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn partition_returns_the_rows_written(rows in rows(), reach in 1_usize..5, buffers in 1_usize..5) {
            let mut expected = rows.clone();
            expected.sort();
            for mut got in written_and_read(&rows, reach, buffers, 2) {
                got.sort();
                prop_assert_eq!(&got, &expected);
            }
        }
    }
}
