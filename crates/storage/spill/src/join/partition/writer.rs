use super::{CARRIED_BYTES, Partition};
use crate::SpillError;
use crate::rows::Row;
use crate::rows::encoding::Head;
use crate::space::{Appender, Chain};

/// Writes rows as a partition. The current cluster is built in a body that the caller lends for
/// each call, because all partitions share the appender's slot.
pub(in crate::join) struct PartitionWriter {
    partition: Partition,
    /// Bytes used in the body; 0 if no cluster has begun.
    used: usize,
    /// Bytes of the body that end a row of the cluster before.
    carried: u32,
}

impl PartitionWriter {
    pub(in crate::join) fn new(chain: Chain) -> Self {
        let partition = Partition { chain, rows: 0, row_bytes: 0, row_bytes_max: 0 };
        Self { partition, used: 0, carried: 0 }
    }

    /// Appends a row.
    pub(in crate::join) async fn write(
        &mut self,
        row: Row<'_>,
        body: &mut [u8],
        appender: &mut Appender,
    ) -> Result<(), SpillError> {
        let Row { key, payload } = row;
        let (head, head_bytes) = Head { common: 0, rest: length(key), payload: length(payload) }.encode();
        let head = head.get(..head_bytes).unwrap_or_default();
        let partition = &mut self.partition;
        let row_bytes = key.len() + payload.len();
        partition.rows += 1;
        partition.row_bytes += row_bytes as u64;
        partition.row_bytes_max = partition.row_bytes_max.max(row_bytes);
        let mut left = head_bytes + row_bytes;
        if self.used == body.len() {
            self.seal(body, appender).await?;
        }
        if self.used == 0 {
            self.begin(0);
        }
        for mut part in [head, key, payload] {
            while !part.is_empty() {
                if self.used == body.len() {
                    self.seal(body, appender).await?;
                    self.begin(left.min(body.len() - CARRIED_BYTES));
                }
                let room = body.get_mut(self.used..).unwrap_or_default();
                let fitting = room.len().min(part.len());
                let (now, rest) = part.split_at(fitting);
                room.iter_mut().zip(now).for_each(|(into, from)| *into = *from);
                self.used += fitting;
                left -= fitting;
                part = rest;
            }
        }
        Ok(())
    }

    fn begin(&mut self, carried: usize) {
        self.used = CARRIED_BYTES;
        let Ok(carried) = u32::try_from(carried) else { unreachable!("a cluster is shorter than 4 GiB") };
        self.carried = carried;
    }

    async fn seal(&mut self, body: &[u8], appender: &mut Appender) -> Result<(), SpillError> {
        appender.ready().await?;
        let rows = body.get(CARRIED_BYTES..self.used).unwrap_or_default();
        let Some((carried, slot)) = appender.slot().split_first_chunk_mut() else {
            unreachable!("a cluster is longer than what stands in front of rows")
        };
        *carried = self.carried.to_le_bytes();
        let Some(slot) = slot.get_mut(..rows.len()) else { unreachable!("a body is as long as a slot") };
        slot.copy_from_slice(rows);
        appender.seal_link(&mut self.partition.chain, self.used);
        self.used = 0;
        // Let the device and other tasks proceed.
        appender.space().handle().yield_now().await;
        Ok(())
    }

    /// Ends the partition.
    pub(in crate::join) async fn finish(
        mut self,
        body: &[u8],
        appender: &mut Appender,
    ) -> Result<Partition, SpillError> {
        if self.used > 0 {
            self.seal(body, appender).await?;
        }
        Ok(self.partition)
    }
}

fn length(bytes: &[u8]) -> u32 {
    let Ok(length) = u32::try_from(bytes.len()) else {
        unreachable!("a row was refused that is longer than 4 GiB")
    };
    length
}
