//! Sorting threads, which take turns at the input.

use std::sync::{Arc, Mutex, PoisonError};

use nandle_io::DeviceId;
use nandle_io::runtime::Handle;
use nandle_session::{Cancel, Observer as _};
use nandle_spill::{ParallelSort, SortOutput, SortReport, SortedPart, Sorter};
use nandle_terminal::progress::Bar;
use nandle_units::format_bytes;

use super::SortArgs;
use super::result::{PlacedPart, Tally, Writing};
use crate::commands::rows::{
    Input, Memory, NewFile, PartWriter, PartedFile, Source, Stop, Temporary, in_threads, lock, spilled,
    unless_cancelled, world_of,
};
use crate::error::CliError;

/// Inputs of a sort, and its number of threads.
pub(super) struct Work<'a> {
    pub(super) args: &'a SortArgs,
    pub(super) memory: Memory,
    pub(super) cancel: Cancel,
    pub(super) temporary: &'a Temporary,
    pub(super) threads: usize,
    pub(super) total_bytes: Option<u64>,
}

/// Result of a sort, with times on the world's clock.
pub(super) struct Done {
    pub(super) report: SortReport,
    /// Time until all input was read and written to runs.
    pub(super) read_ns: u64,
    /// Time until everything was sorted.
    pub(super) sorted_ns: u64,
}

/// State that threads share in turns.
struct Taking<'a> {
    source: Source,
    bar: &'a mut Bar,
}

impl Work<'_> {
    pub(super) async fn run(
        &self,
        handle: &Handle,
        sort: &ParallelSort,
        input: Input,
        bar: &mut Bar,
    ) -> Result<Done, CliError> {
        let began = handle.now();
        let stop = Arc::new(Stop::default());
        let source = input.source(self.cancel.clone(), Arc::clone(&stop))?;
        let taking = Mutex::new(Taking { source, bar });
        if self.threads == 1 {
            self.take_turns(sort, handle, &taking).await?;
        } else {
            let threads = (0..self.threads).collect();
            let world = || self.temporary.world();
            in_threads(&stop, world, threads, async |_, handle| {
                self.take_turns(sort, handle, &taking).await
            })?;
        }
        let Taking { mut source, bar } = taking.into_inner().unwrap_or_else(PoisonError::into_inner);
        let read_ns = handle.now().since(began).0;
        bar.progress("merging", 0.5);
        let header = source.header()?;
        let report = self.write(handle, sort, header, bar).await?;
        Ok(Done { report, read_ns, sorted_ns: handle.now().since(began).0 })
    }

    /// Writes the result, in parts if the output permits.
    async fn write(
        &self,
        handle: &Handle,
        sort: &ParallelSort,
        header: Option<Vec<u8>>,
        bar: &mut Bar,
    ) -> Result<SortReport, CliError> {
        let parted = self.parted_file()?;
        let parts = if parted.is_some() { self.threads } else { 1 };
        let finished = unless_cancelled(&self.cancel, sort.clone().finish_in_parts(handle, parts));
        let writing = Writing { args: self.args, memory: &self.memory, cancel: &self.cancel, header };
        match finished.await?.map_err(spilled)? {
            SortOutput::Whole(mut sorted) => {
                drop(parted);
                writing.whole(&mut sorted, bar).await
            }
            SortOutput::Parts(parts, report) => {
                let Some((file, parted)) = parted else { unreachable!("parts are wanted for a file only") };
                self.write_parts(&writing, (file, parted), (parts, report), bar)
            }
        }
    }

    /// File of the result if several threads can write to it. `None` if temporary data aren't in a
    /// file, or if records may be dropped: then no part's offset is known in advance.
    fn parted_file(&self) -> Result<Option<(NewFile, PartedFile)>, CliError> {
        let has_known_length = !self.args.unique && self.args.limit.is_none();
        let path = self.args.output().filter(|path| has_known_length && NewFile::is_possible(path));
        let (Some(path), Some(_), true) = (path, self.temporary.file(), self.threads > 1) else {
            return Ok(None);
        };
        let file = NewFile::create(path)?;
        let parted = PartedFile::of(&file);
        Ok(parted.map(|parted| (file, parted)))
    }

    fn write_parts(
        &self,
        writing: &Writing<'_>,
        (file, parted): (NewFile, PartedFile),
        (parts, mut report): (Vec<SortedPart>, SortReport),
        bar: &mut Bar,
    ) -> Result<SortReport, CliError> {
        let tally = Tally::new(report.rows, bar);
        let parts = writing.place(parts);
        let length_bytes = parts.last().map_or(0, PlacedPart::end_bytes);
        file.allocate(length_bytes)?;
        writing.write_header(&file)?;
        let memory_bytes = self.memory.passing_bytes / parts.len().max(1);
        let Some(temporary) = self.temporary.file() else { unreachable!("parts are beside a file") };
        let world = || world_of(&[temporary, &parted.device]).map(|(io, _)| io);
        let stop = Stop::default();
        in_threads(&stop, world, parts, async |part, handle| {
            let output = DeviceId::from_index(1);
            let writer = |offset_bytes| {
                PartWriter::new((&file, &parted), (handle, output), offset_bytes, memory_bytes)
            };
            writing.part(part, handle, writer, (&tally, &stop)).await
        })?;
        file.finish(length_bytes)?;
        report.read_requests += tally.read_requests.into_inner();
        report.most_used_bytes = self.memory.budget.most_used_bytes();
        Ok(report)
    }

    /// One thread's share of reading and sorting.
    async fn take_turns(
        &self,
        sort: &ParallelSort,
        handle: &Handle,
        taking: &Mutex<Taking<'_>>,
    ) -> Result<(), CliError> {
        let mut sorter = sort.sorter(handle).map_err(spilled)?;
        loop {
            let Turn { has_more, is_full } = self.take_turn(&mut sorter, taking)?;
            if !has_more {
                break;
            }
            if !is_full {
                sorter.make_progress().await.map_err(spilled)?;
                continue;
            }
            if self.threads > 1 && !sort.has_spilled() {
                // The others may take the rest, so that nothing has to be written.
                sorter.sort();
                if !lock(taking).source.has_more()? {
                    break;
                }
            }
            unless_cancelled(&self.cancel, sorter.make_room()).await?.map_err(spilled)?;
        }
        unless_cancelled(&self.cancel, sorter.end()).await?.map_err(spilled)
    }

    /// Takes rows until memory is full.
    fn take_turn(&self, sorter: &mut Sorter, taking: &Mutex<Taking<'_>>) -> Result<Turn, CliError> {
        let mut taking = lock(taking);
        let Taking { source, bar } = &mut *taking;
        let most_bytes = if self.threads == 1 { Sorter::TURN_BYTES } else { usize::MAX };
        let (mut is_full, mut taken_bytes) = (false, 0);
        let has_more = source.hand_over(|row| {
            if taken_bytes >= most_bytes {
                return Ok(false);
            }
            taken_bytes += row.key.len() + row.payload.len() + 1;
            is_full = !sorter.try_push(row)?;
            Ok(!is_full)
        })?;
        // The merge takes about as long.
        let share =
            self.total_bytes.map_or(0.0, |total| source.taken_bytes as f64 / total.max(1) as f64 / 2.0);
        bar.progress(&format!("{} read", format_bytes(source.taken_bytes)), share);
        Ok(Turn { has_more, is_full })
    }
}

/// Outcome of a turn at the input.
struct Turn {
    has_more: bool,
    is_full: bool,
}
