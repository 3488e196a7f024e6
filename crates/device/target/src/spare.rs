//! Blocking worlds, and additional test files in a target's directory, for measurements of system
//! calls.

use std::sync::Arc;

use nandle_io::{Device, DeviceFile, FileOptions, SyncCall, Threads};

use crate::target::{Leaf, TargetKind};
use crate::{OpenedIo, Problem, Target, TargetError, facts, open};

/// Additional test file. It is unnamed and removed with the world that it is opened in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpareFile {
    /// Size of the file.
    pub bytes: u64,
    /// True if its space is reserved; otherwise the file starts empty and grows.
    pub reserved: bool,
    /// True if requests bypass the page cache, if supported.
    pub direct: bool,
    /// System call that makes it durable.
    pub sync: SyncCall,
}

/// Request slots of a world that executes one request at a time.
const SLOTS: u32 = 16;

impl Target {
    /// Opens the target in a blocking world: the submitting thread executes each request.
    ///
    /// # Errors
    /// The target is an array or a model.
    pub fn blocking(&self) -> Result<OpenedIo, TargetError> {
        let file = match self.leaves.as_slice() {
            [leaf] if self.array().is_none() => leaf.file(),
            _ => None,
        };
        let file = file.ok_or(Problem::NoSystemCalls).map_err(|problem| problem.on(&self.spec))?;
        Ok(block(Arc::clone(file), self.area_bytes()))
    }

    /// Creates an additional test file in the target's directory, in a blocking world.
    ///
    /// # Errors
    /// The target isn't a directory, its file system has no unnamed files, or there is no space.
    pub fn spare_file(&self, spare: SpareFile) -> Result<OpenedIo, TargetError> {
        let [leaf @ Leaf { kind: TargetKind::TestFile, .. }] = self.leaves.as_slice() else {
            return Err(Problem::NoDirectory.on(&self.spec));
        };
        open_spare(leaf, spare).map_err(|problem| problem.on(&self.spec))
    }
}

fn open_spare(leaf: &Leaf, spare: SpareFile) -> Result<OpenedIo, Problem> {
    let directory = || Problem::NoUnnamedFiles { directory: leaf.path.clone() };
    let file = open::unnamed(&leaf.path)?.ok_or_else(directory)?;
    if spare.reserved {
        open::allocate(&file, spare.bytes)?;
    }
    let durable_writes = facts::durable_writes(&file);
    let options = FileOptions { direct: spare.direct, durable_writes, punch_holes: true };
    let file = DeviceFile::new(file, options).map_err(Problem::Device)?;
    Ok(block(Arc::new(file.with_sync(spare.sync).growing_to(spare.bytes)), spare.bytes))
}

fn block(file: Arc<DeviceFile>, area_bytes: u64) -> OpenedIo {
    let mut io = Threads::blocking(SLOTS);
    let Device { id, mut shape } = io.add(file);
    shape.capacity_bytes = shape.capacity_bytes.min(area_bytes);
    OpenedIo { io: Box::new(io), device: Device { id, shape } }
}
