//! Turns the kernel's events into a trace.

use nandle_target::facts::RequestQueue;
use nandle_trace::ftrace::{Event, Pairing, Request, Task};
use nandle_trace::{Operation, PageFit, Record, Writer};

use super::askers::{Asker, Askers};
use super::counts::Counts;
use super::processes::{Processes, Whose};
use crate::error::CliError;

/// Smallest page of a page store.
const PAGE_BYTES: u64 = 4096;

pub(super) struct Recorder {
    processes: Processes,
    askers: Askers,
    pairing: Pairing<Kept>,
    writer: Writer,
    /// Offset on the disk of address 0.
    start_bytes: u64,
    /// Time of the first request, by the kernel's clock.
    start_us: Option<u64>,
    counts: Counts,
    fit: PageFit,
}

/// State of a pending request besides its record.
#[derive(Debug, Clone, Copy)]
struct Kept {
    whose: Whose,
    /// True if the write was durable on completion.
    durable: bool,
}

/// Result of a recording.
pub(super) struct Recorded {
    pub(super) counts: Counts,
    pub(super) fit: PageFit,
}

impl Recorder {
    /// Records the requests of these processes to a queue. Addresses count from the start of its
    /// part of the disk.
    pub(super) fn new(processes: Processes, queue: &RequestQueue, writer: Writer) -> Self {
        Self {
            processes,
            askers: Askers::new(queue.takes_durable_writes == Some(true)),
            pairing: Pairing::default(),
            writer,
            start_bytes: queue.part.start_bytes,
            start_us: None,
            counts: Counts::default(),
            fit: PageFit::new(PAGE_BYTES),
        }
    }

    /// Adds the command's process.
    pub(super) fn add_process(&mut self, process: u32) {
        self.processes.add(process);
    }

    /// Processes one line from the kernel.
    pub(super) fn line(&mut self, line: &str) -> Result<(), CliError> {
        match Event::parse(line) {
            Ok(Some(event)) => self.event(&event),
            Ok(None) => {}
            Err(_) => self.counts.bad_lines += 1,
        }
        self.write()
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Requested { task, request } => {
                let asker = self.asker(*task);
                self.askers.ask(request, asker);
            }
            Event::Issued { task, time_us, request } => self.issue(*task, *time_us, request),
            Event::Requeued(request) => self.pairing.requeue(request),
            Event::Completed { time_us, request, failed } => {
                // An omitted request has nothing to complete.
                let is_ours = self.pairing.complete(request, *time_us);
                self.counts.failed += u64::from(*failed && is_ours);
                self.askers.complete(request);
            }
            Event::Forked { parent, child } => self.processes.fork(*parent, *child),
            Event::Lost => {
                self.pairing.lose();
                self.processes.forget_others();
            }
        }
    }

    fn issue(&mut self, task: Task, time_us: u64, request: &Request) {
        let issuer = self.asker(task);
        let Asker { whose, name } = self.askers.of(request, issuer);
        match whose {
            Whose::Own => {}
            Whose::Other => self.counts.leave_out(name),
            Whose::Kernel | Whose::Chosen => {
                let durable = request.letters.is_durable();
                self.pairing.issue(request, time_us, Kept { whose, durable });
            }
        }
    }

    fn asker(&mut self, task: Task) -> Asker {
        Asker { whose: self.processes.whose(task), name: task.name.to_owned() }
    }

    /// Writes the completed requests.
    fn write(&mut self) -> Result<(), CliError> {
        while let Some((record, kept)) = self.pairing.take_concluded() {
            let start_us = *self.start_us.get_or_insert(record.time_us);
            let time_us = record.time_us.saturating_sub(start_us);
            let address = record.address.saturating_sub(self.start_bytes);
            let record = Record { time_us, address, ..record };
            self.counts.add(&record);
            self.counts.by_kernel += u64::from(kept.whose == Whose::Kernel);
            self.fit.add(&record);
            self.writer.write(&record)?;
            if kept.durable {
                // Traces have no durable writes: a sync of the same range is equivalent.
                self.counts.durable_writes += 1;
                self.writer.write(&Record { operation: Operation::Sync, latency_ns: None, ..record })?;
            }
        }
        Ok(())
    }

    /// Writes the remaining requests and makes the trace durable.
    pub(super) fn finish(mut self) -> Result<Recorded, CliError> {
        // The latency of pending requests stays unknown.
        self.pairing.lose();
        self.write()?;
        self.writer.finish()?;
        Ok(Recorded { counts: self.counts, fit: self.fit })
    }

    /// Counts so far.
    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use nandle_target::facts::DiskPart;
    use nandle_trace::{OutputFormat, ReadOptions, Reader};

    use super::super::args::Chosen;
    use super::*;

    /// A direct durable write as the kernel reports it. The task's id is larger than any of Linux.
    const LINES: &str = "\
            bash-900000000 [000] ..... 69407.058000: sched_process_fork: comm=bash pid=900000000 child_comm=bash child_pid=900000001
              dd-900000001 [001] ..... 69407.061067: block_getrq: 254,0 WS 2064 + 16 [dd]
              dd-900000001 [001] ..... 69407.061077: block_rq_issue: 254,0 WS 8192 () 2064 + 16 be,0,4 [dd]
              rm-900000007 [000] ..... 69407.061100: block_getrq: 254,0 R 9000 + 8 [rm]
      nandle-sql-11862   [001] ..s.. 69407.061172: block_rq_complete: 254,0 WS () 2064 + 16 be,0,4 [0]
              dd-900000001 [001] ..... 69407.061332: block_getrq: 254,0 FWS 0 + 0 [dd]
    kworker/1:1H-900000003   [001] ..... 69407.061354: block_rq_issue: 254,0 FF 0 () 0 + 0 none,0,0 [kworker/1:1H]
              dd-900000001 [001] ..... 69407.061400: block_rq_issue: 254,0 R 4096 () 9000 + 8 be,0,4 [dd]
      nandle-sql-11830   [001] ..s.. 69407.065929: block_rq_complete: 254,0 FF () 18446744073709551615 + 0 none,0,0 [0]
      nandle-sql-11830   [001] dNs1. 69407.065947: block_rq_complete: 254,0 WS () 0 + 0 be,0,4 [0]
   kworker/u8:1-900000004   [001] ..... 69407.066400: block_rq_issue: 254,0 W 4096 () 4096 + 8 be,0,4 [kworker/u8:1]
      nandle-sql-11830   [001] ..s.. 69407.066500: block_rq_complete: 254,0 W () 4096 + 8 be,0,4 [-5]
              dd-900000001 [001] ..... 69407.066600: block_rq_issue: 254,0 WS 8x () 2064 + x be,0,4 [dd]
";

    fn queue(start_bytes: u64) -> RequestQueue {
        RequestQueue {
            disk: "vda".to_owned(),
            number: (254, 0),
            part: DiskPart { name: "vda".to_owned(), start_bytes, length_bytes: 1 << 40 },
            has_volatile_cache: Some(true),
            takes_durable_writes: Some(true),
            above: Vec::new(),
        }
    }

    #[test]
    fn events_become_a_trace_of_the_chosen_processes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.csv");
        let writer = Writer::create(&path, OutputFormat::Csv { latencies: true }).unwrap();
        let mut recorder = Recorder::new(Processes::new(Chosen::Command), &queue(1 << 20), writer);
        recorder.add_process(900_000_000);
        LINES.lines().for_each(|line| recorder.line(line).unwrap());
        let Recorded { counts, .. } = recorder.finish().unwrap();
        let records: Vec<Record> =
            Reader::open(&path, &ReadOptions::default()).unwrap().map(Result::unwrap).collect();
        let write = Record {
            time_us: 0,
            operation: Operation::Write,
            address: 16 * 512,
            length_bytes: 8192,
            latency_ns: Some(95_000),
        };
        let flush = Record {
            time_us: 277,
            operation: Operation::Sync,
            address: 0,
            length_bytes: 0,
            latency_ns: Some(4_575_000),
        };
        let written_back = Record {
            time_us: 5323,
            address: 2048 * 512,
            length_bytes: 4096,
            latency_ns: Some(100_000),
            ..write
        };
        assert_eq!(records, [write, flush, written_back]);
        assert_eq!((counts.by_kernel, counts.failed, counts.bad_lines), (1, 1, 1));
        assert_eq!(counts.others(9), [("rm", 1)], "dd has only issued what rm had asked for");
    }

    #[test]
    fn a_durable_write_is_followed_by_a_sync_of_what_it_wrote() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.csv");
        let writer = Writer::create(&path, OutputFormat::Csv { latencies: true }).unwrap();
        let mut recorder = Recorder::new(Processes::new(Chosen::Everybody), &queue(0), writer);
        let issued = "dd-900000001 [001] ..... 5.061077: block_rq_issue: 8,0 WFS 8192 () 16 + 16 be,0,4 [dd]";
        recorder.line(issued).unwrap();
        recorder
            .line(&issued.replace("issue", "complete").replace("077", "079").replace("[dd]", "[0]"))
            .unwrap();
        let counts = recorder.finish().unwrap().counts;
        assert_eq!((counts.requests(), counts.durable_writes), (1, 1));
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text, "time_us,op,address,length,latency_ns\n0,write,8192,8192,2000\n0,sync,8192,8192,\n");
    }
}
