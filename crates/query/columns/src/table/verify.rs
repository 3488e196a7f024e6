use std::sync::Arc;

use super::snapshot::{open_entry, read_sums};
use crate::directory::{FileEntry, PROFILE, pin_current};
use crate::files::{WHOLE_BYTES_MAX, read_all};
use crate::number::index;
use crate::sums::{BLOCK_BYTES, BLOCK_LENGTH, Sums};
use crate::{ColumnsError, Files, ParquetFile, Place, ReadAt};

/// Length of a read.
const PIECE_BYTES: u64 = 1 << 20;

pub(super) fn verify(files: &Arc<dyn Files>) -> Result<Vec<ColumnsError>, ColumnsError> {
    let pinned = pin_current(files.as_ref())?;
    let mut found = Vec::new();
    for entry in pinned.manifest.files() {
        found.extend(verify_file(files, entry));
        if found.iter().any(|error| matches!(error, ColumnsError::Stopped)) {
            return Err(ColumnsError::Stopped);
        }
    }
    if let Some(identity) = &pinned.manifest.profile {
        let place = Place::of_file(PROFILE);
        match read_all(files.as_ref(), PROFILE, WHOLE_BYTES_MAX) {
            Ok(bytes) if format!("{:08x}", nandle_units::checksum(&bytes)) == identity.crc32c => {}
            Ok(_) => {
                found.push(ColumnsError::damaged(&place, "it isn't the profile that the manifest names"));
            }
            Err(error) => found.push(ColumnsError::io("reading", PROFILE)(error)),
        }
    }
    Ok(found)
}

fn verify_file(files: &Arc<dyn Files>, entry: &FileEntry) -> Vec<ColumnsError> {
    let opened = open_entry(files, entry);
    let sums = match read_sums(files.as_ref(), entry) {
        Ok(sums) => sums,
        Err(error) => return vec![error],
    };
    let source = match files.open(&entry.path) {
        Ok(source) if source.length_bytes() == entry.bytes => source,
        Ok(_) => return opened.err().into_iter().collect(),
        Err(error) => {
            return vec![opened.err().unwrap_or_else(|| ColumnsError::io("opening", &entry.path)(error))];
        }
    };
    let footer = opened.as_ref().ok();
    let mut found = damaged_blocks(source.as_ref(), &sums, entry, footer);
    if found.is_empty() {
        found.extend(opened.err());
    }
    found
}

/// Returns every range of damaged blocks, with the column chunks in it.
fn damaged_blocks(
    source: &dyn ReadAt,
    sums: &Sums,
    entry: &FileEntry,
    footer: Option<&ParquetFile>,
) -> Vec<ColumnsError> {
    let mut found = Vec::new();
    let mut piece = vec![0; index(PIECE_BYTES)];
    let mut offset_bytes = 0;
    while offset_bytes < entry.bytes {
        let length = index(PIECE_BYTES.min(entry.bytes - offset_bytes));
        let part = piece.get_mut(..length).unwrap_or_default();
        if let Err(error) = source.read_exact_at(offset_bytes, part) {
            found.push(ColumnsError::io("reading", &entry.path)(error));
        } else {
            for (block, bytes) in (offset_bytes / BLOCK_BYTES..).zip(part.chunks(BLOCK_LENGTH)) {
                if let Err(mismatch) = sums.check(block * BLOCK_BYTES, bytes) {
                    let places = places(entry, footer, mismatch.offset_bytes);
                    found.extend(
                        places.iter().map(|place| ColumnsError::damaged(place, mismatch.to_string())),
                    );
                }
            }
        }
        offset_bytes += length as u64;
    }
    found
}

/// Column chunks that a block overlaps; the whole file if there are none or the footer is
/// unreadable.
fn places(entry: &FileEntry, footer: Option<&ParquetFile>, offset_bytes: u64) -> Vec<Place> {
    let mut places = footer.map_or_else(
        || vec![Place::of_file(&entry.path)],
        |file| file.places_of(&(offset_bytes..offset_bytes + BLOCK_BYTES)),
    );
    for place in &mut places {
        place.offset_bytes = Some(offset_bytes);
    }
    places
}
