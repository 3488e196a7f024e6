//! Creates tables, laid out by the profile of their device.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use arrow_schema::SchemaRef;
use nandle_columns::{
    Clustering, ColumnsError, Files as _, Layout, LayoutFigures, RealFiles, Table, TableOptions, TableProfile,
};
use nandle_predict::read_costs;
use nandle_profile::{DeviceProfile, NEAR_FULL_SHARE};
use nandle_session::{Cancel, Progress};
use nandle_terminal::output;
use nandle_terminal::words::seconds;
use nandle_units::format_bytes;

use super::page_cost::page_decode_ns;
use crate::costs::{FoundProfile, ProfileArgs, flexible_block_bytes};
use crate::error::CliError;
use crate::input::of_table;

/// Properties of a new table.
pub(super) struct NewTable<'a> {
    pub(super) directory: &'a Path,
    pub(super) schema: SchemaRef,
    pub(super) clustering: Clustering,
    pub(super) profile: &'a ProfileArgs,
}

impl NewTable<'_> {
    pub(super) fn create(self, cancel: &Cancel, progress: &mut dyn Progress) -> Result<Table, CliError> {
        let place = self.directory.display();
        self.check_clustering()?;
        let was_there = self.directory.exists();
        // The path to probe must exist.
        if self.profile.profile.is_none() {
            // Makes the directory's name durable, too.
            RealFiles::new(self.directory)
                .create_dir("")
                .map_err(|error| CliError::failed(format!("making the directory {place}: {error}")))?;
        }
        let found = self.profile.find(None, self.directory, cancel, progress);
        if found.is_err() && !was_there {
            // Fails if it holds something by now.
            _ = std::fs::remove_dir(self.directory);
        }
        let found = found?.told();
        let (figures, sentence) = figures(&found)?;
        let layout = Layout::from_figures(&figures);
        output::note(&format!(
            "{sentence} Pages are {}, row groups {} rows.",
            format_bytes(layout.page_bytes),
            layout.row_group_rows
        ));
        let options = TableOptions {
            layout,
            clustering: self.clustering,
            profile: Some(kept(&found.profile)?),
            ..TableOptions::new(self.schema, new_identity())
        };
        Table::create(self.directory, &options).map_err(|error| of_table(self.directory, error))
    }

    /// Before anything is probed.
    fn check_clustering(&self) -> Result<(), CliError> {
        let known = || self.schema.fields().iter().map(|field| field.name().clone());
        let columns = match &self.clustering {
            Clustering::None => return Ok(()),
            Clustering::Sort(columns) | Clustering::Cells(columns) => columns,
        };
        match columns.iter().find(|column| !known().any(|name| name == **column)) {
            Some(column) => Err(ColumnsError::UnknownColumn {
                file: String::new(),
                column: column.clone(),
                known: known().collect(),
            }
            .into()),
            None => Ok(()),
        }
    }
}

/// Returns the error of a failed load. Removes a table that was created for it, but nothing that
/// existed before.
pub(super) fn without_new_table(directory: &Path, before: Folders, error: CliError) -> CliError {
    // A table with rows, or an unreadable one, stays: the first error is reported.
    if Table::open(directory).and_then(Table::discard_empty).unwrap_or(false) {
        before.remove_others();
    }
    error
}

/// Folders of a table, and its directory, that are missing before it is created.
pub(super) struct Folders {
    missing: Vec<PathBuf>,
}

impl Folders {
    pub(super) fn of(directory: &Path) -> Self {
        let folders = ["data", "projections"].map(|folder| directory.join(folder));
        let all = folders.into_iter().chain([directory.to_owned()]);
        Self { missing: all.filter(|folder| !folder.exists()).collect() }
    }

    /// Removes the folders created since.
    pub(super) fn remove_others(self) {
        for folder in self.missing {
            // Fails if it is no longer empty.
            _ = std::fs::remove_dir(folder);
        }
    }
}

/// Random identifier, unique except with a probability of 2^-64: the system seeds the standard
/// library's hashes.
pub(super) fn new_identity() -> u64 {
    RandomState::new().build_hasher().finish()
}

pub(super) fn kept(profile: &DeviceProfile) -> Result<TableProfile, CliError> {
    let json = serde_json::to_vec_pretty(profile)
        .map_err(|error| CliError::failed(format!("writing the profile as JSON: {error}")))?;
    Ok(TableProfile { device: profile.target.clone(), json })
}

/// Figures that determine a layout, and a sentence about them.
fn figures(found: &FoundProfile) -> Result<(LayoutFigures, String), CliError> {
    let (costs, _) = read_costs(&found.profile, None)?;
    let missing = |what: &str| {
        CliError::failed(format!(
            "{} doesn't say {what}, and a table's layout follows from it: probe for longer (--probe-budget 60s), or name another profile (--profile)",
            found.origin
        ))
    };
    let flexible_block_bytes = flexible_block_bytes(&found.profile)
        .ok_or_else(|| missing("what the flexible block is, the smallest unit worth reading alone"))?;
    // The size closest to the block, at the depth with the highest rate.
    let distance = |bytes: u64| (bytes as f64 / flexible_block_bytes as f64).ln().abs();
    let nearest = costs.random.iter().min_by(|one, other| {
        let key = |cost: &nandle_reads::RequestCost| (distance(cost.request_bytes), cost.seconds.value);
        key(one).partial_cmp(&key(other)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let nearest = nearest.ok_or_else(|| missing("how fast random reads are"))?;
    let device_block_ns =
        nearest.seconds.value * 1e9 / nearest.request_bytes as f64 * flexible_block_bytes as f64;
    let rate = |cost: &&nandle_reads::RequestCost| cost.request_bytes as f64 / cost.seconds.value;
    let best = costs.random.iter().map(|cost| rate(&cost)).fold(0.0, f64::max);
    let near = costs.random.iter().filter(|cost| rate(cost) >= NEAR_FULL_SHARE * best);
    let near_full_bytes = near.map(|cost| cost.request_bytes).min().unwrap_or(flexible_block_bytes);
    let decode_fixed_ns = page_decode_ns()?;
    let sentence = format!(
        "By {}: the flexible block is {}, which the device reads in {} when it is kept busy; decoding a page costs {} however small it is (measured here).",
        found.origin,
        format_bytes(flexible_block_bytes),
        seconds(device_block_ns / 1e9),
        seconds(decode_fixed_ns / 1e9),
    );
    let figures = LayoutFigures { flexible_block_bytes, decode_fixed_ns, device_block_ns, near_full_bytes };
    Ok((figures, sentence))
}
