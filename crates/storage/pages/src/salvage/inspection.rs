use std::collections::VecDeque;

use nandle_io::DeviceId;
use nandle_io::runtime::Handle;

use super::evidence::{Resolved, TailExtent, Version};
use super::finding::Finding;
use super::piece::PieceReader;
use super::report::{PageState, Report};
use super::tasks::{Task, first_tasks};
use super::{PageSet, labels};
use crate::disk::Disk;
use crate::home_sums::SumsEvidence;
use crate::label::Label;
use crate::policy::ZoneEvidence;
use crate::staging::StagedEvidence;
use crate::{PageError, PageNumber, PageOptions, PolicyKind};

/// Options of an inspection.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct InspectOptions {
    /// Options with which the store was created, in case all copies of its label are lost.
    pub assumed: Option<PageOptions>,
}

impl InspectOptions {
    /// Sets the options with which the store was created.
    #[must_use]
    pub fn assuming(self, options: PageOptions) -> Self {
        Self { assumed: Some(options) }
    }
}

/// Result of a step.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Stepped {
    /// Defects found.
    pub findings: Vec<Finding>,
    /// Fraction of the work completed, from 0 to 1.
    pub share: f64,
}

/// Step-by-step inspection of a store on a device; see the [module](super).
///
/// ```
/// use nandle_io::runtime::Runtime;
/// use nandle_io::{Io, Nanos, conformance::MemoryWorld};
/// use nandle_pages::salvage::{InspectOptions, Inspection};
/// use nandle_pages::{Batch, CreateOptions, OpenOptions, PageNumber, PolicyKind, Store};
///
/// let mut world = MemoryWorld::new(32, Nanos::from_micros(50));
/// let device = world.add(16 << 20, 4096);
/// let runtime = Runtime::new(Box::new(world));
/// let handle = runtime.handle();
/// runtime.block_on(async move {
///     let options = CreateOptions::new(PolicyKind::StableRing, 4096, 1000).with_buffer_bytes(1 << 20);
///     let store = Store::create(&handle, device.id, &options, OpenOptions::default()).await?;
///     let mut page = store.buffer()?;
///     page.fill(7);
///     let mut batch = Batch::new();
///     batch.put(PageNumber(3), page.freeze());
///     store.commit(batch).await?;
///     store.close().await?;
///
///     let mut inspection = Inspection::begin(&handle, device.id, &InspectOptions::default()).await?;
///     let mut pages = Vec::new();
///     while let Some(step) = inspection.step(&mut |page, contents, _| pages.push((page, contents[0]))).await? {
///         assert_eq!(step.findings, []);
///     }
///     assert_eq!(pages, [(PageNumber(3), 7)]);
///     assert!(inspection.report().is_sound());
///     Ok(())
/// })
/// # .map_err(|error: nandle_pages::PageError| error)?;
/// # Ok::<(), nandle_pages::PageError>(())
/// ```
pub struct Inspection {
    pub(super) reader: PieceReader,
    pub(super) label: Label,
    pub(super) evidence: Evidence,
    pub(super) sums: Option<SumsEvidence>,
    pub(super) resolved: Resolved,
    /// Extents of an incomplete group.
    pub(super) group: Vec<TailExtent>,
    /// Newest versions in the order of their places.
    pub(super) placed: Vec<Version>,
    pub(super) tasks: VecDeque<Task>,
    pub(super) findings: Vec<Finding>,
    pub(super) report: Report,
    done_bytes: u64,
    total_bytes: u64,
}

/// Structures of a store, by its policy's layout.
pub(super) enum Evidence {
    InPlace,
    Staged(Box<StagedEvidence>),
    Zones(Box<ZoneEvidence>),
}

impl Evidence {
    fn new(label: &Label) -> Self {
        if label.policy.has_zones() {
            Self::Zones(Box::new(ZoneEvidence::new(label)))
        } else if label.policy.has_staging_area() {
            Self::Staged(Box::new(StagedEvidence::new(label)))
        } else {
            Self::InPlace
        }
    }
}

impl Inspection {
    /// Reads the label. An inspection never writes to the device.
    ///
    /// # Errors
    /// All copies of the label are lost and `options` don't describe the store
    /// ([`PageError::LabelLost`]), the store is of a later version, or no memory is available.
    pub async fn begin(
        handle: &Handle,
        device: DeviceId,
        options: &InspectOptions,
    ) -> Result<Self, PageError> {
        let disk = Disk::new(handle, device, true)?;
        let reader = PieceReader::new(&disk)?;
        let labels::FoundLabel { label, findings, is_numbering_assumed } =
            labels::find(&reader, options).await?;
        let pages_bytes = if label.policy.has_zones() { 0 } else { label.pages * label.page_bytes };
        Ok(Self {
            reader,
            evidence: Evidence::new(&label),
            sums: None,
            resolved: Resolved::default(),
            group: Vec::new(),
            placed: Vec::new(),
            tasks: first_tasks(&label),
            findings,
            report: Report { is_numbering_assumed, ..Report::default() },
            done_bytes: 0,
            // The area is read twice: for headers, and for pages.
            total_bytes: (2 * label.area_bytes + label.sums_bytes + pages_bytes).max(1),
            label,
        })
    }

    /// Executes the next step, and passes the pages found to `visit`, the
    /// [header](crate::PageStore::header)'s as [`PageNumber::HEADER`]. Returns `None` when the
    /// inspection is complete.
    ///
    /// # Errors
    /// No memory is available. Unreadable data is a finding, not an error.
    pub async fn step(
        &mut self,
        visit: &mut dyn FnMut(PageNumber, &[u8], PageState),
    ) -> Result<Option<Stepped>, PageError> {
        let Some(task) = self.tasks.pop_front() else { return Ok(None) };
        self.perform(task, visit).await?;
        let findings = std::mem::take(&mut self.findings).into_iter();
        let findings: Vec<_> = findings.map(|finding| finding.named_by(&self.label)).collect();
        for finding in &findings {
            self.report.note(finding);
        }
        Ok(Some(Stepped { findings, share: self.share() }))
    }

    /// Results so far; complete once [`step`](Inspection::step) returned `None`.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Write policy.
    pub fn policy(&self) -> PolicyKind {
        self.label.policy
    }

    /// Number of pages.
    pub fn pages(&self) -> u64 {
        self.label.outer_pages()
    }

    /// Length of a page in bytes.
    pub fn page_bytes(&self) -> usize {
        self.label.page_length()
    }

    pub(super) fn page_set(&self) -> PageSet {
        PageSet::of(0..self.label.pages)
    }

    /// Counts bytes inspected or skipped.
    pub(super) fn advance(&mut self, bytes: u64) {
        self.done_bytes += bytes;
    }

    fn share(&self) -> f64 {
        let share = self.done_bytes as f64 / self.total_bytes as f64;
        if self.tasks.is_empty() { 1.0 } else { share.min(1.0) }
    }
}

impl std::fmt::Debug for Inspection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inspection").field("policy", &self.policy()).finish_non_exhaustive()
    }
}
