use nandle_trace::{Operation, Record, TraceError, ZoneTranslator};

/// Requests of a trace to play.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Selection {
    /// True to play only reads, so that the device's contents don't change.
    pub reads_only: bool,
    /// Maximum number of requests.
    pub requests_max: Option<u64>,
}

impl Selection {
    /// Selects records, and passes errors through. Requests of zoned devices are translated for a
    /// conventional drive.
    pub fn of(
        self,
        records: impl Iterator<Item = Result<Record, TraceError>>,
    ) -> impl Iterator<Item = Result<Record, TraceError>> {
        let wanted = move |record: &Result<Record, TraceError>| {
            !self.reads_only || !matches!(record, Ok(record) if record.operation != Operation::Read)
        };
        let most = self.requests_max.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        ZoneTranslator::over(records).filter(wanted).take(most)
    }
}
