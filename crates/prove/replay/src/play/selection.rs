use nandle_trace::{Operation, Record, TraceError, Zones};

/// Which of a trace's requests are played.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Selection {
    /// Reads alone, so that what is on the device stays as it is.
    pub reads_only: bool,
    /// No more than so many.
    pub requests_max: Option<u64>,
}

impl Selection {
    /// Those of them, and whatever error there is. Requests of zoned devices are as a drive without zones would get them.
    pub fn of(
        self,
        records: impl Iterator<Item = Result<Record, TraceError>>,
    ) -> impl Iterator<Item = Result<Record, TraceError>> {
        let wanted = move |record: &Result<Record, TraceError>| {
            !self.reads_only || !matches!(record, Ok(record) if record.operation != Operation::Read)
        };
        let most = self.requests_max.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        Zones::over(records).filter(wanted).take(most)
    }
}
