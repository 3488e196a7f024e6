use std::path::{Path, PathBuf};
use std::sync::Arc;

use nandle_io::{DeviceFile, FileLock, Shape};
use nandle_model::library::{Model, ModelFacts};
use nandle_model::media::FaultFile;

use crate::open::{self, KeptFile, NameGuard, Scratch};
use crate::spec::{ArraySpec, TargetSpec};
use crate::{OpenOptions, Problem, TargetError};

/// Open target: one file or block device, or the members of an array. Dropping it removes its test
/// files.
///
/// It may be shared between threads; each creates its own world with [`Target::io`].
#[derive(Debug)]
pub struct Target {
    pub(crate) spec: TargetSpec,
    pub(crate) options: OpenOptions,
    /// At least one; several only in an array.
    pub(crate) leaves: Vec<Leaf>,
}

/// Open file, block device, or modelled drive.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) path: PathBuf,
    pub(crate) kind: TargetKind,
    pub(crate) backing: Backing,
    pub(crate) needs_fill: bool,
    pub(crate) remarks: Vec<String>,
    /// Kept test file, to be marked as filled.
    pub(crate) kept: Option<KeptFile>,
    /// Removes a test file's name on drop.
    pub(crate) guard: Option<NameGuard>,
    /// Lock against other writers of the file.
    pub(crate) lock: Option<FileLock>,
    /// Releases a test file's space on drop.
    pub(crate) _scratch: Option<Scratch>,
}

/// Final destination of requests.
#[derive(Debug)]
pub(crate) enum Backing {
    /// File or device of the system.
    File(Arc<DeviceFile>),
    /// Model, from which each world creates its own device.
    Model(Box<ModelledLeaf>),
}

/// Modelled drive in its initial state.
#[derive(Debug)]
pub(crate) struct ModelledLeaf {
    pub(crate) model: Model,
    /// Settings of its contents, if it stores any.
    pub(crate) media: Option<MediaSettings>,
    pub(crate) facts: ModelFacts,
    pub(crate) shape: Shape,
}

/// Storage of contents in a modelled drive.
#[derive(Debug, Clone)]
pub(crate) struct MediaSettings {
    /// Faults, if any.
    pub(crate) faults: Option<FaultFile>,
}

/// Kind of a target's leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// Test file in the named directory, removed with the target.
    TestFile,
    /// The named file.
    File,
    /// Raw block device.
    BlockDevice,
    /// Modelled drive.
    Model,
}

impl Target {
    /// Opens a target.
    ///
    /// # Errors
    /// It doesn't exist, may not be used in this way, or the system refuses it; see [`Problem`].
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

    /// Checks that named directories have space for test files of `bytes`, all at the same time.
    ///
    /// # Errors
    /// There is too little space, or the system can't tell.
    pub fn check_room(spec: &TargetSpec, bytes: u64) -> Result<(), TargetError> {
        let member_bytes = crate::arrays::member_file_bytes(spec, bytes);
        spec.leaves().into_iter().try_for_each(|leaf| match leaf {
            TargetSpec::Path(path) if path.is_dir() => {
                open::check_room(path, member_bytes).map_err(|problem| problem.on(leaf))
            }
            _ => Ok(()),
        })
    }

    /// Spec of the target.
    pub fn spec(&self) -> &TargetSpec {
        &self.spec
    }

    /// Parameters it was opened with.
    pub fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// Kind of the target; for an array, that of its first member.
    pub fn kind(&self) -> TargetKind {
        self.first().map_or(TargetKind::File, |leaf| leaf.kind)
    }

    /// Returns true if it runs in virtual time.
    pub fn is_modelled(&self) -> bool {
        self.kind() == TargetKind::Model
    }

    /// Addressable bytes, from offset 0.
    pub fn area_bytes(&self) -> u64 {
        let smallest = self.shapes().map(|shape| shape.capacity_bytes).min().unwrap_or(0);
        self.array().map_or(smallest, |array| crate::arrays::area_bytes(array, smallest))
    }

    /// Returns true if the contents must be written before they are read, as for a new test file.
    pub fn needs_fill(&self) -> bool {
        self.leaves.iter().any(|leaf| leaf.needs_fill)
    }

    /// Records that the whole area was written and synced, so that a kept test file isn't filled
    /// again. Does nothing for other targets.
    ///
    /// # Errors
    /// The file's mark can't be written.
    pub fn mark_filled(&self) -> Result<(), TargetError> {
        let mark = |kept: &KeptFile| kept.mark_filled().map_err(|problem| problem.on(&self.spec));
        self.leaves.iter().filter_map(|leaf| leaf.kept.as_ref()).try_for_each(mark)
    }

    /// Returns true if writes are allowed.
    pub fn is_writable(&self) -> bool {
        self.shapes().all(|shape| shape.writable)
    }

    /// Remarks for the reader of the figures, each a sentence.
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

    /// Open files and devices; empty for a modelled target.
    pub fn files(&self) -> impl Iterator<Item = &Arc<DeviceFile>> {
        self.leaves.iter().filter_map(Leaf::file)
    }

    /// Paths as named by the user; the directory of a test file, the name of a model.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.leaves.iter().map(|leaf| leaf.path.as_path())
    }

    /// Names of its test files if they aren't unnamed. They are removed with the target.
    pub fn names_of_test_files(&self) -> impl Iterator<Item = &Path> {
        self.leaves.iter().filter_map(|leaf| leaf.guard.as_ref()).map(NameGuard::path)
    }

    /// Shapes of its leaves. The capacity is the addressable part, which may be less than the file.
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
