//! Session of the engine: settings, memory and temporary files.

use std::sync::Arc;

use datafusion::common::{DataFusionError, internal_datafusion_err};
use datafusion::execution::disk_manager::{DiskManager, DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::checked::{check_arithmetic, check_comparisons};
use crate::engine::EngineOptions;
use crate::keyless::without_keys;
use crate::options::NandleOptions;
use crate::pool::memory_pool;
use crate::rules::rules;
use crate::table::CurrentTables;
use crate::temporary::CheckedFiles;

/// Number of sorts whose reservations together must not exceed the memory.
const SORTS_AT_A_TIME: u64 = 64;
/// Default of `DataFusion`, independent of the memory.
const SORT_RESERVATION_BYTES_MAX: usize = 10 << 20;

/// Catalogue and schema of the tables, visible in `information_schema` and to database clients.
pub(crate) const DATABASE: &str = "nandle";
pub(crate) const SCHEMA: &str = "public";

/// Opens a session with temporary files in `files` and the additions of `extend`.
pub(crate) fn open(
    options: &EngineOptions,
    files: Arc<DiskManager>,
    extend: impl FnOnce(SessionStateBuilder) -> Result<SessionStateBuilder, DataFusionError>,
) -> Result<SessionContext, DataFusionError> {
    let config = SessionConfig::new()
        .with_target_partitions(options.threads.get())
        .with_sort_spill_reservation_bytes(sort_reservation_bytes(options.memory_bytes))
        .with_information_schema(true)
        .set_bool("datafusion.sql_parser.collect_spans", true)
        // A rule that can't handle a statement leaves it unchanged.
        .set_bool("datafusion.optimizer.skip_failed_rules", true)
        // A literal with a point is exact, as in other databases, not the nearest double.
        .set_bool("datafusion.sql_parser.parse_float_as_decimal", true)
        // Otherwise timestamps without a zone would take the zone of the column that they are
        // compared with.
        .set_str("datafusion.execution.time_zone", "+00:00")
        .with_default_catalog_and_schema(DATABASE, SCHEMA)
        .with_option_extension(NandleOptions::default());
    let builder = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime(options, files)?)
        .with_default_features();
    let builder = check_arithmetic(builder).with_physical_optimizer_rules(rules(options)?);
    let mut state = without_keys(extend(builder)?)?;
    check_comparisons(&mut state)?;
    let context = SessionContext::new_with_state(state);
    let catalog =
        context.catalog(DATABASE).ok_or_else(|| internal_datafusion_err!("there is no {DATABASE}"))?;
    catalog.register_schema(SCHEMA, Arc::new(CurrentTables::default()))?;
    Ok(context)
}

/// Memory that a sort reserves to merge its temporary files; several sorts run at the same time.
pub(crate) fn sort_reservation_bytes(memory_bytes: u64) -> usize {
    usize::try_from(memory_bytes / SORTS_AT_A_TIME).unwrap_or(usize::MAX).min(SORT_RESERVATION_BYTES_MAX)
}

/// Memory shared by operators and reads, and a directory for temporary files, which is removed with
/// the session.
fn runtime(options: &EngineOptions, files: Arc<DiskManager>) -> Result<Arc<RuntimeEnv>, DataFusionError> {
    let bytes = usize::try_from(options.memory_bytes).unwrap_or(usize::MAX);
    let checked = Arc::new(CheckedFiles::new(files, &options.spill_directory));
    let checked = DiskManagerBuilder::default().with_temp_file_factory(checked);
    RuntimeEnvBuilder::new()
        .with_memory_pool(memory_pool(bytes))
        .with_disk_manager_builder(checked)
        .build_arc()
}

/// Manager of the temporary files, which counts their bytes.
pub(crate) fn temporary_files(options: &EngineOptions) -> Result<Arc<DiskManager>, DataFusionError> {
    let files = DiskManagerBuilder::default()
        .with_mode(DiskManagerMode::Directories(vec![options.spill_directory.clone()]))
        .with_max_temp_directory_size(options.spill_limit_bytes);
    Ok(Arc::new(files.build()?))
}
