use nandle_io::{Device, Io, SyncCall};

/// A world with its device, or the reason why it couldn't be opened.
pub type Opened = Result<(Box<dyn Io>, Device), String>;

/// Host services besides a real device: blocking calls and files. A modelled world has neither.
pub trait HostFiles: Sync {
    /// Opens the device for blocking calls: each request is executed by the submitting thread.
    ///
    /// # Errors
    /// The device can't be opened.
    fn blocking(&self) -> Opened;

    /// Creates a test file in the target's directory and opens it for blocking calls. The file is
    /// removed with its world.
    ///
    /// # Errors
    /// The target isn't a directory, or there is no space for the file.
    fn test_file(&self, file: TestFile) -> Opened;
}

/// Specification of a test file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestFile {
    /// Size of the file.
    pub bytes: u64,
    /// True if its space is reserved; otherwise the file starts empty and grows.
    pub reserved: bool,
    /// True for direct I/O, if supported.
    pub direct: bool,
    /// System call that makes writes durable.
    pub sync: SyncCall,
}
