//! A table's files, open for reading by plan.

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

/// Requests that may be in flight: more than a plan keeps.
const SLOTS: u32 = 1024;

/// How files are read.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// What that costs where they lie.
    pub(crate) pricing: Pricing,
    /// What stands around the world that reads them.
    pub(crate) layer: Option<WorldLayer>,
    /// What is taken of beside planned reads.
    pub(crate) memory: Arc<TablesMemory>,
    /// What threads that read are at.
    pub(crate) owners: Arc<Owners>,
}

/// A table's files with their footers, and the thread that reads them.
#[derive(Debug)]
pub(crate) struct TableFiles {
    /// What messages call it.
    pub(crate) name: String,
    /// What a query calls the table.
    pub(crate) table: String,
    /// Which of the snapshot's projections it is, if one.
    pub(crate) projection: Option<usize>,
    /// The columns of its files that no directory's name gives a value of.
    pub(crate) schema: SchemaRef,
    pub(crate) partitions: Partitions,
    /// The columns by which rows ascend, the first of which counts most; nulls are before values.
    pub(crate) order: Vec<String>,
    pub(crate) access: Access,
    pub(crate) files: Vec<Arc<ParquetFile>>,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) stamps: Vec<Stamp>,
    /// The files themselves, as the thread has them open.
    open: Vec<Arc<DeviceFile>>,
    /// What is made of their footers when another machine asks.
    footers: OnceLock<u64>,
    pub(crate) read: Arc<[ReadFile]>,
    pub(crate) owner: Owner,
    /// What decoding its columns costs, as far as that was measured.
    pub(crate) rates: Rates,
    /// Keeps a table's files from being removed.
    pub(crate) snapshot: Option<Snapshot>,
}

/// By what a file is known to be the one that it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    pub(crate) length_bytes: u64,
    pub(crate) modified: SystemTime,
}

impl Stamp {
    /// Of what lies under a path now.
    pub(super) fn of(path: &PathBuf) -> Result<Self, EngineError> {
        let of = |metadata: std::fs::Metadata| Self::of_metadata(&metadata);
        std::fs::metadata(path).and_then(of).map_err(EngineError::io("looking at", path))
    }

    /// Of a file that is open, wherever its name leads to meanwhile.
    fn of_open(file: &DeviceFile, path: &Path) -> Result<Self, EngineError> {
        let of = |metadata: std::fs::Metadata| Self::of_metadata(&metadata);
        file.file().metadata().and_then(of).map_err(EngineError::io("looking at", path))
    }

    fn of_metadata(metadata: &std::fs::Metadata) -> std::io::Result<Self> {
        Ok(Self { length_bytes: metadata.len(), modified: metadata.modified()? })
    }
}

impl TableFiles {
    /// Opens what a name leads to now. Footers are read through the thread that reads the data; a table's own through its directory, which
    /// checks them by their sums.
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

    /// The same rows as a projection has them. It keeps the snapshot as this does.
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

    /// That a file is still as it was when it was opened, whatever its name leads to; the sums of a table's own files say more. What a file system can't
    /// tell apart by lengths and times isn't seen.
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

    /// The same of all files.
    pub(crate) fn check_all_unchanged(&self) -> Result<(), EngineError> {
        (0..self.files.len()).try_for_each(|number| self.check_unchanged(number))
    }

    /// Which data these are, whatever machine they lie on.
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

    /// As plans must know them.
    pub(crate) fn plan_files(&self) -> Vec<PlanFile> {
        self.read.iter().map(|file| file.plan.clone()).collect()
    }

    /// An error of the reads, with the name of the file that it is about.
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

/// The order of a table's rows: a single run has the one that the table is kept in.
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

/// Opens files as devices of a world, and starts the thread that reads from them.
fn start(paths: &[PathBuf], access: &Access) -> Result<(Owner, Vec<Device>, Vec<ReadFile>), EngineError> {
    let opened = paths.iter().map(open_device).collect::<Result<Vec<_>, _>>()?;
    let files = opened.clone();
    let (told, ids) = channel();
    let layer = access.layer.clone();
    let open = move || {
        let mut world = FileWorld::new(SLOTS).map_err(|error| error.to_string())?;
        let ids: Vec<DeviceId> = opened.into_iter().map(|device| world.add(device).id).collect();
        let io: Box<dyn Io> = world.into_io();
        // Whoever started the thread waits for this.
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

/// Column chunks lie together. Where a hostile footer has them overlap nothing is known.
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
