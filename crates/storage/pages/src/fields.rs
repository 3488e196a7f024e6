//! Little-endian fields of the store's own blocks.

/// Writes consecutive fields to a block.
pub(crate) struct Writer<'a>(pub(crate) &'a mut [u8]);

impl Writer<'_> {
    pub(crate) fn bytes(&mut self, from: &[u8]) {
        debug_assert!(
            from.len() <= self.0.len(),
            "a field of {} bytes, and room for {}",
            from.len(),
            self.0.len()
        );
        let rest = std::mem::take(&mut self.0);
        let (field, rest) = rest.split_at_mut(from.len().min(rest.len()));
        field.copy_from_slice(from.get(..field.len()).unwrap_or(from));
        self.0 = rest;
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }
}

/// Reads consecutive fields from a block. Beyond its end it reads zeros, so callers must check
/// lengths.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk() {
            Some((field, rest)) => {
                self.0 = rest;
                *field
            }
            None => [0; N],
        }
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }
}

/// Fills a block of one of the store's structures: magic, id, fields, checksum.
pub(crate) fn fill(block: &mut [u8], magic: [u8; 8], id: u128, fields: impl FnOnce(&mut Writer<'_>)) {
    block.fill(0);
    let mut writer = Writer(block);
    writer.bytes(&magic);
    writer.bytes(&id.to_le_bytes());
    fields(&mut writer);
    debug_assert!(
        writer.0.len() >= SEAL_BYTES,
        "the checksum would cover a field: {} bytes left",
        writer.0.len()
    );
    seal(block);
    debug_assert!(fields_of(block, magic, id).is_some(), "what is written can be read");
}

/// Fields of a valid block of this kind and store.
pub(crate) fn fields_of(block: &[u8], magic: [u8; 8], id: u128) -> Option<Reader<'_>> {
    let mut fields = Reader(block);
    let is_ours = fields.array() == magic && u128::from_le_bytes(fields.array()) == id;
    (is_ours && is_sealed(block)).then_some(fields)
}

/// Length of the checksum at the end of each structure.
const SEAL_BYTES: usize = 4;

/// Writes the checksum of all preceding bytes into the last four.
pub(crate) fn seal(block: &mut [u8]) {
    let at = block.len().saturating_sub(SEAL_BYTES);
    let (body, end) = block.split_at_mut(at);
    end.copy_from_slice(&nandle_units::checksum(body).to_le_bytes());
}

/// Checksum at the end of a block.
pub(crate) fn seal_of(block: &[u8]) -> u32 {
    block.last_chunk().map_or(0, |seal| u32::from_le_bytes(*seal))
}

/// Returns true if the last four bytes are the checksum of all preceding ones.
pub(crate) fn is_sealed(block: &[u8]) -> bool {
    match block.split_last_chunk() {
        Some((body, end)) => nandle_units::checksum(body) == u32::from_le_bytes(*end),
        None => false,
    }
}
