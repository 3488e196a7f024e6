//! Salvage of crash images, unchanged and with a bad mapping unit. A page that salvage calls sound
//! must hold contents that it may have. Without a bad unit the oracle explains all pages as it does
//! after an opening, and salvage reports no damage and no doubt.

use nandle_model::media::Contents;
use nandle_pages::salvage::{InspectOptions, Inspection, PageState, Report, Severity};
use nandle_pages::{BLOCK_BYTES, HEADER_BYTES, PageNumber};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::contents::{Found, inspect_page};
use crate::corruption::overwritten;
use crate::oracle::{Looked, Promise, Record, judge};
use crate::places::Places;
use crate::scenario::Scenario;
use crate::stage::{Purpose, Stage};

/// Blocks of a mapping unit of 64 KiB.
const UNIT_BLOCKS: u64 = 16;
const BLOCK: u64 = BLOCK_BYTES as u64;

/// Used pages from salvage.
pub(crate) struct Salvaged {
    /// Number of pages of the store.
    pub(crate) pages: u64,
    /// `None` for pages without contents.
    pub(crate) found: Vec<Option<(Found, PageState)>>,
    pub(crate) report: Report,
}

/// Salvages the store on a stage.
pub(crate) fn salvage(stage: &Stage, places: &Places) -> Result<Salvaged, String> {
    let (handle, device) = (stage.runtime.handle(), stage.device);
    let salvaged = stage.runtime.block_on(async {
        let mut inspection = Inspection::begin(&handle, device, &InspectOptions::default()).await?;
        let pages = inspection.pages();
        let numbers: Vec<PageNumber> = places.all(pages).collect();
        let mut found = vec![None; numbers.len()];
        let mut visit = |page, contents: &[u8], state| {
            let used = found.iter_mut().zip(&numbers).find(|(_, number)| **number == page);
            if let Some((place, _)) = used {
                // The rest of the header's page may be torn, but no call reads it.
                let most = if page == PageNumber::HEADER { HEADER_BYTES } else { contents.len() };
                let contents = contents.get(..most).unwrap_or(contents);
                *place = Some((inspect_page(contents, page), state));
            }
        };
        while inspection.step(&mut visit).await?.is_some() {}
        Ok(Salvaged { pages, found, report: inspection.report().clone() })
    });
    salvaged.map_err(|error: nandle_pages::PageError| format!("salvage: {error}"))
}

/// A crash image and the promises made before it.
pub(crate) struct Image<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) contents: &'a [Contents],
    pub(crate) record: &'a Record,
    pub(crate) promised: &'a Promise,
    pub(crate) seed: u64,
}

impl Image<'_> {
    /// Salvages the image unchanged, and with one bad unit.
    pub(crate) fn check(&self) -> Result<(), String> {
        let purpose = Purpose { is_recorded: false, has_trouble: false, seed: self.seed };
        let places = Places::of(self.scenario);
        let salvaged = salvage(&Stage::new(self.scenario, self.contents, purpose)?, &places)?;
        self.judge_whole(&salvaged).map_err(|what| format!("salvage: {what}; {:?}", salvaged.report))?;
        // Without checksums an older ledger goes unnoticed.
        let checks = self.scenario.policy.promises().checks_pages;
        let ([contents], true) = (self.contents, checks) else { return Ok(()) };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let unit = random.random_range(0..contents.capacity_bytes().div_ceil(UNIT_BLOCKS * BLOCK));
        let salvaged = salvage(&self.with_bad_unit(contents, unit, &mut random)?, &places)?;
        let bad = |what| format!("salvage with unit {unit} bad: {what}; {:?}", salvaged.report);
        self.judge_sound(&salvaged).map_err(bad)
    }

    /// Makes a unit unreadable, zeroed or noisy.
    fn with_bad_unit(
        &self,
        contents: &Contents,
        unit: u64,
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<Stage, String> {
        let purpose = Purpose { is_recorded: false, has_trouble: false, seed: self.seed };
        let start = unit * UNIT_BLOCKS * BLOCK;
        let end = (start + UNIT_BLOCKS * BLOCK).min(contents.capacity_bytes() / BLOCK * BLOCK);
        let mut bytes = vec![0; usize::try_from(end - start).map_err(|error| error.to_string())?];
        match random.random_range(0..3) {
            0 => return Stage::with_unreadable(self.scenario, contents, start..end, purpose),
            1 => {}
            _ => random.fill_bytes(&mut bytes),
        }
        let bad = overwritten(contents, unit * UNIT_BLOCKS, &bytes)?;
        Stage::new(self.scenario, &[bad], purpose)
    }

    /// Judges an image without a bad unit, whose pages must be explained together.
    fn judge_whole(&self, salvaged: &Salvaged) -> Result<(), String> {
        let Salvaged { pages, found, report } = salvaged;
        if report.worst == Some(Severity::Loss) {
            return Err("a power cut isn't a loss".into());
        }
        let told = [&report.older, &report.doubtful, &report.lost];
        if told.iter().any(|pages| !pages.is_empty()) || report.header_lost {
            return Err("a power cut makes no page doubtful".into());
        }
        let found = found.iter().map(|found| found.map_or(Found::Nothing, |(found, _)| found)).collect();
        let looked = Looked { pages: *pages, found, last: self.promised.number };
        judge(self.record, self.promised, &looked).map(drop)
    }

    /// Judges an image with a bad unit. All evidence of the last commits may lie in that unit, so a
    /// page may have contents from before them.
    fn judge_sound(&self, salvaged: &Salvaged) -> Result<(), String> {
        let batches = vec![0; self.record.clients()];
        let promised = Promise { batches, ..self.promised.clone() };
        let sound = (0..).zip(&salvaged.found).filter_map(|(page, found)| match found {
            Some((found, PageState::Sound)) => Some((page, *found)),
            _ => None,
        });
        let wrong = sound.into_iter().find(|(page, found)| !self.record.may_hold(*page, &promised, *found));
        wrong.map_or(Ok(()), |(page, found)| Err(format!("page {page} is called sound with {found}")))
    }
}
