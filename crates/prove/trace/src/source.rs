//! Opens and decompresses a trace.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::TraceError;

const BUFFER_BYTES: usize = 1 << 16;
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Unsupported compressions, and the commands that decompress them.
const OTHER_MAGICS: [(&[u8], &str); 4] = [
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
    (b"BZh", "bzip2"),
    (&[0x04, 0x22, 0x4d, 0x18], "lz4"),
    (&[b'P', b'K', 3, 4], "unzip"),
];

/// Text of a trace, and its beginning.
pub(crate) struct Source {
    pub(crate) text: Box<dyn BufRead>,
    /// The first bytes; `text` contains them, too.
    pub(crate) beginning: Vec<u8>,
    /// True if `beginning` is the whole text.
    pub(crate) is_whole: bool,
    /// Command that decompresses the file, if it is compressed.
    pub(crate) decompressor: Option<&'static str>,
}

/// Opens a trace; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Source, TraceError> {
    let failed = |source| reading(path, None, source);
    let raw: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(failed)?)
    };
    let mut raw = BufReader::with_capacity(BUFFER_BYTES, raw);
    let magic = peek(&mut raw).map_err(failed)?;
    let raw = Cursor::new(magic.clone()).chain(raw);
    if let Some((_, command)) = OTHER_MAGICS.into_iter().find(|(known, _)| magic.starts_with(known)) {
        return Err(TraceError::OtherCompression { path: path.into(), command });
    }
    let (mut text, decompressor): (Box<dyn BufRead>, _) = if magic.starts_with(&ZSTD_MAGIC) {
        let decoder = zstd::Decoder::with_buffer(raw).map_err(failed)?;
        (Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder)), Some("zstd"))
    } else if magic.starts_with(&GZIP_MAGIC) {
        (Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(raw))), Some("gzip"))
    } else {
        (Box::new(raw), None)
    };
    let mut beginning = Vec::new();
    let limit = BUFFER_BYTES as u64;
    let read = text.by_ref().take(limit).read_to_end(&mut beginning);
    // Damage further on is reported when it is reached.
    if let Err(source) = read
        && beginning.is_empty()
    {
        return Err(reading(path, decompressor, source));
    }
    let is_whole = (beginning.len() as u64) < limit;
    let text = Box::new(Cursor::new(beginning.clone()).chain(text));
    Ok(Source { text, beginning, is_whole, decompressor })
}

/// Reads the first bytes, which a pipe may deliver in parts.
fn peek(raw: &mut impl Read) -> io::Result<Vec<u8>> {
    const MAGIC_BYTES_MAX: u64 = 8;
    let mut bytes = Vec::new();
    raw.take(MAGIC_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Wraps a read error. An early end of the file can only be detected if it is compressed.
pub(crate) fn reading(path: &Path, decompressor: Option<&'static str>, source: io::Error) -> TraceError {
    match decompressor {
        Some(command) if source.kind() == io::ErrorKind::UnexpectedEof => {
            TraceError::CutOff { path: path.into(), command }
        }
        _ => TraceError::File { action: "reading the trace", path: path.into(), source },
    }
}
