//! Opens a scan's files as devices of a world on a thread of its own.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::channel;

use nandle_columns::{ParquetFile, ScanPlan};
use nandle_io::{Access, Backend, DeviceFile, DeviceId, FileOptions, FileWorld, Io, Shape, Threads, Uring};
use nandle_reads::{Groups, Owner, PlanFile, ReadFile};
use nandle_target::IoChoice;
use rustix::io::Errno;

use crate::error::CliError;
use crate::input::Input;

/// Requests in flight, more than a plan needs.
const SLOTS: u32 = 1024;

/// Files opened for planned reads.
pub(crate) struct OpenFiles {
    pub(crate) owner: Owner,
    pub(crate) files: Arc<[ReadFile]>,
    pub(crate) backend: Backend,
    /// Shape of the first file; `None` without files.
    pub(crate) shape: Option<Shape>,
    /// Reason why reads go through the page cache; `None` if they bypass it.
    pub(crate) buffered: Option<String>,
    /// Other layers that may cache or copy the data.
    pub(crate) beside: Option<&'static str>,
}

impl OpenFiles {
    pub(crate) fn open(input: &Input, plan: &ScanPlan, io: IoChoice) -> Result<Self, CliError> {
        let devices = plan.files().iter().map(|file| open_device(input, file));
        let devices: Vec<Arc<DeviceFile>> = devices.collect::<Result<_, _>>()?;
        let (owner, ids, backend) = start(devices.clone(), io)?;
        let files = plan.files().iter().zip(&devices).zip(ids).map(|((file, device), id)| {
            let mut opened = file.read_file(id, 0, device.shape().logical_block_bytes)?;
            opened.plan.groups = groups(file);
            Ok(opened)
        });
        let files = files.collect::<Result<_, CliError>>()?;
        let shapes = devices.iter().map(|device| device.shape());
        let buffered = shapes.clone().find_map(|shape| match &shape.access {
            Access::Direct => None,
            Access::Buffered { reason } => Some(reason.clone()),
        });
        let beside = devices.iter().find_map(|device| device.beside_the_device());
        Ok(Self { owner, files, backend, shape: shapes.clone().next().cloned(), buffered, beside })
    }

    pub(crate) fn plan_files(&self) -> Vec<PlanFile> {
        self.files.iter().map(|file| file.plan.clone()).collect()
    }
}

fn open_device(input: &Input, file: &ParquetFile) -> Result<Arc<DeviceFile>, CliError> {
    let path = input.path_of(file);
    let wrong = |error: String| CliError::failed(format!("opening {}: {error}", path.display()));
    let opened = std::fs::File::open(&path).map_err(|error| match error.raw_os_error() {
        Some(errno) if errno == Errno::MFILE.raw_os_error() => wrong(format!(
            "{error}; let the process open as many files as there are to be read (ulimit -n), or merge them (nandle table compact)"
        )),
        _ => wrong(error.to_string()),
    })?;
    let device = DeviceFile::new(opened, FileOptions::default()).map_err(|error| wrong(error.to_string()))?;
    Ok(Arc::new(device))
}

/// Starts the reading thread.
fn start(devices: Vec<Arc<DeviceFile>>, io: IoChoice) -> Result<(Owner, Vec<DeviceId>, Backend), CliError> {
    let (told, opened) = channel();
    let open = move || {
        let mut world = match io {
            IoChoice::Auto => FileWorld::new(SLOTS),
            IoChoice::Uring => Uring::new(SLOTS).map(|ring| FileWorld::Uring(Box::new(ring))),
            IoChoice::Threads => Ok(FileWorld::Threads(Box::new(Threads::new(SLOTS)))),
        }
        .map_err(|error| error.to_string())?;
        let ids: Vec<DeviceId> = devices.into_iter().map(|device| world.add(device).id).collect();
        let io: Box<dyn Io> = world.into_io();
        // The receiver waits for this.
        let _ = told.send((ids, io.backend()));
        Ok(io)
    };
    let owner =
        Owner::start("nandle-reads", open).map_err(|error| CliError::failed(format!("{error} (--io)")))?;
    let (ids, backend) =
        opened.recv().map_err(|_| CliError::failed("the thread that reads ended before it began"))?;
    Ok((owner, ids, backend))
}

/// Extents of the row groups, whose column chunks are adjacent. Unknown if a hostile footer makes
/// them overlap.
fn groups(file: &ParquetFile) -> Groups {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for group in file.metadata().row_groups() {
        let chunks = group.columns().iter().map(|chunk| {
            let (start, length) = chunk.byte_range();
            start..start.saturating_add(length)
        });
        ranges.extend(chunks);
    }
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let apart = ranges.iter().zip(ranges.iter().skip(1)).all(|(one, next)| one.end <= next.start);
    if apart { Groups::Listed(ranges) } else { Groups::Unknown }
}
