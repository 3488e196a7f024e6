//! The files of a scan as devices of a world that a thread of its own drives.

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

/// Requests that may be in flight: more than a plan keeps.
const SLOTS: u32 = 1024;

/// Files that are open for reading by plan.
pub(crate) struct OpenFiles {
    pub(crate) owner: Owner,
    pub(crate) files: Arc<[ReadFile]>,
    pub(crate) backend: Backend,
    /// Of the first file; none where there is no file.
    pub(crate) shape: Option<Shape>,
    /// Why reads go through the page cache; none where they bypass it.
    pub(crate) buffered: Option<String>,
    /// What else may hold or copy what is read.
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

/// Starts the thread that reads.
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
        // Whoever started the thread waits for this.
        let _ = told.send((ids, io.backend()));
        Ok(io)
    };
    let owner =
        Owner::start("nandle-reads", open).map_err(|error| CliError::failed(format!("{error} (--io)")))?;
    let (ids, backend) =
        opened.recv().map_err(|_| CliError::failed("the thread that reads ended before it began"))?;
    Ok((owner, ids, backend))
}

/// Column chunks lie together. Where a hostile footer has them overlap nothing is known.
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
