//! Rejected rows as a CSV file.

use std::fs::File;
use std::path::{Path, PathBuf};

use nandle_flights::{Reject, Rejects};
use nandle_terminal::result_file::check;

use crate::error::CliError;
use crate::result_file::{REJECTS, REJECTS_HEADER};

/// Counts rejects, and writes them if requested.
pub(super) struct RejectFile {
    into: Option<(csv::Writer<File>, PathBuf)>,
    failed: Option<csv::Error>,
}

impl RejectFile {
    /// Creates the file. Refuses to overwrite anything but rejects, above all the input.
    pub(super) fn create(path: Option<&Path>) -> Result<Self, CliError> {
        let create = |path: &Path| -> Result<_, CliError> {
            check(path, &REJECTS)?;
            let wrong = |error| CliError::failed(format!("--rejects {}: {error}", path.display()));
            let mut writer =
                csv::Writer::from_writer(File::create(path).map_err(|error| wrong(error.to_string()))?);
            let header = writer.write_record(REJECTS_HEADER);
            header.map_err(|error| wrong(error.to_string()))?;
            Ok((writer, path.to_owned()))
        };
        Ok(Self { into: path.map(create).transpose()?, failed: None })
    }

    /// Discards rejects.
    pub(super) const fn none() -> Self {
        Self { into: None, failed: None }
    }

    /// Finishes the file.
    pub(super) fn finish(mut self) -> Result<(), CliError> {
        let Some((writer, path)) = &mut self.into else { return Ok(()) };
        let flushed = self.failed.take().map_or(Ok(()), Err).and_then(|()| Ok(writer.flush()?));
        flushed.map_err(|error| CliError::failed(format!("--rejects {}: {error}", path.display())))
    }
}

impl Rejects for RejectFile {
    fn take(&mut self, reject: Reject) {
        let Some((writer, _)) = self.into.as_mut().filter(|_| self.failed.is_none()) else { return };
        let (line, reason) = (reject.line.to_string(), reject.reason.to_string());
        let record: [&[u8]; 4] = [reject.file.as_bytes(), line.as_bytes(), reason.as_bytes(), &reject.row];
        self.failed = writer.write_record(record).err();
    }
}
