//! Lines of a tracefs pipe, as they arrive.

use std::fs::File;
use std::io::{ErrorKind, Read as _};

use crate::error::CliError;

/// Read buffer; the kernel returns up to one page of text per read.
const READ_BYTES: usize = 64 << 10;

/// Reader of an instance's pipe.
#[derive(Debug)]
pub(super) struct Pipe {
    file: File,
    /// Beginning of an incomplete line.
    begun: Vec<u8>,
    buffer: Vec<u8>,
}

impl Pipe {
    pub(super) fn new(file: File) -> Self {
        Self { file, begun: Vec::new(), buffer: vec![0; READ_BYTES] }
    }

    /// Reads once and passes each complete line to `each`. Returns true if there may be more.
    pub(super) fn read(
        &mut self,
        mut each: impl FnMut(&str) -> Result<(), CliError>,
    ) -> Result<bool, CliError> {
        let bytes = match self.file.read(&mut self.buffer) {
            Ok(0) => return Ok(false),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(true),
            Err(error) => {
                return Err(CliError::failed(format!("reading the kernel's trace events: {error}")));
            }
        };
        self.begun.extend_from_slice(self.buffer.get(..bytes).unwrap_or_default());
        let end = self.begun.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in self.begun.get(..end).unwrap_or_default().split(|byte| *byte == b'\n') {
            // Task names needn't be UTF-8; only the task's number matters.
            each(&String::from_utf8_lossy(line))?;
        }
        self.begun.drain(..end);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_whatever_a_read_brings() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        let long = "x".repeat(READ_BYTES);
        std::fs::write(&path, format!("one\n{long}\nthree")).unwrap();
        let mut pipe = Pipe::new(File::open(path).unwrap());
        let mut lines = Vec::new();
        while pipe
            .read(|line| {
                lines.push(line.to_owned());
                Ok(())
            })
            .unwrap()
        {}
        lines.retain(|line| !line.is_empty());
        assert_eq!(lines, ["one".to_owned(), long]);
        assert_eq!(pipe.begun, b"three");
    }
}
