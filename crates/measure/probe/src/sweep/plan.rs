use nandle_io::Shape;
use nandle_profile::{Cell, OperationKind, SkippedCell};
use nandle_units::{format_bytes, format_bytes_exact};

use super::SweepOptions;
use crate::pattern::PatternSpec;

/// One combination of parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellSpec {
    /// Address pattern.
    pub pattern: PatternSpec,
    /// Kind of operation.
    pub operation: OperationKind,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Blocks in a group; 1 for patterns that ignore groups.
    pub group_blocks: u64,
    /// Queue depth.
    pub queue_depth: u32,
}

/// Cells of a sweep in order, and skipped cells.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepPlan {
    /// Cells to run.
    pub cells: Vec<CellSpec>,
    /// Skipped cells with the reason.
    pub skipped: Vec<SkippedCell>,
}

/// Parameter space that is invalid on a device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A list is empty or contains zero.
    #[error("{what}: expected one or more values, each at least 1")]
    Empty {
        /// Option of the list.
        what: &'static str,
    },
    /// Direct I/O doesn't support the block size.
    #[error(
        "block size {}: direct I/O on this target needs multiples of {}; choose other --block-sizes",
        format_bytes_exact(*block_bytes), format_bytes_exact(*needed_bytes)
    )]
    Block {
        /// The block size.
        block_bytes: u64,
        /// Required multiple in bytes.
        needed_bytes: u64,
    },
    /// A block is larger than the area.
    #[error(
        "block size {}: the area has only {}; choose smaller --block-sizes, or a larger --file-size for a test file",
        format_bytes_exact(*block_bytes), format_bytes(*area_bytes)
    )]
    AreaTooSmall {
        /// The block size.
        block_bytes: u64,
        /// Size of the area.
        area_bytes: u64,
    },
}

impl CellSpec {
    /// Returns true if `cell` measures this combination.
    pub fn is(&self, cell: &Cell) -> bool {
        self.pattern.to_string() == cell.pattern
            && self.operation == cell.operation
            && self.block_bytes == cell.block_bytes
            && self.group_blocks == cell.group_blocks
            && self.queue_depth == cell.queue_depth
    }

    /// Creates the record of a skipped cell.
    pub fn skipped(&self, reason: String) -> SkippedCell {
        SkippedCell {
            pattern: self.pattern.to_string(),
            block_bytes: self.block_bytes,
            group_blocks: self.group_blocks,
            queue_depth: self.queue_depth,
            reason,
        }
    }

    /// Bytes outstanding at full queue depth.
    pub fn outstanding_bytes(&self) -> u64 {
        self.block_bytes.saturating_mul(self.queue_depth.into())
    }
}

impl std::fmt::Display for CellSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.pattern, self.operation, format_bytes(self.block_bytes))?;
        if self.group_blocks > 1 {
            write!(f, " in groups of {}", self.group_blocks)?;
        }
        write!(f, ", depth {}", self.queue_depth)
    }
}

/// Plans a sweep over the first `area_bytes` of a device.
///
/// # Errors
/// The parameter space is invalid on the device.
pub fn plan(options: &SweepOptions, shape: &Shape, area_bytes: u64) -> Result<SweepPlan, PlanError> {
    check(options, shape, area_bytes)?;
    let mut plan = SweepPlan { cells: Vec::new(), skipped: Vec::new() };
    for spec in combinations(options) {
        match reason_to_skip(options, &spec, area_bytes) {
            None => plan.cells.push(spec),
            Some(reason) => plan.skipped.push(spec.skipped(reason)),
        }
    }
    Ok(plan)
}

fn check(options: &SweepOptions, shape: &Shape, area_bytes: u64) -> Result<(), PlanError> {
    let empty = |what| Err(PlanError::Empty { what });
    if options.patterns.is_empty() {
        return empty("--patterns");
    }
    if options.block_sizes.is_empty() || options.block_sizes.contains(&0) {
        return empty("--block-sizes");
    }
    if options.operations.is_empty() {
        return empty("--operation");
    }
    if options.group_sizes.is_empty() || options.group_sizes.contains(&0) {
        return empty("--group-sizes");
    }
    if options.queue_depths.is_empty() || options.queue_depths.contains(&0) {
        return empty("--queue-depths");
    }
    let needed_bytes = shape.logical_block_bytes.max(shape.memory_alignment_bytes);
    for &block_bytes in &options.block_sizes {
        if !block_bytes.is_multiple_of(needed_bytes) {
            return Err(PlanError::Block { block_bytes, needed_bytes });
        }
        if block_bytes > area_bytes {
            return Err(PlanError::AreaTooSmall { block_bytes, area_bytes });
        }
    }
    Ok(())
}

fn combinations(options: &SweepOptions) -> impl Iterator<Item = CellSpec> + '_ {
    options.operations.iter().flat_map(move |&operation| of_operation(options, operation))
}

fn of_operation(options: &SweepOptions, operation: OperationKind) -> impl Iterator<Item = CellSpec> + '_ {
    let without_groups: &[u64] = &[1];
    options.patterns.iter().flat_map(move |&pattern| {
        let groups = if pattern.takes_groups() { options.group_sizes.as_slice() } else { without_groups };
        options.block_sizes.iter().flat_map(move |&block_bytes| {
            groups.iter().flat_map(move |&group_blocks| {
                options.queue_depths.iter().map(move |&queue_depth| CellSpec {
                    pattern,
                    operation,
                    block_bytes,
                    group_blocks,
                    queue_depth,
                })
            })
        })
    })
}

fn reason_to_skip(options: &SweepOptions, spec: &CellSpec, area_bytes: u64) -> Option<String> {
    let outstanding = spec.outstanding_bytes();
    if outstanding > options.outstanding_bytes_max {
        return Some(format!(
            "{} would be outstanding at once, more than {} (--outstanding-max)",
            format_bytes(outstanding),
            format_bytes(options.outstanding_bytes_max)
        ));
    }
    let group_bytes = spec.block_bytes.saturating_mul(spec.group_blocks);
    (group_bytes > area_bytes).then(|| {
        format!("a group of {} exceeds the file of {}", format_bytes(group_bytes), format_bytes(area_bytes))
    })
}
