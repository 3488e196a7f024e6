use std::fmt;

/// A kind of file call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// `fsync` and `fdatasync` of the file, and a durable write.
    Sync,
    /// `fsync` of the folder.
    SyncFolder,
    /// `fallocate`.
    Reserve,
    /// `ftruncate`.
    Truncate,
    /// A write.
    Write,
    /// A read.
    Read,
    /// Creation of a file.
    Create,
    /// Rename of a file.
    Rename,
    /// Removal of a file.
    Remove,
    /// Change of a file's permissions or owner.
    Owner,
}

impl CallKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Sync,
        Self::SyncFolder,
        Self::Reserve,
        Self::Truncate,
        Self::Write,
        Self::Read,
        Self::Create,
        Self::Rename,
        Self::Remove,
        Self::Owner,
    ];

    /// Error of a failed call.
    pub(super) const fn errno(self) -> i32 {
        const EIO: i32 = 5;
        const ENOSPC: i32 = 28;
        match self {
            Self::Sync
            | Self::SyncFolder
            | Self::Write
            | Self::Read
            | Self::Rename
            | Self::Remove
            | Self::Owner => EIO,
            Self::Reserve | Self::Truncate | Self::Create => ENOSPC,
        }
    }
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sync => "sync",
            Self::SyncFolder => "sync of the folder",
            Self::Reserve => "fallocate",
            Self::Truncate => "ftruncate",
            Self::Write => "write",
            Self::Read => "read",
            Self::Create => "creation",
            Self::Rename => "rename",
            Self::Remove => "removal",
            Self::Owner => "change of owner",
        })
    }
}

/// Number of calls of each kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Calls([u64; CallKind::ALL.len()]);

impl Calls {
    /// Calls of one kind.
    pub(super) fn of(&self, kind: CallKind) -> u64 {
        self.0.get(kind as usize).copied().unwrap_or(0)
    }

    /// Calls of all kinds.
    pub(super) fn all(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Counts a call. Returns the new count of its kind.
    pub(super) fn count(&mut self, kind: CallKind) -> u64 {
        let Some(calls) = self.0.get_mut(kind as usize) else { unreachable!("each kind has its place") };
        *calls += 1;
        *calls
    }
}
