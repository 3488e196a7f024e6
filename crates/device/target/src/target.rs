use std::path::{Path, PathBuf};
use std::sync::Arc;

use nandle_io::{DeviceFile, FileLock, Shape};
use nandle_model::library::{Model, ModelFacts};
use nandle_model::media::FaultFile;

use crate::open::{self, KeptFile, NameGuard, Scratch};
use crate::spec::{ArraySpec, TargetSpec};
use crate::{OpenOptions, Problem, TargetError};

/// An open target: one file or block device, or the members of an array. Dropping it removes its test files.
///
/// It may be shared between threads; each makes a world of its own with [`Target::io`].
#[derive(Debug)]
pub struct Target {
    pub(crate) spec: TargetSpec,
    pub(crate) options: OpenOptions,
    /// At least one; several only in an array.
    pub(crate) leaves: Vec<Leaf>,
}

/// One open file, block device, or modelled drive.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) path: PathBuf,
    pub(crate) kind: TargetKind,
    pub(crate) backing: Backing,
    pub(crate) needs_fill: bool,
    pub(crate) remarks: Vec<String>,
    /// A kept test file, to mark it as filled.
    pub(crate) kept: Option<KeptFile>,
    /// Takes a test file's name away when the leaf is dropped.
    pub(crate) guard: Option<NameGuard>,
    /// Keeps others from writing to a file that is written to.
    pub(crate) lock: Option<FileLock>,
    /// Gives a test file's space back when the leaf is dropped.
    pub(crate) _scratch: Option<Scratch>,
}

/// What requests reach in the end.
#[derive(Debug)]
pub(crate) enum Backing {
    /// Something that the system has open.
    File(Arc<DeviceFile>),
    /// A model, of which each world makes a device of its own.
    Model(Box<ModelledLeaf>),
}

/// A modelled drive, as it is before anything is done to it.
#[derive(Debug)]
pub(crate) struct ModelledLeaf {
    pub(crate) model: Model,
    /// Where it keeps contents, what goes wrong with them.
    pub(crate) media: Option<MediaSettings>,
    pub(crate) facts: ModelFacts,
    pub(crate) shape: Shape,
}

/// How a modelled drive keeps contents.
#[derive(Debug, Clone)]
pub(crate) struct MediaSettings {
    /// What goes wrong; nothing when absent.
    pub(crate) faults: Option<FaultFile>,
}

/// What a leaf of a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// A test file in the directory that was named; it is gone with the target.
    TestFile,
    /// The file that was named.
    File,
    /// A raw block device.
    BlockDevice,
    /// A modelled drive.
    Model,
}

impl Target {
    /// Opens what the user named.
    ///
    /// # Errors
    /// It does not exist, may not be used in this way, or the system refuses; see [`Problem`].
    pub fn open(spec: TargetSpec, options: OpenOptions) -> Result<Self, TargetError> {
        crate::arrays::check(&spec).map_err(|problem| problem.on(&spec))?;
        let member_file_bytes = crate::arrays::member_file_bytes(&spec, options.test_file_bytes);
        let of_member = OpenOptions { test_file_bytes: member_file_bytes, ..options.clone() };
        let open = |leaf: &TargetSpec| open::open_leaf(leaf, &of_member).map_err(|problem| problem.on(leaf));
        let leaves = spec.leaves().into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let modelled = leaves.iter().filter(|leaf| leaf.model().is_some()).count();
        if modelled > 0 && modelled < leaves.len() {
            return Err(Problem::MixedWorlds.on(&spec));
        }
        Ok(Self { spec, options, leaves })
    }

    /// Sees whether there is room for so many bytes of test files, all at the same time, where directories are named.
    ///
    /// # Errors
    /// There isn't, or the system refuses to tell.
    pub fn check_room(spec: &TargetSpec, bytes: u64) -> Result<(), TargetError> {
        let member_bytes = crate::arrays::member_file_bytes(spec, bytes);
        spec.leaves().into_iter().try_for_each(|leaf| match leaf {
            TargetSpec::Path(path) if path.is_dir() => {
                open::check_room(path, member_bytes).map_err(|problem| problem.on(leaf))
            }
            _ => Ok(()),
        })
    }

    /// What the user named.
    pub fn spec(&self) -> &TargetSpec {
        &self.spec
    }

    /// How it was opened.
    pub fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// What it is; for an array, what its first member is.
    pub fn kind(&self) -> TargetKind {
        self.first().map_or(TargetKind::File, |leaf| leaf.kind)
    }

    /// Whether it lives in virtual time.
    pub fn is_modelled(&self) -> bool {
        self.kind() == TargetKind::Model
    }

    /// Bytes that tests may address, from offset 0 on.
    pub fn area_bytes(&self) -> u64 {
        let smallest = self.shapes().map(|shape| shape.capacity_bytes).min().unwrap_or(0);
        self.array().map_or(smallest, |array| crate::arrays::area_bytes(array, smallest))
    }

    /// Whether its contents have to be written before they are read: a fresh test file has none on the device.
    pub fn needs_fill(&self) -> bool {
        self.leaves.iter().any(|leaf| leaf.needs_fill)
    }

    /// Records that the whole area was written and synced, so that a kept test file need not be filled again.
    /// For any other target it does nothing.
    ///
    /// # Errors
    /// The file's mark can't be written.
    pub fn mark_filled(&self) -> Result<(), TargetError> {
        let mark = |kept: &KeptFile| kept.mark_filled().map_err(|problem| problem.on(&self.spec));
        self.leaves.iter().filter_map(|leaf| leaf.kept.as_ref()).try_for_each(mark)
    }

    /// Whether its writes are allowed.
    pub fn is_writable(&self) -> bool {
        self.shapes().all(|shape| shape.writable)
    }

    /// What a reader of figures should know of it, each a sentence.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = Vec::new();
        for remark in self.leaves.iter().flat_map(|leaf| &leaf.remarks) {
            if !remarks.contains(remark) {
                remarks.push(remark.clone());
            }
        }
        remarks.extend(crate::facts::differences(self));
        remarks
    }

    /// The open files and devices behind it; none of a modelled target.
    pub fn files(&self) -> impl Iterator<Item = &Arc<DeviceFile>> {
        self.leaves.iter().filter_map(Leaf::file)
    }

    /// Their paths as they were named; for a test file, its directory, and for a model its name.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.leaves.iter().map(|leaf| leaf.path.as_path())
    }

    /// The names of its test files, where the file system has no files without; they go with the target.
    pub fn names_of_test_files(&self) -> impl Iterator<Item = &Path> {
        self.leaves.iter().filter_map(|leaf| leaf.guard.as_ref()).map(NameGuard::path)
    }

    /// Their shapes. The capacity is what tests may address, which may be less than the file.
    pub fn shapes(&self) -> impl Iterator<Item = &Shape> {
        self.leaves.iter().map(Leaf::shape)
    }

    pub(crate) fn first(&self) -> Option<&Leaf> {
        self.leaves.first()
    }

    pub(crate) fn array(&self) -> Option<&ArraySpec> {
        match &self.spec {
            TargetSpec::Array(array) => Some(array),
            _ => None,
        }
    }
}

impl Leaf {
    pub(crate) fn file(&self) -> Option<&Arc<DeviceFile>> {
        match &self.backing {
            Backing::File(file) => Some(file),
            Backing::Model(_) => None,
        }
    }

    pub(crate) fn model(&self) -> Option<&ModelledLeaf> {
        match &self.backing {
            Backing::File(_) => None,
            Backing::Model(model) => Some(model),
        }
    }

    pub(crate) fn shape(&self) -> &Shape {
        match &self.backing {
            Backing::File(file) => file.shape(),
            Backing::Model(model) => &model.shape,
        }
    }

    pub(crate) fn check_area(self) -> Result<Self, Problem> {
        let got_bytes = self.shape().capacity_bytes;
        if got_bytes < open::SMALLEST_AREA_BYTES {
            return Err(Problem::TooSmall { got_bytes, needed_bytes: open::SMALLEST_AREA_BYTES });
        }
        Ok(self)
    }
}
