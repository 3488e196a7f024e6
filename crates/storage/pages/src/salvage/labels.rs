//! Both copies of the label, or the options that stand in for them.

use super::InspectOptions;
use super::evidence::{at_block, finding};
use super::finding::{Finding, Problem, Severity, Structure};
use super::piece::{Piece, PieceReader, problem_of};
use crate::fields::{Reader, is_sealed};
use crate::label::{LABELS_BYTES, Label};
use crate::{BLOCK_BYTES, PageError};

/// The label of the store, and what is wrong with its copies.
pub(super) async fn find(
    reader: &PieceReader,
    options: &InspectOptions,
) -> Result<(Label, Vec<Finding>), PageError> {
    let piece = reader.read(0, LABELS_BYTES).await?;
    let copies: Vec<_> = piece.blocks().map(|(at, block)| (at, block, decode(block))).collect();
    // As openings do: the first that is valid, or the one with more pages.
    let valid = copies.iter().filter_map(|(.., label)| label.as_ref().ok());
    let first = valid.clone().next().cloned();
    let of_store = valid.filter(|label| first.as_ref().is_some_and(|first| first.id == label.id));
    let counts = of_store.max_by_key(|label| (label.pages, std::cmp::Reverse(label.generation))).cloned();
    let Some(label) = counts else { return lost(reader, options, copies.into_iter().map(|it| it.2)).await };
    let mut findings = Vec::new();
    for (at, block, copy) in copies {
        let (problem, severity) = match copy {
            Ok(copy) if (copy.id, copy.pages) == (label.id, label.pages) => continue,
            // A power cut while the store was made or grown leaves it.
            Ok(_) => (Problem::Outdated, Severity::Harmless),
            Err(_) => (problem_of(block), Severity::Redundant),
        };
        findings.push(finding(Structure::Label, problem, severity, at_block(at)));
    }
    Ok((label, findings))
}

fn decode(block: Result<&[u8], Problem>) -> Result<Label, PageError> {
    let unreadable = |_| PageError::NotAStore { found: "its label can't be read" };
    block.map_err(unreadable).and_then(Label::decode)
}

/// By the options that the caller gives in its stead.
async fn lost(
    reader: &PieceReader,
    options: &InspectOptions,
    copies: impl Iterator<Item = Result<Label, PageError>>,
) -> Result<(Label, Vec<Finding>), PageError> {
    let reasons: Vec<PageError> = copies.filter_map(Result::err).collect();
    let known = |error: &PageError| !matches!(error, PageError::NotAStore { .. });
    if let Some(error) = reasons.iter().find(|error| known(error)) {
        return Err(error.clone());
    }
    let Some(assumed) = &options.assumed else {
        let found = reasons.into_iter().find_map(|error| match error {
            PageError::NotAStore { found } => Some(found),
            _ => None,
        });
        return Err(PageError::LabelLost { found: found.unwrap_or("it is empty") });
    };
    let (create, _) = assumed.clone().into_parts();
    let (ledger_bytes, area_bytes) = crate::policy::areas(&create)?;
    let label = Label::plan(&create, ledger_bytes, area_bytes)?;
    let id = id_of(reader, &label).await?;
    let place = (0, LABELS_BYTES);
    let found = finding(Structure::Label, Problem::Missing, Severity::Redundant, place);
    Ok((Label { id, ..label }, vec![found]))
}

/// The id, which every structure of the store repeats. A store without any has none to tell.
async fn id_of(reader: &PieceReader, label: &Label) -> Result<u128, PageError> {
    for copy in 0..label.ledger_copies {
        if label.ledger_bytes == 0 {
            return Ok(0);
        }
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
