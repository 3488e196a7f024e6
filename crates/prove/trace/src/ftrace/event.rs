//! Lines of `trace_pipe`:
//!
//! ```text
//!             dd-11886   [001] ..... 69407.061077: block_rq_issue: 254,0 WS 8192 () 189387768 + 16 be,0,4 [dd]
//!   nandle-sql-11862     [001] ..s.. 69407.061172: block_rq_complete: 254,0 WS () 189387768 + 16 be,0,4 [0]
//!             dd-11886   [001] ..... 69407.061200: block_getrq: 254,0 FWS 0 + 0 [dd]
//!           bash-11882   [000] ..... 69407.069685: sched_process_fork: comm=bash pid=11882 child_comm=bash child_pid=11888
//! CPU:1 [LOST 812 EVENTS]
//! task-thread            [cpu] flags       seconds: event: details
//! ```
//!
//! A completion runs in the context of an arbitrary task, and ends with 0 or an error number. A
//! flush has no sector. The syncing task requests it (`block_getrq`); a kernel thread issues it
//! later, once for all tasks that requested one.

use crate::Operation;
use crate::format::{number, request, seconds};

/// Event of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// A task requests a block I/O (`block_getrq`).
    Requested {
        /// Requesting task.
        task: Task<'a>,
        /// Request.
        request: Request,
    },
    /// A request is issued to the device (`block_rq_issue`).
    Issued {
        /// Task that was running: the requester, or a task that works for it.
        task: Task<'a>,
        /// Time, in microseconds.
        time_us: u64,
        /// Request.
        request: Request,
    },
    /// The device couldn't take a request, which is issued again later (`block_rq_requeue`).
    Requeued(Request),
    /// The device completed a request (`block_rq_complete`).
    Completed {
        /// Time, in microseconds.
        time_us: u64,
        /// Request.
        request: Request,
        /// True if the request failed.
        failed: bool,
    },
    /// A task created another one (`sched_process_fork`).
    Forked {
        /// Number of the parent thread.
        parent: u32,
        /// Number of the new thread.
        child: u32,
    },
    /// Events were overwritten before they were read.
    Lost,
}

/// A running thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task<'a> {
    /// Number of the thread; 0 for an idle processor.
    pub id: u32,
    /// Name of the thread, cut off by the kernel after 15 bytes.
    pub name: &'a str,
}

/// A request of a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Kind of the request.
    pub letters: Letters,
    /// Operation.
    pub operation: Operation,
    /// First byte on the device; 0 for a sync.
    pub address: u64,
    /// Length in bytes; 0 for a sync.
    pub length_bytes: u64,
}

/// The kernel's letters for the kind of a request (`RWBS`), at most ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Letters([u8; 10]);

impl Letters {
    /// Takes the first ten letters of a word.
    pub fn new(word: &str) -> Self {
        let mut letters = [0; 10];
        letters.iter_mut().zip(word.bytes()).for_each(|(letter, byte)| *letter = byte);
        Self(letters)
    }

    /// Returns true if the first letter is `F`: the device is flushed before the request, or the
    /// request is a flush.
    pub fn begins_with_flush(self) -> bool {
        self.0.first() == Some(&b'F')
    }

    /// Returns true if `F` follows `W`: the write is durable when it completes (forced unit
    /// access).
    pub fn is_durable(self) -> bool {
        let behind = self.0.iter().skip_while(|letter| **letter != b'W').skip(1);
        behind.copied().any(|letter| letter == b'F')
    }
}

impl<'a> Event<'a> {
    /// Parses a line. Returns `None` for other events.
    ///
    /// # Errors
    ///
    /// The defect of the line.
    pub fn parse(line: &'a str) -> Result<Option<Self>, String> {
        if line.starts_with("CPU:") && line.contains(" [LOST ") && line.ends_with("EVENTS]") {
            return Ok(Some(Self::Lost));
        }
        let Some((task, time, name, told)) = parts(line) else { return Ok(None) };
        let time_us = seconds(Some(time))?;
        if name == "sched_process_fork" {
            // Names may look like numbers: the parent is the task of the event, and the child's
            // number comes last.
            let child = number(told.rsplit_once(" child_pid=").map(|(_, last)| last), "the child's number")?;
            let child = u32::try_from(child)
                .map_err(|_| format!("a task's number has 32 bits, and this is {child}"))?;
            return Ok(Some(Self::Forked { parent: self::task(task)?.id, child }));
        }
        if !matches!(name, "block_getrq" | "block_rq_issue" | "block_rq_requeue" | "block_rq_complete") {
            return Ok(None);
        }
        let Some(request) = request(told)? else { return Ok(None) };
        let request = Request {
            letters: Letters::new(request.letters),
            operation: request.operation,
            address: request.address,
            length_bytes: request.length_bytes,
        };
        Ok(Some(match name {
            "block_getrq" => Self::Requested { task: self::task(task)?, request },
            "block_rq_issue" => Self::Issued { task: self::task(task)?, time_us, request },
            "block_rq_requeue" => Self::Requeued(request),
            _ => Self::Completed { time_us, request, failed: !told.trim_end().ends_with("[0]") },
        }))
    }
}

/// Splits a line into task with thread, time, event and details.
fn parts(line: &str) -> Option<(&str, &str, &str, &str)> {
    // A task's name may contain anything, but hardly a processor, flags and a time.
    line.match_indices(": ").find_map(|(at, separator)| {
        let (before, after) = line.split_at_checked(at)?;
        let (name, told) = after.strip_prefix(separator)?.split_once(": ")?;
        let (before, time) = before.rsplit_once(' ')?;
        let (task, cpu) = before.rsplit_once(" [")?;
        let is_time = time.contains('.') && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let is_cpu = cpu.split_once(']')?.0.bytes().all(|byte| byte.is_ascii_digit());
        (is_time && is_cpu).then_some((task, time, name, told))
    })
}

fn task(text: &str) -> Result<Task<'_>, String> {
    let text = text.trim();
    // The thread group follows in brackets, if enabled.
    let without_group = text.strip_suffix(')').and_then(|text| text.rsplit_once('('));
    let text = without_group.map_or(text, |(text, _)| text.trim_end());
    let (name, id) =
        text.rsplit_once('-').ok_or_else(|| format!("the task should be name-number and is {text:?}"))?;
    let id = id.parse().map_err(|_| format!("the task's number should be a whole number and is {id:?}"))?;
    Ok(Task { id, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str) -> Event<'_> {
        Event::parse(line).unwrap().unwrap()
    }

    fn request(letters: &str, operation: Operation, address: u64, length_bytes: u64) -> Request {
        Request { letters: Letters::new(letters), operation, address, length_bytes }
    }

    #[test]
    fn request_is_allocated_issued_and_completed() {
        let asked =
            "              dd-11886   [001] ..... 69407.061067: block_getrq: 254,0 WS 189387768 + 16 [dd]";
        let write = request("WS", Operation::Write, 189_387_768 * 512, 8192);
        let dd = Task { id: 11_886, name: "dd" };
        assert_eq!(event(asked), Event::Requested { task: dd, request: write });
        let issued = "              dd-11886   [001] ..... 69407.061077: block_rq_issue: 254,0 WS 8192 () 189387768 + 16 be,0,4 [dd]";
        assert_eq!(event(issued), Event::Issued { task: dd, time_us: 69_407_061_077, request: write });
        let completed = "      nandle-sql-11862   [001] ..s.. 69407.061172: block_rq_complete: 254,0 WS () 189387768 + 16 be,0,4 [0]";
        let expected = Event::Completed { time_us: 69_407_061_172, request: write, failed: false };
        assert_eq!(event(completed), expected);
        assert!(matches!(event(&completed.replace("[0]", "[-5]")), Event::Completed { failed: true, .. }));
        let again = completed.replace("_complete", "_requeue");
        assert_eq!(event(&again), Event::Requeued(write));
    }

    #[test]
    fn flush_has_no_sector() {
        let asked = "              dd-11886   [001] ..... 69407.061332: block_getrq: 254,0 FWS 0 + 0 [dd]";
        let task = Task { id: 11_886, name: "dd" };
        assert_eq!(event(asked), Event::Requested { task, request: request("FWS", Operation::Sync, 0, 0) });
        let issued = "    kworker/1:1H-31957   [001] ..... 69407.061354: block_rq_issue: 254,0 FF 0 () 0 + 0 none,0,0 [kworker/1:1H]";
        let flush = request("FF", Operation::Sync, 0, 0);
        let task = Task { id: 31_957, name: "kworker/1:1H" };
        assert_eq!(event(issued), Event::Issued { task, time_us: 69_407_061_354, request: flush });
        let completed = "      nandle-sql-11830   [001] ..s.. 69407.065929: block_rq_complete: 254,0 FF () 18446744073709551615 + 0 none,0,0 [0]";
        assert_eq!(
            event(completed),
            Event::Completed { time_us: 69_407_065_929, request: flush, failed: false }
        );
        // Completion of the syncing task's own request, which never reached the device.
        let own = "      nandle-sql-11830   [001] dNs1. 69407.065947: block_rq_complete: 254,0 WS () 0 + 0 be,0,4 [0]";
        assert_eq!(Event::parse(own), Ok(None));
        let letters = ["FF", "FWS", "FWFSM", "WFS", "WS", "RSF"].map(Letters::new);
        assert_eq!(letters.map(Letters::begins_with_flush), [true, true, true, false, false, false]);
        assert_eq!(letters.map(Letters::is_durable), [false, false, true, true, false, false]);
    }

    #[test]
    fn names_of_tasks_may_contain_anything() {
        for (name, id) in
            [("a [b] c: d", 7), ("jbd2/vda-8", 130), ("<idle>", 0), ("- (x", 12), (" [000] ", 3)]
        {
            let line = format!(
                "{name:>16}-{id:<7} [001] d.s1. 69407.06: block_rq_issue: 8,0 R 512 () 8 + 1 be,0,4 [{name}]"
            );
            let Event::Issued { task, .. } = event(&line) else { panic!("{line}") };
            assert_eq!(task.id, id, "{line}");
        }
        let with_group =
            "  my dd-11886   (  11880) [001] ..... 1.5: block_rq_issue: 8,0 R 512 () 8 + 1 be,0,4 [my dd]";
        let Event::Issued { task, .. } = event(with_group) else { panic!() };
        assert_eq!(task, Task { id: 11_886, name: "my dd" });
    }

    #[test]
    fn forks_and_losses_are_read_and_other_lines_skipped() {
        let fork = "            bash-11882   [000] ..... 69407.069685: sched_process_fork: comm=a pid=b pid=11882 child_comm=x child_pid=7 child_pid=11888";
        assert_eq!(event(fork), Event::Forked { parent: 11_882, child: 11_888 });
        assert!(Event::parse(&fork.replace("11888", "8x")).is_err());
        assert_eq!(event("CPU:1 [LOST 812 EVENTS]"), Event::Lost);
        assert_eq!(event("CPU:0 [LOST EVENTS]"), Event::Lost);
        for other in ["", "# tracer: nop", " dd-1 [000] ..... 1.5: block_plug: [dd]"] {
            assert_eq!(Event::parse(other), Ok(None), "{other}");
        }
        let damaged = " dd-1 [000] ..... 1.5: block_rq_issue: 254,0 WS 8192 () 189x + 16 be,0,4 [dd]";
        assert!(Event::parse(damaged).unwrap_err().contains("the sector should be"));
    }
}
