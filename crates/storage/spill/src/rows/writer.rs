//! Encoder of a run's byte stream.

use super::cluster_head::{CLUSTER_HEAD_BYTES, ClusterHead};
use super::encoding::Head;
use super::{Row, common_prefix};
use crate::SpillError;
use crate::merge::Tags;
use crate::space::{Appender, Stream};

/// Writes rows as a run. Rows must come in key order.
pub(crate) struct RunWriter<'a> {
    appender: &'a mut Appender,
    stream: Stream,
    tags: &'a Tags,
    /// Bytes used in the appender's slot.
    used: usize,
    /// Key of the previous row.
    before: Vec<u8>,
    /// Header of the current cluster.
    head: Option<ClusterHead>,
}

impl<'a> RunWriter<'a> {
    pub(crate) fn new(appender: &'a mut Appender, stream: Stream, tags: &'a Tags) -> Self {
        Self { appender, stream, tags, used: 0, before: Vec::new(), head: None }
    }

    /// Appends a row.
    pub(crate) async fn write(&mut self, row: Row<'_>) -> Result<(), SpillError> {
        debug_assert!(self.before.as_slice() <= row.key, "rows of a run come in order");
        self.begin_cluster().await?;
        let has_row = self.head.is_some_and(|head| head.first_row.is_some());
        let common = if has_row { common_prefix(&self.before, row.key) } else { 0 };
        let rest = row.key.get(common..).unwrap_or_default();
        let head =
            Head { common: length(common), rest: length(rest.len()), payload: length(row.payload.len()) };
        let (bytes, head_bytes) = head.encode();
        let head = bytes.get(..head_bytes).unwrap_or_default();
        self.count(row);
        self.before.truncate(common);
        self.before.extend_from_slice(rest);
        let length = head.len() + rest.len() + row.payload.len();
        if self.put_whole(length, [head, rest, row.payload]) {
            return Ok(());
        }
        for part in [head, rest, row.payload] {
            self.put(part).await?;
        }
        Ok(())
    }

    async fn begin_cluster(&mut self) -> Result<(), SpillError> {
        if self.head.is_none() {
            self.appender.ready().await?;
            self.head = Some(ClusterHead { first_row: None, before: self.stream.totals });
            self.used = CLUSTER_HEAD_BYTES;
        }
        Ok(())
    }

    /// Counts a row that begins at the current position.
    fn count(&mut self, row: Row<'_>) {
        if let Some(head) = &mut self.head
            && head.first_row.is_none()
        {
            *head = ClusterHead { first_row: Some(length(self.used)), before: self.stream.totals };
        }
        self.stream.totals.add(row.key.len(), row.payload.len());
    }

    /// Writes a whole row to the slot. Returns false unless at least one byte would remain free.
    fn put_whole(&mut self, length: usize, parts: [&[u8]; 3]) -> bool {
        let used = self.used;
        let Some(mut room) = self.appender.slot().get_mut(used..).filter(|room| room.len() > length) else {
            return false;
        };
        for part in parts {
            let Some((into, rest)) = room.split_at_mut_checked(part.len()) else {
                unreachable!("there is room for {length} bytes")
            };
            into.copy_from_slice(part);
            room = rest;
        }
        self.used += length;
        true
    }

    async fn put(&mut self, mut part: &[u8]) -> Result<(), SpillError> {
        while !part.is_empty() {
            self.begin_cluster().await?;
            let used = self.used;
            let room = self.appender.slot().get_mut(used..).unwrap_or_default();
            let fitting = room.len().min(part.len());
            let (now, rest) = part.split_at(fitting);
            room.iter_mut().zip(now).for_each(|(into, from)| *into = *from);
            let is_full = fitting == room.len();
            part = rest;
            self.used += fitting;
            if is_full {
                self.seal().await;
            }
        }
        Ok(())
    }

    async fn seal(&mut self) {
        let Some(head) = self.head.take() else { unreachable!("a cluster that was begun is sealed") };
        head.encode(self.appender.slot());
        let tag = self.tags.of(&self.before);
        self.appender.seal(&mut self.stream, tag, self.used);
        self.used = 0;
        // Let the next run, which is being filled, and the device proceed.
        self.appender.space().handle().yield_now().await;
    }

    /// Ends the run.
    pub(crate) async fn finish(mut self) -> Stream {
        if self.head.is_some() {
            self.seal().await;
        }
        self.stream.close();
        self.stream
    }
}

fn length(bytes: usize) -> u32 {
    let Ok(length) = u32::try_from(bytes) else {
        unreachable!("a row was refused that is longer than 4 GiB")
    };
    length
}
