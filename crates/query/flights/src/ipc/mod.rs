//! Rows of Arrow IPC files in both formats: the stream, and the file, which wraps a stream in a
//! magic number and a footer.
//!
//! Files are read as a stream of messages, so that the memory is that of a single message. Lengths
//! in a message are checked against the length of the file before memory is allocated.

mod error;
mod messages;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_schema_from_ipc_buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::{ArrowError, SchemaRef};
use nandle_columns::catch_panic;

pub use self::error::ArrowFileError;
use self::messages::Messages;

const MAGIC: &[u8; 6] = b"ARROW1";
/// Prefix of every message of a stream.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The magic number is padded with zeros, usually to eight bytes, sometimes more.
const HEADER_BYTES_MAX: u64 = 64;

/// An open Arrow IPC file.
pub struct ArrowFile {
    messages: Messages,
    decoder: StreamDecoder,
    /// Bytes that the decoder hasn't consumed: it takes a message without a body with the next one.
    begun: Buffer,
    schema: SchemaRef,
}

impl ArrowFile {
    /// Returns true if `start` is the beginning of such a file.
    pub fn is_one(start: &[u8]) -> bool {
        start.starts_with(MAGIC) || start.starts_with(&CONTINUATION)
    }

    /// Opens a file and reads its schema.
    ///
    /// # Errors
    /// It can't be read, isn't such a file, or is damaged.
    pub fn open(path: &Path) -> Result<Self, ArrowFileError> {
        let name: Arc<str> = path.to_string_lossy().into();
        let wrong = |source| ArrowFileError::Read { file: Arc::clone(&name), source };
        let mut file = File::open(path).map_err(wrong)?;
        let length_bytes = file.metadata().map_err(wrong)?.len();
        let mut start = Vec::new();
        (&mut file).take(HEADER_BYTES_MAX).read_to_end(&mut start).map_err(wrong)?;
        let begin_bytes = start.strip_prefix(MAGIC).map_or(0, stream_begin_bytes);
        let is_file = begin_bytes > 0;
        if is_file {
            let mut end = [0; MAGIC.len()];
            let end_bytes = length_bytes.saturating_sub(MAGIC.len() as u64);
            file.seek(SeekFrom::Start(end_bytes)).and_then(|_| file.read_exact(&mut end)).map_err(wrong)?;
            if end != *MAGIC {
                let why = "it doesn't end as a file of this format does".to_owned();
                return Err(ArrowFileError::Damaged { file: name, message: 0, why });
            }
        }
        file.seek(SeekFrom::Start(begin_bytes)).map_err(wrong)?;
        let left_bytes = length_bytes.saturating_sub(begin_bytes);
        let mut messages = Messages::new(name, file, left_bytes, is_file);
        let first = messages.next()?.unwrap_or_default();
        let schema = guarded(&messages, || try_schema_from_ipc_buffer(&first))?;
        let begun = Buffer::from_vec(first);
        Ok(Self { messages, decoder: StreamDecoder::new(), begun, schema: Arc::new(schema) })
    }

    /// Its columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the next rows; `None` at the end.
    ///
    /// # Errors
    /// The file can't be read, is damaged or truncated; a batch exceeds the memory limit.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowFileError> {
        loop {
            let (decoder, begun) = (&mut self.decoder, &mut self.begun);
            if let Some(batch) = guarded(&self.messages, || decoder.decode(begun))? {
                return Ok(Some(batch));
            }
            let Some(message) = self.messages.next()? else { return Ok(None) };
            self.begun = Buffer::from_vec(message);
        }
    }
}

/// Offset of the stream. `rest` are the bytes after the magic number.
fn stream_begin_bytes(rest: &[u8]) -> u64 {
    let zeros = rest.iter().take_while(|byte| **byte == 0).count();
    ((MAGIC.len() + zeros) as u64).next_multiple_of(8).min(HEADER_BYTES_MAX)
}

/// Runs the decoder; turns a panic into an error. It is third-party code and the file may be
/// hostile.
fn guarded<T>(
    messages: &Messages,
    decode: impl FnOnce() -> Result<T, ArrowError>,
) -> Result<T, ArrowFileError> {
    match catch_panic(decode) {
        Ok(decoded) => decoded.map_err(|error| messages.damaged(&error.to_string())),
        Err(what) => Err(messages.damaged(&format!("the decoder panicked over it: {what}"))),
    }
}

impl std::fmt::Debug for ArrowFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrowFile").field("schema", &self.schema).finish_non_exhaustive()
    }
}
