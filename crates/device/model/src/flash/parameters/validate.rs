//! Validation of parameters, field by field.

use super::{
    ChipParameters, CommandQueueParameters, FlashParameters, HybridParameters, MappingParameters,
    PageMapParameters, ParameterError, ReadAheadParameters, ReadRetry, Separation, VictimPolicy,
};

const LONGEST_NS: u64 = 1_000_000_000;
const LARGEST_BYTES: u64 = 1 << 50;
/// Superblocks that a page map may have open at a time.
const OPEN_STREAMS: u64 = 4;
/// Each superblock takes memory from the start.
const SUPERBLOCKS_MAX: u64 = 1 << 22;
const FASTEST_BYTES_PER_S: u64 = 1_000_000_000_000;

impl FlashParameters {
    /// Checks the range of every field, and their consistency.
    ///
    /// # Errors
    /// [`ParameterError::OutOfRange`] or [`ParameterError::NotAMultiple`] for the first wrong
    /// field.
    pub fn validate(&self) -> Result<(), ParameterError> {
        let unit_bytes = self.unit_bytes();
        within("host.split_bytes", self.host.split_bytes, 512, LARGEST_BYTES)?;
        within("host.merge_bytes", self.host.merge_bytes, 0, LARGEST_BYTES)?;
        self.command_queue.validate()?;
        self.validate_times()?;
        within("link.bytes_per_s", self.link.bytes_per_s, 1_000, FASTEST_BYTES_PER_S)?;
        if let Some(bytes_per_s) = self.link.write_bytes_per_s {
            within("link.write_bytes_per_s", bytes_per_s, 1_000, FASTEST_BYTES_PER_S)?;
        }
        self.chips.validate()?;
        self.read_ahead.validate()?;
        match &self.mapping {
            MappingParameters::Page(page) => page.validate(self)?,
            MappingParameters::Hybrid(hybrid) => hybrid.validate()?,
        }
        let superblock_bytes = self.superblock_bytes();
        let most_bytes = (unit_bytes << 31).min(superblock_bytes.saturating_mul(SUPERBLOCKS_MAX));
        within("capacity_bytes", self.capacity_bytes, superblock_bytes, most_bytes)?;
        within("write_buffer.bytes", self.write_buffer.bytes, self.least_write_buffer_bytes(), LARGEST_BYTES)
    }

    /// Write buffer that the open streams need.
    pub(crate) fn least_write_buffer_bytes(&self) -> u64 {
        OPEN_STREAMS * self.units_per_program() * self.unit_bytes()
    }

    fn validate_times(&self) -> Result<(), ParameterError> {
        let (firmware, chips) = (&self.firmware, &self.chips);
        for (field, value_ns) in [
            ("firmware.read_ns", firmware.read_ns),
            ("firmware.write_ns", firmware.write_ns),
            ("firmware.flush_ns", firmware.flush_ns),
            ("firmware.discard_ns", firmware.discard_ns),
            ("firmware.latency_ns", firmware.latency_ns),
            ("firmware.fragment_ns", firmware.fragment_ns),
            ("link.command_ns", self.link.command_ns),
            ("write_buffer.write_through_ns", self.write_buffer.write_through_ns),
            ("chips.read_ns", chips.read_ns),
            ("chips.program_ns", chips.program_ns),
            ("chips.erase_ns", chips.erase_ns),
            ("chips.suspend_ns", chips.suspend_ns.unwrap_or(0)),
        ] {
            within(field, value_ns, 0, LONGEST_NS)?;
        }
        Ok(())
    }
}

impl CommandQueueParameters {
    fn validate(&self) -> Result<(), ParameterError> {
        within("command_queue.queues", u64::from(self.queues), 1, 65_535)?;
        within("command_queue.depth", u64::from(self.depth), 1, 65_536)?;
        within("command_queue.segment_bytes", self.segment_bytes, 512, LARGEST_BYTES)
    }
}

impl ChipParameters {
    fn validate(&self) -> Result<(), ParameterError> {
        within("chips.channels", u64::from(self.channels), 1, 256)?;
        within("chips.dies_per_channel", u64::from(self.dies_per_channel), 1, 256)?;
        within("chips.planes", u64::from(self.planes), 1, 16)?;
        within("chips.page_bytes", self.page_bytes, 512, 1 << 20)?;
        multiple("chips.page_bytes", self.page_bytes, "a sector", 512)?;
        within("chips.pages_per_block", u64::from(self.pages_per_block), 1, 65_536)?;
        within("chips.channel_bytes_per_s", self.channel_bytes_per_s, 1_000, FASTEST_BYTES_PER_S)?;
        within("chips.senses", self.senses.len() as u64, 0, 8)?;
        for senses in &self.senses {
            within("chips.senses", u64::from(*senses), 1, 64)?;
        }
        self.read_retry.as_ref().map_or(Ok(()), ReadRetry::validate)?;
        within("chips.transfer_bytes", self.transfer_bytes, 512, self.page_bytes)
    }
}

impl ReadRetry {
    fn validate(&self) -> Result<(), ParameterError> {
        within_f64("chips.read_retry.part_of_pages", self.part_of_pages, 0.0, 1.0)?;
        within_f64("chips.read_retry.part_of_pages_per_cycle", self.part_of_pages_per_cycle, 0.0, 1.0)?;
        within_f64("chips.read_retry.again", self.again, 0.0, 1.0)?;
        within("chips.read_retry.decode_ns", self.decode_ns, 0, LONGEST_NS)
    }
}

impl ReadAheadParameters {
    fn validate(&self) -> Result<(), ParameterError> {
        within("read_ahead.trigger_commands", u64::from(self.trigger_commands), 0, 1_024)?;
        within("read_ahead.fetch_commands", u64::from(self.fetch_commands), 0, 1_024)?;
        within("read_ahead.streams", u64::from(self.streams), 1, 256)
    }
}

impl PageMapParameters {
    fn validate(&self, drive: &FlashParameters) -> Result<(), ParameterError> {
        within("mapping.unit_bytes", self.unit_bytes, 512, drive.chips.page_bytes)?;
        multiple("chips.page_bytes", drive.chips.page_bytes, "mapping.unit_bytes", self.unit_bytes)?;
        within_f64("mapping.raw_over_user", self.raw_over_user, 1.01, 8.0)?;
        // Every stream of host data may open a superblock before the next one has been cleaned.
        let least_free = if self.separation == Separation::ByAge { 3 } else { 2 };
        within("mapping.low_free_superblocks", u64::from(self.low_free_superblocks), least_free, 1_024)?;
        if let VictimPolicy::DChoices { choices, .. } = self.victim {
            within("mapping.victim.choices", u64::from(choices), 1, 1_024)?;
        }
        self.validate_spare(drive)?;
        if let Some(memory) = &self.map_memory {
            within("mapping.map_memory.bytes", memory.bytes, drive.chips.page_bytes, LARGEST_BYTES)?;
            within("mapping.map_memory.run_bytes", memory.run_bytes, self.unit_bytes, 1 << 20)?;
            multiple(
                "mapping.map_memory.run_bytes",
                memory.run_bytes,
                "mapping.unit_bytes",
                self.unit_bytes,
            )?;
        }
        let Some(slc) = &self.slc_region else { return Ok(()) };
        within("mapping.slc_region.bits_per_cell", u64::from(slc.bits_per_cell), 2, 5)?;
        within("mapping.slc_region.bytes", slc.bytes, drive.superblock_bytes(), drive.capacity_bytes)
    }
}

impl PageMapParameters {
    /// Requires a free superblock for every open stream, and spare space to gain.
    fn validate_spare(&self, drive: &FlashParameters) -> Result<(), ParameterError> {
        let burst = self.pace.superblocks_at_once();
        within("mapping.pace.superblocks", u64::from(burst), 1, 1_024)?;
        let needed = u64::from(self.low_free_superblocks) + OPEN_STREAMS + u64::from(burst);
        let least_bytes = (needed * drive.superblock_bytes()) as f64 / (self.raw_over_user - 1.0);
        within_f64("capacity_bytes", drive.capacity_bytes as f64, least_bytes.ceil(), LARGEST_BYTES as f64)
    }
}

impl HybridParameters {
    fn validate(&self) -> Result<(), ParameterError> {
        within("mapping.log_superblocks", u64::from(self.log_superblocks), 1, 256)?;
        within("mapping.spare_superblocks", u64::from(self.spare_superblocks), 1, 65_536)
    }
}

fn within(field: &'static str, got: u64, least: u64, most: u64) -> Result<(), ParameterError> {
    within_f64(field, got as f64, least as f64, most as f64)
}

fn within_f64(field: &'static str, got: f64, least: f64, most: f64) -> Result<(), ParameterError> {
    if (least..=most).contains(&got) {
        return Ok(());
    }
    let nearest = if got > most { most } else { least };
    Err(ParameterError::OutOfRange { field, got, least, most, nearest })
}

fn multiple(field: &'static str, got: u64, of: &'static str, unit_bytes: u64) -> Result<(), ParameterError> {
    if got.is_multiple_of(unit_bytes) {
        return Ok(());
    }
    let below = got / unit_bytes * unit_bytes;
    let nearest = if got - below > unit_bytes / 2 || below == 0 { below + unit_bytes } else { below };
    Err(ParameterError::NotAMultiple { field, got, of, unit_bytes, nearest })
}
