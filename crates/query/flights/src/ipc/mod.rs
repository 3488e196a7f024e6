//! Rows of Arrow IPC files, in both formats: a stream, and a file, which is a stream behind a magic word with a footer behind it.
//!
//! A file is taken as a stream of messages, so that memory is that of one of them. What a message says of its lengths is held against the
//! file's before any memory is taken for it.

mod error;
mod messages;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::SchemaRef;

pub use self::error::ArrowFileError;
use self::messages::Messages;

const MAGIC: &[u8] = b"ARROW1";
/// With which every message of a stream begins.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The magic word and what fills it up to eight bytes.
const FILE_HEADER_BYTES: u64 = 8;

/// An Arrow IPC file whose rows are read.
pub struct ArrowFile {
    messages: Messages,
    decoder: StreamDecoder,
    schema: SchemaRef,
}

impl ArrowFile {
    /// Whether a file that begins like this is one.
    pub fn is_one(start: &[u8]) -> bool {
        start.starts_with(MAGIC) || start.starts_with(&CONTINUATION)
    }

    /// Opens a file, and reads its schema.
    ///
    /// # Errors
    /// It can't be read, is none, or is damaged.
    pub fn open(path: &Path) -> Result<Self, ArrowFileError> {
        let name: Arc<str> = path.to_string_lossy().into();
        let wrong = |source| ArrowFileError::Read { file: Arc::clone(&name), source };
        let mut file = File::open(path).map_err(wrong)?;
        let length_bytes = file.metadata().map_err(wrong)?.len();
        let mut start = [0; 6];
        let is_file =
            length_bytes >= FILE_HEADER_BYTES && file.read_exact(&mut start).is_ok() && start == MAGIC;
        if is_file {
            let mut end = [0; 6];
            file.seek(SeekFrom::End(-6)).and_then(|_| file.read_exact(&mut end)).map_err(wrong)?;
            if end != MAGIC {
                let why = "it doesn't end as a file of this format does".to_owned();
                return Err(ArrowFileError::Damaged { file: name, message: 0, why });
            }
        }
        let begin_bytes = if is_file { FILE_HEADER_BYTES } else { 0 };
        file.seek(SeekFrom::Start(begin_bytes)).map_err(wrong)?;
        let messages = Messages::new(name, file, length_bytes - begin_bytes, is_file);
        let mut opened =
            Self { messages, decoder: StreamDecoder::new(), schema: Arc::new(arrow_schema::Schema::empty()) };
        // The first message is the schema.
        let Some(message) = opened.messages.next()? else {
            return Err(opened.messages.damaged("it has no schema"));
        };
        let batch = opened.decode(message)?;
        opened.schema = match (opened.decoder.schema(), batch) {
            (Some(schema), None) => schema,
            _ => return Err(opened.messages.damaged("its first message isn't a schema")),
        };
        Ok(opened)
    }

    /// Its columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next rows; none at the end.
    ///
    /// # Errors
    /// The file can't be read, is damaged or cut; a batch takes too much memory.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowFileError> {
        while let Some(message) = self.messages.next()? {
            if let Some(batch) = self.decode(message)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// What a message holds. The decoder isn't ours, and the file may be hostile: a panic becomes an error.
    fn decode(&mut self, message: Vec<u8>) -> Result<Option<RecordBatch>, ArrowFileError> {
        let mut buffer = Buffer::from_vec(message);
        let decoder = &mut self.decoder;
        let decoded = catch_unwind(AssertUnwindSafe(|| decoder.decode(&mut buffer)));
        match decoded {
            Ok(Ok(batch)) => Ok(batch),
            Ok(Err(error)) => Err(self.messages.damaged(&error.to_string())),
            Err(_) => Err(self.messages.damaged("the decoder panicked over it")),
        }
    }
}

impl std::fmt::Debug for ArrowFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrowFile").field("schema", &self.schema).finish_non_exhaustive()
    }
}
