//! Worlds that block, and further test files in a target's directory: what tests of system calls need.

use std::sync::Arc;

use nandle_io::{Device, DeviceFile, FileOptions, SyncCall, Threads};

use crate::target::{Leaf, TargetKind};
use crate::{OpenedIo, Problem, Target, TargetError, facts, open};

/// A further test file. It has no name, and is gone with the world that it is opened in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpareFile {
    /// How much of it can be addressed.
    pub bytes: u64,
    /// Whether its space is reserved; otherwise it is empty and grows when it is written.
    pub reserved: bool,
    /// Whether requests bypass the page cache, where they can.
    pub direct: bool,
    /// Which system call makes it durable.
    pub sync: SyncCall,
}

/// Room for requests in a world that carries out one at a time.
const SLOTS: u32 = 16;

impl Target {
    /// The target in a world that blocks: the thread that asks carries the request out.
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

    /// A further test file beside the target's, in a world that blocks.
    ///
    /// # Errors
    /// The target is no directory, its file system has no unnamed files, or there is no room.
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
