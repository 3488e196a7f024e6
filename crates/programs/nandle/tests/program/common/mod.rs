//! Shared helpers of the program's tests, and the list of what the tests cover:
//!
//! | file            | subject                                                                                  |
//! |-----------------|------------------------------------------------------------------------------------------|
//! | `probe`         | both files and nothing else, summary, `--json`, test file removed (even after SIGKILL), files only read, partial profiles |
//! | `models`        | probes and sweeps of modelled drives, their list, user-defined models                       |
//! | `report`        | one profile and several, damaged, missing, other versions, foreign output                 |
//! | `result_files`  | output paths: foreign files, directories, devices, unwritable places; refused before measuring |
//! | `schema`        | profiles conform to the published JSON Schema                                             |
//! | `advise`        | fragments, partial profiles, other devices, impossible options, a trial of SQLite         |
//! | `stories`       | whole probes of four kinds of drives: known properties of each, and different advice      |
//! | `verify`        | trials in a private PostgreSQL server: complete, interrupted, killed                      |
//! | `compare`       | regressions, drives side by side, prices, impossible options                              |
//! | `sweep`         | CSV and JSON as specified, every pattern and operation, table of 80 columns, skipped cells, request paths |
//! | `sweep_loads`   | exact bytes, mixed shares, threads, open loop, batched refill                             |
//! | `sweep_plan`    | `--plan` states bytes and time and changes nothing                                        |
//! | `sweep_resume`  | resuming after an interruption, finished sweeps, damaged files, other targets             |
//! | `trace`         | formats, pipes and files, damaged and foreign ones, devices, unaligned writes             |
//! | `capture`       | writes of a command and of others, exit codes, interruptions, refusals                    |
//! | `trace_play`    | timings, comparison with measured disks, real files, addresses out of range, failures, refusals |
//! | `replay`        | every policy on disks and models, profiles, pages, refusals                               |
//! | `replay_trouble`| targets too small, full or failing, damaged traces                                        |
//! | `replay_addresses`| traces of large volumes, long writes, policies that can't take the work                 |
//! | `replay_stores` | earlier contents of a target, targets in use, devices that fill up, interruptions         |
//! | `pages`         | sound and damaged stores, salvage, lost labels, exit codes                                |
//! | `sort`          | comparison with the system's sort, CSV, records, modelled drives, refusals, interruptions |
//! | `join`          | comparison with the system's join, CSV, in memory and spilled, refusals                   |
//! | `workload`      | sorts and joins of generated rows, sweeps, placements, real files, refusals               |
//! | `bad_input`     | invalid targets, sizes, counts and budgets                                                |
//! | `limits`        | input that exhausts memory or time, files in use by others, control groups                |
//! | `foreign_data`  | write tests on foreign files, devices and mounted devices                                 |
//! | `full_disk`     | no room for the test file or the results                                                  |
//! | `unprivileged`  | paths that an ordinary user may not read or write                                         |
//! | `interrupt`     | Ctrl-C and SIGTERM while filling, measuring and sweeping; the second Ctrl-C               |
//! | `faults`        | read errors in the middle, truncated files, results that can't be printed                 |
//! | `silent_device` | a device that stops responding                                                            |
//! | `terminal`      | progress only on a terminal, `NO_COLOR`, tables                                           |
//! | `shell`         | completions, manual page, help, version                                                   |
//! | `elsewhere`     | commands of the second program: next to this one, on the path, or missing                 |
//! | `units`         | a unit in every key of every JSON                                                         |
//!
//! Tests that need an administrator (mounts, loop devices) are skipped with a notice. Mounts are
//! made in a private
//! namespace, so that they vanish with the program whatever happens to the test.

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

/// Options of a probe of little more than a second.
pub(crate) const SHORT: &str = "--budget 1s --file-size 16MiB";
/// Options of a sweep with a single short cell.
pub(crate) const ONE_CELL: &str =
    "--file-size 4MiB --patterns random --block-sizes 4KiB --queue-depths 1 --bytes-per-run 256KiB";
pub(crate) const MIB: u64 = 1 << 20;
