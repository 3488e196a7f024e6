use nandle_io::{Device, Io, SyncCall};

/// A world with a device in it, or why there is none.
pub type Opened = Result<(Box<dyn Io>, Device), String>;

/// What the host of a real device offers beside it: calls that block, and files. A modelled world has neither.
pub trait HostFiles: Sync {
    /// The device in a world that blocks: a request is carried out by the thread that asks for it.
    ///
    /// # Errors
    /// It can't be opened.
    fn blocking(&self) -> Opened;

    /// A test file of its own in the place of the target, in a world that blocks; gone with that world.
    ///
    /// # Errors
    /// The target is no directory, or there is no room for the file.
    fn test_file(&self, file: TestFile) -> Opened;
}

/// A test file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestFile {
    /// How much of it can be addressed.
    pub bytes: u64,
    /// Whether its space is reserved; otherwise it is empty and grows when it is written.
    pub reserved: bool,
    /// Whether writes bypass the page cache, where they can.
    pub direct: bool,
    /// What makes it durable.
    pub sync: SyncCall,
}
