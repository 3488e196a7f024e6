//! Files of a table, open for planned reads.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use arrow_schema::{FieldRef, Schema, SchemaRef};
use nandle_columns::{
    BLOCK_BYTES, Clustering, ColumnsError, Manifest, ParquetFile, Projection, Snapshot, Table,
};
use nandle_io::{DeviceFile, DeviceId, FileOptions, FileWorld, Io};
use nandle_reads::{Groups, Owner, PlanFile, Pricing, ReadFile, ReadsError};
use parquet::file::metadata::RowGroupMetaData;

use super::digest;
use super::owners::Owners;
use super::partitions::Partitions;
use super::pumped::{Pumped, plain};
use super::schema::{common, known_nulls, without};
use super::source::Source;
use crate::memory::TablesMemory;
use crate::remote::DataState;
use crate::scan::Rates;
use crate::{EngineError, WorldLayer};

/// Limit on requests in flight: more than a plan needs.
const SLOTS: u32 = 1024;

/// Access to files.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// Read costs of their device.
    pub(crate) pricing: Pricing,
    /// Layer around the world that reads them.
    pub(crate) layer: Option<WorldLayer>,
    /// Memory besides that of planned reads.
    pub(crate) memory: Arc<TablesMemory>,
    /// Registry of reading threads.
    pub(crate) owners: Arc<Owners>,
}

/// Files of a table with their footers, and the thread that reads them.
#[derive(Debug)]
pub(crate) struct TableFiles {
    /// Name in messages.
    pub(crate) name: String,
    /// Name of the table in queries.
    pub(crate) table: String,
    /// Index of its projection in the snapshot, if it is one.
    pub(crate) projection: Option<usize>,
    /// Columns stored in the files, without those of directory names.
    pub(crate) schema: SchemaRef,
    pub(crate) partitions: Partitions,
    /// Columns by which rows ascend, the first one being the primary key; nulls come first.
    pub(crate) order: Vec<String>,
    pub(crate) access: Access,
    pub(crate) files: Vec<Arc<ParquetFile>>,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) stamps: Vec<Stamp>,
    /// The files that the thread has open.
    open: Vec<Arc<DeviceFile>>,
    /// Digest of the files, computed when another machine needs it.
    footers: OnceLock<u64>,
    pub(crate) read: Arc<[ReadFile]>,
    pub(crate) owner: Owner,
    /// Measured decoding rates of the columns.
    pub(crate) rates: Rates,
    /// Keeps a table's files from being removed.
    pub(crate) snapshot: Option<Snapshot>,
}

/// Identifies a version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    pub(crate) length_bytes: u64,
    pub(crate) modified: SystemTime,
}

impl Stamp {
    /// Stamp of the current file at a path.
    pub(super) fn of(path: &PathBuf) -> Result<Self, EngineError> {
        let of = |metadata: std::fs::Metadata| Self::of_metadata(&metadata);
        std::fs::metadata(path).and_then(of).map_err(EngineError::io("looking at", path))
    }

    /// Stamp of an open file, even if it was renamed or replaced.
    fn of_open(file: &DeviceFile, path: &Path) -> Result<Self, EngineError> {
        let of = |metadata: std::fs::Metadata| Self::of_metadata(&metadata);
        file.file().metadata().and_then(of).map_err(EngineError::io("looking at", path))
    }

    fn of_metadata(metadata: &std::fs::Metadata) -> std::io::Result<Self> {
        Ok(Self { length_bytes: metadata.len(), modified: metadata.modified()? })
    }
}

impl TableFiles {
    /// Opens the current files of a source. The reading thread also reads footers. Those of a table
    /// are read through its directory, which verifies checksums.
    pub(crate) fn open(source: &Source, access: &Access) -> Result<Self, EngineError> {
        let opened = match &source.table {
            Some(directory) => Self::of_table(directory, access)?,
            None => Self::of_files(&source.listed()?, access)?,
        };
        Ok(Self { name: source.name.clone(), table: source.name.clone(), ..opened })
    }

    fn of_table(directory: &Path, access: &Access) -> Result<Self, EngineError> {
        let snapshot = Table::open(directory)?.snapshot()?;
        let order = snapshot.manifest().map(ascending).unwrap_or_default();
        let schema = known_nulls(snapshot.schema(), snapshot.files());
        let opened = Self::of_snapshot(snapshot, directory, schema, access)?;
        Ok(Self { order, ..opened })
    }

    /// Opens a projection of the same rows; it keeps the snapshot as well.
    pub(crate) fn projection(&self, projection: &Projection, directory: &Path) -> Result<Self, EngineError> {
        let Some(snapshot) = &self.snapshot else { unreachable!("only tables have projections") };
        let snapshot = snapshot.projection(projection)?;
        let is_own = |field: &&FieldRef| snapshot.schema().index_of(field.name()).is_ok();
        let fields: Vec<FieldRef> = self.schema.fields().iter().filter(is_own).cloned().collect();
        let opened = Self::of_snapshot(snapshot, directory, Arc::new(Schema::new(fields)), &self.access)?;
        let name = format!("{}, projection {}", self.name, projection.name());
        let mut all = self.snapshot.iter().filter_map(Snapshot::manifest).flat_map(|all| &all.projections);
        let number = all.position(|other| other == projection);
        let (table, order) = (self.table.clone(), projection.columns.clone());
        Ok(Self { name, table, projection: number, order, ..opened })
    }

    fn of_snapshot(
        snapshot: Snapshot,
        directory: &Path,
        schema: SchemaRef,
        access: &Access,
    ) -> Result<Self, EngineError> {
        let files = snapshot.files().to_vec();
        let paths: Vec<PathBuf> = files.iter().map(|file| directory.join(file.name())).collect();
        let (owner, devices, _) = start(&paths, access)?;
        Self::new((schema, files), paths, (owner, &devices), access, Some(snapshot))
    }

    fn of_files(source: &Source, access: &Access) -> Result<Self, EngineError> {
        let Source { files: paths, partitions, .. } = source;
        let (owner, devices, read) = start(paths, access)?;
        let sources = Pumped::all(&owner, read, &access.pricing).map_err(of_table)?;
        let open = |(path, source): (&PathBuf, Pumped)| {
            ParquetFile::open(&path.display().to_string(), Arc::new(source), None).map(Arc::new)
        };
        let files = paths.iter().zip(sources).map(open).collect::<Result<Vec<_>, _>>()?;
        let schema = without(&common(&files)?, &partitions.columns());
        let opened = Self::new((schema, files), paths.clone(), (owner, &devices), access, None)?;
        Ok(Self { partitions: partitions.clone(), ..opened })
    }

    fn new(
        (schema, files): (SchemaRef, Vec<Arc<ParquetFile>>),
        paths: Vec<PathBuf>,
        (owner, devices): (Owner, &[Device]),
        access: &Access,
        snapshot: Option<Snapshot>,
    ) -> Result<Self, EngineError> {
        let open: Vec<Arc<DeviceFile>> = devices.iter().map(|device| Arc::clone(&device.file)).collect();
        let stamps = open.iter().zip(&paths).map(|(file, path)| Stamp::of_open(file, path));
        let stamps = stamps.collect::<Result<_, _>>()?;
        let read = files.iter().zip(devices).map(|(file, device)| {
            let mut read = file.read_file(device.id, 0, device.align_bytes)?;
            read.plan.groups = groups(file);
            Ok(read)
        });
        let read = read.collect::<Result<_, EngineError>>()?;
        Ok(Self {
            name: String::new(),
            table: String::new(),
            projection: None,
            schema,
            partitions: Partitions::default(),
            access: access.clone(),
            files,
            paths,
            stamps,
            open,
            footers: OnceLock::new(),
            read,
            owner,
            rates: Rates::default(),
            order: Vec::new(),
            snapshot,
        })
    }

    /// Checks that a file hasn't changed since it was opened, even if its name was reused. A
    /// table's files have checksums instead. Changes that keep length and time go undetected.
    pub(crate) fn check_unchanged(&self, number: usize) -> Result<(), EngineError> {
        let (Some(file), Some(path), Some(stamp), None) =
            (self.open.get(number), self.paths.get(number), self.stamps.get(number), &self.snapshot)
        else {
            return Ok(());
        };
        if Stamp::of_open(file, path)? == *stamp {
            return Ok(());
        }
        let why = "it has changed since the query was planned; ask again when it is whole".to_owned();
        Err(EngineError::Source { name: path.display().to_string(), why })
    }

    /// Checks all files.
    pub(crate) fn check_all_unchanged(&self) -> Result<(), EngineError> {
        (0..self.files.len()).try_for_each(|number| self.check_unchanged(number))
    }

    /// State of the data, independent of the machine.
    pub(crate) fn state(&self) -> DataState {
        match self.snapshot.as_ref().and_then(Snapshot::manifest) {
            Some(manifest) => {
                DataState::Snapshot { table: manifest.table.clone(), number: manifest.snapshot }
            }
            None => DataState::Files {
                count: self.stamps.len(),
                bytes: self.stamps.iter().map(|stamp| stamp.length_bytes).sum(),
                footers: *self.footers.get_or_init(|| digest::of_files(&self.files)),
            },
        }
    }

    /// Properties for planning.
    pub(crate) fn plan_files(&self) -> Vec<PlanFile> {
        self.read.iter().map(|file| file.plan.clone()).collect()
    }

    /// Converts an error of the reads; replaces the file number by its name.
    pub(crate) fn named(&self, error: ReadsError) -> EngineError {
        let file = match &error {
            ReadsError::Damaged { file, .. }
            | ReadsError::Io { file, .. }
            | ReadsError::UnknownFile { file, .. }
            | ReadsError::Tail { file, .. }
            | ReadsError::BeyondEnd { file, .. } => self.files.get(file.0 as usize),
            _ => None,
        };
        match (file, error) {
            (Some(file), ReadsError::Damaged { offset_bytes, why, .. }) => {
                let block = offset_bytes..offset_bytes.saturating_add(BLOCK_BYTES);
                ColumnsError::Damaged { place: file.place_of(&block), why }.into()
            }
            (Some(file), source) => EngineError::Reads { file: file.name().to_owned(), source },
            (None, source) => of_table(source),
        }
    }
}

/// Order of a table's rows: that of its clustering, if it has a single run.
fn ascending(manifest: &Manifest) -> Vec<String> {
    match (&manifest.clustering, manifest.runs.as_slice()) {
        (Clustering::Sort(columns), [_]) => columns.clone(),
        _ => Vec::new(),
    }
}

fn of_table(source: ReadsError) -> EngineError {
    EngineError::Reads { file: "the table".to_owned(), source }
}

/// A file as a device of the owner's world.
#[derive(Debug)]
struct Device {
    file: Arc<DeviceFile>,
    id: DeviceId,
    align_bytes: u64,
}

/// Opens files as devices of a world, and starts the thread that reads them.
fn start(paths: &[PathBuf], access: &Access) -> Result<(Owner, Vec<Device>, Vec<ReadFile>), EngineError> {
    let opened = paths.iter().map(open_device).collect::<Result<Vec<_>, _>>()?;
    let files = opened.clone();
    let (told, ids) = channel();
    let layer = access.layer.clone();
    let open = move || {
        let mut world = FileWorld::new(SLOTS).map_err(|error| error.to_string())?;
        let ids: Vec<DeviceId> = opened.into_iter().map(|device| world.add(device).id).collect();
        let io: Box<dyn Io> = world.into_io();
        // The starting thread waits for this.
        let _ = told.send(ids);
        Ok(match layer {
            Some(WorldLayer(around)) => around(io),
            None => io,
        })
    };
    let owner = Owner::keeping(access.memory.kept.clone(), "nandle-reads", open).map_err(of_table)?;
    access.owners.add(owner.progress());
    let gone = |_| of_table(ReadsError::OwnerGone { why: "it ended before it began".to_owned() });
    let ids = ids.recv().map_err(gone)?;
    let device = |(id, file): (DeviceId, Arc<DeviceFile>)| {
        let align_bytes = file.shape().logical_block_bytes;
        Device { file, id, align_bytes }
    };
    let devices: Vec<Device> = ids.into_iter().zip(files).map(device).collect();
    let read = paths.iter().zip(&devices).map(|(path, device)| {
        plain(path, device.id, device.align_bytes).map_err(EngineError::io("reading", path))
    });
    let read = read.collect::<Result<_, _>>()?;
    Ok((owner, devices, read))
}

fn open_device(path: &PathBuf) -> Result<Arc<DeviceFile>, EngineError> {
    let file = std::fs::File::open(path).map_err(EngineError::io("opening", path))?;
    let device = DeviceFile::new(file, FileOptions::default());
    Ok(Arc::new(device.map_err(|error| EngineError::Source {
        name: path.display().to_string(),
        why: format!("it can't be read: {error}"),
    })?))
}

/// Column chunks form groups. If a hostile footer makes them overlap, groups are unknown.
fn groups(file: &ParquetFile) -> Groups {
    let chunks = file.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    let ranges = chunks.map(|chunk| {
        let (start, length) = chunk.byte_range();
        start..start.saturating_add(length)
    });
    let mut ranges: Vec<Range<u64>> = ranges.filter(|range| !range.is_empty()).collect();
    ranges.sort_by_key(|range| range.start);
    let are_apart = ranges.iter().zip(ranges.iter().skip(1)).all(|(one, next)| one.end <= next.start);
    if are_apart { Groups::Listed(ranges) } else { Groups::Unknown }
}
