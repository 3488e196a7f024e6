//! Batches of rows passed between threads.
//!
//! ```text
//! u32 length of the key, u32 length of the payload, key, payload, …
//! ```

use nandle_spill::Row;

use crate::error::CliError;

/// Contiguous rows.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    /// Bytes of input that the rows come from.
    pub(crate) input_bytes: u64,
    /// Header fields that accompany keys: in the first batch, before all rows, if there is a
    /// header.
    pub(crate) header: Option<Vec<u8>>,
}

impl Batch {
    /// Appends a row.
    pub(crate) fn push(&mut self, Row { key, payload }: Row<'_>) -> Result<(), CliError> {
        for part in [key, payload] {
            let length = u32::try_from(part.len());
            let length = length.map_err(|_| CliError::failed("a record is longer than 4 GiB"))?;
            self.bytes.extend_from_slice(&length.to_ne_bytes());
        }
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(payload);
        Ok(())
    }

    /// Memory in use.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        (self.input_bytes, self.header) = (0, None);
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The rows in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let (key_bytes, behind) = rest.split_first_chunk()?;
            let (payload_bytes, behind) = behind.split_first_chunk()?;
            let (key, behind) = behind.split_at_checked(u32::from_ne_bytes(*key_bytes) as usize)?;
            let (payload, behind) = behind.split_at_checked(u32::from_ne_bytes(*payload_bytes) as usize)?;
            rest = behind;
            Some(Row { key, payload })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_out_as_they_went_in() {
        let mut batch = Batch::default();
        let rows: [(&[u8], &[u8]); 3] = [(b"ab", b""), (b"", b"xyz"), (b"c", b"d")];
        for (key, payload) in rows {
            batch.push(Row { key, payload }).unwrap();
        }
        assert_eq!(batch.rows().map(|row| (row.key, row.payload)).collect::<Vec<_>>(), rows);
    }
}
