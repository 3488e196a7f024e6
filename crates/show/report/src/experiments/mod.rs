//! Figures of the probe's experiments, one file each, and the questions they answer.

mod fill_level;
mod flush;
mod group_commit;
mod interference;
mod missing;
mod read_ahead;
mod scaling;
mod sentences;
mod smallest_block;
mod steady_state;
mod streams;
mod strides;
mod sync_reads;
mod write_cache;
mod write_costs;

use nandle_profile::{Conducted, Experiments};

use missing::{absent, missing};

use crate::device::Device;
use crate::figures::{Figure, Question};
use crate::text;

/// Remarks on the figures of write costs.
fn of_writes(found: &Experiments) -> Vec<String> {
    [
        remarks(found.write_patterns.as_ref(), "Write patterns"),
        sentences::large_writes(found),
        remarks(found.large_writes.as_ref(), "Large writes"),
    ]
    .concat()
}

/// Questions about one device, except those that the read grid answers.
pub(crate) fn questions(device: &Device) -> Vec<Question> {
    let all = [
        write_patterns(device),
        long_writing(device),
        commit(device),
        beside_reads(device),
        structure(device),
    ];
    all.into_iter().filter(|question| !question.is_empty()).collect()
}

fn write_patterns(device: &Device) -> Question {
    let found = &device.profile.experiments;
    let devices = std::slice::from_ref(device);
    Question {
        id: "write-patterns",
        title: "What does a write cost in each pattern?",
        figures: present([
            write_costs::patterns(device),
            strides::bars(device),
            streams::areas(devices),
            streams::partitions(devices),
            write_costs::circumstances(device),
        ]),
        remarks: of_writes(found),
        missing: missing(
            device,
            [
                absent("write-patterns", found.write_patterns.as_ref()),
                absent("large-writes", found.large_writes.as_ref()),
            ],
        ),
    }
}

fn long_writing(device: &Device) -> Question {
    let found = &device.profile.experiments;
    Question {
        id: "steady-state",
        title: "What does it sustain in hours of writing?",
        figures: present([
            steady_state::plot(std::slice::from_ref(device)),
            write_cache::speeds(device),
            write_cache::settings(device),
            fill_level::bars(device),
        ]),
        remarks: [
            remarks(found.steady_state.as_ref(), "Steady state"),
            remarks(found.write_cache.as_ref(), "Write cache"),
            remarks(found.fill_level.as_ref(), "Fill levels"),
        ]
        .concat(),
        missing: missing(
            device,
            [
                absent("steady-state", found.steady_state.as_ref()),
                absent("write-cache", found.write_cache.as_ref()),
                absent("fill-level", found.fill_level.as_ref()),
            ],
        ),
    }
}

fn commit(device: &Device) -> Question {
    let found = &device.profile.experiments;
    Question {
        id: "commit",
        title: "What does a commit cost?",
        figures: commits(device),
        remarks: [
            remarks(found.transactions.as_ref(), "Transactions"),
            remarks(found.flush.as_ref(), "Flush"),
            sentences::atomic_writes(found),
        ]
        .concat(),
        missing: missing(
            device,
            [
                absent("transactions", found.transactions.as_ref()),
                absent("flush", found.flush.as_ref()),
                absent("atomic-write", found.atomic_write.as_ref()),
            ],
        ),
    }
}

fn beside_reads(device: &Device) -> Question {
    let found = &device.profile.experiments;
    Question {
        id: "interference",
        title: "How do writes affect reads?",
        figures: present([interference::heat(device)]),
        remarks: [remarks(found.interference.as_ref(), "Interference"), sentences::discards(found)].concat(),
        missing: missing(
            device,
            [absent("interference", found.interference.as_ref()), absent("discard", found.discard.as_ref())],
        ),
    }
}

fn structure(device: &Device) -> Question {
    let found = &device.profile.experiments;
    Question {
        id: "structure",
        title: "How does it handle requests?",
        figures: present([
            smallest_block::rates(device),
            read_ahead::streams(device),
            read_ahead::positions(device),
            scaling::plot(device),
            sync_reads::plot(device),
            smallest_block::alignments(device),
        ]),
        remarks: structure_remarks(found),
        missing: missing(
            device,
            [
                absent("smallest-block", found.smallest_block.as_ref()),
                absent("read-ahead", found.read_ahead.as_ref()),
                absent("scaling", found.scaling.as_ref()),
                absent("array-layout", found.array_layout.as_ref()),
                absent("sync-reads", found.sync_reads.as_ref()),
            ],
        ),
    }
}

fn commits(device: &Device) -> Vec<Figure> {
    let devices = std::slice::from_ref(device);
    present([flush::plot(devices), group_commit::plot(devices), flush::methods_in_files(device)])
}

/// Write figures compared across devices.
pub(crate) fn compared(devices: &[Device]) -> Question {
    Question {
        id: "writing",
        title: "How do they write?",
        figures: present([
            streams::areas(devices),
            streams::partitions(devices),
            steady_state::plot(devices),
            flush::plot(devices),
            group_commit::plot(devices),
        ]),
        remarks: Vec::new(),
        missing: Vec::new(),
    }
}

fn present<const N: usize>(figures: [Option<Figure>; N]) -> Vec<Figure> {
    figures.into_iter().flatten().collect()
}

fn structure_remarks(found: &Experiments) -> Vec<String> {
    [
        sentences::array_layout(found),
        remarks(found.smallest_block.as_ref(), "Smallest block"),
        remarks(found.read_ahead.as_ref(), "Read-ahead"),
        remarks(found.scaling.as_ref(), "Scaling"),
        remarks(found.sync_reads.as_ref(), "Blocking reads"),
    ]
    .concat()
}

/// Remarks of an experiment, the reason for its end, and its failed requests.
fn remarks<T>(conducted: Option<&Conducted<T>>, name: &str) -> Vec<String> {
    let Some(conducted) = conducted else { return Vec::new() };
    let ended = conducted.ended_by.iter().map(|why| format!("ended early: {why}"));
    let failed = conducted.failed.iter().map(|failed| {
        format!("{} failed, the first with: {}", text::plural(failed.requests, "request"), failed.first_error)
    });
    let text = conducted.remarks.iter().cloned().chain(ended).chain(failed);
    text.map(|remark| format!("{name}: {}", text::clean(&remark).trim_end_matches('.').to_owned() + "."))
        .collect()
}

/// Label of a curve: its meaning for one device, the device's label for several.
fn label(devices: &[Device], device: &Device, alone: &str) -> String {
    if devices.len() == 1 { alone.to_owned() } else { device.label() }
}
