//! Calls in addition to a client's steps: reads of many pages as of one state, and calls dropped
//! before they return.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use nandle_io::Nanos;
use nandle_pages::{PageError, PageNumber};
use rand::RngExt;

use super::Client;
use crate::contents::{Found, inspect_page, read};
use crate::oracle::{Change, Looked, judge};

/// Average number of steps between two such calls.
const STEPS_PER_CALL: u32 = 2;
/// Maximum number of pages read in one call.
const MANY_PAGES: u64 = 32;
/// Maximum time before a call is dropped.
const PATIENCE_US: u64 = 1500;
/// Upper bound on the time of any request.
const LONGEST_REQUEST: Nanos = Nanos::from_micros(1_000_000);

impl Client {
    pub(super) fn mixes_now(&mut self) -> bool {
        self.shared.scenario.mixes_calls && self.mixing.random_ratio(1, STEPS_PER_CALL)
    }

    pub(super) async fn mix(&mut self) -> Result<(), String> {
        let was_stopped = self.shared.stopped.get();
        let done = match self.mixing.random_range(0..4) {
            0 => self.drop_commit().await?,
            1 => self.drop_reads().await.map(|()| false),
            _ => self.look_at_one_state().await?.map(|()| true),
        };
        match done {
            Ok(true) if was_stopped => Err("the store took a call after it had failed".into()),
            Ok(_) | Err(PageError::Memory(_)) => Ok(()),
            Err(error) => self.shared.excuse(&error),
        }
    }

    /// Reads many pages of all clients in one call. They must show a whole number of batches of
    /// each client.
    async fn look_at_one_state(&self) -> Result<Result<(), PageError>, String> {
        let places = self.places();
        let (promised, pages) = (self.shared.record(|record| record.seen()), self.store.pages());
        let contents = match self.store.read_many(&places).await {
            Ok(contents) => contents,
            Err(error) => return Ok(Err(error)),
        };
        let found = places.iter().zip(&contents).map(|(page, contents)| inspect_page(contents, *page));
        let looked = Looked { pages, found: found.collect(), last: self.store.last_durable_batch() };
        // Without atomic batches the store promises nothing about several pages.
        if !self.shared.scenario.policy.promises().atomic_batch || self.shared.stopped.get() {
            return Ok(Ok(()));
        }
        let explained = self.shared.record(|record| judge(record, &promised, &looked));
        explained.map(|_| Ok(())).map_err(|what| format!("read at once: {what}"))
    }

    fn places(&self) -> Vec<PageNumber> {
        let many = self.shared.used(&self.store).min(MANY_PAGES);
        (0..many).map(|page| self.shared.place(page)).collect()
    }

    /// Drops reads before they return.
    async fn drop_reads(&mut self) -> Result<(), PageError> {
        let (places, patience) = (self.places(), self.patience());
        if let Some(first) = places.first() {
            let read = self.within(patience, read(&self.store, *first)).await;
            read.transpose()?;
        }
        let read = self.within(patience, self.store.read_many(&places)).await;
        read.transpose().map(drop)
    }

    /// Drops a commit that doesn't return soon, then checks whether it took effect. Returns true if
    /// it was acknowledged.
    async fn drop_commit(&mut self) -> Result<Result<bool, PageError>, String> {
        let changes = self.puts();
        let batch = match self.batch(&changes) {
            Ok(batch) => batch,
            Err(error) => return Ok(Err(error)),
        };
        self.shared.record(|record| record.called(self.number, changes.clone()));
        let patience = self.patience();
        match self.within(patience, self.store.commit(batch)).await {
            Some(Err(error)) => return Ok(Err(error)),
            Some(Ok(_)) => {
                self.shared.record(|record| record.returned(self.number));
                return Ok(Ok(true));
            }
            None => {}
        }
        let is_atomic = self.shared.scenario.policy.promises().atomic_batch;
        if !is_atomic {
            // Waits for page writes in flight.
            self.handle.sleep(LONGEST_REQUEST).await;
        }
        let mut done = Vec::new();
        for change in &changes {
            match self.is_done(*change).await {
                Ok(true) => done.push(*change),
                Ok(false) => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        if is_atomic && !done.is_empty() && done.len() < changes.len() {
            let (done, all) = (done.len(), changes.len());
            return Err(format!("of a commit that was dropped {done} of {all} changes are done"));
        }
        self.shared.record(|record| record.dropped(self.number, done));
        Ok(Ok(false))
    }

    async fn is_done(&self, (page, change): (u64, Change)) -> Result<bool, PageError> {
        let place = self.shared.place(page);
        loop {
            match read(&self.store, place).await {
                Ok(found) => {
                    return Ok(matches!(change, Change::Put(version) if found == Found::Whole(version)));
                }
                // Calls in flight release the memory.
                Err(PageError::Memory(_)) => self.handle.sleep(Nanos::from_micros(100)).await,
                Err(error) => return Err(error),
            }
        }
    }

    /// Draws a few pages of this client, each with new contents.
    fn puts(&mut self) -> Vec<(u64, Change)> {
        let clients = self.shared.scenario.clients as u64;
        let own = (self.shared.used(&self.store) / clients).max(1);
        let most = own.min(3).min(self.store.largest_batch() as u64);
        let first = self.mixing.random_range(0..own);
        let count = self.mixing.random_range(1..=most);
        let nths = (0..count).map(|nth| (first + nth) % own);
        nths.map(|nth| (nth * clients + self.number as u64, self.shared.new_version())).collect()
    }

    fn patience(&mut self) -> Nanos {
        let is_none = self.mixing.random_ratio(1, 4);
        let patience_us = self.mixing.random_range(0..PATIENCE_US);
        if is_none { Nanos(0) } else { Nanos::from_micros(patience_us) }
    }

    /// Awaits a call, and drops it after `patience`.
    async fn within<T>(&self, patience: Nanos, call: impl Future<Output = T>) -> Option<T> {
        let (mut call, mut sleep) = (pin!(call), pin!(self.handle.sleep(patience)));
        poll_fn(|context| match call.as_mut().poll(context) {
            Poll::Ready(returned) => Poll::Ready(Some(returned)),
            Poll::Pending => sleep.as_mut().poll(context).map(|()| None),
        })
        .await
    }
}
