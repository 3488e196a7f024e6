//! What the tests of the program share, and what they cover:
//!
//! | file            | subject                                                                                  |
//! |-----------------|------------------------------------------------------------------------------------------|
//! | `probe`         | both files and nothing else, the summary, `--json`, test file gone (also after SIGKILL), files read only, partial profiles |
//! | `models`        | probes and sweeps of modelled drives, the list of them, one's own files                     |
//! | `report`        | one profile and several, damaged, missing, other versions, foreign output                 |
//! | `result_files`  | where results may be written: foreign files, directories, devices, unwritable places – found before anything is measured |
//! | `schema`        | profiles are what the published JSON Schema says                                         |
//! | `advise`        | fragments, partial profiles, other devices, wishes that can't be, a trial of SQLite       |
//! | `stories`       | whole probes of four kinds of drives: what is known of each, and advice that differs          |
//! | `verify`        | trials in a PostgreSQL server of their own: to the end, interrupted, killed                |
//! | `compare`       | regressions, drives side by side, prices, wishes that can't be                           |
//! | `sweep`         | CSV and JSON as specified, every pattern and operation, table of 80 columns, skipped cells, how requests went |
//! | `sweep_loads`   | exact bytes, mixed shares, threads, open loop, batched refill                             |
//! | `sweep_plan`    | `--plan` states bytes and time and changes nothing                                        |
//! | `sweep_resume`  | going on after an interruption, finished sweeps, damaged files, other targets             |
//! | `trace`         | formats, pipes and files, damaged and foreign ones, devices, pages that the writes don't fit    |
//! | `capture`       | a command's writes and others', exit codes, interruptions, what can't be captured       |
//! | `trace_play`    | timings, beside measured disks, real files, addresses that don't fit, failures, what can't be played |
//! | `replay`        | every policy on disks and models, profiles, pages, what can't be replayed                     |
//! | `replay_trouble`| targets too small, full or failing, damaged traces                                        |
//! | `replay_addresses`| traces of large volumes, long writes, policies that can't take the work                 |
//! | `replay_stores` | what a target held before, targets in use, devices that get full, interruptions              |
//! | `pages`         | sound and damaged stores, what is saved of them, lost labels, exit codes                      |
//! | `sort`          | beside the system's own sort, CSV, records, modelled drives, what can't be, interruptions       |
//! | `join`          | beside the system's own join, CSV, in memory and out of it, what can't be                        |
//! | `workload`      | sorts and joins of made-up rows, sweeps, placements, real files, what can't be                      |
//! | `bad_input`     | targets, sizes, counts, budgets that can't be                                             |
//! | `limits`        | input that takes memory or time away, files that others use, control groups               |
//! | `foreign_data`  | write tests on files, devices and mounted devices that aren't the program's own           |
//! | `full_disk`     | no room for the test file, no room for the results                                        |
//! | `unprivileged`  | what an ordinary user may not read or write                                               |
//! | `interrupt`     | Ctrl-C and SIGTERM while filling, measuring and sweeping; the second Ctrl-C               |
//! | `faults`        | read errors in the middle, files cut short, results that can't be printed                 |
//! | `silent_device` | a device that stops answering                                                             |
//! | `terminal`      | progress on a terminal and nowhere else, `NO_COLOR`, tables                               |
//! | `shell`         | completions, manual page, help, version                                                   |
//! | `elsewhere`     | commands of the second program: found beside, on the path, or not at all                     |
//! | `units`         | a unit in every key of every JSON                                                         |
//!
//! What needs an administrator (mounts, loop devices) is skipped with a loud word where it can't be had. Mounts are made
//! in a namespace of their own, so that they are gone with the program, whatever becomes of the test.

mod outcome;
mod place;
mod running;
mod system;
mod trace;

pub(crate) use outcome::Outcome;
pub(crate) use place::{NANDLE, Place};
pub(crate) use running::Running;
pub(crate) use system::{LoopDevice, is_root, program_exists, skip};
pub(crate) use trace::scattered_writes;

/// Options of a probe that is over in little more than a second.
pub(crate) const SHORT: &str = "--budget 1s --file-size 16MiB";
/// Options of a sweep of one cell that is over at once.
pub(crate) const ONE_CELL: &str =
    "--file-size 4MiB --patterns random --block-sizes 4KiB --queue-depths 1 --bytes-per-run 256KiB";
/// A mebibyte.
pub(crate) const MIB: u64 = 1 << 20;
