//! Rows on their way between threads, many at a time.
//!
//! ```text
//! u32 length of the key, u32 length of the payload, key, payload, …
//! ```

use nandle_spill::Row;

/// Rows one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    /// Bytes of the input that they are of.
    pub(crate) input_bytes: u64,
}

impl Batch {
    /// Adds a row whose key `write` writes behind what is there already.
    pub(crate) fn push(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
        payload: &[u8],
    ) -> Result<(), String> {
        let head = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 8]);
        write(&mut self.bytes)?;
        let key_bytes = self.bytes.len() - head - 8;
        let length =
            |bytes: usize| u32::try_from(bytes).map_err(|_| "a record is longer than 4 GiB".to_owned());
        let lengths = [length(key_bytes)?.to_ne_bytes(), length(payload.len())?.to_ne_bytes()];
        if let Some(into) = self.bytes.get_mut(head..head + 8) {
            into.copy_from_slice(lengths.as_flattened());
        }
        self.bytes.extend_from_slice(payload);
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.input_bytes = 0;
    }

    /// Its rows, in their order.
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
        for (key, payload) in [(b"ab".as_slice(), b"".as_slice()), (b"", b"xyz"), (b"c", b"d")] {
            let write = |into: &mut Vec<u8>| {
                into.extend_from_slice(key);
                Ok(())
            };
            batch.push(write, payload).unwrap();
        }
        let rows: Vec<_> = batch.rows().map(|row| (row.key, row.payload)).collect();
        assert_eq!(rows, [(b"ab".as_slice(), b"".as_slice()), (b"", b"xyz"), (b"c", b"d")]);
    }
}
