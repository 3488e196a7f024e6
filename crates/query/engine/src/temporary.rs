//! Temporary files of operators with verified contents. The engine's own reader trusts the bytes
//! that it reads.
//!
//! The files contain only the data. Checksums of their blocks stay in memory, so that misplaced and
//! stale blocks are detected as well.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, internal_datafusion_err};
use datafusion::execution::disk_manager::DiskManager;
use datafusion::execution::spill_file::{SpillFile, SpillWriter, TempFileFactory};
use futures_util::Stream;
use futures_util::stream::try_unfold;

use crate::EngineError;

/// Maximum length of a block, which has a checksum and is written and read at once.
const BLOCK_BYTES: usize = 128 << 10;

/// Message of the engine's temporary file manager.
const FULL: &str = "exceeded the allowable limit";

type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, DataFusionError>> + Send>>;

/// Factory of temporary files; a disk manager of the engine counts and limits their bytes.
pub(crate) struct CheckedFiles {
    files: Arc<DiskManager>,
    bounds: Arc<Bounds>,
}

/// Directory and limit of the temporary files.
#[derive(Debug)]
struct Bounds {
    directory: PathBuf,
    limit_bytes: u64,
}

impl CheckedFiles {
    /// Creates files through a manager that stores them in `directory`.
    pub(crate) fn new(files: Arc<DiskManager>, directory: &Path) -> Self {
        let bounds = Bounds { directory: directory.to_owned(), limit_bytes: files.max_temp_directory_size() };
        Self { files, bounds: Arc::new(bounds) }
    }
}

impl Bounds {
    /// Converts an I/O error of a write.
    fn refused(&self, action: &'static str, path: &Path, said: io::Error) -> EngineError {
        let is_full = matches!(
            said.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        );
        if is_full {
            EngineError::SpillDiskFull { directory: self.directory.clone(), source: said }
        } else {
            EngineError::io(action, path)(said)
        }
    }
}

impl TempFileFactory for CheckedFiles {
    fn create_temp_file(&self, description: &str) -> Result<Arc<dyn SpillFile>, DataFusionError> {
        let file = self.files.create_tmp_file(description).map_err(|error| match error {
            DataFusionError::IoError(said) => {
                self.bounds.refused("making a temporary file in", &self.bounds.directory, said).into()
            }
            error => error,
        })?;
        Ok(Arc::new(CheckedFile { file, bounds: Arc::clone(&self.bounds), blocks: Arc::default() }))
    }
}

/// A block of a file.
#[derive(Debug, Clone, Copy)]
struct Block {
    begin: u64,
    bytes: usize,
    checksum: u32,
}

type Blocks = Mutex<Vec<Block>>;

struct CheckedFile {
    file: Arc<dyn SpillFile>,
    bounds: Arc<Bounds>,
    blocks: Arc<Blocks>,
}

impl CheckedFile {
    fn own_path(&self) -> Result<PathBuf, DataFusionError> {
        let path = self.file.path().map(Path::to_owned);
        path.ok_or_else(|| internal_datafusion_err!("a temporary file has no path"))
    }
}

impl SpillFile for CheckedFile {
    fn path(&self) -> Option<&Path> {
        self.file.path()
    }

    fn size(&self) -> Option<u64> {
        self.file.size()
    }

    /// Returns the blocks written so far and later ones; a file can be read while it is written.
    fn read_stream(&self) -> Result<Chunks, DataFusionError> {
        let path = self.own_path()?;
        let file = File::open(&path).map_err(EngineError::io("opening the temporary file", &*path))?;
        let reader = Arc::new(Reader { file, path });
        let blocks = Arc::clone(&self.blocks);
        Ok(Box::pin(try_unfold(0, move |number| {
            let next = blocks.lock().unwrap_or_else(PoisonError::into_inner).get(number).copied();
            let reader = Arc::clone(&reader);
            async move {
                let Some(block) = next else { return Ok(None) };
                // Reads may block, so they run in a separate thread.
                let read = SpawnedTask::spawn_blocking(move || reader.read(block)).join().await;
                let chunk = read.map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))??;
                Ok(Some((chunk, number + 1)))
            }
        })))
    }

    fn open_writer(&self) -> Result<Box<dyn SpillWriter>, DataFusionError> {
        let writer = CheckedWriter {
            writer: self.file.open_writer()?,
            path: self.own_path()?,
            bounds: Arc::clone(&self.bounds),
            blocks: Arc::clone(&self.blocks),
            pending: Vec::new(),
        };
        Ok(Box::new(writer))
    }
}

struct Reader {
    file: File,
    path: PathBuf,
}

impl Reader {
    fn read(&self, block: Block) -> Result<Bytes, EngineError> {
        let mut bytes = vec![0; block.bytes];
        self.file
            .read_exact_at(&mut bytes, block.begin)
            .map_err(EngineError::io("reading back the temporary file", &*self.path))?;
        let checksum = nandle_units::checksum(&bytes);
        if checksum != block.checksum {
            let (begin, bytes) = (block.begin, block.bytes);
            return Err(EngineError::TemporaryDamaged { path: self.path.clone(), begin, bytes });
        }
        Ok(Bytes::from(bytes))
    }
}

/// Writer of blocks.
struct CheckedWriter {
    writer: Box<dyn SpillWriter>,
    path: PathBuf,
    bounds: Arc<Bounds>,
    blocks: Arc<Blocks>,
    pending: Vec<u8>,
}

impl CheckedWriter {
    fn write_block(&mut self) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        self.writer.write_all(&pending).map_err(|error| self.refused(error))?;
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = blocks.last().map_or(0, |last| last.begin + last.bytes as u64);
        blocks.push(Block { begin, bytes: pending.len(), checksum: nandle_units::checksum(&pending) });
        Ok(())
    }
}

impl CheckedWriter {
    /// Converts errors of the engine's manager, which reports its limit by a message and passes on
    /// I/O errors.
    fn refused(&self, error: io::Error) -> io::Error {
        let limit_bytes = self.bounds.limit_bytes;
        let said = match error.downcast::<DataFusionError>() {
            Ok(DataFusionError::IoError(source)) => source,
            Ok(other) => return io::Error::other(EngineError::from(other)),
            Err(error) if error.to_string().contains(FULL) => {
                return io::Error::other(EngineError::OutOfSpill { limit_bytes });
            }
            Err(error) => error,
        };
        io::Error::other(self.bounds.refused("writing the temporary file", &self.path, said))
    }
}

impl io::Write for CheckedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = BLOCK_BYTES - self.pending.len();
        let (taken, _) = bytes.split_at(bytes.len().min(room));
        self.pending.extend_from_slice(taken);
        if self.pending.len() == BLOCK_BYTES {
            self.write_block()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_block()?;
        self.writer.flush()
    }
}

impl SpillWriter for CheckedWriter {
    fn finish(&mut self) -> Result<(), DataFusionError> {
        self.write_block()?;
        self.writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
    use futures_util::stream::TryStreamExt as _;

    use super::*;

    /// Writes a file of three blocks with a flush between.
    fn written(directory: &Path) -> (Arc<dyn SpillFile>, Vec<u8>) {
        let mode = DiskManagerMode::Directories(vec![directory.to_owned()]);
        let disk = Arc::new(DiskManagerBuilder::default().with_mode(mode).build().unwrap());
        let file = CheckedFiles::new(disk, directory).create_temp_file("a test").unwrap();
        let bytes: Vec<u8> = (0..=250).cycle().take(BLOCK_BYTES * 2 + 100).collect();
        let mut writer = file.open_writer().unwrap();
        writer.write_all(&bytes[..1000]).unwrap();
        writer.flush().unwrap();
        writer.write_all(&bytes[1000..]).unwrap();
        writer.finish().unwrap();
        assert_eq!(file.size(), Some(bytes.len() as u64));
        (file, bytes)
    }

    fn read(file: &Arc<dyn SpillFile>) -> Result<Vec<u8>, DataFusionError> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let chunks: Vec<Bytes> = runtime.block_on(file.read_stream()?.try_collect())?;
        Ok(chunks.concat())
    }

    #[test]
    fn what_was_written_comes_back() {
        let directory = tempfile::tempdir().unwrap();
        let (file, bytes) = written(directory.path());
        assert_eq!(read(&file).unwrap(), bytes);
    }

    #[test]
    fn another_byte_is_an_error_that_names_the_place() {
        let directory = tempfile::tempdir().unwrap();
        let (file, bytes) = written(directory.path());
        for place in [0, 999, 1000, BLOCK_BYTES + 5000, bytes.len() - 1] {
            let raw = OpenOptions::new().write(true).open(file.path().unwrap()).unwrap();
            raw.write_all_at(&[!bytes[place]], place as u64).unwrap();
            let error = EngineError::from(read(&file).unwrap_err());
            assert_eq!(error.kind(), crate::ErrorKind::Damaged, "{error}");
            assert!(error.to_string().contains("isn't what was written"), "{error}");
            raw.write_all_at(&[bytes[place]], place as u64).unwrap();
        }
        assert_eq!(read(&file).unwrap(), bytes);
    }

    #[test]
    fn more_than_may_be_is_an_error_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let mode = DiskManagerMode::Directories(vec![directory.path().to_owned()]);
        let disk = DiskManagerBuilder::default().with_mode(mode).with_max_temp_directory_size(1000);
        let files = CheckedFiles::new(Arc::new(disk.build().unwrap()), directory.path());
        let file = files.create_temp_file("a test").unwrap();
        let mut writer = file.open_writer().unwrap();
        writer.write_all(&[1; 1001]).unwrap();
        let error = writer.flush().unwrap_err();
        let error = EngineError::from(DataFusionError::ArrowError(Box::new(error.into()), None));
        assert!(matches!(error, EngineError::OutOfSpill { limit_bytes: 1000 }), "{error}");
        assert_eq!(error.kind(), crate::ErrorKind::OutOfSpill);
    }

    #[test]
    fn a_file_that_was_cut_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let (file, bytes) = written(directory.path());
        let raw = OpenOptions::new().write(true).open(file.path().unwrap()).unwrap();
        raw.set_len(bytes.len() as u64 - 1).unwrap();
        let error = EngineError::from(read(&file).unwrap_err());
        assert_eq!(error.kind(), crate::ErrorKind::Io, "{error}");
        assert!(error.to_string().contains("reading back the temporary file"), "{error}");
    }
}
