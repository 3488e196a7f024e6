//! Threads that each join a share of the keys, and the thread that feeds them.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

use nandle_io::runtime::Handle;
use nandle_session::{Cancel, Observer as _};
use nandle_spill::{Budget, JoinOptions, JoinReport, Joiner, Place, Probing, share_of};
use nandle_terminal::progress::Bar;
use nandle_units::format_bytes;

use super::results::{Ended, Form, Results};
use super::{JoinArgs, input};
use crate::commands::rows::{
    Batch, Batches, Carried, Input, Memory, Output, Stop, Temporary, in_threads_beside, lock, spilled,
    unless_cancelled,
};
use crate::error::CliError;

/// Batches queued for a thread.
const WAITING: usize = 1;
/// Batches per thread: filling, queued and in use.
const BATCHES_BY_THREAD: usize = WAITING + 2;
/// Alignment of the threads' shares of temporary space; less if space is short.
const SHARE_GRAIN_BYTES: u64 = 1 << 20;

/// Inputs of a join, and its number of threads.
pub(super) struct Work<'a> {
    pub(super) args: &'a JoinArgs,
    pub(super) memory: Memory,
    pub(super) cancel: Cancel,
    pub(super) temporary: &'a Temporary,
    pub(super) threads: usize,
}

/// Result of a join.
#[derive(Default)]
pub(super) struct Done {
    /// `None` if the output was closed.
    pub(super) report: Option<JoinReport>,
    /// Greatest time of a thread, by the threads' clocks.
    pub(super) joined_ns: u64,
}

/// Message to a joining thread.
enum Message {
    Rows(Batch),
    /// End of the second file, with the padding for records without a partner.
    Built {
        padding: Vec<u8>,
    },
    /// End of the first file. Without it the join is incomplete.
    Probed,
}

/// Receiving end of a thread.
struct Share {
    number: usize,
    messages: Receiver<Message>,
    used: Sender<Batch>,
}

/// The output was closed, or a thread failed and reports the cause itself.
struct Stopped;

impl Work<'_> {
    pub(super) fn run(
        &self,
        (place, options): (Place, JoinOptions),
        right: Input,
        bar: &mut Bar,
    ) -> Result<Done, CliError> {
        let output = Output::start(self.args.output(), self.memory.batch_bytes)?;
        let (output, stop) = (Mutex::new(output), Stop::default());
        let done = Mutex::new(Vec::new());
        let (routes, shares) = self.routes();
        let world = || self.temporary.world();
        let work = async |share: Share, handle: &Handle| {
            let began = handle.now();
            let options = self.options_of_a_share(&options)?;
            let place = self.place_of(place, share.number);
            let report = self.join_share(handle, (place, options), share, &output).await?;
            lock(&done).push((report, handle.now().since(began).0));
            Ok(())
        };
        in_threads_beside(&stop, world, shares, work, || self.route(routes, right, &output, bar))?;
        let output = output.into_inner().unwrap_or_else(PoisonError::into_inner);
        output.finish()?;
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let joined_ns = done.iter().map(|(_, joined_ns)| *joined_ns).max().unwrap_or_default();
        let reports: Option<Vec<JoinReport>> = done.into_iter().map(|(report, _)| report).collect();
        let report = reports.and_then(|reports| reports.into_iter().reduce(JoinReport::plus));
        Ok(Done { report, joined_ns })
    }

    fn routes(&self) -> (Routes, Vec<Share>) {
        let (used, spare) = channel();
        let all = (0..self.threads).map(|number| {
            let (sender, messages) = sync_channel(WAITING);
            (sender, Share { number, messages, used: used.clone() })
        });
        let (senders, shares): (Vec<_>, Vec<_>) = all.unzip();
        let batch_bytes = self.memory.passing_bytes / (BATCHES_BY_THREAD * self.threads);
        let filling = senders.iter().map(|_| Batch::default()).collect();
        (Routes { senders, filling, batch_bytes: batch_bytes.min(self.memory.batch_bytes), spare }, shares)
    }

    fn options_of_a_share(&self, options: &JoinOptions) -> Result<JoinOptions, CliError> {
        let budget_bytes = options.budget.bytes() / self.threads;
        Ok(JoinOptions {
            budget: Budget::new(budget_bytes).map_err(spilled)?,
            expected_build_bytes: options.expected_build_bytes.map(|bytes| bytes / self.threads as u64),
            ..options.clone()
        })
    }

    fn place_of(&self, place: Place, number: usize) -> Place {
        if self.threads == 1 {
            return place;
        }
        let share_bytes = place.length_bytes / self.threads as u64;
        let length_bytes = share_bytes - share_bytes % SHARE_GRAIN_BYTES.min(share_bytes.max(1));
        Place { start_bytes: place.start_bytes + number as u64 * length_bytes, length_bytes, ..place }
    }

    /// Joins one thread's share.
    async fn join_share(
        &self,
        handle: &Handle,
        (place, options): (Place, JoinOptions),
        share: Share,
        output: &Mutex<Output>,
    ) -> Result<Option<JoinReport>, CliError> {
        let mut joiner = Joiner::new(handle, place, options).map_err(spilled)?;
        let padding = loop {
            match share.messages.recv() {
                Ok(Message::Rows(batch)) => build(&mut joiner, batch, &share.used).await?,
                Ok(Message::Built { padding }) => break padding,
                Ok(Message::Probed) | Err(_) => return Ok(None),
            }
        };
        let mut probing = joiner.finish_build().await.map_err(spilled)?;
        let mut results = Results::new(output, self.form(padding), self.memory.batch_bytes / self.threads);
        loop {
            match share.messages.recv() {
                Ok(Message::Rows(batch)) => {
                    if !probe(&mut probing, batch, &share.used, &mut results).await? {
                        return Ok(None);
                    }
                }
                Ok(Message::Probed) => break,
                Ok(Message::Built { .. }) | Err(_) => return Ok(None),
            }
        }
        let report = match unless_cancelled(&self.cancel, probing.finish(&mut results)).await? {
            Ok(report) => report,
            Err(Ended::Failed(error)) => return Err(spilled(error)),
            Err(Ended::NothingWanted) => return Ok(None),
        };
        Ok(results.send().then_some(report))
    }

    fn form(&self, padding: Vec<u8>) -> Form {
        Form { is_csv: self.args.csv, padding }
    }

    /// Reads both files and distributes the rows to the threads.
    fn route(
        &self,
        mut routes: Routes,
        right: Input,
        output: &Mutex<Output>,
        bar: &mut Bar,
    ) -> Result<(), CliError> {
        let Self { args, memory, cancel, .. } = self;
        let (right_bytes, mut right_header) = (right.bytes().unwrap_or_default(), None);
        let told = |bytes| format!("{} of the second file", format_bytes(bytes));
        let mut progress = |bytes| bar.progress(&told(bytes), share(bytes, right_bytes) * 0.4);
        let rows = right.start(cancel.clone())?;
        let sent = routes.send_all(&rows, |header| right_header = Some(header), &mut progress)?;
        let padding = super::padding(args, right_header.as_deref())?;
        if sent.is_err() || routes.end_with(|| Message::Built { padding: padding.clone() }).is_err() {
            return Ok(());
        }
        let left = input(args, &args.left, args.on.left, Carried::Record, memory, self.threads);
        let left_bytes = left.bytes().unwrap_or_default();
        let told = |bytes| format!("{} of the first file", format_bytes(bytes));
        let mut progress = |bytes| bar.progress(&told(bytes), 0.4 + share(bytes, left_bytes) * 0.5);
        let write_header = |header: Vec<u8>| {
            let others = right_header.as_deref().filter(|_| super::gives_pairs(args));
            let mut results = Results::new(output, self.form(padding.clone()), memory.batch_bytes);
            results.push(&header, others);
            results.send();
        };
        let rows = left.start(cancel.clone())?;
        if routes.send_all(&rows, write_header, &mut progress)?.is_ok() {
            bar.progress("joining what was written", 0.9);
            _ = routes.end_with(|| Message::Probed);
        }
        Ok(())
    }
}

/// Channels to all threads.
struct Routes {
    senders: Vec<SyncSender<Message>>,
    /// One batch per thread.
    filling: Vec<Batch>,
    batch_bytes: usize,
    spare: Receiver<Batch>,
}

impl Routes {
    /// Sends each row to the thread that owns its key.
    fn send_all(
        &mut self,
        rows: &Batches,
        take_header: impl FnOnce(Vec<u8>),
        progress: &mut dyn FnMut(u64),
    ) -> Result<Result<(), Stopped>, CliError> {
        let (mut take_header, mut taken_bytes) = (Some(take_header), 0);
        while let Some(mut batch) = rows.next()? {
            if let (Some(header), Some(take_header)) = (batch.header.take(), take_header.take()) {
                take_header(header);
            }
            for row in batch.rows() {
                let number = share_of(row.key, self.senders.len());
                let Some(filling) = self.filling.get_mut(number) else { unreachable!("{number} is a share") };
                filling.push(row)?;
                if filling.len() >= self.batch_bytes && self.send(number).is_err() {
                    return Ok(Err(Stopped));
                }
            }
            taken_bytes += batch.input_bytes;
            rows.give_back(batch);
            progress(taken_bytes);
        }
        Ok(Ok(()))
    }

    fn send(&mut self, number: usize) -> Result<(), Stopped> {
        let (Some(sender), Some(filling)) = (self.senders.get(number), self.filling.get_mut(number)) else {
            unreachable!("{number} is a share")
        };
        let mut next = self.spare.try_recv().unwrap_or_default();
        next.clear();
        let full = std::mem::replace(filling, next);
        sender.send(Message::Rows(full)).map_err(|_| Stopped)
    }

    /// Flushes every thread's batch, then sends `message`.
    fn end_with(&mut self, message: impl Fn() -> Message) -> Result<(), Stopped> {
        for number in 0..self.senders.len() {
            self.send(number)?;
        }
        self.senders.iter().try_for_each(|sender| sender.send(message()).map_err(|_| Stopped))
    }
}

async fn build(joiner: &mut Joiner, batch: Batch, used: &Sender<Batch>) -> Result<(), CliError> {
    for row in batch.rows() {
        joiner.build(row).await.map_err(spilled)?;
    }
    // At the end no batch is taken back.
    _ = used.send(batch);
    Ok(())
}

/// Returns false if no more output is wanted.
async fn probe(
    probing: &mut Probing,
    batch: Batch,
    used: &Sender<Batch>,
    results: &mut Results<'_>,
) -> Result<bool, CliError> {
    for row in batch.rows() {
        match probing.probe(row, results).await {
            Ok(()) => {}
            Err(Ended::Failed(error)) => return Err(spilled(error)),
            Err(Ended::NothingWanted) => return Ok(false),
        }
    }
    _ = used.send(batch);
    Ok(true)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
