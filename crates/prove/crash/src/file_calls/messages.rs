//! Messages of `linux/fuse.h`, protocol 7.31, reduced to files in one folder.

/// Length of a request's header.
pub(super) const HEADER_BYTES: usize = 40;
pub(super) const LARGEST_WRITE_BYTES: u32 = 128 << 10;
/// `FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_ASYNC_DIO`, which lets direct requests of a ring
/// complete asynchronously.
const FLAGS: u32 = 1 | 1 << 5 | 1 << 15;
/// Node number of the folder.
pub(super) const ROOT: u64 = 1;
const FOLDER_MODE: u32 = 0o40_755;
const FILE_MODE: u32 = 0o100_644;

/// Operation of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcode {
    Lookup,
    GetAttributes,
    SetAttributes,
    Remove,
    Rename,
    Exchange,
    Open,
    Read,
    Write,
    FileSystem,
    Sync,
    Initialise,
    OpenFolder,
    SyncFolder,
    Create,
    Reserve,
    /// Needs an empty reply only.
    Acknowledged,
    /// Needs no reply.
    Unanswered,
    Unknown,
}

impl Opcode {
    pub(super) const fn of(number: u32) -> Self {
        match number {
            1 => Self::Lookup,
            3 => Self::GetAttributes,
            4 => Self::SetAttributes,
            10 => Self::Remove,
            12 => Self::Rename,
            45 => Self::Exchange,
            14 => Self::Open,
            15 => Self::Read,
            16 => Self::Write,
            17 => Self::FileSystem,
            20 => Self::Sync,
            26 => Self::Initialise,
            27 => Self::OpenFolder,
            30 => Self::SyncFolder,
            35 => Self::Create,
            43 => Self::Reserve,
            // Release, flush, release of a folder, access, destroy.
            18 | 25 | 29 | 34 | 38 => Self::Acknowledged,
            // Forget, interrupt, forget many.
            2 | 36 | 42 => Self::Unanswered,
            _ => Self::Unknown,
        }
    }
}

/// Body of a request. Fields beyond its end read as 0.
#[derive(Clone, Copy)]
pub(super) struct Body<'a>(pub(super) &'a [u8]);

impl Body<'_> {
    pub(super) fn long(&self, at: usize) -> u64 {
        let bytes = self.0.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    pub(super) fn short(&self, at: usize) -> u32 {
        let bytes = self.0.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    pub(super) fn place(&self, at: usize) -> usize {
        usize::try_from(self.long(at)).unwrap_or(usize::MAX)
    }
}

fn words(words: &[u32]) -> impl Iterator<Item = u8> + '_ {
    words.iter().flat_map(|word| word.to_le_bytes())
}

fn longs(longs: &[u64]) -> impl Iterator<Item = u8> + '_ {
    longs.iter().flat_map(|long| long.to_le_bytes())
}

fn attributes(number: u64, length: u64) -> Vec<u8> {
    let mode = if number == ROOT { FOLDER_MODE } else { FILE_MODE };
    let mut reply = Vec::with_capacity(88);
    reply.extend(longs(&[number, length, length.div_ceil(512), 0, 0, 0]));
    reply.extend(words(&[0, 0, 0, mode, 1, 0, 0, 0, 4096, 0]));
    reply
}

/// Attributes of a file or of the folder, valid for zero seconds.
pub(super) fn attributes_reply(number: u64, length: u64) -> Vec<u8> {
    longs(&[0, 0]).chain(attributes(number, length)).collect()
}

/// Reply to a lookup.
pub(super) fn entry_reply(number: u64, length: u64) -> Vec<u8> {
    longs(&[number, 0, 0, 0, 0]).chain(attributes(number, length)).collect()
}

/// Reply to an open.
pub(super) fn open_reply() -> Vec<u8> {
    vec![0; 16]
}

/// Statistics of the file system.
pub(super) fn file_system_reply() -> Vec<u8> {
    vec![0; 80]
}

/// Reply to the first message: version, read-ahead, flags, background requests, largest write.
pub(super) fn initialise_reply() -> Vec<u8> {
    let mut reply: Vec<u8> = words(&[7, 31, 0, FLAGS, 64 << 16 | 64, LARGEST_WRITE_BYTES, 1]).collect();
    reply.resize(64, 0);
    reply
}

/// A complete reply.
pub(super) fn reply(unique: u64, answer: Result<Vec<u8>, i32>) -> Vec<u8> {
    let (error, body) = match answer {
        Ok(body) => (0, body),
        Err(errno) => (-errno, Vec::new()),
    };
    let length = u32::try_from(16 + body.len()).unwrap_or(u32::MAX);
    let mut reply: Vec<u8> = words(&[length, error.cast_unsigned()]).chain(longs(&[unique])).collect();
    reply.extend(body);
    reply
}
