//! Older copies of the label or of all ledgers, as on a device that lost its last writes to a
//! region, or in a file copied while in use. A store that has grown or committed since must detect
//! them, or hold its promised contents.

use nandle_model::media::Contents;
use nandle_pages::{BLOCK_BYTES, Store};

use crate::corruption::{Closed, Left, left_store, overwritten, undisturbed};
use crate::places::Places;
use crate::scenario::Scenario;
use crate::stage::{Purpose, Stage};

const BLOCK: u64 = BLOCK_BYTES as u64;
/// Slots, each with a label and a ledger.
const SLOTS: u64 = 8;

/// Copies that are replaced by older ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// This number of the eight labels.
    Labels(u64),
    /// All ledgers.
    Ledgers,
    /// All labels and ledgers.
    LabelsAndLedgers,
}

/// Results of the trials of one store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rollbacks {
    /// Rollbacks tried.
    pub trials: u64,
    /// Stores that refused to open.
    pub refused: u64,
    /// Stores that opened with wrong contents and no error: seed, copies, age of the copies in
    /// closes, and the violation.
    pub silent: Vec<(u64, Copies, usize, String)>,
}

/// Uses a store, then restores older copies from its earlier closes.
///
/// # Errors
/// The store fails before anything is restored.
pub fn roll_back(scenario: &Scenario, left: Left, kinds: &[Copies]) -> Result<Rollbacks, String> {
    let scenario = undisturbed(scenario);
    let closed = left_store(&scenario, left)?;
    let mut outcome = Rollbacks::default();
    let states = closed.states();
    let Some((newest, older)) = states.split_last() else { return Err("it was never closed".into()) };
    for (closings, state) in (1..).zip(older.iter().rev()) {
        for kind in kinds {
            let Some(contents) = put_back(newest, state, *kind)? else { continue };
            outcome.trials += 1;
            match answer(&scenario, &closed, &contents)? {
                Answer::Right => {}
                Answer::Refused => outcome.refused += 1,
                Answer::Silent(what) => outcome.silent.push((scenario.seed, *kind, closings, what)),
            }
        }
    }
    Ok(outcome)
}

enum Answer {
    Right,
    Refused,
    Silent(String),
}

/// Newest contents with older copies, or `None` if these are equal.
fn put_back(newest: &Contents, older: &Contents, kind: Copies) -> Result<Option<Contents>, String> {
    let label = read(newest, 0, 1);
    let field = |at: usize| {
        let bytes = label.get(at..).and_then(|bytes| bytes.first_chunk());
        u64::from_le_bytes(*bytes.unwrap_or(&[0; 8])) / BLOCK
    };
    // Offsets in the label's format.
    let (ledger_blocks, ledger_first, slot_blocks) = (field(48), field(56), field(112));
    let slots = (0..SLOTS).map(|slot| slot * slot_blocks);
    let labels = slots.clone().map(|slot| (slot, 1));
    let ledgers = slots.map(|slot| (slot + ledger_first, ledger_blocks));
    let ranges: Vec<(u64, u64)> = match kind {
        Copies::Labels(copies) => labels.filter(|(slot, _)| slot / slot_blocks < copies).collect(),
        Copies::Ledgers => ledgers.collect(),
        Copies::LabelsAndLedgers => labels.chain(ledgers).collect(),
    };
    let mut contents = newest.clone();
    for (first, blocks) in ranges.into_iter().filter(|(_, blocks)| *blocks > 0) {
        contents = overwritten(&contents, first, &read(older, first, blocks))?;
    }
    Ok((contents.hash() != newest.hash()).then_some(contents))
}

fn read(contents: &Contents, first: u64, blocks: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(blocks).unwrap_or(0) * BLOCK_BYTES];
    // The device's last block may be partial; the rest reads as zeros.
    _ = contents.read_into(first * BLOCK, &mut bytes);
    bytes
}

fn answer(scenario: &Scenario, closed: &Closed, contents: &Contents) -> Result<Answer, String> {
    let purpose = Purpose { is_recorded: false, has_trouble: false, seed: scenario.seed };
    let stage = Stage::new(scenario, std::slice::from_ref(contents), purpose)?;
    let (handle, device, options) = (stage.runtime.handle(), stage.device, scenario.open_options());
    let places = Places::of(scenario);
    let seen = stage.runtime.block_on(async {
        let store = Store::open(&handle, device, options).await.ok()?;
        Some(places.look(&store).await)
    });
    let Some(seen) = seen else { return Ok(Answer::Refused) };
    let complaint = closed.complaint(&seen).or_else(|| {
        let (pages, promised) = (seen.pages, closed.pages());
        (pages < promised).then(|| format!("it has {pages} pages, and had {promised}"))
    });
    Ok(complaint.map_or(Answer::Right, Answer::Silent))
}
