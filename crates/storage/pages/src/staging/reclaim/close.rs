//! State of the staging area at a close, which tolerates any single bad block.

use nandle_io::{Arena, WriteBuffers};

use super::super::close::Mark;
use super::super::directory::{self, DirectoryPlace};
use super::super::ledger::Ledger;
use super::Reclaimer;
use crate::PageError;
use crate::home_sums::HomeSums;
use crate::write_log::Context;

impl Reclaimer {
    /// Returns true if the directory fits. Reclaims dead slots first if necessary.
    pub(in super::super) async fn has_room_for_directory(&self) -> Result<bool, PageError> {
        if self.directory_fits() {
            return Ok(true);
        }
        let _mine = self.turn.take().await;
        self.persist_dead_slots().await?;
        Ok(self.directory_fits())
    }

    fn directory_fits(&self) -> bool {
        let blocks = directory::blocks(self.state.borrow().headers.values());
        blocks <= self.context.label.directory_blocks()
    }

    /// Writes the second copy of the ledger, the directory of its headers, and the mark of the
    /// close. Requires that everything is durable and nothing more is written.
    pub(in super::super) async fn persist_close(&self) -> Result<(), PageError> {
        if !self.log.is_all_durable() || !self.context.label.has_close_marks() {
            return Ok(());
        }
        let _mine = self.turn.take().await;
        self.close().await.inspect_err(|error| self.context.latch(error))
    }

    async fn close(&self) -> Result<(), PageError> {
        // Further rounds of checksums require a durable ledger that covers all earlier rounds.
        self.persist_dead_slots().await?;
        let durable = self.log.tail.durable();
        let complete_after = match &self.sums {
            Some(sums) => {
                if sums.complete(&self.context.disk).await? {
                    self.context.disk.flush().await?;
                }
                sums.complete_after()
            }
            None => None,
        };
        let ledger = self.persist_ledger(durable).await?;
        self.write_ledger(&ledger).await?;
        let generation = self.state.borrow().rotation.generation();
        let directory = self.write_directory(&ledger, generation).await?;
        debug_assert_eq!(
            ledger.bound.map_or(0, |bound| bound.sums_round),
            self.sums.as_ref().map_or(0, HomeSums::round)
        );
        let pages = self.context.home.pages();
        let mark = Mark { generation, sequence: durable, is_doubled: true, complete_after, directory, pages };
        mark.persist(&self.context).await
    }

    /// Writes the directory of the ledger's headers, without a flush. Does nothing if there are
    /// none, or they don't fit.
    async fn write_directory(
        &self,
        ledger: &Ledger,
        generation: u64,
    ) -> Result<Option<DirectoryPlace>, PageError> {
        let Context { disk, label, .. } = &*self.context;
        let contents = {
            let state = self.state.borrow();
            let headers = ledger.headers.ones().filter_map(|position| state.headers.get(&position));
            directory::encode(label.id, generation, headers)
        };
        let blocks = (contents.len() / crate::BLOCK_BYTES) as u64;
        if blocks == 0 || blocks > label.directory_blocks() {
            return Ok(None);
        }
        let mut buffer = Arena::new(contents.len())?.allocate(contents.len())?;
        buffer.copy_from_slice(&contents);
        let from: WriteBuffers = [buffer.freeze()].into_iter().collect();
        disk.write("writing the directory of staged pages", label.directory_offset(), from).await?;
        Ok(Some(DirectoryPlace { block: 0, blocks }))
    }
}
