//! Copies of the label, or options that replace them.

use std::collections::BTreeMap;

use super::InspectOptions;
use super::evidence::{at_block, finding};
use super::finding::{Finding, Problem, Severity, Structure};
use super::piece::{Piece, PieceReader, problem_of};
use crate::fields::{Reader, is_sealed};
use crate::label::high_water::{self, HighWater};
use crate::label::{Label, LabelSearch};
use crate::{BLOCK_BYTES, PageError, PageOptions};

/// Label of the store, with findings about its copies.
pub(super) struct FoundLabel {
    pub(super) label: Label,
    pub(super) findings: Vec<Finding>,
    /// True if only the options give the initial number of pages.
    pub(super) is_numbering_assumed: bool,
}

/// Reads all copies of the label.
pub(super) async fn find(reader: &PieceReader, options: &InspectOptions) -> Result<FoundLabel, PageError> {
    let mut search = LabelSearch::new(reader.capacity_bytes());
    let mut blocks = BTreeMap::new();
    while let Some(offset_bytes) = search.next_offset() {
        let piece = reader.read(offset_bytes, BLOCK_BYTES as u64).await?;
        let unreadable = |_| PageError::NotAStore { found: "its label can't be read" };
        search.enter(offset_bytes, piece.whole().map_err(unreadable));
        blocks.insert(offset_bytes, piece);
    }
    let newest = match search.copies() {
        Ok(copies) => copies.label,
        Err(error) => return lost(reader, options, error).await,
    };
    let label = with_high_water(reader, newest.clone()).await?;
    // An interrupted creation or growth leaves some copies outdated, but never all.
    let outdated = if newest == label { Severity::Harmless } else { Severity::Redundant };
    let found = label.label_places().filter_map(|place| Some((place, blocks.get(&place)?.whole())));
    let findings = found.filter_map(|(place, block)| judge(&label, outdated, (place, block))).collect();
    Ok(FoundLabel { label, findings, is_numbering_assumed: false })
}

/// Label with the number of pages of a high-water mark, if that exceeds all copies, which are then
/// outdated.
async fn with_high_water(reader: &PieceReader, label: Label) -> Result<Label, PageError> {
    let mut highest = label.clone();
    for place in label.high_water_places() {
        let piece = reader.read(place, BLOCK_BYTES as u64).await?;
        let mark = piece.whole().ok().and_then(|block| high_water::decode(label.id, block));
        if let Some(mark) = mark.filter(|mark| mark.pages > highest.pages) {
            highest = highest.with_pages(mark.pages, mark.area_bytes.max(highest.area_bytes));
        }
    }
    Ok(highest)
}

/// Finding about a copy.
fn judge(
    label: &Label,
    outdated: Severity,
    (place, block): (u64, Result<&[u8], Problem>),
) -> Option<Finding> {
    let (problem, severity) = match block.ok().and_then(|block| Label::decode(block).ok()) {
        Some(copy) if (copy.id, copy.pages) == (label.id, label.pages) => return None,
        Some(_) => (Problem::Outdated, outdated),
        None => (problem_of(block), Severity::Redundant),
    };
    Some(finding(Structure::Label, problem, severity, at_block(place)))
}

/// Reconstructs the label from the caller's options. The store may have grown: a high-water mark
/// then gives the initial number of pages, whatever the options say.
async fn lost(
    reader: &PieceReader,
    options: &InspectOptions,
    error: PageError,
) -> Result<FoundLabel, PageError> {
    let PageError::NotAStore { found } = error else { return Err(error) };
    let Some(assumed) = &options.assumed else { return Err(PageError::LabelLost { found }) };
    let mark = find_mark(reader).await?;
    let told = mark.and_then(|(id, mark)| Some((id, mark.header_page?)));
    let mut planned = None;
    if let Some((id, header_page)) = told {
        // The mark may belong to an earlier store.
        let as_made = plan(reader, PageOptions { pages: header_page.0, ..assumed.clone() }, Some(id)).await;
        planned = as_made.ok().filter(|label| label.id == id);
    }
    let is_numbering_assumed = planned.is_none();
    let label = match planned {
        Some(label) => label,
        None => plan(reader, assumed.clone(), mark.map(|(id, _)| id)).await?,
    };
    let label = with_high_water(reader, label).await?;
    let missing = |place| finding(Structure::Label, Problem::Missing, Severity::Redundant, at_block(place));
    let findings = label.label_places().map(missing).collect();
    Ok(FoundLabel { label, findings, is_numbering_assumed })
}

/// First high-water mark at any possible place, with the id of its store.
async fn find_mark(reader: &PieceReader) -> Result<Option<(u128, HighWater)>, PageError> {
    for place in high_water::candidates() {
        let piece = reader.read(place, BLOCK_BYTES as u64).await?;
        if let Some(found) = piece.whole().ok().and_then(high_water::decode_any) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Label of a store created with these options. Without ledgers the mark provides the id.
async fn plan(reader: &PieceReader, assumed: PageOptions, of_mark: Option<u128>) -> Result<Label, PageError> {
    let (create, _) = assumed.into_parts();
    let (ledger_bytes, area_bytes) = crate::policy::areas(&create)?;
    let label = Label::plan(&create, ledger_bytes, area_bytes)?;
    let id = if ledger_bytes == 0 { of_mark.unwrap_or(0) } else { id_of(reader, &label).await? };
    Ok(Label { id, ..label })
}

/// Id of the store, repeated in each of its structures.
async fn id_of(reader: &PieceReader, label: &Label) -> Result<u128, PageError> {
    for copy in 0..label.ledger_copies {
        let piece: Piece = reader.read(label.ledger_at(copy), label.ledger_bytes).await?;
        if let Ok(bytes) = piece.whole()
            && is_sealed(bytes)
            && bytes.iter().any(|byte| *byte != 0)
        {
            let mut fields = Reader(bytes);
            let _: [u8; 8] = fields.array();
            return Ok(u128::from_le_bytes(fields.array()));
        }
    }
    debug_assert!(label.ledger_bytes.is_multiple_of(BLOCK_BYTES as u64), "ledgers have whole blocks");
    Err(PageError::LabelLost { found: "no ledger lies where the given options say" })
}
