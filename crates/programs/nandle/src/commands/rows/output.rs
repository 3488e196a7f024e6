//! Output thread.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use nandle_terminal::interrupt::remove_when_interrupted;
use nandle_units::format_bytes;
use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags, linkat};
use rustix::io::Errno;
use tempfile::{Builder, NamedTempFile};

use crate::error::CliError;

/// Buffers in flight.
pub(crate) const BUFFERS: usize = 3;

/// Destination of the result.
enum Sink {
    Standard(io::Stdout),
    /// Can only be written: a device or a pipe.
    Open(File),
    New(NewFile),
}

/// New file that gets its name once it is complete, so that an existing file survives until then.
pub(crate) struct NewFile {
    file: Written,
    path: PathBuf,
    /// Permissions of the file to replace.
    permissions: Option<fs::Permissions>,
}

/// File without its final name.
enum Written {
    /// Unnamed: vanishes however the program ends.
    Unnamed(File),
    /// Fallback for file systems without unnamed files.
    Named(NamedTempFile),
}

impl Written {
    /// Creates the file; writable until it gets its name, whatever the permissions of the file to
    /// replace.
    fn create(folder: &Path, replaces: bool) -> io::Result<Self> {
        let mode = if replaces { 0o600 } else { NEW_FILE_MODE };
        if let Ok(file) = unnamed_in(folder, mode) {
            return Ok(Self::Unnamed(file));
        }
        let permissions = fs::Permissions::from_mode(mode);
        let file = Builder::new().prefix(PREFIX).permissions(permissions).tempfile_in(folder)?;
        remove_when_interrupted([file.path()].into_iter());
        Ok(Self::Named(file))
    }

    fn file(&self) -> &File {
        match self {
            Self::Unnamed(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    /// Gives the file its name, replacing any existing file.
    fn persist(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Named(file) => file.persist(path).map(drop).map_err(|error| error.error),
            // A link can't replace a file, so it gets a temporary name first.
            Self::Unnamed(file) => {
                let linked =
                    Builder::new().prefix(PREFIX).make_in(folder_of(path), |name| link(&file, name))?;
                linked.into_temp_path().persist(path).map_err(|error| error.error)
            }
        }
    }
}

const PREFIX: &str = ".nandle-sort-";

/// Before the umask applies.
const NEW_FILE_MODE: u32 = 0o666;

fn unnamed_in(folder: &Path, mode: u32) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::from_raw_mode(mode))?.into())
}

fn link(file: &File, name: &Path) -> io::Result<()> {
    let of_process = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, of_process, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl NewFile {
    /// Returns true unless the path is a device or a pipe, which can only be written.
    pub(crate) fn is_possible(path: &Path) -> bool {
        fs::metadata(path).map_or(true, |there| there.is_file())
    }

    /// Creates a file that will get this name.
    pub(crate) fn create(path: &Path) -> Result<Self, CliError> {
        new_file(path).map_err(|error| failed(path, &error))
    }

    /// Writes at an offset. Threads may write concurrently.
    pub(crate) fn write_at(&self, bytes: &[u8], offset_bytes: u64) -> Result<(), CliError> {
        let written = self.file.file().write_all_at(bytes, offset_bytes);
        written.map_err(|error| failed(&self.path, &error))
    }

    /// Preallocates space, so that a full file system is reported before anything is written and
    /// writing threads don't wait for each other. Not all file systems support it.
    pub(crate) fn allocate(&self, length_bytes: u64) -> Result<(), CliError> {
        let allocated = match length_bytes {
            0 => Ok(()),
            _ => rustix::fs::fallocate(self.file.file(), FallocateFlags::empty(), 0, length_bytes),
        };
        match allocated {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                self.file.file().set_len(length_bytes).map_err(|error| failed(&self.path, &error))
            }
            allocated => allocated.map_err(|errno| {
                self.failed(&format!(
                    "its file system gives it no {}: {}; --output names another place",
                    format_bytes(length_bytes),
                    io::Error::from(errno)
                ))
            }),
        }
    }

    /// Opens the file again: a flag such as direct I/O on a duplicate would apply to the first
    /// handle.
    pub(super) fn reopen(&self) -> io::Result<File> {
        match &self.file {
            Written::Unnamed(file) => {
                File::options().read(true).write(true).open(format!("/proc/self/fd/{}", file.as_raw_fd()))
            }
            Written::Named(file) => file.reopen(),
        }
    }

    pub(super) fn failed(&self, what: &str) -> CliError {
        CliError::failed(format!("writing to {}: {what}", self.path.display()))
    }

    /// Completes a file of this length.
    pub(crate) fn finish(self, length_bytes: u64) -> Result<(), CliError> {
        let length = self.file.file().set_len(length_bytes);
        let path = self.path.clone();
        length.and_then(|()| self.persist()).map_err(|error| failed(&path, &error))
    }

    /// Gives the file its name, and the permissions of the file it replaces.
    fn persist(self) -> io::Result<()> {
        let Self { file, path, permissions } = self;
        if let Some(permissions) = permissions {
            file.file().set_permissions(permissions)?;
        }
        file.persist(&path)
    }
}

fn failed(path: &Path, error: &io::Error) -> CliError {
    CliError::failed(format!("writing to {}: {error}{}", path.display(), remedy(error)))
}

/// Remedy for a file that has reached a size limit.
fn remedy(error: &io::Error) -> &'static str {
    if error.kind() == ErrorKind::FileTooLarge {
        "; raise the limit on file sizes of this process (ulimit -f)"
    } else {
        ""
    }
}

/// Message to the output thread.
enum Part {
    Bytes(Vec<u8>),
    /// End of the result. Without it the result is incomplete, and a file doesn't get its name.
    End,
}

/// Sending end of the thread.
pub(crate) struct Output {
    /// `None` at the end.
    parts: Option<SyncSender<Part>>,
    used: Receiver<Vec<u8>>,
    buffer: Vec<u8>,
    buffer_bytes: usize,
    writing: Option<JoinHandle<io::Result<()>>>,
    name: String,
    is_new_file: bool,
}

impl Output {
    /// Opens the file or takes standard output, and starts the thread.
    pub(crate) fn start(path: Option<&Path>, buffer_bytes: usize) -> Result<Self, CliError> {
        let name = path.map_or_else(|| "standard output".to_owned(), |path| path.display().to_string());
        let failed = |error: io::Error| CliError::failed(format!("writing to {name}: {error}"));
        let sink = open(path).map_err(failed)?;
        let is_new_file = matches!(sink, Sink::New(_));
        let (parts, full) = sync_channel(BUFFERS - 1);
        let (back, used) = channel();
        let writing =
            thread::Builder::new().name("nandle-output".into()).spawn(move || write(sink, &full, &back));
        let writing = Some(writing.map_err(failed)?);
        let buffer = Vec::with_capacity(buffer_bytes);
        Ok(Self { parts: Some(parts), used, buffer, buffer_bytes, writing, name, is_new_file })
    }

    /// Appends a record and its end. Returns false if no more output is wanted.
    pub(crate) fn push(&mut self, record: &[u8], end: &[u8]) -> bool {
        self.add(record) && self.add(end)
    }

    /// Splits data longer than a buffer, so that buffers keep their size.
    fn add(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let room = self.buffer_bytes.saturating_sub(self.buffer.len());
            let (piece, rest) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(piece);
            bytes = rest;
            if self.buffer.len() >= self.buffer_bytes && !self.send() {
                return false;
            }
        }
        true
    }

    fn send(&mut self) -> bool {
        let next = self.used.try_recv().unwrap_or_else(|_| Vec::with_capacity(self.buffer_bytes));
        let full = std::mem::replace(&mut self.buffer, next);
        self.parts.as_ref().is_some_and(|parts| parts.send(Part::Bytes(full)).is_ok())
    }

    /// Waits until everything is written and named.
    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        if !self.buffer.is_empty() {
            self.send();
        }
        // A failed thread is gone; its error is reported below.
        _ = self.parts.as_ref().map(|parts| parts.send(Part::End));
        let Some(writing) = self.writing.take() else { return Ok(()) };
        match writing.join() {
            Ok(Ok(())) => Ok(()),
            // A closed output pipe is no error.
            Ok(Err(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Ok(Err(error)) => {
                Err(CliError::failed(format!("writing to {}: {error}{}", self.name, remedy(&error))))
            }
            Err(_) => {
                Err(CliError::failed(format!("writing to {}: the thread that wrote panicked", self.name)))
            }
        }
    }
}

impl Drop for Output {
    /// The thread deletes an incomplete file. A stalled pipe isn't waited for.
    fn drop(&mut self) {
        self.parts = None;
        if let Some(writing) = self.writing.take_if(|_| self.is_new_file) {
            // The cause of the drop is reported instead.
            _ = writing.join();
        }
    }
}

fn open(path: Option<&Path>) -> io::Result<Sink> {
    match path {
        None => Ok(Sink::Standard(io::stdout())),
        Some(path) if NewFile::is_possible(path) => new_file(path).map(Sink::New),
        Some(path) => File::options().write(true).open(path).map(Sink::Open),
    }
}

fn new_file(path: &Path) -> io::Result<NewFile> {
    let there = fs::metadata(path).ok();
    // Replaces the target of a link, not the link.
    let path = if there.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let permissions = there.map(|there| there.permissions());
    let file = Written::create(folder_of(&path), permissions.is_some())?;
    Ok(NewFile { file, path, permissions })
}

fn write(sink: Sink, parts: &Receiver<Part>, back: &Sender<Vec<u8>>) -> io::Result<()> {
    match sink {
        Sink::Standard(output) => pass_on(&mut output.lock(), parts, back).map(drop),
        Sink::Open(mut file) => pass_on(&mut file, parts, back).map(drop),
        Sink::New(file) => {
            if pass_on(&mut file.file.file(), parts, back)? {
                file.persist()?;
            }
            Ok(())
        }
    }
}

/// Writes the parts as they arrive. Returns true if all arrived.
fn pass_on(into: &mut dyn Write, parts: &Receiver<Part>, back: &Sender<Vec<u8>>) -> io::Result<bool> {
    loop {
        match parts.recv() {
            Ok(Part::Bytes(mut buffer)) => {
                into.write_all(&buffer)?;
                buffer.clear();
                // At the end no buffer is taken back.
                _ = back.send(buffer);
            }
            Ok(Part::End) => return into.flush().map(|()| true),
            Err(_) => return Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_is_not_finished_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        fs::write(&path, "old").unwrap();
        let mut output = Output::start(Some(&path), 4).unwrap();
        assert!(output.push(b"new and long", b"\n"));
        drop(output);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mut output = Output::start(Some(&path), 4).unwrap();
        assert!(output.push(b"new", b"\n"));
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new\n");
    }
}
