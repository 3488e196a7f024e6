//! Opens and enlarges the target, and maps the trace's addresses to it.

use nandle_io::{Device, Io};
use nandle_replay::play::{AddressMap, PlayAddresses, Survey};
use nandle_session::{Cancel, Session};
use nandle_target::{Intent, TargetError, TargetKind, TargetSpec};
use nandle_terminal::interrupt::remove_when_interrupted;
use nandle_units::format_bytes;

use super::PlayArgs;
use crate::error::CliError;
use crate::target::open_when_free;

/// Unit of a test file's length.
const FILE_BYTES: u64 = 1 << 20;

/// Target of a played trace.
pub(super) struct Place {
    pub(super) session: Session,
    pub(super) io: Box<dyn Io>,
    pub(super) device: Device,
    pub(super) places: AddressMap,
    /// New size of an enlarged model.
    pub(super) enlarged_to_bytes: Option<u64>,
}

impl Place {
    /// Opens the target. Writes nothing yet, except to create a test file.
    pub(super) fn open(args: &PlayArgs, survey: &Survey, cancel: &Cancel) -> Result<Self, CliError> {
        let addresses = PlayAddresses::from(args.addresses);
        let needed_bytes = addresses.needed_bytes(survey);
        let intent = if survey.changes_contents() { Intent::Write } else { Intent::Read };
        let file_bytes = args.file_size.unwrap_or(needed_bytes).max(1).next_multiple_of(FILE_BYTES);
        let access = args.access(file_bytes);
        let open =
            |spec: &TargetSpec| open_when_free(|| access.open(spec, intent, cancel), TargetError::is_busy);
        let mut session = open(&args.on)?;
        let mut enlarged_to_bytes = None;
        if !args.wrap && session.area_bytes() < needed_bytes {
            // Beyond the limit of its map it keeps its size, and the trace doesn't fit.
            let larger = session.target.enlarged(needed_bytes).and_then(|larger| open(&larger).ok());
            if let Some(larger) = larger {
                enlarged_to_bytes = Some(larger.area_bytes());
                session = larger;
            }
        }
        remove_when_interrupted(session.target.names_of_test_files());
        let (io, device) = session.open_io(args.in_flight_max())?;
        let size = (device.shape.capacity_bytes, device.shape.logical_block_bytes);
        let places = AddressMap::new(survey, addresses, size, args.wrap)?;
        Ok(Self { session, io, device, places, enlarged_to_bytes })
    }

    /// States the writes, which wear a real target.
    pub(super) fn what_is_written(&self, survey: &Survey) -> Option<String> {
        if self.session.target.is_modelled() {
            return None;
        }
        let name = self.session.name();
        let trace = format!("the trace writes {} to {name}", format_bytes(survey.written_bytes));
        let has_test_file = self.session.target.kind() == TargetKind::TestFile;
        let file =
            format!("a test file of {} in {name} is written first", format_bytes(self.session.area_bytes()));
        match (survey.written_bytes > 0, has_test_file) {
            (true, true) => Some(format!("note: {trace}, and {file}")),
            (true, false) => Some(format!("note: {trace}")),
            (false, true) => Some(format!("note: {file}")),
            (false, false) => None,
        }
    }
}
