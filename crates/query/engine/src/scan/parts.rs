//! Parts of a planned scan for other machines: the engine's own source over file ranges, whose
//! reads are planned by the receiver.

use datafusion::common::internal_datafusion_err;
use datafusion::datasource::listing::{FileRange, PartitionedFile};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use nandle_reads::Pricing;
use parquet::file::metadata::RowGroupMetaData;

use super::pieces::{Piece, first_offset, metadata_of};
use super::planned::PlannedScan;
use super::share::{deal_by, seconds};
use crate::EngineError;
use crate::remote::{FileName, ScanPart};

impl PlannedScan {
    /// Returns true if the row groups of each file are in order, so that a range of the file has
    /// whole row groups.
    pub(crate) fn has_row_groups_apart(&self) -> bool {
        self.files().files.iter().all(|file| {
            let offsets = file.metadata().row_groups().iter().map(first_offset);
            let offsets: Option<Vec<i64>> = offsets.collect();
            offsets.is_some_and(|offsets| offsets.is_sorted_by(|one, next| one < next))
        })
    }

    /// Time of the same reads on another device.
    pub(crate) fn device_seconds_on(&self, pricing: &Pricing) -> Result<f64, EngineError> {
        let files = self.files();
        let seconds =
            self.shares().iter().map(|share| share.device_seconds_on(pricing, files, self.told.reads));
        seconds.sum::<Result<f64, _>>().map_err(|error| files.named(error))
    }

    /// Divides the scan into a part per weight.
    pub(crate) fn parts(&self, weights: &[f64]) -> Result<Vec<ScanPart>, EngineError> {
        let files = self.files();
        let mut pieces: Vec<Piece> =
            self.shares().iter().flat_map(|share| share.pieces.iter().cloned()).collect();
        pieces.sort_by_key(|piece| (piece.number, piece.place.row_group));
        let times = seconds(&pieces, files);
        let parts = deal_by(pieces, &times, weights);
        let all = times.iter().sum::<f64>();
        let (mut times, mut shares) = (times.iter(), Vec::with_capacity(parts.len()));
        for pieces in parts {
            let own = times.by_ref().take(pieces.len()).sum::<f64>();
            shares.push(self.part(&pieces, if all > 0.0 { own / all } else { 0.0 })?);
        }
        Ok(shares)
    }

    fn part(&self, pieces: &[Piece], time_part: f64) -> Result<ScanPart, EngineError> {
        let partitions = self.partitions();
        let stretches = self.stretches(pieces)?;
        if stretches.len() > partitions && !self.config().output_ordering.is_empty() {
            // A single file per group is in order without proof by statistics.
            return Err(internal_datafusion_err!("a scan in order has no group for each file").into());
        }
        let per_group = stretches.len().div_ceil(partitions.max(1)).max(1);
        let mut groups: Vec<FileGroup> =
            stretches.chunks(per_group).map(|group| FileGroup::new(group.to_vec())).collect();
        groups.resize_with(partitions, || FileGroup::new(Vec::new()));
        let config = FileScanConfigBuilder::from(self.config().clone()).with_file_groups(groups).build();
        Ok(ScanPart {
            plan: DataSourceExec::from_data_source(config),
            row_groups: pieces.len(),
            wanted_bytes: pieces.iter().map(Piece::wanted_bytes).sum(),
            time_part,
        })
    }

    /// Returns the file ranges of pieces. Row groups between two pieces were pruned, and the
    /// receiver prunes them again.
    fn stretches(&self, pieces: &[Piece]) -> Result<Vec<PartitionedFile>, EngineError> {
        let of_files = pieces.chunk_by(|one, next| one.number == next.number);
        let ends = of_files.filter_map(|pieces| pieces.first().zip(pieces.last()));
        ends.map(|(first, last)| self.stretch(first, last)).collect()
    }

    fn stretch(&self, first: &Piece, last: &Piece) -> Result<PartitionedFile, EngineError> {
        let metadata = metadata_of(&first.file)?;
        let offset = |piece: &Piece| {
            let row_group: Option<&RowGroupMetaData> =
                piece.place.row_group.and_then(|number| metadata.row_groups().get(number));
            let offset = row_group.and_then(first_offset);
            offset.ok_or_else(|| internal_datafusion_err!("{} has no columns", piece.place))
        };
        let files = self.files();
        let name = FileName {
            table: files.table.clone(),
            state: files.state(),
            projection: files.projection,
            number: first.number,
        };
        let mut file = PartitionedFile::new(name.to_path().to_string(), first.file.object_meta.size);
        file.partition_values.clone_from(&first.file.partition_values);
        file.range = Some(FileRange { start: offset(first)?, end: offset(last)?.saturating_add(1) });
        Ok(file)
    }
}
